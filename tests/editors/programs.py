"""The programs that the tests marked `editors` need: `python -m tests.editors.programs` says which are
missing, and how to get them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

# program → Debian's package
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
NODE = 20  # the packager of the VS Code extension runs on nothing older


def is_there(program: str) -> bool:
    if program == "eglot":  # a part of Emacs from 29 on, a package before
        return (
            is_there("emacs")
            and subprocess.run(["emacs", "-q", "--batch", "-l", "eglot"], capture_output=True).returncode == 0
        )
    if shutil.which(program) is None:
        return False
    if program == "node":
        version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
        return int(version.lstrip("v").split(".")[0] or 0) >= NODE
    return True


def main() -> int:
    absent = [program for program in PROGRAMS if not is_there(program)]
    if absent:
        packages = " ".join(PROGRAMS[program] for program in absent)
        note = (
            f"\n  node must be {NODE} or newer; where Debian's is older, https://nodejs.org has it"
            if "node" in absent
            else ""
        )
        sys.stderr.write(
            f"make test-editors: missing: {', '.join(absent)}\n"
            f"  on Debian: apt-get install --no-install-recommends {packages}{note}\n"
        )
    return 1 if absent else 0


if __name__ == "__main__":
    raise SystemExit(main())
