"""What is outside the subset, or wrong, is refused with file, line, column, function and reason."""

from __future__ import annotations

import pytest

from gslang.base.diagnostics import InputError
from gslang.formats.relay import UnsupportedConstruct

from .samples import main, ops, read

LIST = "type List[A] { Cons(A, List[A]), Nil }\n"


@pytest.mark.parametrize(
    ("text", "place", "construct"),
    [
        (main("if (%x) { %x } else { %x }"), "3:1", "`if`"),
        (main("match (%x) { _ => %x }"), "3:1", "`match`"),
        (main("match? (%x) { _ => %x }"), "3:1", "`match?`"),
        (main("let %r = ref(%x); %x"), "3:10", "`ref`"),
        (main("ref_read(%x)"), "3:1", "`ref_read`"),
        (main("ref_write(%x, %x)"), "3:1", "`ref_write`"),
        ("v0.0.4\ndef @main(%x: int32) { (%x := 1) }", "2:28", "reference cell"),
        ("v0.0.4\ndef @main(%x: int32) { add([1, 2], %x) }", "2:28", "tensor literal"),
        (main("%x", "%f: fn (int32) -> int32"), "2:15", "function type"),
        (main("%f(%x)", "%f, %x: int32"), "3:3", "higher-order"),
        ("def @main(%x: int32) -> fn (int32) -> int32 { %x }", "1:25", "function type"),
        ("def @main[A](%x: A) { %x }", "1:10", "generic"),
        (LIST + "def @main(%x: List[int32]) { %x }", "2:15", "`List`"),
        (LIST + "def @main(%x: int32) { Cons(%x, Nil) }", "2:24", "ADT constructor"),
        (LIST + "def @main(%x: int32) { Nil }", "2:24", "ADT constructor"),
        ("def @main(%x: int32) { @main(%x) }", "1:24", "recursion"),
        ("def @f(%x: int32) { @main(%x) }\ndef @main(%x: int32) { @f(%x) }", "1:21", "recursion"),
        (main("let %f = fn (%n) { %f(%n) }; %f(%x)"), "3:20", "recursion"),
        (main("@f"), "3:1", "higher-order"),
        (main("map(@f, %x)"), "3:5", "higher-order"),
        (main("(exp, %x)"), "3:2", "higher-order"),
        (main("@f(%x); %x"), "3:7", "impure"),
        (main("memory.alloc_storage(%x)"), "3:1", "memory dialect"),
        (main("vm.invoke_tvm_op(%x)"), "3:1", "memory dialect"),
        ("def @f = meta[Function][0]\n", "1:8", "external function"),
        ("@f = primfn(x: handle) {}\n", "1:1", "TIR"),
        (main("meta[tir.SizeVar][0]"), "3:1", "as a value"),
    ],
)
def test_unsupported_constructs(text: str, place: str, construct: str) -> None:
    with pytest.raises(UnsupportedConstruct) as caught:
        read(text)
    assert caught.value.place == place, str(caught.value)
    assert str(caught.value).startswith(f"sample.relay:{place}: ")
    assert construct in caught.value.message


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ('#[version = "0.0.9"]\ndef @main() { 1 }', "1:14", "version `0.0.9`"),
        ("v0.0.3\ndef @main() { 1 }", "1:1", "version `v0.0.3`"),
        ("def @main() { 1 }\nMETADATA:\n{}", "2:1", "old form"),
        (main("exp(%x"), "4:1", "expected `,` or `)`, found `}`"),
        ("def @main(%x: int32) {\n  exp(%x", "2:9", "ends in the middle"),
        ("def @main(%x: int32) {\n  add(%x, ...)\n}", "2:11", "placeholder"),
        (main('cast(%x, dtype="int8)'), "3:16", "string is not terminated"),
        (main("exp(%x) /* ty=int8"), "3:9", "comment is not terminated"),
        (main("exp(%y)"), "3:5", "undeclared variable `%y`"),
        (main("add(%x/%x, %x)"), "3:5", "undeclared variable `%x/`"),
        (main("%x.1"), "3:1", "takes a field of a tuple"),
        (main("%0 = (%x, %x); %0.2"), "3:18", "no field 2"),
        (main("%0 = exp(%x); %0 = exp(%x); %0"), "3:15", "bound twice"),
        (main("%x", "%x: int32, %x: int32"), "2:22", "duplicate parameter"),
        (main("%x", "%x: Tensor[(a), float32]"), "2:15", "expected a tensor type"),
        (main("%x", "%x: Tensor[(1, 2)]"), "2:28", "expected `,`"),
        (main("2147483648i32"), "3:1", "is out of range for int32"),
        (main("65505f16"), "3:1", "is out of range for float16"),
        (main("1e39f"), "3:1", "is out of range for float32"),
        (main("sum(%x, axis=1, axis=2)"), "3:17", "given twice"),
        (main("sum(axis=1, %x)"), "3:13", "operands come before attributes"),
        (main("sum(%x, axis=wrong)"), "3:9", "`wrong` is not an attribute value"),
        (main("add(%x -1)"), "3:8", "expected `,` or `)`"),
        (main("1f(%x)"), "3:3", "only a function can be called"),
        (main("%0 = exp(%x) %0"), "3:14", "expected `;` after the value of a binding"),
        (main("axis=1"), "3:1", "outside a call"),
        (
            "def @f(%x: int32) { %x }\ndef @main(%x: int32) { @f(%x, %x) }", "2:24",
            "takes 1 argument, got 2",
        ),
        ("def @f() { 1 }\ndef @f() { 1 }", "2:5", "duplicate function"),
        ("def @f() { 1 }\ndef @g() { 1 }", "1:1", "unknown function `main`"),
        ("type T { A }", "1:1", "no functions found"), ("// nothing\n", "1:1", "only comments"),
        ("def @main() { 1 } 2", "1:19", "expected `def @name(…)`"),
        ("1 2", "1:3", "expected the end of the file"),
        ("def @main() { 1 }\n\n#[metadata]\n{\n  oops", "5:3", "not JSON"),
        ("def @main() { 1 }\n\n#[metadata]\n[]", "3:1", "damaged"),
    ],
)
def test_mistakes(text: str, place: str, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert not isinstance(caught.value, UnsupportedConstruct)
    assert reason in caught.value.message, str(caught.value)
    assert caught.value.place == place, str(caught.value)


def test_the_function_is_named() -> None:
    with pytest.raises(InputError, match=r"\(in `@other`\)"):
        read("def @main() { 1 }\ndef @other(%x) { %y }")


def test_other_functions_may_be_skipped() -> None:
    text = "def @other(%x: int32) { if (%x) { 1 } else { 2 } }\ndef @main(%x: int32) { @other(%x) }"
    with pytest.raises(UnsupportedConstruct, match="--skip-unsupported"):
        read(text)
    assert ops(read(text, skip_unsupported=True)) == ["%input", "@other"]
    with pytest.raises(UnsupportedConstruct):
        read(text, function="other", skip_unsupported=True)


def test_a_misspelled_function_gets_a_guess() -> None:
    with pytest.raises(InputError, match="did you mean `encode`"):
        read("def @encode() { 1 }\ndef @decode() { 1 }", function="encod")
