"""The completion scripts of bash, zsh and fish, made of the table. Each is one text with nothing to install beside it."""

from __future__ import annotations

from gslang.cli.completion_table import Kind, Names, Option, Value, Verb

_GRAPH_SUFFIXES = "json|relay|onnx|txt"
# What finds the names of the rules (or passes) of a file, for sed.
_DECLARED = r"s/^[[:space:]]*@WORD@[[:space:]]\{1,\}\([A-Za-z_][A-Za-z0-9_]*\).*/\1/p"


def _fill(template: str, names: Names, **parts: str) -> str:
    """The template with its `@NAME@` replaced: `parts`, then names of shipped things, also in them."""
    shipped = {
        "MODULES": " ".join(names.modules),
        "RULES": " ".join(names.rules),
        "PASSES": " ".join(names.passes),
        "OPERATORS": " ".join(names.operators),
        "CODES": " ".join(code for code, _ in names.codes),
        "LINTS": " ".join(code for code, _ in names.lints),
        "RULE_PATTERN": _DECLARED.replace("@WORD@", "rule"),
        "PASS_PATTERN": _DECLARED.replace("@WORD@", "pass"),
    }
    for name, text in (parts | shipped).items():
        template = template.replace(f"@{name}@", text)
    return template


def _quoted(text: str) -> str:
    """For all three shells: in single quotes, without such inside (help texts have typographic ones instead)."""
    return "'" + text.replace("'", "’") + "'"


# ── bash ──


def bash(verbs: tuple[Verb, ...], names: Names) -> str:
    """A script to be sourced."""
    values: list[str] = []
    for verb in verbs:
        for option in verb.options:
            if option.value is not None:
                pattern = "|".join(f"'{verb.name} {name}'" for name in option.names)
                values.append(f"        {pattern}) {_bash_value(option.value)}; return ;;")
    options = [f"        {verb.name}) options={_quoted(_flags(verb))} valued={_quoted(_valued(verb))} ;;" for verb in verbs]
    arguments = [
        f"        {verb.name}{'-*' if verb.repeats else f'-{k}'}) {_bash_value(value)} ;;" for verb in verbs for k, value in enumerate(verb.arguments)
    ]
    return _fill(
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


def _valued(verb: Verb) -> str:
    return " ".join(name for option in verb.options if option.value is not None for name in option.names)


def _bash_value(value: Value) -> str:
    match value.kind:
        case Kind.WORDS:
            return f"_gslc_words {_quoted(' '.join(value.words))}"
        case Kind.FILE:
            return "_gslc_files ''"
        case Kind.RULES:
            return '_gslc_files gsl; _gslc_words "$_gslc_modules"'
        case Kind.GRAPH:
            return f"_gslc_files '{_GRAPH_SUFFIXES}'"
        case Kind.RULE:
            return "_gslc_declared rule"
        case Kind.PASS:
            return "_gslc_declared pass"
        case Kind.LINTS:
            return "_gslc_codes_list"
        case Kind.EXPLAINED:
            return '_gslc_words "$_gslc_codes $_gslc_rules"'
        case Kind.OPERATOR:
            return '_gslc_words "$_gslc_operators"'
        case Kind.OTHER:
            return ":"


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
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb=apply first=1 options= valued= count=0 k
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


# ── zsh ──


def zsh(verbs: tuple[Verb, ...], names: Names) -> str:
    """A file `_gslc` for a folder of `$fpath`; it can be sourced, too."""
    cases = []
    for verb in verbs:
        specs = [spec for option in verb.options for spec in _zsh_option(option)]
        for k, value in enumerate(verb.arguments):
            place = "*" if verb.repeats else str(k + 1)
            specs.append(f"'{place}:{_zsh_what(value)}:{_zsh_action(value)}'")
        lines = " \\\n                ".join(specs)
        cases.append(f"        {verb.name})\n            _arguments -s -S \\\n                {lines}\n            ;;")
    return _fill(
        _ZSH,
        names,
        VERB_LINES="\n".join(f"        {_quoted(f'{verb.name}:{verb.help}')}" for verb in verbs),
        VERB_PATTERN="|".join(verb.name for verb in verbs),
        VERB_CASES="\n".join(cases),
        CODE_LINES="\n".join(f"        {_quoted(f'{code}:{title}')}" for code, title in names.codes),
        LINT_LINES="\n".join(f"        {_quoted(f'{code}:{title}')}" for code, title in names.lints),
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
    match value.kind:
        case Kind.WORDS:
            return f"({' '.join(value.words)})"
        case Kind.FILE:
            return "_files"
        case Kind.RULES:
            return "_gslc_rule_files"
        case Kind.GRAPH:
            return f'_files -g "*.({_GRAPH_SUFFIXES})"'
        case Kind.RULE:
            return "_gslc_declared rule"
        case Kind.PASS:
            return "_gslc_declared pass"
        case Kind.LINTS:
            return "_gslc_lints"
        case Kind.EXPLAINED:
            return "_gslc_explained"
        case Kind.OPERATOR:
            return "_gslc_operators"
        case Kind.OTHER:
            return " "


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

# Names of rules or passes: those of the .gsl files of the line, or the shipped ones. `_arguments` puts its options before the word.
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


# ── fish ──


def fish(verbs: tuple[Verb, ...], names: Names) -> str:
    """A file `gslc.fish` for a folder of completions."""
    known = " ".join(verb.name for verb in verbs)
    lines: list[str] = []
    for verb in verbs:
        lines.append(f"complete -c gslc -n __gslc_first -a {verb.name} -d {_quoted(verb.help)}")
    for verb in verbs:
        seen = f"'__gslc_verb {verb.name}'"
        for option in verb.options:
            lines.append(f"complete -c gslc -n {seen} {_fish_option(option)}")
        for k, value in enumerate(verb.arguments):
            place = "" if verb.repeats else f" {k}"
            lines.append(f"complete -c gslc -n '__gslc_argument {verb.name}{place}' {_fish_value(value)}")
    valued = "\n".join(f"        case {verb.name}\n            set valued {_valued(verb)}" for verb in verbs)
    codes = "\n".join(f"    echo {_quoted(code)}\\t{_quoted(title)}" for code, title in names.codes)
    lints = "\n".join(f'        echo "$head"{code}\\t{_quoted(title)}' for code, title in names.lints)
    return _fill(_FISH, names, VERBS=known, COMPLETIONS="\n".join(lines), VALUED=valued, CODE_LINES=codes, LINT_LINES=lints)


def _fish_option(option: Option) -> str:
    words = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    if option.value is not None:
        words.append(_fish_value(option.value, required=not option.optional))
    return " ".join([*words, "-d", _quoted(option.help)])


def _fish_value(value: Value, required: bool = True) -> str:
    """`-f`: no files besides; `-r`: a value must follow an option."""
    take = "-r " if required else ""
    match value.kind:
        case Kind.WORDS:
            return f"{take}-f -a '{' '.join(value.words)}'"
        case Kind.FILE:
            return f"{take}-F"
        case Kind.RULES:
            return f"{take}-f -k -a '(__gslc_rule_files)'"
        case Kind.GRAPH:
            suffixes = " ".join(f".{suffix}" for suffix in _GRAPH_SUFFIXES.split("|"))
            return f"{take}-f -k -a '(__gslc_files {suffixes})'"
        case Kind.RULE:
            return f"{take}-f -a '(__gslc_declared rule)'"
        case Kind.PASS:
            return f"{take}-f -a '(__gslc_declared pass)'"
        case Kind.LINTS:
            return f"{take}-f -a '(__gslc_lints)'"
        case Kind.EXPLAINED:
            return f"{take}-f -a '(__gslc_explained)'"
        case Kind.OPERATOR:
            return f"{take}-f -a '@OPERATORS@'"
        case Kind.OTHER:
            return f"{take}-f"


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
    __fish_complete_path (commandline -ct | string replace -r '^-.*?=' '') | string match -r -- "^.*(?:$endings)(?:\t.*)?\$"
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
