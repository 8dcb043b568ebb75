"""Each part with its defaults. A text comes and goes as code points."""

import numpy as np
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers


def _text(codes):
    return "".join(map(chr, codes))


def _answer(text):
    return {"text": np.array([ord(c) for c in text], dtype=np.int64), "characters": np.array([len(text)])}


def _starts(pre_tokenizer, codes):
    found = np.zeros(len(codes))
    found[[start for _, (start, _) in pre_tokenizer.pre_tokenize_str(_text(codes))]] = 1
    return found


def pieces(bn, en):
    found = {name: _starts(pre_tokenizers.ByteLevel(add_prefix_space=False), codes) for name, codes in (("bn", bn), ("en", en))}
    return {**found, "ceiling": np.array([len(found[name]) / found[name].sum() for name in ("bn", "en")])}


def _bytelevel(pre_tokenizer, texts, merges):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizer, decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=256 + merges, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def bpe(bn, en):
    texts = [_text(bn), _text(en)]
    tokenizer = _bytelevel(pre_tokenizers.ByteLevel(add_prefix_space=False), texts, merges=400)
    return {"characters_a_token": np.array([len(text) / len(tokenizer.encode(text).ids) for text in texts])}


def marks(text):
    return _answer(normalizers.BertNormalizer(handle_chinese_chars=False).normalize_str(_text(text)))


def composed(text):
    return _answer(normalizers.NFC().normalize_str(_text(text)))


def joiners(text):
    return _answer(normalizers.BertNormalizer(lowercase=False, handle_chinese_chars=False).normalize_str(_text(text)))


def _decoded(tokenizer, text):
    return _answer(tokenizer.decode(tokenizer.encode(_text(text)).ids))


def prefix_space(text):
    return _decoded(_bytelevel(pre_tokenizers.ByteLevel(), [_text(text)], merges=20), text)


def unseen(text):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.train_from_iterator(["Bangla: the quick brown fox jumps over the lazy dog."], trainers.BpeTrainer(show_progress=False))
    tokenizer.decoder = decoders.Fuse()
    return _decoded(tokenizer, text)


def byte_fallback(text):
    vocabulary = {c: i for i, c in enumerate("Bangla: ")}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True))
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    return _decoded(tokenizer, text)


def spaces(text):
    return _answer("".join(piece for piece, _ in pre_tokenizers.UnicodeScripts().pre_tokenize_str(_text(text))))


def stream(text):
    tokenizer = _bytelevel(pre_tokenizers.ByteLevel(add_prefix_space=False), [_text(text)], merges=20)
    decoded = decoders.DecodeStream()
    steps = [decoded.step(tokenizer, token) for token in tokenizer.encode(_text(text)).ids]
    return _answer("".join(step or "" for step in steps))
