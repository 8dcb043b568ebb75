"""Plain Python: pieces by ranges of code points, one BPE over byte strings, and str for the rest."""

import re

import numpy as np

LETTER = "A-Za-z\u0980-\u0983\u0985-\u09b9\u09bc-\u09ce\u09d7\u09dc-\u09e3\u09f0\u09f1\u200c\u200d"
DIGIT = "0-9\u09e6-\u09ef"
PIECE = re.compile(rf"'(?:[sdmt]|ll|ve|re)| ?[{LETTER}]+| ?[{DIGIT}]+| ?[^\s{LETTER}{DIGIT}]+|\s+(?!\S)|\s+")


def _text(codes):
    return "".join(map(chr, codes))


def _answer(text):
    return {"text": np.array([ord(c) for c in text]), "characters": np.array([len(text)])}


def _starts(codes):
    found = np.zeros(len(codes))
    found[[match.start() for match in PIECE.finditer(_text(codes))]] = 1
    return found


def pieces(bn, en):
    return {"bn": (b := _starts(bn)), "en": (e := _starts(en)), "ceiling": np.array([b.size / b.sum(), e.size / e.sum()])}


def _merged(flat, left, right, new):
    places = np.flatnonzero((flat[:-1] == left) & (flat[1:] == right))
    kept = []
    for place in places:  # left to right: of a run of one symbol every second pair
        if not kept or place > kept[-1] + 1:
            kept.append(place)
    flat[kept] = new
    return np.delete(flat, np.array(kept) + 1)


def bpe(bn, en):
    """All pieces in one row, -1 between them; of pairs that occur equally often np.unique puts the smaller first."""
    flat = []
    for codes in (bn, en):
        flat += [symbol for piece in PIECE.findall(_text(codes)) for symbol in (*piece.encode(), -1)] + [-2]
    flat = np.array(flat)
    for new in range(256, 656):
        inside = (flat[:-1] >= 0) & (flat[1:] >= 0)
        pairs, counts = np.unique(flat[:-1][inside] * 1000 + flat[1:][inside], return_counts=True)
        flat = _merged(flat, *divmod(pairs[counts.argmax()], 1000), new)
    end = np.flatnonzero(flat == -2)[0]
    return {"characters_a_token": np.array([len(bn) / (flat[:end] >= 0).sum(), len(en) / (flat[end:] >= 0).sum()])}


def marks(text):
    return _answer(_text(text).lower())


def _through_bytes(text):
    return _answer(_text(text).encode().decode())


def composed(text):
    return _through_bytes(text)


def joiners(text):
    return _through_bytes(text)


def prefix_space(text):
    return _through_bytes(text)


def unseen(text):
    return _through_bytes(text)


def byte_fallback(text):
    return _through_bytes(text)


def spaces(text):
    return _through_bytes(text)


def stream(text):
    return _through_bytes(text)
