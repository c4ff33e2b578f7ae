"""The programs that the tests marked `editors` need: `python -m tests.editors.programs` says which are missing, and how to get them."""

from __future__ import annotations

import shutil
import sys

# program → Debian's package; `npm` comes with Node.js 20 or newer, of which Debian's own is older
PROGRAMS = {
    "bash": "bash",
    "zsh": "zsh",
    "fish": "fish",
    "vim": "vim",
    "nvim": "neovim",
    "emacs": "emacs-nox",
    "cc": "gcc",
    "git": "git",
    "node": "nodejs",
    "npm": "npm",
}


def missing() -> list[str]:
    return [program for program in PROGRAMS if shutil.which(program) is None]


def main() -> int:
    absent = missing()
    if absent:
        packages = " ".join(PROGRAMS[program] for program in absent)
        sys.stderr.write(f"make test-editors: missing: {', '.join(absent)}\n  on Debian: apt-get install --no-install-recommends {packages}\n")
    return 1 if absent else 0


if __name__ == "__main__":
    raise SystemExit(main())
