"""Print a completion script for a shell: gslc completion bash

  bash   source <(gslc completion bash)                               (in ~/.bashrc)
  zsh    gslc completion zsh > ~/.zfunc/_gslc                         (a folder of $fpath)
  fish   gslc completion fish > ~/.config/fish/completions/gslc.fish

The scripts know verbs, options, their values, rule files, graphs, shipped modules, the names of rules and
passes, and codes. They do not run gslc: run this again after an update.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from gslang.cli.main import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def run(options: argparse.Namespace) -> int:
    from gslang.cli.completion_table import names, verbs

    script = import_module(f"gslang.cli.completion_{options.shell}").script
    sys.stdout.write(script(verbs(), names()))
    return ExitCode.FINE
