;;; gsl-mode.el --- Major mode for gslang rule files  -*- lexical-binding: t -*-
;; The word lists are generated: python -m gslang.highlight.generate
;;; Code:
(defvar gsl-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?_ "_" table)
    table))

(defvar gsl-font-lock-keywords
  `((,(regexp-opt '("dialect" "use" "op" "fn" "rule" "pass" "test" "repeat") 'symbols) . font-lock-keyword-face)
    (,(regexp-opt '("and" "each" "else" "for" "if" "in" "is" "keep" "match" "not" "or" "ordered" "unchanged" "where") 'symbols) . font-lock-keyword-face)
    (,(regexp-opt '("none" "true" "false") 'symbols) . font-lock-constant-face)
    (,(regexp-opt '("any" "var" "input" "param" "const") 'symbols) . font-lock-type-face)
    ("@[A-Za-z_]+" . font-lock-preprocessor-face)))

;;;###autoload
(define-derived-mode gsl-mode prog-mode "gslang"
  "Major mode for gslang rule files."
  (setq-local comment-start "# ")
  (setq-local font-lock-defaults '(gsl-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.gsl\\'" . gsl-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(gsl-mode . ("gslc" "lsp"))))

(provide 'gsl-mode)
;;; gsl-mode.el ends here
