"""What the Rust compiler said: where an error is, and whether the framework lacks a name; careful to say so only where it is sure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Span:
    file: str  # as rustc names it: absolute for a `#[path]` file, relative to the crate else
    line: int
    byte: int  # offset in the file
    before: str  # what stands before it on its line


@dataclass(frozen=True, kw_only=True)
class Error:
    code: str  # E0425; empty for a syntax error
    message: str
    rendered: str
    spans: tuple[Span, ...]  # primary first, then where a macro was called, then those of its notes
    notes: str  # the texts of its notes and helps


def errors(stdout: str, binary: str) -> list[Error]:
    """The compiler's errors for ``binary`` in the output of ``cargo build --message-format=json``, in their order."""
    found = []
    for line in stdout.splitlines():
        said = json.loads(line) if line.startswith("{") else {}
        if said.get("reason") == "compiler-message" and said["target"]["name"] == binary and said["message"]["level"].startswith("error"):
            found.append(_error(said["message"]))
    return found


def rendered(stdout: str) -> str:
    """Every error of a build as a person reads it, dependencies included: cargo's own stderr leaves them out."""
    said = (json.loads(line) for line in stdout.splitlines() if line.startswith("{"))
    return "\n".join(
        m["message"]["rendered"] for m in said if m.get("reason") == "compiler-message" and m["message"]["level"].startswith("error")
    )


def _error(message: dict[str, Any]) -> Error:
    own = sorted(message["spans"], key=lambda s: not s["is_primary"])
    children = message["children"]
    spans = [span for s in [*own, *(s for child in children for s in child["spans"])] for span in _outwards(s)]
    return Error(
        code=(message["code"] or {}).get("code", ""),
        message=message["message"],
        rendered=message["rendered"],
        spans=tuple(spans),
        notes="\n".join([*(s["label"] or "" for s in own), *(child["message"] for child in children)]),
    )


def _outwards(span: dict[str, Any] | None) -> Iterator[Span]:
    """The span, and for one inside a macro the places that called it."""
    while span:
        before = span["text"][0]["text"][: span["text"][0]["highlight_start"] - 1] if span["text"] else ""
        yield Span(file=span["file_name"], line=span["line_start"], byte=span["byte_start"], before=before)
        span = (span["expansion"] or {}).get("span")


PATH = re.compile(r"(\w+)(?:\s*::\s*\w+)*\s*::\s*$")  # the path that stands before a name
USE = re.compile(r"\buse\s+(?:::)?(\w+)\s*(?:::([^;]+)|\s+as\s+(\w+)\s*);")
OWNER = re.compile(
    r"found for .*?`(?:&(?:mut )?)*([\w:]+)|no field .* on type `(?:&(?:mut )?)*([\w:]+)|^(?:struct|variant) `([\w:]+).*` has no field"
)
# Said where the name exists after all: behind a feature our pin leaves off, or in a trait the run file does not import.
EXISTS = ("configured out", "is gated", "not in scope", "consider importing", "unlinked crate")


def is_absent(error: Error, source: str, crates: Collection[str], declares: Callable[[str], bool]) -> bool:
    """Whether ``error`` is a name that the framework's crates (as Rust spells them) do not have.

    A name is the framework's where its path starts at one of its crates, directly or through an import of ``source``, or where the type
    it is looked for on is one that the framework's own source declares. A bare name may be a slip of ours, and is not.
    """
    if any(text in error.notes for text in EXISTS):
        return False

    def ours(root: str) -> bool:
        return root in crates or any(alias == root and crate in crates for alias, crate in _imports(source))

    if error.code == "E0432":  # the message has the full path, also from inside a group
        paths = re.findall(r"`(?:::)?(\w+)[^`]*`", error.message)
        return bool(paths) and all(ours(root) for root in paths)
    if error.code in ("E0405", "E0412", "E0422", "E0425", "E0433", "E0531"):
        path = PATH.search(error.spans[0].before) if error.spans else None
        return path is not None and ours(path[1])
    owner = OWNER.search(error.message) if error.code in ("E0560", "E0599", "E0609") else None
    if owner is None:
        return False
    root, qualified, _ = next(filter(None, owner.groups())).partition("::")
    # rustc shortens `candle_nn::RmsNorm` to `RmsNorm`, and std's types likewise: ask the framework's source whose it is.
    return root in crates if qualified else declares(root)


def _imports(source: str) -> Iterator[tuple[str, str]]:
    """(name a `use` brings in, crate it comes from), roughly: every word of its tree counts."""
    for use in USE.finditer(source):
        for alias in re.findall(r"\w+", use[2] or use[3]):
            yield alias, use[1]


def declares(name: str, stdout: str, framework: str) -> bool:
    """Whether one of the framework's crates, as far as the build got them, has a public type ``name`` in its source."""
    declaration = re.compile(rf"\bpub (?:struct|enum|trait|union|type) {name}\b")
    roots = set()
    for line in stdout.splitlines():
        said = json.loads(line) if line.startswith("{") else {}
        if said.get("reason") == "compiler-artifact" and re.match(rf"{framework}(_|$)", said["target"]["name"].replace("-", "_")):
            roots.add(Path(said["target"]["src_path"]).parent)
    return any(declaration.search(path.read_text(errors="replace")) for root in sorted(roots) for path in root.rglob("*.rs"))


# --------------------------------------------------------------------------------------------------------- what to leave out


@dataclass(frozen=True, kw_only=True)
class Part:
    """A top-level item of a run file, with the comments and attributes before it."""

    name: str  # empty for a `use`; of an `impl`, its type
    start: int
    end: int
    is_function: bool
    words: frozenset[str]  # names of this file it may stand on
    calls: frozenset[str]  # those it calls


def parts(source: bytes) -> list[Part]:
    """The items of a run file; none where it does not parse, as no cut in it would be safe."""
    import tree_sitter_rust
    from tree_sitter import Language, Node, Parser

    root = Parser(Language(tree_sitter_rust.language())).parse(source).root_node
    if root.has_error:
        return []

    def leaves(node: Node) -> Iterator[Node]:
        if node.type in ("identifier", "type_identifier"):
            yield node
        for child in node.children:
            yield from leaves(child)

    found: list[Part] = []
    start = None
    for node in root.children:
        start = node.start_byte if start is None else start
        if node.type in ("attribute_item", "line_comment", "block_comment"):
            continue
        named = node.child_by_field_name("type" if node.type == "impl_item" else "name")
        name = re.match(rb"(?:r#)?(\w*)", named.text or b"") if named else None
        free = [n for n in leaves(node) if not source[: n.start_byte].rstrip().endswith((b".", b"::", b"fn"))]
        called = [n for n in free if source[n.end_byte :].lstrip().startswith((b"(", b"::"))]
        found.append(
            Part(
                name=name[1].decode() if name else "",
                start=start,
                end=node.end_byte,
                is_function=node.type == "function_item",
                words=frozenset((n.text or b"").decode() for n in free),
                calls=frozenset((n.text or b"").decode() for n in called),
            )
        )
        start = None
    return found


def standing_on(broken: str, items: list[Part]) -> set[str]:
    """``broken`` and every item that cannot compile without it."""
    functions = {part.name for part in items if part.is_function}
    out, size = {broken}, 0
    while len(out) > size:
        size = len(out)
        out |= {part.name for part in items if part.name and (part.calls & out or (part.words & out) - functions)}
    return out


def without(source: bytes, names: Collection[str], items: list[Part]) -> bytes:
    """The file with those items blanked, every other byte at its place: the compiler's line numbers stay true."""
    text = bytearray(source)
    for part in items:
        if part.name in names:
            text[part.start : part.end] = re.sub(rb"[^\n]", b" ", text[part.start : part.end])
    return bytes(text)
