"""The completion script of bash."""

from __future__ import annotations

from typing import Final

from gslang.cli.completion_scripts import GRAPH_SUFFIXES, fill, quoted, valued_names
from gslang.cli.completion_table import Kind, Names, Value, Verb


def script(verbs: tuple[Verb, ...], names: Names) -> str:
    """A script to be sourced."""
    values: list[str] = []
    for verb in verbs:
        for option in verb.options:
            if option.value is not None:
                pattern = "|".join(f"'{verb.name} {name}'" for name in option.names)
                values.append(f"        {pattern}) {_bash_value(option.value)}; return ;;")
    options = [
        f"        {verb.name}) options={quoted(_flags(verb))} valued={quoted(valued_names(verb))} ;;"
        for verb in verbs
    ]
    arguments = [
        f"        {verb.name}{'-*' if verb.repeats else f'-{k}'}) {_bash_value(value)} ;;"
        for verb in verbs
        for k, value in enumerate(verb.arguments)
    ]
    return fill(
        _BASH,
        names,
        VERBS=" ".join(verb.name for verb in verbs),
        VERB_PATTERN="|".join(verb.name for verb in verbs),
        VALUE_CASES="\n".join(values),
        OPTION_CASES="\n".join(options),
        ARGUMENT_CASES="\n".join(arguments),
    )


def _flags(verb: Verb) -> str:
    return " ".join(name for option in verb.options for name in option.names)


def _bash_value(value: Value) -> str:
    words = value.kind is Kind.WORDS
    return f"_gslc_words {quoted(' '.join(value.words))}" if words else _BASH_VALUES[value.kind]


_BASH_VALUES: Final = {
    Kind.FILE: "_gslc_files ''",
    Kind.RULES: '_gslc_files gsl; _gslc_words "$_gslc_modules"',
    Kind.RULE_FILES: "_gslc_files gsl",
    Kind.GRAPH: f"_gslc_files '{GRAPH_SUFFIXES}'",
    Kind.RULE: "_gslc_declared rule",
    Kind.PASS: "_gslc_declared pass",
    Kind.LINTS: "_gslc_codes_list",
    Kind.EXPLAINED: '_gslc_words "$_gslc_codes $_gslc_rules"',
    Kind.OPERATOR: '_gslc_words "$_gslc_operators"',
    Kind.OTHER: ":",
}


_BASH = r"""# bash completion of gslc; written by `gslc completion bash`.

_gslc_modules='@MODULES@'
_gslc_rules='@RULES@'
_gslc_passes='@PASSES@'
_gslc_operators='@OPERATORS@'
_gslc_codes='@CODES@'
_gslc_lints='@LINTS@'

_gslc_words() {
    COMPREPLY+=($(compgen -W "$1" -- "$current"))
}

# Folders, and files with one of the suffixes `a|b`; all files if there is none.
_gslc_files() {
    local IFS=$'\n' file suffix="\.($1)\$"
    compopt -o filenames 2>/dev/null
    for file in $(compgen -f -- "$current"); do
        if [[ -z $1 || -d $file || $file =~ $suffix ]]; then
            COMPREPLY+=("$file")
        fi
    done
}

# Names of rules or passes: those of the .gsl files of the line, or the shipped ones.
_gslc_declared() {
    local word files=() shipped=$_gslc_rules pattern='@RULE_PATTERN@'
    [[ $1 == pass ]] && shipped=$_gslc_passes pattern='@PASS_PATTERN@'
    for word in "${COMP_WORDS[@]}"; do
        word=${word/#\~/$HOME}
        [[ $word == *.gsl && -r $word ]] && files+=("$word")
    done
    if ((${#files[@]})); then
        _gslc_words "$(sed -n "$pattern" "${files[@]}")"
    else
        _gslc_words "$shipped"
    fi
}

# Codes with commas between them: the last one is completed.
_gslc_codes_list() {
    local head=
    [[ $current == *,* ]] && head=${current%,*},
    COMPREPLY=($(compgen -P "$head" -W "all $_gslc_lints" -- "${current##*,}"))
}

_gslc() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    local verb=apply first=1 options= valued= count=0 k
    COMPREPLY=()
    # `--option=value` comes as three words, as `=` breaks words.
    if [[ $current == "=" ]]; then
        current=
    elif [[ $previous == "=" ]]; then
        previous=${COMP_WORDS[COMP_CWORD-2]}
    fi
    if ((COMP_CWORD > 1)); then
        case ${COMP_WORDS[1]} in
            @VERB_PATTERN@) verb=${COMP_WORDS[1]} first=2 ;;
        esac
    fi
    case "$verb $previous" in
@VALUE_CASES@
    esac
    case $verb in
@OPTION_CASES@
    esac
    if [[ $current == -* ]]; then
        ((COMP_CWORD == 1)) && options+=' --version'
        _gslc_words "$options"
        return
    fi
    if ((COMP_CWORD == 1)); then
        _gslc_files gsl
        _gslc_words "@VERBS@ $_gslc_modules"
        return
    fi
    # Which argument this is: options and their values are none.
    for ((k = first; k < COMP_CWORD; k++)); do
        if [[ " $valued " == *" ${COMP_WORDS[k]} "* ]]; then
            ((k += 1))
            [[ ${COMP_WORDS[k]} == "=" ]] && ((k += 1))
        elif [[ ${COMP_WORDS[k]} != -?* ]]; then
            ((count += 1))
        fi
    done
    case $verb-$count in
@ARGUMENT_CASES@
    esac
}

complete -F _gslc gslc
"""
