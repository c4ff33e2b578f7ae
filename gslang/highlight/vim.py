"""The words as lines of Vim script."""

from __future__ import annotations

from gslang.highlight import words as table


def words_part() -> str:
    """Word lists and operators, between the marks of `syntax/gslang.vim`."""
    # Vim: of equal places the last match wins
    longest_last = sorted(table.signs(), key=lambda sign: (len(sign), sign))
    return "".join((
        f'syntax match gslangItem "\\v<%({"|".join(table.items())})>" nextgroup=gslangDeclared skipwhite\n',
        f'syntax match gslangKeyword "\\v<%({"|".join(table.keywords())})>"\n',
        f'syntax match gslangCall "\\v<%({"|".join(table.SOFT)})>\\ze\\s*[(.=]"\n',
        f'syntax match gslangConstant "\\v<%({"|".join(table.CONSTANTS)})>"\n',
        f'syntax match gslangKind "\\v<%({"|".join((*table.PATTERN_KINDS, "op"))})>\\ze\\s*\\("\n',
        f'syntax match gslangKind "\\v<%({"|".join((*table.KINDS, "op"))})>" contained\n',
        f'syntax match gslangBuiltin "\\v<%({"|".join(table.BUILTINS)})>\\ze\\s*\\("\n',
        "".join(f'syntax match gslangOperator "\\V{sign}"\n' for sign in longest_last),
    ))  # fmt: skip
