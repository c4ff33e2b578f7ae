;;; eglot_session.el --- What eglot shows of a rule file, for the tests  -*- lexical-binding: t -*-

;; Visits the file $RULES with the language server and prints JSON: findings as [position text], the hover, the formatted text.

(require 'eglot)
(require 'json)

(defun gsl-session-request (method &rest more)
  "What the server answers to METHOD at point, with MORE parameters."
  (jsonrpc-request (eglot-current-server) method (append (eglot--TextDocumentPositionParams) more)))

(let ((inhibit-message t))
  (setq eglot-sync-connect 60
        eglot-connect-timeout 60)
  (find-file (getenv "RULES"))
  (apply #'eglot (eglot--guess-contact))
  (flymake-mode 1)
  (let ((tries 0))
    (while (and (< tries 300) (null (flymake-diagnostics)))
      (flymake-start)
      (accept-process-output nil 0.1)
      (setq tries (1+ tries))))
  (let ((found (mapcar (lambda (one) (vector (flymake-diagnostic-beg one) (flymake-diagnostic-text one))) (flymake-diagnostics)))
        hover)
    (goto-char (point-min))
    (search-forward "nn.re")
    (setq hover (gsl-session-request :textDocument/hover))
    (eglot-format-buffer)
    (princ (json-encode `((diagnostics . ,(vconcat found)) (hover . ,hover) (formatted . ,(buffer-string)))))
    (set-buffer-modified-p nil)
    (eglot-shutdown (eglot-current-server))))
