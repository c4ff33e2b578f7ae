"""Graph files by suffix or format name: the one place that knows which formats there are.

Formats load when they are used. Results are written whole or not at all.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from gslang.base.atomic_write import write_text
from gslang.base.collection import no_collection
from gslang.base.decode import decoded
from gslang.base.diagnostics import InputError
from gslang.base.read_file import read_bytes
from gslang.base.suggest import did_you_mean
from gslang.dialect.dialect import Dialect
from gslang.dialect.load import dialect_names, load_dialect, of_other_dialect
from gslang.graph.domains import values_outside
from gslang.graph.graph import Graph
from gslang.graph.inference import infer_types

SUFFIXES: Final = {
    ".json": "json",
    ".relay": "relay",
    ".txt": "relay",
    ".onnx": "onnx",
    ".onnxtxt": "onnxtxt",
    ".dot": "dot",
    ".gv": "dot",
    ".svg": "svg",
    ".png": "png",
}
READABLE: Final = ("json", "relay", "onnx", "onnxtxt")
WRITABLE: Final = ("json", "relay", "onnx", "onnxtxt", "dot", "svg", "png")
STDIO: Final = "-"


def read_graph(
    path: str | Path,
    *,
    input_format: str | None = None,
    dialect: Dialect | None = None,
    function: str = "main",
    inline: bool = False,
    skip_unsupported: bool = False,
    params: str | Path | None = None,
    opset: int | None = None,
) -> Graph:
    """Read a graph file (`-`: standard input) with all types inferred, and attach the weights of a `params`
    file.

    `dialect` is the graph's own by default; one that is given must have its name. `function`, `inline` and
    `skip_unsupported` concern Relay text; `opset` is the operator set that an ONNX model is brought to.
    Raises `InputError`.
    """
    shown = "<stdin>" if str(path) == STDIO else str(path)
    data = _read_bytes(path)
    format = input_format or (_sniffed(data) if str(path) == STDIO else format_of(path))
    with no_collection():
        graph = graph_from_bytes(
            data, shown, format, dialect=dialect, function=function, inline=inline,
            skip_unsupported=skip_unsupported,
        )
    if outside := values_outside(graph, dialect or named_dialect(graph.dialect, shown)):
        graph.meta["warnings"] = [*graph.meta.get("warnings", ()), *(f"{shown}: {text}" for text in outside)]
    if opset is not None:
        from gslang.formats.onnx.upgrade import upgraded

        graph = upgraded(graph, opset, dialect or named_dialect(graph.dialect, shown))
    if params is not None:
        from gslang.formats.weights import attach_params

        attach_params(graph, params)
        for node, why in infer_types(graph, dialect or named_dialect(graph.dialect, shown)):
            at = f"`{graph.op[node].lstrip('%')}` of `{graph.label(node)}`"
            raise InputError(f"{at}, with the shapes of {params}: {why}", path=shown)
    return graph


def graph_from_bytes(
    data: bytes,
    path: str,
    format: str,
    *,
    dialect: Dialect | None = None,
    function: str = "main",
    inline: bool = False,
    skip_unsupported: bool = False,
) -> Graph:
    """Read a graph from a file's content; `path` is for messages, and where a JSON graph's weights are looked
    for.
    """
    match format:
        case "json":
            from gslang.formats.json_reader import read_json

            return read_json(data, path, dialect or (lambda name: named_dialect(name, path, "/dialect")))
        case "relay":
            from gslang.formats.relay import read_relay

            relay = dialect or load_dialect("relay")
            if relay.name != "relay":
                raise of_other_dialect("Relay text is", "relay", relay, path)
            return read_relay(
                decoded(data, path), path,
                function=function, inline=inline, skip_unsupported=skip_unsupported, dialect=relay,
            )  # fmt: skip
        case "onnx":
            from gslang.formats.onnx import read_onnx_bytes

            return read_onnx_bytes(data, path, dialect)
        case "onnxtxt":
            from gslang.formats.onnx.text import read_onnx_text

            return read_onnx_text(data, path, dialect)
        case "dot" | "svg" | "png":
            raise InputError(
                f"`{format}` files can be written, but not read", path=path, help=_list(READABLE)
            )
    raise _unknown_format(format, READABLE)


def write_graph(
    graph: Graph,
    path: str | Path | None = None,
    output_format: str | None = None,
    *,
    external: str = "keep",
) -> None:
    """Write a graph to a file, all at once, or to standard output if `path` is None or `-`.

    The format is by default that of the suffix; on standard output that of the dialect (Relay text for Relay,
    else JSON). `external` says what becomes of an ONNX model's external data (`formats.onnx`). Raises
    `InputError` for a format that cannot be written and for a file that cannot.
    """
    to_stdout = path is None or str(path) == STDIO
    if output_format is None:
        output_format = (
            ("relay" if graph.dialect == "relay" else "json") if to_stdout else format_of(path or "")
        )
    if output_format == "onnx" and not to_stdout:
        from gslang.formats.onnx import write_onnx

        write_onnx(graph, str(path), external)
        return
    if output_format == "png" and not to_stdout:
        _write_png(graph, str(path))
        return
    try:
        text = graph_text(graph, output_format)
        text = _in_utf8(text, output_format)
    except InputError as error:
        if error.path or to_stdout:
            raise
        raise InputError(error.message, path=str(path), help=error.help) from None
    if to_stdout:
        _to_stdout(text)
        return
    try:
        write_text(str(path), text)
    except OSError as error:
        raise InputError(f"cannot be written: {_reason(error)}", path=str(path)) from None


def _write_png(graph: Graph, path: str) -> None:
    from gslang.base.atomic_write import write_atomically
    from gslang.formats.picture import png

    try:
        data = png(graph)
        write_atomically(path, lambda file: file.write(data))
    except InputError as error:
        raise InputError(error.message, path=path, help=error.help) from None
    except OSError as error:
        raise InputError(f"cannot be written: {_reason(error)}", path=path) from None


def graph_text(graph: Graph, format: str) -> str:
    """The graph as a file's text. Raises `InputError`."""
    match format:
        case "json":
            from gslang.formats.json_writer import write_json

            if graph.dialect == "onnx":
                from gslang.formats.misfits import with_misfits_noted
                from gslang.formats.onnx.records import model_record, refuse_bodies

                refuse_bodies(graph)
                if model_record(graph) is not None:
                    graph = with_misfits_noted(graph, load_dialect("onnx"))
            return write_json(graph)
        case "relay":
            from gslang.formats.relay import write_relay

            if graph.dialect != "relay":
                raise InputError(
                    f"a graph of dialect `{graph.dialect}` cannot be Relay text", help="use .json"
                )
            return write_relay(graph, load_dialect("relay"))
        case "onnxtxt":
            from gslang.formats.onnx.text import onnx_text

            return onnx_text(graph)
        case "dot":
            from gslang.formats.dot import write_dot

            return write_dot(graph)
        case "svg":
            from gslang.formats.picture import svg

            return svg(graph, None) + "\n"
        case "onnx" | "png":
            raise InputError(
                f"`{format}` files are binary", help=f"give a file to write to (-o OUT.{format})"
            )
    raise _unknown_format(format, WRITABLE)


def format_of(path: str | Path, given: str | None = None) -> str:
    """The name of a file's format, by its suffix unless given. Raises `InputError` if it cannot be told."""
    if given is not None:
        return given
    suffix = Path(path).suffix.lower()
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    if suffix == ".gsl":
        raise InputError(
            "this is a rule file, not a graph", path=str(path), help="use a .json, .relay or .onnx file"
        )
    guess = did_you_mean(suffix, SUFFIXES)
    help = f"did you mean `{guess}`?" if guess else "use .json, .relay or .onnx, or state the format"
    raise InputError("cannot infer the format from the file name", path=str(path), help=help)


def known_output_format(path: str | Path, given: str | None = None) -> str:
    """The format that a graph is to be written in, by suffix unless given.

    Raises `InputError` if there is none.
    """
    name = format_of(path, given)
    if name not in WRITABLE:
        raise _unknown_format(name, WRITABLE)
    return name


def named_dialect(name: str, path: str = "", place: str = "") -> Dialect:
    """A shipped dialect. Raises `InputError` if there is none of this name."""
    try:
        return load_dialect(name)
    except KeyError:
        help = f"dialects: {', '.join(dialect_names())}"
        raise InputError(f"unknown dialect `{name}`", path=path, place=place, help=help) from None


def _read_bytes(path: str | Path) -> bytes:
    if str(path) == STDIO:
        return sys.stdin.buffer.read()
    if not str(path):
        raise InputError("the name of the graph's file is empty")
    try:
        return read_bytes(path)
    except FileNotFoundError:
        raise _missing(path) from None
    except (OSError, ValueError) as error:  # a folder, no permission; a NUL byte
        raise InputError(f"cannot be read: {_reason(error)}", path=str(path)) from None


def refuse_missing(path: str | Path) -> None:
    """Raises `InputError` if no such file; standard input is always there."""
    if str(path) not in ("", STDIO) and not Path(path).exists():
        raise _missing(path)


def _missing(path: str | Path) -> InputError:
    return InputError("no such file", path=str(path), help=_neighbour(Path(path)))


def _reason(error: Exception) -> str:
    text = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return text[:1].lower() + text[1:]


def _neighbour(path: Path) -> str:
    try:
        guess = did_you_mean(path.name, [other.name for other in path.parent.iterdir()])
    except OSError:
        return ""
    return f"did you mean `{path.with_name(guess)}`?" if guess else ""


def _sniffed(data: bytes) -> str:
    """Standard input has no suffix: an object is JSON, `<` begins ONNX text, and the first field of a model
    (`ir_version`) a model; all else is Relay text.
    """
    if not data:
        raise InputError("it is empty", path="<stdin>", help="did the command before the pipe fail?")
    if data.startswith(b"\x08"):
        return "onnx"
    return {b"{": "json", b"<": "onnxtxt"}.get(data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1], "relay")


def _in_utf8(text: str, format: str) -> str:
    """The text, in which a picture shows bytes that are not UTF-8 by their numbers. Raises `InputError` for
    such bytes in a graph."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        if format in ("dot", "svg"):
            return text.encode("utf-8", "backslashreplace").decode("utf-8")
        half = f"\\u{ord(text[error.start]):04x}"
        raise InputError(
            f"{format} cannot represent an attribute or constant whose text is not UTF-8 (`{half}`)",
            help="write an ONNX model, which can",
        ) from None
    return text


def _to_stdout(text: str) -> None:
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(text)
    else:  # graphs are UTF-8 whatever the terminal's encoding is
        binary.write(text.encode("utf-8"))
        binary.flush()


def _list(formats: tuple[str, ...]) -> str:
    return f"formats: {', '.join(formats)}"


def _unknown_format(name: str, formats: tuple[str, ...]) -> InputError:
    guess = did_you_mean(name, formats)
    return InputError(
        f"unknown format `{name}`", help=f"did you mean `{guess}`?" if guess else _list(formats)
    )
