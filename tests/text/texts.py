"""Nasty texts for tokenizers, the same at every run: bytes, not all of them UTF-8."""

import random

WORDS = """the quick brown fox jumps over lazy dogs and it's we've they're I'm don't can't won't he'll you'd O'Neill
naïve café Ångström Ærøskøbing œuvre straße groß ſtraſse Zürich mañana São Tomé ﬁ ﬂ ﬃ oﬃce ﬆ
Привет мир Ёлка съешь ещё этих мягких французских булок Україна Ўзбек
Ελληνικά Ὀδυσσεύς ΣΊΣΥΦΟΣ σοφός ἀρχή
العربية مرحبا بالعالم ٱلسَّلَامُ عَلَيْكُمْ فارسی می‌خواهم
עברית שָׁלוֹם עוֹלָם
हिन्दी नमस्ते दुनिया क्षत्रिय தமிழ் வணக்கம் తెలుగు ಕನ್ನಡ മലയാളം বাংলা ਪੰਜਾਬੀ ગુજરાતી සිංහල
ภาษาไทย สวัสดีชาวโลก ລາວ မြန်မာ ខ្មែរ
中文 你好世界 漢字 龍龘 㐀㐁 𠀀𪚥 豈更 ⺀⺁ 日本語 ひらがな カタカナ ｶﾀｶﾅ ﾊﾞﾋﾟ ㌔㍍ ㊗ 〜 々 한국어 안녕하세요 각갂
ქართული Հայերեն ኢትዮጵያ ᏣᎳᎩ ᐃᓄᒃᑎᑐᑦ བོད་སྐད་ ᠮᠣᠩᠭᠣᠯ 𐌰𐌱𐌲 𓀀𓁐 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟘𝟙𝟚 Ⅷ ⅷ ½ ² ① ٣٤٥ १२३ ๔๕๖ 〇一二
İstanbul ISPARTA ılık İ i̇ K Å Ω ǅ Ǆ ẞ""".split()

EMOJI = ["😀", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "🇫🇷🇯🇵", "❤️", "☎️", "1️⃣", "🧑🏿‍🚀", "🤷‍♀️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "™", "©️", "🫠", "🪿"]

SPACES = [" ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", "\r", " \n ", "\u00a0", "\u2003", "\u2009", "\u200b", "\u3000",
          "\u2028", "\u2029", "\u0085", "\u000b", "\u000c", "\u202f", "\u205f", "\u1680", "\u180e", "\ufeff", "\u200a "]

CONTROLS = ["\0", "\x01", "\x07", "\x08", "\x1b[31m", "\x7f", "\x9f", "\u200c", "\u200d", "\u200e", "\u200f", "\u202a",
            "\u202e", "\u2066", "\u2069", "\u00ad", "\ufffd", "\ufffe", "\uffff", "\U000e0001", "\U000e0041",
            "\U0010ffff", "\ue000", "\U000f0000", "\u0378", "\u0380", "\U0003fffd", "\u0890", "\u08e2", "\U00013430",
            "\u2fff", "\U0001fbf0", "\u32ff", "\U00010d40", "\U00011f02", "\u1cfa", "\U0001e4ec", "\u0897", "\u1c89"]

MARKS = ["\u0301", "\u0308", "\u0323", "\u0327", "\u0334", "\u0338", "\u0345", "\u05b0", "\u064b", "\u0651", "\u093c",
         "\u094d", "\u0e38", "\u0f71", "\u1dfa", "\u20dd", "\u3099", "\u309a", "\ufe0f", "\U0001d165", "\u0344", "\u0340",
         "\u0c3c", "\u08d5", "\U0001e08f", "\u0903", "\u0488"]

PUNCTUATION = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + ["…", "—", "–", "“", "”", "‘", "’", "«", "»", "¿", "¡", "§", "¶", "·",
               "•", "‰", "†", "，", "。", "、", "「", "」", "！", "？", "～", "€", "£", "¥", "₿", "°", "±", "×", "÷", "→", "∑", "∞",
               "\u166d", "\u2e43", "\u2e52", "\ua8ce", "\U000111c9", "``", "''", "...", "--", "!!!", "?!", "$1", "\\1"]

NUMBERS = ["0", "7", "42", "007", "123", "1234", "12345", "123456789", "3.14159", "1,000,000", "1e-5", "0xDEADBEEF",
           "+49 30 1234567", "192.168.0.1", "2024-02-29T23:59:60Z", "50%", "€5", "²³", "1st", "½cup", "٢٠٢٤", "x86_64"]

SPECIAL = ["[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]", "[cls]", "[ MASK ]", "[MASK][MASK]", "<s>", "</s>", "<unk>", "<pad>",
           "<mask>", "<extra_id_0>", "<extra_id_1>", "<|endoftext|>", "<|begin_of_text|>", "<|im_start|>user\n", "<|im_end|>",
           "<0x41>", "<0x00>", "▁", "▁▁", "▁the", "Ġ", "Ġthe", "Ċ", "##ing", "##", "</w>", "the</w>", "yesterday", "YESTERDAY",
           "@@", "<CUSTOM>", "custom token", "Custom Token", "solo", "solos", "solo.", "(solo)", "_solo", "naïvely",
           "<e\u0301>", "<é>", "\t<tab>"]

TECH = ["https://example.com/a/b?c=d&e=f#g", "user.name+tag@example.co.uk", "C:\\Windows\\System32", "/usr/lib/x.so.1",
        "def f(x):\n    return x ** 2\n", "if (a && b || !c) { i++; }", "#include <stdio.h>", "SELECT * FROM t WHERE a='b';",
        "<div class=\"x\">&nbsp;</div>", "\\frac{a}{b}", "a_b_c aB cDe FOO_BAR", "e.g. i.e. U.S.A.", "http://ex%20ample",
        "ACGTACGTACGT", "aaaaaaaaaaaaaaaaaaaaaaaaa", "ababababababab", "\"\\u00e9\\n\"", "git commit -m 'x'", "#hashtag @mention",
        "x = {1: [2, 3], 'a': None}\n\n\n# end", "      indented", "trailing   ", "\tif x:\n\t\ty\n"]

INVALID = [b"\x80", b"\xff", b"\xc3", b"\xc3(", b"\xe2\x82", b"\xe2\x28\xa1", b"\xf0\x9f\x98", b"\xf0\x28\x8c\xbc", b"\xed\xa0\x80",
           b"\xed\xbf\xbf", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xfe\xff", b"a\xccb",
           b"\xe4\xb8", b"\xf0\x90", b"\x80\x80\x80", b"\xc3\xa9\xc3", b"\xf0\x9f\x91\xa8\xe2\x80", b"\xe2\x80\xe2\x80\x8d"]


def fixed():
    """Each nasty thing by itself and between words."""
    texts = [b"", b" ", b"a", b"  a  b  ", b"\n", b"\0"]
    for group in (WORDS, EMOJI, SPACES, CONTROLS, MARKS, PUNCTUATION, NUMBERS, SPECIAL, TECH):
        for item in group:
            texts.append(item.encode())
            texts.append(("a" + item + "b").encode())
            texts.append(("x " + item + " " + item + "y").encode())
    for item in INVALID:
        texts += [item, b"ab" + item + b"cd", b"\xc3\xa9 " + item + b" " + item]
    for length in (99, 100, 101, 199, 300):
        texts.append(b"a" * length)
        texts.append("é".encode() * length)
    texts.append(("e" + "\u0301\u0323" * 40 + "x").encode())
    texts.append(b" " * 120)
    texts.append(b"\n" * 70 + b" x")
    texts.append(b"ha" * 90)
    texts.append(("\U0001f468\u200d" * 30).encode())
    texts.append(b"0123456789" * 13)
    texts.append(("".join(chr(0x0300 + i) for i in range(64))).encode())
    return texts


GROUPS = [WORDS] * 8 + [EMOJI, SPACES, CONTROLS, MARKS, PUNCTUATION, PUNCTUATION, NUMBERS, NUMBERS, SPECIAL, TECH]


def drawn(seed, count):
    """Random mixtures, random code points among them."""
    draw = random.Random(seed)
    texts = []
    for _ in range(count):
        parts = []
        for _ in range(draw.randint(1, 12)):
            kind = draw.random()
            if kind < 0.06:
                parts.append(chr(draw.choice([draw.randrange(0x20, 0x3000), draw.randrange(0xE000, 0x20000),
                                              draw.randrange(0x20000, 0x40000)])).encode())
            elif kind < 0.08:
                parts.append(draw.choice(INVALID))
            elif kind < 0.11:
                word = draw.choice(WORDS)
                parts.append((word[:1] + draw.choice(MARKS) * draw.randint(1, 3) + word[1:]).encode())
            else:
                parts.append(draw.choice(draw.choice(GROUPS)).encode())
            if draw.random() < 0.6:
                parts.append(b" ")
        texts.append(b"".join(parts))
    return texts


def corpus():
    """What tokenizers are trained on: some of the words, so that others are unknown."""
    draw = random.Random(1)
    known = [w for i, w in enumerate(WORDS) if i % 3 != 2] + NUMBERS[:8] + [p for p in PUNCTUATION[:32]]
    lines = []
    for _ in range(1500):
        lines.append(" ".join(draw.choice(known) for _ in range(draw.randint(2, 12))))
    for item in TECH + EMOJI[:8]:
        lines += [item] * 3
    return lines
