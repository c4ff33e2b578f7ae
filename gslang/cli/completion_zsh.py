"""The completion script of zsh."""

from __future__ import annotations

from typing import Final

from gslang.cli.completion_scripts import GRAPH_SUFFIXES, fill, quoted
from gslang.cli.completion_table import Kind, Names, Option, Value, Verb


def script(verbs: tuple[Verb, ...], names: Names) -> str:
    """A file `_gslc` for a folder of `$fpath`; it can be sourced, too."""
    cases = []
    for verb in verbs:
        specs = [spec for option in verb.options for spec in _zsh_option(option)]
        for k, value in enumerate(verb.arguments):
            place = "*" if verb.repeats else str(k + 1)
            specs.append(f"'{place}:{_zsh_what(value)}:{_zsh_action(value)}'")
        lines = " \\\n                ".join(specs)
        cases.append(
            f"        {verb.name})\n            _arguments -s -S \\\n                {lines}\n            ;;"
        )
    return fill(
        _ZSH,
        names,
        VERB_LINES="\n".join(f"        {quoted(f'{verb.name}:{verb.help}')}" for verb in verbs),
        VERB_PATTERN="|".join(verb.name for verb in verbs),
        VERB_CASES="\n".join(cases),
        CODE_LINES="\n".join(f"        {quoted(f'{code}:{title}')}" for code, title in names.codes),
        LINT_LINES="\n".join(f"        {quoted(f'{code}:{title}')}" for code, title in names.lints),
    )


def _zsh_option(option: Option) -> list[str]:
    help = option.help.replace("[", "(").replace("]", ")").replace(":", "\\:").replace("'", "’")
    star = "*" if option.repeats else ""
    if option.value is None:
        return [f"'{star}{name}[{help}]'" for name in option.names]
    colons = "::" if option.optional else ":"
    tail = f"{colons}{_zsh_what(option.value)}:{_zsh_action(option.value)}"
    return [f"'{star}{name}{'=' if name.startswith('--') else ''}[{help}]{tail}'" for name in option.names]


def _zsh_what(value: Value) -> str:
    return value.kind.name.lower()


def _zsh_action(value: Value) -> str:
    return f"({' '.join(value.words)})" if value.kind is Kind.WORDS else _ZSH_ACTIONS[value.kind]


_ZSH_ACTIONS: Final = {
    Kind.FILE: "_files",
    Kind.RULES: "_gslc_rule_files",
    Kind.RULE_FILES: '_files -g "*.gsl"',
    Kind.GRAPH: f'_files -g "*.({GRAPH_SUFFIXES})"',
    Kind.RULE: "_gslc_declared rule",
    Kind.PASS: "_gslc_declared pass",
    Kind.LINTS: "_gslc_lints",
    Kind.EXPLAINED: "_gslc_explained",
    Kind.OPERATOR: "_gslc_operators",
    Kind.OTHER: " ",
}


_ZSH = r"""#compdef gslc
# zsh completion of gslc; written by `gslc completion zsh`.

_gslc_rule_files() {
    local -a modules=(@MODULES@)
    _alternative 'files:rule file:_files -g "*.gsl"' "modules:shipped module:(($modules))"
}

_gslc_operators() {
    local -a operators=(@OPERATORS@)
    compadd "$@" -a operators
}

_gslc_lints() {
    local -a lints=(
        'all:all lints'
@LINT_LINES@
    )
    compset -P '*,'
    _describe 'lint' lints
}

_gslc_explained() {
    local -a rules=(@RULES@) codes=(
@CODE_LINES@
    )
    _describe 'code' codes
    compadd -a rules
}

# Names of rules or passes: those of the .gsl files of the line, or the shipped ones.
# `_arguments` puts its options before the word.
_gslc_declared() {
    local word pattern='@RULE_PATTERN@'
    local -a files shipped=(@RULES@)
    if [[ $argv[-1] == pass ]]; then
        pattern='@PASS_PATTERN@' shipped=(@PASSES@)
    fi
    for word in ${(Q)words}; do
        word=${word/#\~/$HOME}
        [[ $word == *.gsl && -r $word ]] && files+=($word)
    done
    (($#files)) && shipped=(${(f)"$(sed -n $pattern $files)"})
    compadd "${@[1,-2]}" -a shipped
}

_gslc() {
    local curcontext=$curcontext verb=apply
    local -a verbs=(
@VERB_LINES@
    )
    if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
        _describe 'verb' verbs
        _gslc_rule_files
        return
    fi
    case $words[2] in
        @VERB_PATTERN@)
            verb=$words[2]
            shift words
            ((CURRENT -= 1))
            ;;
    esac
    case $verb in
@VERB_CASES@
    esac
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _gslc "$@"
else
    compdef _gslc gslc
fi
"""
