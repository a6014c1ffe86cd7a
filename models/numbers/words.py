"""Writes numbers and dates in words, in English, German, French and Spanish.

    write(value, language)             the usual words
    write(value, language, rng)        words as somebody may write them: other spellings, without accents or hyphens

A value is digits: a number of 1 to 6 of them, "197502", or a date, "1984-03-07".
"""

LANGUAGES = {"English": "en", "German": "de", "French": "fr", "Spanish": "es"}
FIRST_YEAR, LAST_YEAR = 1000, 2099


class Choices:
    """Answers whether a text departs from the usual one. Without random numbers it never does."""

    def __init__(self, rng=None):
        self.rng = rng

    def __call__(self, chance):
        return self.rng is not None and self.rng.random() < chance


# ---------------------------------------------------------------- English

EN_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen""".split()
EN_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
EN_MONTHS = """January February March April May June July August September October November December""".split()
EN_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
               "twelve": "twelfth", "twenty": "twentieth", "thirty": "thirtieth"}


def en_below_hundred(n, style):
    if n < 20:
        return EN_ONES[n]
    return EN_TENS[n // 10] + (style["hyphen"] + EN_ONES[n % 10] if n % 10 else "")


def en_below_thousand(n, style):
    hundreds, rest = divmod(n, 100)
    parts = [EN_ONES[hundreds] + " hundred"] if hundreds else []
    if rest:
        parts.append(en_below_hundred(rest, style))
    return style["and"].join(parts)


def en_number(n, style):
    if n == 0:
        return "zero"
    thousands, rest = divmod(n, 1000)
    words = en_below_thousand(thousands, style) + " thousand" if thousands else ""
    if words and rest:
        words += style["and"] if rest < 100 else style["comma"]
    return words + (en_below_thousand(rest, style) if rest else "")


def en_year(year, style, choose):
    century, rest = divmod(year, 100)
    if century % 10 == 0 and (rest < 10 or choose(0.3)):    # one thousand and five, two thousand and ten
        return en_number(year, style)
    if rest == 0:
        return en_below_hundred(century, style) + " hundred"
    if rest < 10:
        if choose(0.3):
            return f"{en_below_hundred(century, style)} hundred and {EN_ONES[rest]}"
        return f"{en_below_hundred(century, style)} oh {EN_ONES[rest]}"
    return f"{en_below_hundred(century, style)} {en_below_hundred(rest, style)}"


def en_ordinal(n, style):
    words = en_below_hundred(n, style)
    start = len(words) - len(words.replace("-", " ").split()[-1])
    last = words[start:]
    return words[:start] + EN_ORDINALS.get(last, last + "th")


def en(value, choose):
    style = {"hyphen": " " if choose(0.25) else "-", "and": " " if choose(0.4) else " and ",
             "comma": ", " if choose(0.2) else " "}
    if isinstance(value, int):
        words = en_number(value, style)
        if words.startswith("one ") and choose(0.4):
            words = "a " + words[4:]
        return words
    year, month, day = value
    year, month, day = en_year(year, style, choose), EN_MONTHS[month - 1], en_ordinal(day, style)
    comma = " " if choose(0.3) else ", "
    if choose(0.5):
        return f"{month} {'the ' if choose(0.4) else ''}{day}{comma}{year}"
    return f"{'' if choose(0.15) else 'the '}{day} of {month}{comma}{year}"


# ---------------------------------------------------------------- German

DE_ONES = """null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn
siebzehn achtzehn neunzehn""".split()
DE_TENS = "- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
DE_MONTHS = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
DE_PARTS = (DE_ONES + DE_TENS[2:] + ["eins", "hundert", "tausend", "und", "erst", "dritt", "siebt", "fuenf", "zwoelf",
                                     "fuenfzehn", "fuenfzig", "dreissig", "er", "e", "en", "ter", "te", "ten", "ster",
                                     "ste", "sten"])
DE_ORDINALS = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}


def de_below_hundred(n, one="ein"):
    if n < 20:
        return one if n == 1 else DE_ONES[n]
    return (DE_ONES[n % 10] + "und" if n % 10 else "") + DE_TENS[n // 10]


def de_below_thousand(n, style, one="ein"):
    hundreds, rest = divmod(n, 100)
    return ((DE_ONES[hundreds] + "hundert" + (style["und"] if rest else "") if hundreds else "")
            + (de_below_hundred(rest, one) if rest else ""))


def de_number(n, style):
    if n == 0:
        return "null"
    thousands, rest = divmod(n, 1000)
    words = de_below_thousand(thousands, style) + "tausend" if thousands else ""
    if words and rest:
        words += style["gap"]
    return words + (de_below_thousand(rest, style, "eins") if rest else "")


def de_year(year, style):
    century, rest = divmod(year, 100)
    if century % 10 == 0:
        return de_number(year, style)
    return de_below_hundred(century) + "hundert" + (de_below_hundred(rest, "eins") if rest else "")


def de(value, choose):
    style = {"und": "und" if choose(0.1) else "", "gap": " " if choose(0.15) else ""}
    if isinstance(value, int):
        words = de_number(value, style)
        if words.startswith(("einhundert", "eintausend")) and choose(0.4):
            words = words[3:]
    else:
        year, month, day = value
        ordinal = DE_ORDINALS.get(day, de_below_hundred(day) + ("t" if day < 20 else "st"))
        start = "" if not choose(0.5) else "der " if choose(0.6) else "am "
        ordinal += {"": "er", "der ": "e", "am ": "en"}[start]
        words = f"{start}{ordinal} {DE_MONTHS[month - 1]} {de_year(year, style)}"
    if choose(0.2):
        words = words.translate(str.maketrans({"ü": "ue", "ö": "oe", "ä": "ae", "ß": "ss"}))
    return words


# ---------------------------------------------------------------- French

FR_ONES = """zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept
dix-huit dix-neuf""".split()
FR_TENS = "- - vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt".split()
FR_TENS_OF_OTHERS = "- - vingt trente quarante cinquante soixante septante huitante nonante".split()
FR_MONTHS = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()


def fr_below_hundred(n, style, is_before_mille):
    if n < 20:
        return FR_ONES[n]
    tens, ones = divmod(n, 10)
    if style["septante"] and (tens != 8 or style["huitante"]):
        if ones == 1:
            return f"{FR_TENS_OF_OTHERS[tens]} et un"
        return FR_TENS_OF_OTHERS[tens] + (f"-{FR_ONES[ones]}" if ones else "")
    if tens in (7, 9):
        ones += 10
    if ones in (1, 11) and tens < 8:
        return f"{FR_TENS[tens]} et {FR_ONES[ones]}"
    if ones == 0:
        return FR_TENS[tens] + ("s" if tens == 8 and not is_before_mille else "")
    return f"{FR_TENS[tens]}-{FR_ONES[ones]}"


def fr_below_thousand(n, style, is_before_mille=False):
    hundreds, rest = divmod(n, 100)
    parts = []
    if hundreds:
        several = hundreds > 1 and rest == 0 and not is_before_mille
        parts.append((FR_ONES[hundreds] + " " if hundreds > 1 else "") + ("cents" if several else "cent"))
    if rest:
        parts.append(fr_below_hundred(rest, style, is_before_mille))
    return " ".join(parts)


def fr_number(n, style):
    if n == 0:
        return "zéro"
    thousands, rest = divmod(n, 1000)
    parts = []
    if thousands:
        parts.append("mille" if thousands == 1 else fr_below_thousand(thousands, style, True) + " mille")
    if rest:
        parts.append(fr_below_thousand(rest, style))
    return " ".join(parts)


def fr(value, choose):
    style = {"septante": choose(0.1), "huitante": choose(0.5)}
    if isinstance(value, int):
        words = fr_number(value, style)
    else:
        year, month, day = value
        day = "premier" if day == 1 else fr_number(day, style)
        words = f"{'' if choose(0.3) else 'le '}{day} {FR_MONTHS[month - 1]} {fr_number(year, style)}"
    if choose(0.2):
        words = words.replace("-", " ")
    elif isinstance(value, int) and choose(0.3):
        words = words.replace(" ", "-")
    if choose(0.2):
        words = words.translate(str.maketrans({"é": "e", "û": "u"}))
    return words


# ---------------------------------------------------------------- Spanish

ES_ONES = """cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis
diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete
veintiocho veintinueve""".split()
ES_TENS = "- - - treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
ES_HUNDREDS = """- ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos
novecientos""".split()
ES_MONTHS = """enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre""".split()


def es_below_thousand(n, is_before_noun=False):
    if n == 100:
        return "cien"
    hundreds, rest = divmod(n, 100)
    parts = [ES_HUNDREDS[hundreds]] if hundreds else []
    if rest >= 30:
        parts.append(ES_TENS[rest // 10] + (f" y {ES_ONES[rest % 10]}" if rest % 10 else ""))
    elif rest:
        parts.append(ES_ONES[rest])
    words = " ".join(parts)
    if is_before_noun and rest % 10 == 1 and rest != 11:
        words = words[:-len("veintiuno")] + "veintiún" if rest == 21 else words[:-1]
    return words


def es_number(n):
    if n == 0:
        return "cero"
    thousands, rest = divmod(n, 1000)
    parts = []
    if thousands:
        parts.append("mil" if thousands == 1 else es_below_thousand(thousands, True) + " mil")
    if rest:
        parts.append(es_below_thousand(rest))
    return " ".join(parts)


def es(value, choose):
    if isinstance(value, int):
        words = es_number(value)
    else:
        year, month, day = value
        day = "uno" if day == 1 and choose(0.5) else "primero" if day == 1 else es_number(day)
        words = f"{'' if choose(0.3) else 'el '}{day} de {ES_MONTHS[month - 1]} de{'l' if choose(0.2) else ''} "
        words += es_number(year)
    if choose(0.25):
        words = words.translate(str.maketrans({"é": "e", "ó": "o", "ú": "u"}))
    return words


# ---------------------------------------------------------------- all

WRITERS = {"en": en, "de": de, "fr": fr, "es": es}


def write(value, language, rng=None):
    choose = Choices(rng)
    parts = value.split("-")
    words = WRITERS[language](int(value) if len(parts) == 1 else tuple(map(int, parts)), choose)
    if choose(0.15):
        words = words[0].upper() + words[1:]
    elif choose(0.1):
        words = words.lower()
    return words
