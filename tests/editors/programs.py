"""The programs that the tests marked `editors` need: `python -m tests.editors.programs` says which are missing, and how to get them."""

from __future__ import annotations

import shutil
import subprocess
import sys

# program → Debian's package; `npm` comes with Node.js 20 or newer, of which Debian's own is older
PROGRAMS = {
    "bash": "bash",
    "zsh": "zsh",
    "fish": "fish",
    "vim": "vim",
    "nvim": "neovim",
    "emacs": "emacs-nox",
    "eglot": "elpa-eglot",
    "cc": "gcc",
    "git": "git",
    "node": "nodejs",
    "npm": "npm",
}


def missing() -> list[str]:
    found = [program for program in PROGRAMS if program != "eglot" and shutil.which(program) is None]
    if "emacs" not in found and subprocess.run(["emacs", "-q", "--batch", "-l", "eglot"], capture_output=True).returncode != 0:
        found.append("eglot")
    return found


def main() -> int:
    absent = missing()
    if absent:
        packages = " ".join(PROGRAMS[program] for program in absent)
        sys.stderr.write(f"make test-editors: missing: {', '.join(absent)}\n  on Debian: apt-get install --no-install-recommends {packages}\n")
    return 1 if absent else 0


if __name__ == "__main__":
    raise SystemExit(main())
