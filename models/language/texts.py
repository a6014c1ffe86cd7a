"""Texts in twenty languages, from packages of Debian 12.

Packages are downloaded with apt-get and read without installing them. They have manual pages
(roff), GNOME's help (Mallard), Debian's installation guide (HTML), translations of the tales and
messages of games (.mo) and of dialogues (Lua). The results are plain lines, each with its
language, its source and its page.
"""

import functools
import gettext
import gzip
import html
import io
import re
import subprocess
import tarfile
import unicodedata
import xml.etree.ElementTree as xml
from collections import namedtuple
from pathlib import Path

Line = namedtuple("Line", "language source page text")

# Names of a language in the sources: folders of manual pages and help, names of catalogues.
LANGUAGES = {
    "cs": ["cs"], "da": ["da"], "de": ["de"], "en": ["C", "en", "en_GB"], "es": ["es"], "fi": ["fi"],
    "fr": ["fr"], "hu": ["hu"], "it": ["it"], "ja": ["ja"], "ko": ["ko"], "nl": ["nl"],
    "pl": ["pl"], "pt": ["pt_BR", "pt"], "ro": ["ro"], "ru": ["ru"], "sv": ["sv"], "tr": ["tr"],
    "uk": ["uk"], "zh": ["zh_CN", "zh_TW"],
}
LANGUAGE_OF = {code: language for language, codes in LANGUAGES.items() for code in codes}

TALES = "did dm dw ei httt l low nr sof sota sotbe thot trow tsg ttb utbs".split()
PACKAGES = (
    ["manpages", "manpages-dev"]
    + [f"manpages-{code}" for code in "cs da de es fi fr hu it ja nl pl pt-br ro ru sv tr uk zh".split()]
    + [f"manpages-{code}-dev" for code in "cs da de es fr it nl pl pt-br ru uk".split()]
    + ["gnome-user-docs", "installation-guide-amd64", "fillets-ng-data", "freeciv-data", "wesnoth-1.16-data"]
    + [f"wesnoth-1.16-{tale}" for tale in TALES]
)

# Frequent words that only English has: most whole sentences have one.
ENGLISH = re.compile(r"\b(the|and|this|that|with|from|which|when|you|your|not|been)\b", re.IGNORECASE)
# Words that are code: options, names of files and functions, assignments, addresses.
CODE = re.compile(r"-.*\w.*|.*[_=/<>@\\|{}\[\]$#%*~^&+].*|.*\w\(.*|.*\w\.\w.*|\(\d\w*\)\W*")
# Scripts that the lines of a language must be written in; other languages use Latin letters.
SCRIPTS = {"ja": ("CJK", "HIRAGANA", "KATAKANA"), "zh": ("CJK",), "ko": ("HANGUL",),
           "ru": ("CYRILLIC",), "uk": ("CYRILLIC",)}
UNSPACED = {"ja", "zh"}


def download(folder):
    """Returns the packages' files in a folder, and downloads those that are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    have = {path.name.split("_")[0] for path in folder.glob("*.deb")}
    missing = [name for name in PACKAGES if name not in have]
    if missing:
        subprocess.run(["apt-get", "download", "-qq", *missing], cwd=folder, check=True)
    return [next(folder.glob(f"{name}_*.deb")) for name in PACKAGES]


def members(package):
    """Yields the name of each file of a package, and a function that reads it."""
    data = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if member.isfile():
                yield member.name.removeprefix("./"), archive.extractfile(member).read


# ---------------------------------------------------------------- formats

SPECIAL = {"aq": "'", "cq": "’", "oq": "‘", "lq": "“", "rq": "”", "dq": '"', "em": "—", "en": "–",
           "Fo": "«", "Fc": "»", "hy": "-", "bu": "", "co": "©", "mu": "×", ":a": "ä", ":o": "ö",
           ":u": "ü", "ss": "ß", "'e": "é", "`e": "è", "oa": "å", "/o": "ø", "ae": "æ"}
WORDS = {"B", "I", "BR", "RB", "IR", "RI", "BI", "IB", "SB", "SM"}      # macros whose arguments are text
OPENS, CLOSES = {"nf", "EX", "TS", "Bd", "EQ", "ig", "de"}, {"fi", "EE", "TE", "Ed", "EN", ".", ""}


def plain_roff(text):
    text = re.sub(r"\\[fF](\[[^\]]*\]|\(..|.)", "", text)
    text = re.sub(r"\\s[-+]?\d|\\[mgkn](\[[^\]]*\]|\(..|.)|\\[hvwlLDoXbx]'[^']*'", "", text)
    text = re.sub(r"\\\*(\[[^\]]*\]|\(..|.)", "", text)
    text = re.sub(r"\\\[u([0-9A-F]{4,5})\]", lambda m: chr(int(m.group(1), 16)), text)
    text = re.sub(r"\\\[([^\]]*)\]|\\\((..)", lambda m: SPECIAL.get(m.group(1) or m.group(2), ""), text)
    text = re.sub(r'\\".*', "", text)
    return re.sub(r"\\(.)", lambda m: {"-": "-", "e": "\\", " ": " ", "~": " ", "0": " "}.get(m.group(1), ""), text)


def roff(text):
    """Yields the paragraphs of a manual page, without headings, synopses, examples and tables."""
    paragraph, closed = [], True
    for line in text.split("\n"):
        request = re.match(r"[.'][ \t]*([^\s\\]*)[ \t]*(.*)", line)
        if request:
            name, rest = request.groups()
            if name in OPENS:
                closed = False
            elif name in CLOSES and not line.startswith(('.\\"', "'\\\"")):
                closed = True
            if name in WORDS and paragraph:
                paragraph.append(rest.replace('" "', " ").replace('"', ""))
            elif not line.startswith(('.\\"', "'\\\"")):
                yield " ".join(paragraph)
                paragraph = []
        elif not line.strip():
            yield " ".join(paragraph)
            paragraph = []
        elif closed:
            paragraph.append(line)
    yield " ".join(paragraph)


def mallard(text):
    """Yields the paragraphs and titles of a page of GNOME's help."""
    for element in xml.fromstring(text).iter():
        if isinstance(element.tag, str) and element.tag.rsplit("}")[-1] in ("p", "title", "desc", "para"):
            yield " ".join("".join(element.itertext()).split())


def catalogue(data):
    """Yields pairs of original and translation."""
    for original, translation in gettext.GNUTranslations(io.BytesIO(data))._catalog.items():
        original = original[0] if isinstance(original, tuple) else original
        if original:
            yield original, translation


def spoken(text):
    """Returns the text of a game's message, without marks and variables."""
    text = re.sub(r"^[^\s^]*( [^\s^]+){0,4}\^", "", text)
    text = html.unescape(re.sub(r"<[^<>]*>", " ", text))
    return re.sub(r"\$[\w.|]+|\\\w+=?", "", text)


# ---------------------------------------------------------------- sources

def of_manual(name, read):
    path = re.fullmatch(r"usr/share/man/(?:([a-zA-Z_]+)(?:\.[^/]*)?/)?man[1-8][^/]*/([^/]+)\.gz", name)
    language = path and LANGUAGE_OF.get(path.group(1) or "C")
    if language:
        text = gzip.decompress(read()).decode("utf-8", "replace")
        for paragraph in roff(text):
            yield Line(language, "manual", path.group(2), plain_roff(paragraph))


def of_help(name, read):
    path = re.fullmatch(r"usr/share/help/([^/]+)/(.*\.(?:page|docbook))", name)
    language = path and LANGUAGE_OF.get(path.group(1))
    if language:
        for paragraph in mallard(read()):
            yield Line(language, "help", path.group(2), paragraph)


def of_guide(name, read):
    path = re.fullmatch(r"usr/share/doc/installation-guide-amd64/([^/]+)/([^/]+\.html)", name)
    language = path and LANGUAGE_OF.get(path.group(1))
    if language:
        for paragraph in re.findall(r"<p>(.*?)</p>", read().decode("utf-8", "replace"), re.DOTALL):
            yield Line(language, "guide", path.group(2), html.unescape(re.sub(r"<[^<>]*>", "", paragraph)))


def of_games(name, read):
    path = re.fullmatch(r"usr/share/(?:games/wesnoth/.*/)?(?:locale|translations)/([^/]+)/LC_MESSAGES/"
                        r"(?:wesnoth|freeciv-core).*\.mo", name)
    language = path and LANGUAGE_OF.get(path.group(1))
    if language:
        for original, translation in catalogue(read()):
            for text in spoken(translation).split("\n"):
                if translation != original or language == "en":
                    yield Line(language, "games", original, text)


def of_dialogues(name, read):
    path = re.fullmatch(r"usr/share/games/fillets-ng/script/([^/]+)/dialogs_([^/]+)\.lua", name)
    language = path and LANGUAGE_OF.get(path.group(2))
    if language:
        text = read().decode("utf-8", "replace")
        for english, own in re.findall(r'dialogId\(.*, "(.*)"\)\s*dialogStr\("(.*)"\)', text):
            yield Line(language, "dialogues", path.group(1), own)
            yield Line("en", "dialogues", path.group(1), english)


SOURCES = (of_manual, of_help, of_guide, of_games, of_dialogues)


# ---------------------------------------------------------------- lines

@functools.cache
def script_of(character):
    return unicodedata.name(character, " ").split(" ")[0].split("-")[0]


def is_written(text, language):
    """True if most of a text is letters of the language."""
    letters = [c for c in text if c.isalpha()]
    if len(letters) < 0.7 * len(text):
        return False
    own = SCRIPTS.get(language, ("LATIN",))
    return sum(script_of(c) in own for c in letters) >= 0.7 * len(letters)


def without_code(text):
    """Returns a line in NFC without its words that are code."""
    return unicodedata.normalize("NFC", " ".join(word for word in text.split() if not CODE.fullmatch(word)))


def is_prose(line):
    """True if a line has words of its language; False for English that was not translated."""
    if not is_written(line.text, line.language):
        return False
    words = line.text.split()
    if line.language == "en":
        return len(words) >= 3
    if line.language in UNSPACED:
        return len(line.text) >= 8
    return len(words) >= 3 and len(ENGLISH.findall(line.text)) <= len(words) / 12


def lines_of(packages):
    """Yields all lines, in order, without code. Each text occurs once; texts that two languages have are left out."""
    seen = {}
    for package in packages:
        for name, read in members(package):
            for source in SOURCES:
                for line in source(name, read):
                    text = without_code(line.text)
                    line = line._replace(text=text)
                    if len(text) >= 8 and "\ufffd" not in text:
                        key = re.sub(r"\W+", "", text.casefold())
                        seen.setdefault(key, {}).setdefault(line.language, line)
    for lines in seen.values():
        if len(lines) == 1 or "en" in lines:
            line = lines.get("en") or next(iter(lines.values()))
            if is_prose(line):
                yield line
