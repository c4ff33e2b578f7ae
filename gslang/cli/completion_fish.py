"""The completion script of fish."""

from __future__ import annotations

from typing import Final

from gslang.cli.completion_scripts import GRAPH_SUFFIXES, fill, quoted, valued_names
from gslang.cli.completion_table import Kind, Names, Option, Value, Verb


def script(verbs: tuple[Verb, ...], names: Names) -> str:
    """A file `gslc.fish` for a folder of completions."""
    known = " ".join(verb.name for verb in verbs)
    lines: list[str] = []
    for verb in verbs:
        lines.append(f"complete -c gslc -n __gslc_first -a {verb.name} -d {quoted(verb.help)}")
    for verb in verbs:
        seen = f"'__gslc_verb {verb.name}'"
        for option in verb.options:
            lines.append(f"complete -c gslc -n {seen} {_fish_option(option)}")
        for k, value in enumerate(verb.arguments):
            place = "" if verb.repeats else f" {k}"
            lines.append(f"complete -c gslc -n '__gslc_argument {verb.name}{place}' {_fish_value(value)}")
    valued = "\n".join(
        f"        case {verb.name}\n            set valued {valued_names(verb)}" for verb in verbs
    )
    codes = "\n".join(f"    echo {quoted(code)}\\t{quoted(title)}" for code, title in names.codes)
    lints = "\n".join(f'        echo "$head"{code}\\t{quoted(title)}' for code, title in names.lints)
    return fill(
        _FISH, names, VERBS=known, COMPLETIONS="\n".join(lines), VALUED=valued, CODE_LINES=codes,
        LINT_LINES=lints,
    )


def _fish_option(option: Option) -> str:
    words = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    if option.value is not None:
        words.append(_fish_value(option.value, required=not option.optional))
    return " ".join([*words, "-d", quoted(option.help)])


def _fish_value(value: Value, required: bool = True) -> str:
    """`-f`: no files besides; `-r`: a value must follow an option."""
    take = f"-f -a '{' '.join(value.words)}'" if value.kind is Kind.WORDS else _FISH_VALUES[value.kind]
    return f"-r {take}" if required else take


_SUFFIXES: Final = " ".join(f".{suffix}" for suffix in GRAPH_SUFFIXES.split("|"))
_FISH_VALUES: Final = {
    Kind.FILE: "-F",
    Kind.RULES: "-f -k -a '(__gslc_rule_files)'",
    Kind.RULE_FILES: "-f -k -a '(__gslc_files .gsl)'",
    Kind.GRAPH: f"-f -k -a '(__gslc_files {_SUFFIXES})'",
    Kind.RULE: "-f -a '(__gslc_declared rule)'",
    Kind.PASS: "-f -a '(__gslc_declared pass)'",
    Kind.LINTS: "-f -a '(__gslc_lints)'",
    Kind.EXPLAINED: "-f -a '(__gslc_explained)'",
    Kind.OPERATOR: "-f -a '@OPERATORS@'",
    Kind.OTHER: "-f",
}


_FISH = r"""# fish completion of gslc; written by `gslc completion fish`.

set -g __gslc_verbs @VERBS@

# The verb of the line: `apply` where none is written.
function __gslc_current_verb
    set -l words (commandline -opc)
    if test (count $words) -gt 1; and contains -- $words[2] $__gslc_verbs
        echo $words[2]
    else
        echo apply
    end
end

function __gslc_first
    test (count (commandline -opc)) -eq 1
end

function __gslc_verb
    test (__gslc_current_verb) = $argv[1]
end

# Whether an argument of this verb stands here, and which (from 0): options and their values are none.
function __gslc_argument
    __gslc_verb $argv[1]; or return 1
    test (count $argv) -eq 1; and return 0
    set -l valued
    switch $argv[1]
@VALUED@
    end
    set -l words (commandline -opc)[2..-1]
    contains -- "$words[1]" $__gslc_verbs; and set -e words[1]
    set -l seen 0
    set -l skip 0
    for word in $words
        if test $skip -eq 1
            set skip 0
        else if contains -- $word $valued
            set skip 1
        else if not string match -q -- '-?*' $word
            set seen (math $seen + 1)
        end
    end
    test $seen -eq $argv[2]
end

function __gslc_files
    set -l endings (string join '|' / (string escape --style=regex -- $argv))
    __fish_complete_path (commandline -ct | string replace -r '^-.*?=' '') |
        string match -r -- "^.*(?:$endings)(?:\t.*)?\$"
end

function __gslc_rule_files
    __gslc_files .gsl
    printf '%s\tshipped\n' @MODULES@
end

# Names of rules or passes: those of the .gsl files of the line, or the shipped ones.
function __gslc_declared
    set -l files
    for word in (commandline -opc)
        if string match -q -- '*.gsl' $word; and test -r $word
            set -a files $word
        end
    end
    if test "$argv[1]" = pass
        if set -q files[1]
            sed -n '@PASS_PATTERN@' $files
        else
            printf '%s\n' @PASSES@
        end
    else if set -q files[1]
        sed -n '@RULE_PATTERN@' $files
    else
        printf '%s\n' @RULES@
    end
end

# Codes with commas between them: the last one is completed.
function __gslc_lints
    set -l head (commandline -ct | string replace -r '^-.*?=' '' | string replace -rf '^(.*,).*' '$1')
    begin
        echo "$head"all\t'all lints'
@LINT_LINES@
    end
end

function __gslc_explained
@CODE_LINES@
    printf '%s\trule\n' @RULES@
end

complete -c gslc -f
complete -c gslc -n __gslc_first -l version -d 'show the version'
@COMPLETIONS@
"""
