"""A small document algebra: texts, places where a line may break, groups that break as a whole, comments.

`render` chooses the breaks. It walks with a stack, never by recursion, in time linear in the document for the
groups it meets. It knows nothing of the language.
"""

from __future__ import annotations

from typing import Union

from gslang.base.quick_dataclass import dataclass

WIDTH = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A possible line break; `flat` is what stands there otherwise. `hard` breaks always."""

    flat: str = " "
    hard: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Breaks at all its own lines, or at none. `broken`: at all, whatever the width."""

    content: Doc
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Indent:
    content: Doc
    columns: int = 4


@dataclass(frozen=True, slots=True)
class Fill:
    """Items with a line between each two; each line breaks only if the next item does not fit."""

    items: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class IfBroken:
    """Text that stands only in a group that breaks."""

    text: str


@dataclass(frozen=True, slots=True)
class Trailing:
    """A comment for the end of the current line."""

    text: str


@dataclass(frozen=True, slots=True)
class Above:
    """Comments on lines of their own, before what follows. `None` is a blank line."""

    texts: tuple[str | None, ...]


Doc = Union[str, Line, Group, Indent, Fill, IfBroken, Trailing, Above, tuple["Doc", ...]]
_Task = tuple[int, bool, Doc]  # indentation, may its lines break, what


def forces_break(doc: Doc) -> bool:
    """Does something in it need a line of its own?"""
    stack: list[Doc] = [doc]
    while stack:
        match stack.pop():
            case Line(hard=True) | Trailing() | Above():
                return True
            case Group(content, broken):
                if broken:
                    return True
                stack.append(content)
            case Indent(content):
                stack.append(content)
            case Fill(items):
                stack.extend(items)
            case tuple() as parts:
                stack.extend(parts)
            case _:
                pass
    return False


def group(content: Doc) -> Group:
    return Group(content, forces_break(content))


def render(doc: Doc) -> str:
    """The text, without a final line feed."""
    page = _Page()
    stack: list[_Task] = [(0, True, doc)]
    while stack:
        at, breaks, part = stack.pop()
        match part:
            case str():
                page.write(part, at)
            case tuple():
                stack.extend((at, breaks, p) for p in reversed(part))
            case Indent(content, columns):
                stack.append((at + columns, breaks, content))
            case Line(flat, hard):
                if breaks or hard:
                    page.newline(at)
                else:
                    page.write(flat, at)
            case IfBroken(text):
                if breaks:
                    page.write(text, at)
            case Group(content, broken):
                task = (at, False, content)
                stack.append((at, True, content) if broken or not _fits(task, stack, page.room) else task)
            case Fill(items):
                tasks: list[_Task] = []
                for k, item in enumerate(items):
                    if k:
                        tasks.append((at, True, Group((Line(), item) if breaks else (" ", item))))
                    else:
                        tasks.append((at, breaks, item))
                stack.extend(reversed(tasks))
            case Trailing(text):
                page.trailing(text)
            case Above(texts):
                page.above(texts, at)
    return page.text()


def _fits(task: _Task, rest: list[_Task], room: int) -> bool:
    """Does `task` fit, unbroken, together with what follows up to the first line break?"""
    todo, behind = [task], len(rest)
    while room >= 0:
        if not todo:
            if behind == 0:
                return True
            behind -= 1
            todo.append(rest[behind])
        at, breaks, part = todo.pop()
        match part:
            case str():
                room -= len(part)
            case tuple():
                todo.extend((at, breaks, p) for p in reversed(part))
            case Indent(content) | Group(content, False):
                todo.append((at, breaks, content))
            case Group(content, _):
                if not breaks:
                    return False
                todo.append((at, True, content))
            case Line(flat, hard):
                if breaks or hard:
                    return True
                room -= len(flat)
            case IfBroken(text):
                room -= len(text) if breaks else 0
            case Fill(items):
                for k, item in reversed(list(enumerate(items))):
                    todo.append((at, breaks, item))
                    if k:
                        todo.append((at, breaks, Line()))
            case Trailing() | Above():
                return True
    return False


class _Page:
    """The lines so far, and comments that wait for the end of the current one."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.current = ""
        self.waiting: list[str] = []
        self.full = 0  # how long the current line was when the first of them came

    @property
    def room(self) -> int:
        return WIDTH - len(self.current)

    def write(self, text: str, indent: int) -> None:
        if self.waiting and text.strip() and text.strip() not in (",", ";", ")", "]"):
            self.newline(indent)
        self.current += text

    def newline(self, indent: int) -> None:
        lead = len(self.current) - len(self.current.lstrip(" "))
        line = self.current.rstrip()
        if self.waiting:
            *earlier, last = self.waiting  # one may end the line; what came before it stands above
            self.lines += [" " * lead + text for text in earlier]
            self.lines.append(f"{line}  {last}" if line else " " * lead + last)
            self.waiting = []
        elif line:
            self.lines.append(line)
        self.current = " " * indent

    def trailing(self, text: str) -> None:
        # above the first line it would stand among the documentation: signs behind go down instead
        if self.waiting and not self.lines:
            signs, self.current = self.current[self.full :].lstrip(), self.current[: self.full]
            self.newline(0)
            self.current = signs
        if not self.waiting:
            self.full = len(self.current)
        self.waiting.append(text)

    def above(self, texts: tuple[str | None, ...], indent: int) -> None:
        if self.current.strip() or self.waiting:
            self.newline(indent)
        lead = self.current or " " * indent
        for text in texts:
            if text is None:
                if self.lines and self.lines[-1]:
                    self.lines.append("")
            else:
                self.lines.append(lead + text)
        self.current = lead

    def text(self) -> str:
        self.newline(0)
        return "\n".join(self.lines).rstrip("\n")
