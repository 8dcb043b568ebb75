"""The way out of each trap."""

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?[\p{L}\p{M}\u200c\u200d]+| ?\p{N}+| ?[^\s\p{L}\p{M}\p{N}\u200c\u200d]+|\s+(?!\S)|\s+"


def _text(codes):
    return "".join(map(chr, codes))


def _answer(text):
    return {"text": np.array([ord(c) for c in text], dtype=np.int64), "characters": np.array([len(text)])}


def _bytelevel(texts, merges):
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(PATTERN), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=256 + merges, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def pieces(bn, en):
    split, found = pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"), {}
    for name, codes in (("bn", bn), ("en", en)):
        found[name] = np.zeros(len(codes))
        found[name][[start for _, (start, _) in split.pre_tokenize_str(_text(codes))]] = 1
    return {**found, "ceiling": np.array([len(found[name]) / found[name].sum() for name in ("bn", "en")])}


def bpe(bn, en):
    texts = [_text(bn), _text(en)]
    tokenizer = _bytelevel(texts, merges=400)
    return {"characters_a_token": np.array([len(text) / len(tokenizer.encode(text).ids) for text in texts])}


def marks(text):
    return _answer(normalizers.BertNormalizer(strip_accents=False, handle_chinese_chars=False).normalize_str(_text(text)))


def joiners(text):
    return _answer(normalizers.BertNormalizer(clean_text=False, lowercase=False, handle_chinese_chars=False).normalize_str(_text(text)))


def _decoded(text):
    tokenizer = _bytelevel(["Bangla: the quick brown fox"], merges=20)
    return _answer(tokenizer.decode(tokenizer.encode(_text(text)).ids))


def prefix_space(text):
    return _decoded(text)


def unseen(text):
    return _decoded(text)


def byte_fallback(text):
    vocabulary = {c: i for i, c in enumerate(["B", *(f"<0x{byte:02X}>" for byte in range(256))])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True))
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    return _answer(tokenizer.decode(tokenizer.encode(_text(text)).ids))
