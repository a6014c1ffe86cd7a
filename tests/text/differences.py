"""Where the Unicode tables of Hugging Face's tokenizers differ from those of utf8proc and PCRE2.

Asks the real library about every code point and writes what differs as ranges: for utf8proc to
runtime/text/differences.h, for PCRE2 to gen/text/differences.lua.

    python3 -m venv V && V/bin/pip install tokenizers==0.23.3
    V/bin/python tests/text/differences.py [--check]
"""

import ctypes
import ctypes.util
import os
import sys
import textwrap

from tokenizers import Regex, normalizers, pre_tokenizers

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
utf8proc = ctypes.CDLL(ctypes.util.find_library("utf8proc"))
pcre2 = ctypes.CDLL(ctypes.util.find_library("pcre2-8"))
POINTS = [p for p in range(0x110000) if not 0xD800 <= p < 0xE000]
EVERY = "".join(map(chr, POINTS))

CATEGORIES = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co".split()
# Properties that patterns may name; the library's regular expressions are Oniguruma's.
PROPERTIES = "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp Alphabetic".split()
SCRIPTS = "Han Hiragana Katakana Hangul Latin Cyrillic Greek Arabic Hebrew Thai Devanagari Armenian Bengali".split()


def category(point):
    return CATEGORIES[utf8proc.utf8proc_category(point)]


def ranges(points):
    out = []
    for point in sorted(points):
        if out and out[-1][1] == point - 1:
            out[-1][1] = point
        else:
            out.append([point, point])
    return out


def differing(ours, theirs):
    return ranges(p for p in POINTS if ours(p) != theirs(p))


class Property(ctypes.Structure):
    _fields_ = [("category", ctypes.c_int16), ("combining", ctypes.c_int16)]


utf8proc.utf8proc_get_property.restype = ctypes.POINTER(Property)


def combining(point):
    return utf8proc.utf8proc_get_property(point).contents.combining


def decomposed(point, compatible):
    buffer = (ctypes.c_int32 * 64)()
    options = (1 << 1) | (1 << 4) | (1 << 2 if compatible else 0)
    boundary = ctypes.c_int(0)
    count = utf8proc.utf8proc_decompose_char(point, buffer, 64, options, ctypes.byref(boundary))
    points = list(buffer[:count])
    for i in range(1, len(points)):  # canonical order
        j = i
        while j and combining(points[j]) and combining(points[j - 1]) > combining(points[j]):
            points[j], points[j - 1] = points[j - 1], points[j]
            j -= 1
    return "".join(map(chr, points))


def same_class(point):
    """Whether the library moves this mark as its combining class says."""
    ours = combining(point)
    if not ours:
        return True
    nfd = normalizers.NFD()
    if ours > 1:
        return nfd.normalize_str("a" + chr(point) + "\u0334")[1] == "\u0334"
    return nfd.normalize_str("a\u0301" + chr(point))[1] == chr(point)


def unicode_differences():
    clean = normalizers.BertNormalizer(True, False, False, False)
    strip = normalizers.BertNormalizer(False, False, True, False)
    accents, lower = normalizers.StripAccents(), normalizers.Lowercase()
    nfd, nfkd = normalizers.NFD(), normalizers.NFKD()
    cut = lambda pre: (lambda p: len(pre.pre_tokenize_str("a" + chr(p) + "a")) == 3)
    ascii_symbols = set(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    lists = {}
    lists["control"] = differing(
        lambda p: p not in (9, 10, 13) and category(p) in ("Cc", "Cf", "Co") or p == 0xFFFD,
        lambda p: clean.normalize_str(chr(p)) == "")
    lists["nonspacing"] = differing(
        lambda p: all(category(ord(c)) == "Mn" for c in decomposed(p, False)),
        lambda p: strip.normalize_str(chr(p)) == "")
    lists["punctuation"] = differing(
        lambda p: p in ascii_symbols or category(p)[0] == "P", cut(pre_tokenizers.Punctuation()))
    lists["mark"] = differing(lambda p: category(p)[0] == "M", lambda p: accents.normalize_str(chr(p)) == "")
    lists["number"] = differing(lambda p: category(p)[0] == "N", cut(pre_tokenizers.Digits(True)))
    lists["white"] = differing(
        lambda p: 9 <= p <= 13 or p in (0x85,) or category(p)[0] == "Z",
        lambda p: len(pre_tokenizers.WhitespaceSplit().pre_tokenize_str("a" + chr(p) + "a")) == 2)
    # Marks and decompositions newer than the library's tables: it does not change such code points.
    lists["inert"] = ranges(p for p in POINTS if not same_class(p)
                            or nfd.normalize_str(chr(p)) != decomposed(p, False)
                            or nfkd.normalize_str(chr(p)) != decomposed(p, True))
    for low, high in lists["inert"]:
        for p in range(low, high + 1):
            assert nfkd.normalize_str(chr(p)) == chr(p), hex(p)
    pairs = [(p, lower.normalize_str(chr(p))) for p in POINTS]
    pairs = [(p, s) for p, s in pairs if s != chr(utf8proc.utf8proc_tolower(p))]
    assert [p for p, s in pairs if len(s) != 1] == [0x130]
    return lists, [(p, ord(s)) for p, s in pairs if p != 0x130]


def by_library(pattern):
    pieces = pre_tokenizers.Split(Regex(pattern), "removed", invert=True).pre_tokenize_str(EVERY)
    return {POINTS[i] for _, (start, end) in pieces for i in range(start, end)}


def by_pcre2(pattern):
    pcre2.pcre2_compile_8.restype = ctypes.c_void_p
    pcre2.pcre2_match_data_create_8.restype = ctypes.c_void_p
    pcre2.pcre2_get_ovector_pointer_8.restype = ctypes.POINTER(ctypes.c_size_t)
    error, where, text = ctypes.c_int(), ctypes.c_size_t(), pattern.encode()
    code = pcre2.pcre2_compile_8(text, ctypes.c_size_t(len(text)), 0x00080000 | 0x00020000, ctypes.byref(error),
                                 ctypes.byref(where), None)
    assert code, pattern
    data = ctypes.c_void_p(pcre2.pcre2_match_data_create_8(1, None))
    found = set()
    for p in POINTS:
        subject = chr(p).encode()
        if pcre2.pcre2_match_8(ctypes.c_void_p(code), subject, ctypes.c_size_t(len(subject)), ctypes.c_size_t(0),
                               0x40000000, data, None) > 0:
            found.add(p)
    return found


def pattern_differences():
    rows = []
    ours = {name: "\\p{%s}" % name for name in PROPERTIES}
    ours.update({name: "\\p{sc:%s}" % name for name in SCRIPTS})
    theirs = {name: "\\p{%s}" % name for name in PROPERTIES + SCRIPTS}
    ours.update({"space": "\\p{White_Space}", "digit": "\\p{Nd}",
                 "word": "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]"})
    theirs.update({"space": "\\s", "digit": "\\d", "word": "\\w"})
    for name, pattern in ours.items():
        got, want = by_pcre2(pattern), by_library(theirs[name])
        rows.append((name, ranges(want - got), ranges(got - want)))
    # The library's own Whitespace and single_word use another engine: its words hold joiners too.
    cut = pre_tokenizers.Whitespace()
    want = {p for p in POINTS if len(cut.pre_tokenize_str("a" + chr(p) + "a")) == 1}
    got = by_pcre2("[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}]")
    rows.append(("rust_word", ranges(want - got), ranges(got - want)))
    return rows


PROPERTIES_OF_TEXT = "control nonspacing punctuation mark number inert".split()


def header(lists, lower):
    lines = ["/* differences.h - the characters whose properties differ between Hugging Face's tokenizers and utf8proc.",
             " * tokenizers 0.23.3 has tables of Unicode 8, 9 and 17, by component, and utf8proc 2.8 has tables of",
             " * Unicode 15. tests/text/differences.py writes this file. */",
             "#pragma once", "", "#include <stdint.h>", "",
             "/* clang-format off */", "/* The properties for which utf8proc's answer is negated. */", "enum {"]
    lines += cells("DIFFERS_%s = %d", [(name.upper(), 1 << i) for i, name in enumerate(PROPERTIES_OF_TEXT)], 4) + ["};"]
    assert not lists["white"]
    differing_in, rows = {}, []
    for i, name in enumerate(PROPERTIES_OF_TEXT):
        for point in points_of(lists[name]):
            differing_in[point] = differing_in.get(point, 0) | 1 << i
    for point, bits in sorted(differing_in.items()):
        if rows and sum(rows[-1][:2]) == point and rows[-1][2] == bits:
            rows[-1][1] += 1
        else:
            rows.append([point, 1, bits])
    lines += ["/* The first character of a range, how many it has, and in what they differ. */",
              "static const struct { uint32_t first, count, properties; } differences[] = {"]
    lines += cells("{0x%04X, %d, %d}", rows, 6)
    letters = []
    for point, small in lower:
        if letters and sum(letters[-1][:2]) == point and small - point == letters[-1][2]:
            letters[-1][1] += 1
        else:
            letters.append([point, 1, small - point])
    lines += ["};", "/* Letters: the first of a range, how many it has, and the distance of their lower case. */",
              "static const struct { uint32_t first, count; int32_t distance; } differences_lower[] = {"]
    lines += cells("{0x%04X, %d, %d}", letters, 5)
    lines += ["};", "/* clang-format on */"]
    return "\n".join(lines) + "\n"


def cells(form, rows, each):
    made = [form % tuple(row) for row in rows]
    return ["    " + ", ".join(made[i:i + each]) + "," for i in range(0, len(made), each)]


def points_of(pairs):
    return {p for a, b in pairs for p in range(a, b + 1)}


def without_derived(rows):
    """Leaves out what gen/text/regex.lua derives from other properties."""
    more, less = {row[0]: row[1] for row in rows}, {row[0]: row[2] for row in rows}
    for name in "LNPSZ":
        parts = [part for part in more if len(part) == 2 and part[0] == name]
        assert not any(less[part] for part in parts + [name]), name
        assert points_of(more[name]) == set().union(*(points_of(more[part]) for part in parts)), name
    assert (more["digit"], less["digit"]) == (more["Nd"], less["Nd"])
    only = points_of(more["word"]) - points_of(more["rust_word"])
    assert points_of(more["word"]) >= points_of(more["rust_word"]) and less["word"] == less["rust_word"] == []
    assert max(only) <= 0xFF
    rows = [row for row in rows if row[0] not in ("L", "N", "P", "S", "Z", "digit", "word")]
    return rows + [("outer_word", ranges(only), [])]


def module(rows):
    lines = ["-- differences.lua: lists the code points in which the library's properties differ from PCRE2 10.42 (Unicode 14).",
             "-- A property of the library's regular expressions has more code points (more), or lacks some (less). Properties that",
             "-- do not differ, and those that regex.lua derives from others, are left out. outer_word: only outside of brackets.",
             "-- This file is written by tests/text/differences.py.", "",
             "-- Returns the ranges { first, last } that a text lists in hexadecimal.",
             "local function ranges(text)",
             "  local list = {}",
             '  for first, last in text:gmatch("(%x+)%-?(%x*)") do',
             '    list[#list + 1] = { tonumber(first, 16), tonumber(last == "" and first or last, 16) }',
             "  end",
             "  return list",
             "end", "",
             "return {"]
    for name, more, less in without_derived(rows):
        texts = ["%s = ranges [[%s]]" % (key, " ".join("%x" % a if a == b else "%x-%x" % (a, b) for a, b in pairs))
                 for key, pairs in (("more", more), ("less", less)) if pairs]
        if texts:
            lines += textwrap.wrap("%s = { %s }," % (name, ", ".join(texts)), 119, initial_indent="  ",
                                   subsequent_indent="    ", break_on_hyphens=False)
    lines.append("}")
    return "\n".join(lines) + "\n"


def main():
    files = {"runtime/text/differences.h": header(*unicode_differences()),
             "gen/text/differences.lua": module(pattern_differences())}
    for name, text in files.items():
        path = os.path.join(ROOT, name)
        if "--check" in sys.argv:
            assert open(path).read() == text, name + " differs"
        else:
            open(path, "w").write(text)


main()
