"""Small tokenizers of every kind and combination of components, trained with the real library, by name."""

import io
import json
import os
import tempfile

import sentencepiece
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers)

import texts

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
BLOOM = " ?[^(\\s|[.,!?…。，、।۔،])]+"
# Kimi K2's: capital and small letters that are not Chinese.
CAPITAL, SMALL = [r"[\p{L%s}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]" % kind for kind in (r"u}\p{Lt", "l")]
KIMI = "|".join([r"[\p{Han}]+"]
                + [r"[^\r\n\p{L}\p{N}]?%s%s(?i:'s|'t|'re|'ve|'m|'ll|'d)?" % both
                   for both in ((CAPITAL + "*", SMALL + "+"), (CAPITAL + "+", SMALL + "*"))]
                + [r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"])
BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())


def special(content, **more):
    return AddedToken(content, special=True, normalized=False, **more)


def train(tokenizer, kind, size, tokens=(), **more):
    trainer = {"wordpiece": trainers.WordPieceTrainer, "bpe": trainers.BpeTrainer, "unigram": trainers.UnigramTrainer}[kind]
    tokenizer.train_from_iterator(texts.corpus(), trainer(vocab_size=size, special_tokens=list(tokens),
                                                          show_progress=False, **more))
    return tokenizer


def bert(lowercase=True, strip=None, chinese=True, clean=True, template=True, size=700):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(clean, chinese, strip, lowercase)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece(cleanup=lowercase)
    train(t, "wordpiece", size, [special(x) for x in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")])
    cls, sep = t.token_to_id("[CLS]"), t.token_to_id("[SEP]")
    if template:
        t.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1",
                                                         [("[CLS]", cls), ("[SEP]", sep)])
    else:
        t.post_processor = processors.BertProcessing(("[SEP]", sep), ("[CLS]", cls))
    return t


def mpnet():
    t = bert()
    t.add_special_tokens([special("<s>"), special("</s>"), special("<mask>", lstrip=True)])
    s, e = t.token_to_id("<s>"), t.token_to_id("</s>")
    t.post_processor = processors.TemplateProcessing("<s> $A </s>", "<s> $A </s> </s> $B </s>", [("<s>", s), ("</s>", e)])
    return t


def added():
    """Added tokens of all kinds in a lower-casing tokenizer."""
    t = bert()
    t.add_tokens([AddedToken("yesterday", normalized=True), AddedToken("Custom Token", normalized=True),
                  AddedToken("<CUSTOM>", normalized=False, lstrip=True, rstrip=True),
                  AddedToken("solo", single_word=True, normalized=True), AddedToken("naïvely", normalized=True),
                  AddedToken("<é>", normalized=True, rstrip=True), AddedToken("@@", normalized=False, single_word=True),
                  AddedToken("day", normalized=True), AddedToken("lazy", normalized=False, single_word=True, lstrip=True)])
    return t


def byte_level(regex=None, prefix=False, trim=True, normalizer=None, size=800, tokens=("<|endoftext|>",), ignore=False,
               use_regex=True):
    t = Tokenizer(models.BPE(ignore_merges=ignore))
    t.normalizer = normalizer
    if regex:
        t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(regex), "isolated"),
                                                   pre_tokenizers.ByteLevel(prefix, use_regex=False)])
    else:
        t.pre_tokenizer = pre_tokenizers.ByteLevel(prefix, use_regex=use_regex)
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=trim, add_prefix_space=prefix)
    return train(t, "bpe", size, [special(x) for x in tokens], initial_alphabet=BYTES)


def roberta(prefix=False, trim=True):
    t = byte_level(prefix=prefix, tokens=("<s>", "<pad>", "</s>", "<unk>"))
    t.add_special_tokens([special("<mask>", lstrip=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", t.token_to_id("</s>")), ("<s>", t.token_to_id("<s>")),
                                                    trim_offsets=trim, add_prefix_space=prefix)
    return t


def llama3():
    t = byte_level(LLAMA3, tokens=("<|begin_of_text|>", "<|endoftext|>"), ignore=True)
    begin = ("<|begin_of_text|>", t.token_to_id("<|begin_of_text|>"))
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        "<|begin_of_text|> $A", "<|begin_of_text|> $A <|begin_of_text|>:1 $B:1", [begin])])
    # Words of the vocabulary that no merges lead to.
    data = json.loads(t.to_str())
    for word in ("Ġjumps", "ĠÐ¼Ð¸ÑĢ", "fo"):
        data["model"]["vocab"].setdefault(word, len(data["model"]["vocab"]))
    return Tokenizer.from_str(json.dumps(data))


def llama(style="old"):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    train(t, "bpe", 900, [special(x) for x in ("<unk>", "<s>", "</s>")] + ["<0x%02X>" % i for i in range(256)])
    if style == "old":
        t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        t.pre_tokenizer = None
    else:
        t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    t.add_tokens([AddedToken("</w>", normalized=True)])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    t.post_processor = processors.TemplateProcessing("<s> $A", "<s> $A <s>:1 $B:1", [("<s>", t.token_to_id("<s>"))])
    return t


def gemma():
    """Spaces become another character before anything is cut, and runs of it and of lines are tokens by themselves."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    train(t, "bpe", 900, [special(x) for x in ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>")]
          + ["<0x%02X>" % i for i in range(256)])
    t.normalizer = normalizers.Replace(" ", "▁")
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    t.add_special_tokens([special("<start_of_turn>"), special("<end_of_turn>")])
    t.add_tokens([AddedToken(x, normalized=False) for x in ("\n\n", "\n\n\n", "▁▁", "▁▁▁▁", "\t\t", "<table>")])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    t.post_processor = processors.TemplateProcessing("<bos> $A", "<bos> $A <bos>:1 $B:1",
                                                     [("<bos>", t.token_to_id("<bos>"))])
    return t


def neox():
    """GPT-NeoX's, and with other runs Phi's: runs of spaces are added tokens."""
    t = byte_level(normalizer=normalizers.NFC(), trim=True)
    t.add_tokens([AddedToken(" " * n, normalized=True) for n in (8, 4, 3, 2)] + [AddedToken("\t\t", normalized=False)])
    return t


def starcoder():
    """Each digit by itself, then GPT-2's words."""
    t = byte_level(tokens=("<|endoftext|>", "<fim_prefix>"))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(False)])
    return t


def partial_bytes(fuse):
    """Byte tokens that are not all there, and unknown characters beside them."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=fuse, byte_fallback=True))
    t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    t.decoder = decoders.BPEDecoder()
    return train(t, "bpe", 500, [special("<unk>")] + ["<0x%02X>" % i for i in range(0x80, 0xE8)], limit_alphabet=60)


def subwords(kind):
    """continuing_subword_prefix or end_of_word_suffix, without an unknown token or with one."""
    more = {"continuing_subword_prefix": "##"} if kind == "prefix" else {"end_of_word_suffix": "</w>"}
    t = Tokenizer(models.BPE(unk_token="<unk>" if kind == "suffix" else None, **more))
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    t.decoder = decoders.BPEDecoder(suffix="</w>") if kind == "suffix" else decoders.WordPiece()
    return train(t, "bpe", 700, [special("<unk>")], **more)


RULES = [("\r\n", " "), ("\t", " "), ("\n", " "), ("\r", " "), ("\u00a0", " "), ("\u3000", " "), ("\u200b", ""), ("\u00ad", ""),
         ("\u0001", ""), ("\ufeff", ""), ("\ufb01", "fi"), ("\ufb02", "fl"), ("\ufb03", "ffi"), ("\u00bd", "1/2"), ("\u2026", "..."),
         ("e\u0301", "é"), ("a\u0308", "ä"), ("\u212b", "Å"), ("\u2126", "Ω"), ("\uff76", "カ"), ("\uff8a\uff9e", "バ"),
         ("\uff8a", "ハ"), ("\uff9e", "\u3099"), ("\u3314", "キロ"), ("\u2460", "1"), ("\u00b2", "2"), ("\u2122", "TM"),
         ("\u1100\u1161", "가"), ("\u0130", "i"), ("A", "A"), ("\u0344", "\u0308\u0301"), ("\U0001d518", "U")]


def charsmap(full):
    """A map of characters by sentencepiece: its own nmt_nfkc, or a small one."""
    with tempfile.TemporaryDirectory() as folder:
        rules = os.path.join(folder, "rules.tsv")
        with open(rules, "w", newline="") as f:
            for source, target in RULES:
                f.write(" ".join("%X" % ord(c) for c in source) + "\t" + " ".join("%X" % ord(c) for c in target) + "\n")
        more = {"normalization_rule_name": "nmt_nfkc"} if full else {"normalization_rule_tsv": rules}
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(texts.corpus()), model_writer=model, vocab_size=400,
                                                 hard_vocab_limit=False, minloglevel=2, **more)
    from sentencepiece import sentencepiece_model_pb2
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return proto.normalizer_spec.precompiled_charsmap


def unigram(full=False, family="xlmr", fallback=False):
    t = Tokenizer(models.Unigram())
    map_ = normalizers.Precompiled(charsmap(full))
    metaspace = pre_tokenizers.Metaspace()
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace])
    tokens = {"xlmr": ("<s>", "<pad>", "</s>", "<unk>"), "t5": ("<pad>", "</s>", "<unk>"), "albert": ("<pad>", "<unk>", "[CLS]", "[SEP]"),
              "deberta": ("[PAD]", "[CLS]", "[SEP]", "[UNK]"),
              }[family]
    tokens = [special(x) for x in tokens] + (["<0x%02X>" % i for i in range(256)] if fallback else [])
    train(t, "unigram", 900, tokens, unk_token="[UNK]" if family == "deberta" else "<unk>")
    t.decoder = decoders.Metaspace()
    t.normalizer = map_
    if family == "xlmr":
        t.normalizer = normalizers.Sequence([map_, normalizers.Strip(left=False), normalizers.Replace(Regex(" {2,}"), "▁")])
        t.pre_tokenizer = metaspace
        t.add_special_tokens([special("<mask>", lstrip=True)])
        s, e = t.token_to_id("<s>"), t.token_to_id("</s>")
        t.post_processor = processors.TemplateProcessing("<s> $A </s>", "<s> $A </s> </s> $B </s>", [("<s>", s), ("</s>", e)])
    elif family == "t5":
        t.add_special_tokens([special("<extra_id_%d>" % i) for i in range(2)])
        t.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", t.token_to_id("</s>"))])
    elif family == "deberta":
        t.normalizer = normalizers.Sequence([normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "), normalizers.NFC(),
                                             normalizers.Strip(left=False)])
        t.pre_tokenizer = pre_tokenizers.Sequence([metaspace])
        t.add_special_tokens([special("[MASK]")])
        t.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [
            ("[CLS]", t.token_to_id("[CLS]")), ("[SEP]", t.token_to_id("[SEP]"))])
    else:
        t.normalizer = normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(),
                                             normalizers.StripAccents(), normalizers.Lowercase(), map_])
        t.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [
            ("[CLS]", t.token_to_id("[CLS]")), ("[SEP]", t.token_to_id("[SEP]"))])
    if fallback:
        data = json.loads(t.to_str())
        data["model"]["byte_fallback"] = True
        t = Tokenizer.from_str(json.dumps(data))
    return t


def pieces(pre, normalizer=None, model="wordpiece"):
    """A combination of components with a small model after it."""
    if model == "wordpiece":
        t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20))
        t.decoder = decoders.WordPiece()
    else:
        t = Tokenizer(models.BPE(unk_token="[UNK]"))
    t.pre_tokenizer = pre
    t.normalizer = normalizer
    return train(t, model, 500, [special("[UNK]")])


N, P = normalizers, pre_tokenizers


def split(pattern, behavior, invert=False):
    return P.Split(Regex(pattern) if pattern[0] != "=" else pattern[1:], behavior, invert)


MAKERS = {
    "bert_uncased": lambda: bert(),
    "bert_cased": lambda: bert(lowercase=False, template=False),
    "bert_accents": lambda: bert(lowercase=True, strip=False, chinese=False),
    "bert_unclean": lambda: bert(lowercase=False, strip=True, clean=False),
    "mpnet": mpnet,
    "added": added,
    "gpt2": lambda: byte_level(trim=False),
    "bytes_prefix": lambda: byte_level(prefix=True),
    "bytes_whole": lambda: byte_level(use_regex=False, normalizer=N.NFKC()),
    "roberta": lambda: roberta(),
    "roberta_prefix": lambda: roberta(True),
    "qwen2": lambda: byte_level(QWEN2, normalizer=N.NFC(), trim=False, tokens=("<|endoftext|>", "<|im_start|>", "<|im_end|>")),
    "llama3": llama3,
    "llama_old": lambda: llama("old"),
    "llama_new": lambda: llama("new"),
    "partial_bytes": lambda: partial_bytes(False),
    "partial_fused": lambda: partial_bytes(True),
    "prefix": lambda: subwords("prefix"),
    "suffix": lambda: subwords("suffix"),
    "xlmr": lambda: unigram(),
    "t5": lambda: unigram(True, "t5"),
    "albert": lambda: unigram(False, "albert"),
    "deberta": lambda: unigram(False, "deberta"),
    "unigram_bytes": lambda: unigram(False, "t5", True),
    "digits": lambda: pieces(P.Sequence([P.WhitespaceSplit(), P.Digits(True), P.Punctuation("contiguous")]), N.NFD()),
    "digits_runs": lambda: pieces(P.Sequence([P.Digits(False), P.Punctuation("merged_with_previous"), P.Whitespace()]), N.NFKD()),
    "punctuation": lambda: pieces(P.Sequence([P.Punctuation("merged_with_next"), P.WhitespaceSplit()]), N.Lowercase(), "bpe"),
    "removed": lambda: pieces(P.Sequence([P.Punctuation("removed"), split(r"\s+", "removed")]), N.Nmt()),
    "split_next": lambda: pieces(split(r"[\p{P}\s]", "merged_with_next"), N.Strip(), "bpe"),
    "split_previous": lambda: pieces(split("= ", "merged_with_previous"), N.Sequence([N.Strip(), N.StripAccents()]), "bpe"),
    "split_contiguous": lambda: pieces(split(r"\d|\s|\W", "contiguous"), N.NFKC(), "bpe"),
    "split_inverted": lambda: pieces(split(r"\w+|\p{Han}", "removed", True), N.Replace(Regex(r"(.)\s?"), "x"), "bpe"),
    "split_empty": lambda: pieces(split(r"(?=\p{Lu})|\p{N}*", "isolated"), N.Sequence([N.Prepend("é"), N.Replace("e", "é")]), "bpe"),
    "replace_empty": lambda: pieces(P.Metaspace(prepend_scheme="never"), N.Sequence([N.NFC(), N.Replace(Regex(r"\p{Lu}*"), "-")]), "bpe"),
    "byte_normalizer": lambda: pieces(P.Whitespace(), N.Sequence([N.NFD(), N.ByteLevel()]), "bpe"),
    "plain": lambda: pieces(None, None, "bpe"),
    "gemma": gemma,
    "neox": neox,
    "starcoder": starcoder,
    "bloom": lambda: byte_level(BLOOM, trim=False),
    "kimi": lambda: byte_level(KIMI, trim=False),
    "sets": lambda: pieces(split(r"[\w&&[^\d_]]+|[^\s\w[.,;]]+|[[:digit:]\p{No}&&[^²³]]+|[\P{L}&&\S]|[^\S&&[^\n]]+", "isolated")),
    "edges": lambda: pieces(split(r"\b[[:alpha:]]+\b|\B\p{M}+|\w\B|\R|\H\h{2}|\b\O", "isolated")),
}
