"""One face for tokenizers: Hugging Face files and objects, or a pair of functions; careful to import `tokenizers` for a file only, and to change no object."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gradarbiter.result import NotAsked

Ids = Sequence[int]
Spans = list[tuple[int, int]]


class Tokenizer:
    """``encode`` and ``decode`` without begin and end marks. ``pieces``: where the pre-tokenizer cuts, None where it cannot be seen."""

    content: str | None = None  # the tokenizer.json
    shortens = False  # truncates or pads when it is used as it is
    pieces: Callable[[str], Spans] | None = None

    def __init__(self, encode: Callable[[str], Ids], decode: Callable[[Ids], str]) -> None:
        self.encode, self.decode = encode, decode

    def normalized(self, text: str) -> str:
        """What is cut into pieces."""
        return text

    def token_spans(self, text: str) -> Spans:
        """Characters of each token, by what its first tokens decode to. A token that ends inside a character (U+FFFD) ends before it."""
        ids, spans, start = self.encode(text), [], 0
        for i in range(1, len(ids) + 1):
            end = len(self.decode(ids[:i]).rstrip("\ufffd"))
            spans.append((start, max(start, end)))
            start = max(start, end)
        return spans

    def one_byte_share(self, encoded: Sequence[Ids]) -> float:
        """Of the tokens, those that decode to less than a character, or to one of one byte."""
        known: dict[int, bool] = {}
        count = short = 0
        for ids in encoded:
            for token in ids:
                if token not in known:
                    text = self.decode([token])
                    known[token] = "\ufffd" in text or len(text.encode()) == 1
                short += known[token]
                count += 1
        return short / max(count, 1)


class HuggingFace(Tokenizer):
    def __init__(self, inner: Any) -> None:
        self.content = inner.to_str()
        self.shortens = inner.truncation is not None or inner.padding is not None
        inner = type(inner).from_str(self.content)  # a copy, so that the caller's keeps its truncation
        inner.no_truncation()
        inner.no_padding()
        super().__init__(
            lambda text: list(inner.encode(text, add_special_tokens=False).ids),
            lambda ids: str(inner.decode(list(ids), skip_special_tokens=False)),
        )
        self.inner = inner
        self.pieces = self._pieces if inner.pre_tokenizer is not None else None

    def normalized(self, text: str) -> str:
        return text if self.inner.normalizer is None else str(self.inner.normalizer.normalize_str(text))

    def _pieces(self, text: str) -> Spans:
        return [span for _, span in self.inner.pre_tokenizer.pre_tokenize_str(text)]


def opened(tokenizer: Any) -> Tokenizer:
    """Raises NotAsked where it is nothing that is known."""
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    if isinstance(tokenizer, str | Path):
        try:
            from tokenizers import Tokenizer as Inner
        except ImportError:
            raise NotAsked("a tokenizer.json is read with the package tokenizers: install it, or give a pair (encode, decode)") from None
        return HuggingFace(Inner.from_str(Path(tokenizer).read_text(encoding="utf-8")))
    inner = getattr(tokenizer, "backend_tokenizer", tokenizer)  # of a fast tokenizer of transformers
    if hasattr(inner, "to_str") and hasattr(inner, "pre_tokenizer"):
        return HuggingFace(inner)
    if isinstance(tokenizer, tuple) and len(tokenizer) == 2:
        return Tokenizer(*tokenizer)
    if hasattr(tokenizer, "convert_ids_to_tokens"):  # a slow one of transformers
        return Tokenizer(
            lambda text: tokenizer.encode(text, add_special_tokens=False),
            lambda ids: str(tokenizer.decode(list(ids), clean_up_tokenization_spaces=False)),
        )
    if hasattr(tokenizer, "encode") and hasattr(tokenizer, "decode"):
        return Tokenizer(tokenizer.encode, tokenizer.decode)
    raise NotAsked(
        f"a {type(tokenizer).__name__}: give a tokenizer.json, a tokenizer of tokenizers or transformers, or a pair (encode, decode)"
    )


def fingerprint(content: str) -> str:
    """SHA-256 of what decides the ids: the canonical JSON of a tokenizer.json without truncation and padding, which are a run's state."""
    kept = {key: value for key, value in json.loads(content).items() if key not in {"truncation", "padding"}}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def token_bytes(tokenizer: Any) -> list[bytes]:
    """The UTF-8 bytes of each id of a byte-level tokenizer, empty for special tokens; what turns nats a token into bits a byte, exactly.

    Raises:
        NotAsked: the tokenizer is not byte-level, so an id's bytes depend on its neighbours: give decode= instead.
    """
    of = opened(tokenizer)
    if not isinstance(of, HuggingFace) or json.loads(of.content or "{}").get("decoder", {}).get("type") != "ByteLevel":
        raise NotAsked("a tokenizer that is not byte-level has no bytes for each id: give decode=")
    alphabet = {character: byte for byte, character in _byte_characters().items()}
    special = {index for index, added in of.inner.get_added_tokens_decoder().items() if added.special}
    names = [of.inner.id_to_token(index) or "" for index in range(of.inner.get_vocab_size())]
    return [
        b"" if index in special else b"".join(bytes([alphabet[c]]) if c in alphabet else c.encode() for c in name)
        for index, name in enumerate(names)
    ]


def _byte_characters() -> dict[int, str]:
    """GPT-2's printable character for each byte."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    rest = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(rest)}
