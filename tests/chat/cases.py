#!/usr/bin/env python3
"""cases.py: writes runtime/chat/chat_cases.h, the characters whose upper or title case is several characters.

Python has them from Unicode's SpecialCasing.txt. Run it as: python3 tests/chat/cases.py > runtime/chat/chat_cases.h
"""

print("/* chat_cases.h - characters whose upper case or title case is several characters (Unicode, SpecialCasing).")
print(" * tests/chat/cases.py writes this file. */")
print("/* clang-format off */")
print("#pragma once\n\n#include <stdint.h>\n")
print("/* A character, and the characters of its upper case and of its title case, which end with a 0. */")
print("static const struct { uint32_t point; uint32_t upper[3], title[3]; } chat_cases[] = {")
rows = []
for point in range(0x110000):
    if 0xD800 <= point < 0xE000:
        continue
    upper, title = chr(point).upper(), chr(point).title()
    if len(upper) > 1 or len(title) > 1:
        lists = [", ".join(hex(ord(c)) for c in text.ljust(3, "\0")) for text in (upper, title)]
        rows.append("{0x%x, {%s}, {%s}}," % (point, lists[0], lists[1]))
for i in range(0, len(rows), 2):
    print("  " + " ".join(rows[i:i + 2]))
print("};\n/* clang-format on */")
