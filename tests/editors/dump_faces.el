;;; dump_faces.el --- Faces of the tokens of a corpus, for the tests  -*- lexical-binding: t -*-

;; (gsl-dump INPUT OUTPUT): INPUT is JSON, path → list of [line column length]; OUTPUT is path → list of [face-of-first face-of-last].

(require 'json)

(defun gsl-dump--face (position)
  "The face at POSITION as a string, or null."
  (let ((face (get-text-property position 'face)))
    (if face (format "%s" (if (listp face) (car face) face)) :null)))

(defun gsl-dump (input output)
  "Read INPUT, write OUTPUT."
  (let* ((json-key-type 'string) (json-array-type 'list) (json-null :null) (result nil))
    (dolist (entry (json-read-file input))
      (find-file (car entry))
      (gsl-mode)
      (font-lock-ensure)
      (goto-char (point-min))
      (let ((line 1) (faces nil))
        (dolist (token (cdr entry))
          (forward-line (- (nth 0 token) line))
          (setq line (nth 0 token))
          (let ((first (+ (line-beginning-position) (nth 1 token))))
            (push (vector (gsl-dump--face first) (gsl-dump--face (+ first (nth 2 token) -1))) faces)))
        (push (cons (car entry) (vconcat (nreverse faces))) result))
      (kill-buffer))
    (with-temp-file output
      (insert (json-encode result)))))

(defun gsl-dump-indentation (input output)
  "Indent each file of INPUT (a list of paths) anew; OUTPUT is path → text."
  (let ((json-array-type 'list) (result nil))
    (dolist (path (json-read-file input))
      (find-file path)
      (gsl-mode)
      (let ((inhibit-message t))
        (indent-region (point-min) (point-max)))
      (push (cons path (buffer-string)) result)
      (set-buffer-modified-p nil)
      (kill-buffer))
    (with-temp-file output
      (insert (json-encode result)))))
