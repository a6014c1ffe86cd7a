"""snippets.py: short templates, each about one part of Jinja. goldens.py asks transformers for their texts."""

EXPRESSIONS = r"""
1 + 2 * 3 - 4
7 // 2, -7 // 2, 7 % 3, -7 % 3, 7 % -3, 7 / 2, 2 ** 10, 2 ** -1, 7.5 // 2, -7.5 % 2
1 == 1.0, true == 1, 1 != 2, none == false, "a" < "b", [1, 2] < [1, 3], (1, 2) == (1, 2), [1] == (1,)
1 < 2 < 3, 1 < 2 > 5, 3 > 2 >= 2, 1 == 1 == true
true and 0, 1 and 2, 0 or "x", none or none, not 1, not "", not not 3
"a" if 1 else "b", "a" if 0 else "b"
"a" if 0
("a" if 0) is defined
1.0, 1.5, 100000000000000000.0, 1e16, 1e15, 0.1, 0.1 + 0.2, 1e-5, 0.0001, -0.0, 123456789.125, 1e300 * 1e10, 5e-324
[1, "a", none, true, 1.5, [], {}, (), (1,), (1, 2), {"a": 1, 2: "b"}]
["it's", 'say "x"', "both ' and \"", "tab\t new\n back\\", "é", "\x07", "\u200b", "\U0001f600", "\xa0"]
{"a": {"b": [1, {"c": none}]}}
"a" ~ 1 ~ none ~ true ~ 1.5 ~ [1]
"abc"[0], "abc"[-1], "abc"[5], "äöü"[1], [1, 2, 3][1], (1, 2)[-2], {"a": 1}["a"], {"a": 1}["b"], {1: 2}[1], "abc"[true]
"abcdef"[1:3], "abcdef"[::-1], "abcdef"[::2], "abcdef"[-2:], "abcdef"[:-2], "äöü"[1:], "abc"[5:], "abcdef"[4:1:-1], "abcdef"[9::-1], [1, 2, 3][9:0:-1], "abc"[-9:2], "abc"[2:-9:-1], "abc"[-9::-1]
[1, 2, 3, 4][1:], [1, 2, 3, 4][::-1], [1, 2, 3, 4][:-1], [1, 2, 3, 4][-3:-1], (1, 2, 3)[::2], [1, 2][9:], [1, 2, 3][::-2]
"a" * 3, 2 * "ab", [1] * 2, "a" * 0, "a" * -1, (1,) * 2, true + true
"a" + "b", [1] + [2], (1,) + (2,)
"b" in "abc", "" in "abc", 1 in [1, 2], "a" in {"a": 1}, 1 not in [2], "x" not in "abc", 1 in (1.0, 2), [1] in [[1]]
"%s is %d" % ("a", 3), "%s" % 1.5, "100%%" % (), "%s" % [1], "%i" % 2.7
"%s=%d"|format("a", 3), "100%%"|format(), "%s"|format([1])
"a" "b" 'c'
"  a b  ".strip() ~ "|", "  a  ".lstrip() ~ "|", "  a  ".rstrip() ~ "|", "xxaxx".strip("x"), "abcba".strip("ab"), "\u2003a\x1f".strip()
"a,b,,c".split(","), " a  b ".split(), "a b c".split(" ", 1), "a,b,c".rsplit(",", 1), "a  b c".split(none, 1), "abc".split("x"), "".split(), "".split(","), " a b  c ".rsplit(none, 1), " a  b  c ".split(none, 1), "<think>a</think>b".split("</think>")[-1]
"hello".startswith("he"), "hello".endswith("lo"), "hello".startswith(("x", "h")), "hello".endswith("")
"hello world".upper(), "HeLLo".lower(), "hello wORLD it's".title(), "hELLO".capitalize(), "straße".upper(), "ǆ".capitalize(), "ΑΣ Σ".lower(), "İ".lower(), "ﬁx".title()
"hello world-foo (bar) it's"|title, "hELLO x"|capitalize, "Ab"|upper, "Ab"|lower, 1.5|upper, none|lower, true|string
"aXbXc".replace("X", "-"), "aXbXc".replace("X", "-", 1), "abc".replace("", "-"), "aXbXc"|replace("X", ""), 112|replace(1, 2), "aaa"|replace("a", "b", 2)
"abcabc".find("c"), "abcabc".rfind("c"), "äb".find("b"), "abc".find("x"), "banana".count("an"), "banana".index("n"), "ab".count("")
"a\nb\r\nc".splitlines(), "a\n".splitlines(), "a\n\nb".splitlines(true), "-".join(["a", "b"]), "prefix-x".removeprefix("prefix-"), "a.txt".removesuffix(".txt")
"12".isdigit(), "".isdigit(), "1a".isdigit(), " \n".isspace(), "a".isspace()
{"a": 1}.get("a"), {"a": 1}.get("b"), {"a": 1}.get("b", 7), {"a": 1, "b": 2}.items(), {"a": 1}.keys(), {"a": 1}.values()
{"a": 1, "b": 2}.items()|list, {"a": 1}|items|list, {"b": 1, "a": 2, "C": 3}|dictsort, {"b": 1, "a": 2}|dictsort(false, "value"), {"b": 1, "a": 2}|dictsort(reverse=true)
[3, 1, 2]|sort, ["b", "A", "c"]|sort, ["b", "A"]|sort(case_sensitive=true), [3, 1, 2]|sort(reverse=true), [{"a": 2}, {"a": 1}]|sort(attribute="a")
[1, 2, 3]|first, [1, 2, 3]|last, "abc"|first, "abc"|last, {"a": 1}|first, []|first, ""|last
[1, 2]|length, "äö"|length, {"a": 1}|count, ()|length, nothing|length
[1, 2]|join, [1, 2]|join(", "), "abc"|join("-"), [{"a": 1}, {"a": 2}]|join("/", attribute="a"), [none, true]|join("+"), {"a": 1, "b": 2}|join
"  x "|trim ~ "|", "xxaxx"|trim("x"), 5|trim, none|trim
nothing|default("d"), none|default("d"), none|default("d", true), ""|d("e", boolean=true), nothing|default, 0|default(1)
"5"|int, "5.7"|int, "x"|int, "x"|int(3), 5.9|int, none|int, true|int, " 42 "|int, "1_000"|int, "-3"|int, ""|int, "1e2"|int
"5"|float, "x"|float, "1.5"|float, 3|float, "x"|float(2.5), none|float, "1e3"|float
-5|abs, (-5)|abs, (-1.5)|abs, 5|string, [1]|string, "abc"|list, {"a": 1}|list, (1, 2)|list
"abc"|reverse, [1, 2, 3]|reverse|list, [1, 2, 3]|max, [1, 2, 3]|min, ["b", "A"]|min, []|max, [1, 2, 3]|sum, [1, 1, 2, "A", "a"]|unique|list
2.5|round, 3.5|round, 2.567|round(2), 5|round, 2.1|round(method="ceil"), 2.9|round(0, "floor"), 1.005|round(2), 2.675|round(2)
"a\nb\n\nc"|indent, "a\nb"|indent(2), "a\nb"|indent(2, true), "a\n\nb"|indent(2, blank=true), "a\nb"|indent("> "), "a\nb"|indent(width=1, first=true), "x\n"|indent
["a", "b"]|map("upper")|list, [{"x": 1}, {"x": 2}]|map(attribute="x")|list, [{"x": 1}, {}]|map(attribute="x", default=9)|list, [" a "]|map("trim")|join, [{"x": {"y": 5}}]|map(attribute="x.y")|list, [[1, 2]]|map(attribute=1)|list, ["a-b"]|map("replace", "-", "+")|first
[1, 2, 3, 4]|select("even")|list, [1, 2, 3]|reject("equalto", 2)|list, [0, 1, ""]|select|list, [{"r": "u", "c": 1}, {"r": "a", "c": 2}]|selectattr("r", "equalto", "u")|list, [{"r": 1}, {}]|rejectattr("r")|list, [{"r": 1}, {}]|selectattr("r", "defined")|list|length, [1, "a"]|select("string")|list, [5, 1]|select(">", 3)|list, [1, 2]|select("in", [2, 3])|list
(messages|selectattr("role", "equalto", "nobody")) is true, "yes" if messages|selectattr("role", "equalto", "nobody") else "no", (messages|selectattr("role", "equalto", "user")|list|length) > 0, messages|map(attribute="role")|join(",")
{"a": 1, "b": [1, 2.5, "x"], "c": none, "d": true, "e": {}, "f": []}|tojson
{"a": [1, {"b": 2}], "c": {}, "d": []}|tojson(indent=2)
"é\"\\\n\t\u001f<&>'/"|tojson, "é😀"|tojson(ensure_ascii=true), {"b": 1, "a": 2}|tojson(sort_keys=true), [1, 2]|tojson(separators=(",", ":")), {1: 2, true: 3, none: 4}|tojson, 1e16|tojson, {"a": 1}|tojson(indent="\t"), "\x7f\u2028"|tojson
x is defined, messages is defined, x is undefined, none is none, 1 is none, "a" is string, 1 is string, {} is mapping, [] is mapping, [] is iterable, "a" is iterable, 1 is iterable, {} is iterable, 1 is number, true is number, 1.5 is number, "1" is number, true is boolean, 1 is boolean
[] is sequence, "a" is sequence, {} is sequence, 1 is sequence, () is sequence, 1 is integer, true is integer, 1.0 is integer, 1.0 is float, true is true, 1 is true, false is false, 0 is false, none is sameas none, true is sameas true, 1 is sameas(true)
2 is even, 3 is odd, 6 is divisibleby 3, 6 is divisibleby(4), 1 is eq 1, 1 is equalto(2), 2 is gt 1, 2 is lt(1), 1 is in [1, 2], "a" is lower, "A" is upper, "1" is lower, range is callable, 1 is callable, 1 is ne 2, 1 is le 1, 1 is ge 2
"a" is not string, x is not defined and 1, 1 is not none or 2, not x is defined
none.x, "a".x, messages[0].nothing, messages[0]["nothing"] is defined, messages[9] is defined, messages[0].role, messages[0]["role"], messages.0.role, tools is none, documents, tools
range(5)|list, range(2, 5)|list, range(5, 0, -2)|list, range(0)|list, range(3)[1], 2 in range(3), range(10)[2:5]|list, range(3)|length
dict(a=1, b="x"), dict({"a": 1}, b=2), dict()
namespace(a=1).a, namespace(a=1)["a"], namespace().a is defined
(1 + 2) * 3 ~ "x", -3 ** 2, - 3|abs, 2 ** 3 ** 2, 1 + 2 * 3, not 1 == 2
"a".upper().lower().strip(), ("a" ~ "b").upper(), "x"|upper|lower, ["a"][0].upper()
"\x41\u00e9\101\e\'\"\
z"
1_000, 0x1f, 0b11, 0o17, 1_0.5, 1e3, 1.5E-3
strftime_now("%Y-%m-%d %H:%M:%S %d %b %B %a %A %j %y %p %I %e %% %-d %-m %F %T %D %w %u")
""|upper, ""|title, ""|trim, ""|replace("a", "b"), "".split(" "), ""|list, "" * 3, ""[::-1], ""|tojson
"abc"|attr("x") is defined, namespace(a=1)|attr("a"), {"a": 1}|attr("a") is defined
[[1, "a"], [2, "b"]]|map("first")|list, [[1, 2], [3]]|map("length")|list, ["a"]|map("string")|list, [1.26]|map("round", 1)|list, ["x"]|map("tojson")|list
[1] is lower, {"A": 1} is upper, none is lower, 5 is upper, nothing is callable
("'<"|safe) + "&<>'\"" + ("<b>"|safe) ~ "|" ~ ("a>" + ("<"|safe)) ~ (("<"|safe) ~ "&'") ~ ((("<"|safe) ~ "x") + "<")
"a"|safe == "a", ("x"|safe)|length, "<b>"|safe is string, ("<"|safe)|tojson, "<" in "<b>"|safe
loop is defined, true|tojson, none|tojson, none|string|length
messages[0].content.split("\n")|first|trim, messages|length, messages[-1].role, messages[1:]|length, messages[::-1][0].role
"x" in none|default([], true), messages[0].tool_calls is defined and messages[0].tool_calls, (messages[0].get("x") or "z"), messages[0].get("content", "")|length > 0
"a|b"|replace("|", "!")|upper ~ "c"|upper, "a" ~ ("b" if true else "c") ~ "d", [1, 2,], {"a": 1,}, (1, 2,)
"\n".join(["a"]) + "\n", "A%sB"|replace("%s", "x"), "tab\there", "{{ x }}", "{% x %}"
"""

TEMPLATES = [
    # White space around tags.
    "a\n  {% if true %}\n  b\n  {% endif %}\n c\n",
    "a  {% if true %}  b  {% endif %}  c",
    "  {%- if true -%}  b  {%- endif -%}  c\n\n",
    "a\n\n  {%+ if true %}\n  b\n  {%+ endif +%}\n c",
    "x\n  {# comment #}\n  y {# c #}\n{#- c -#}\n z\n\n",
    "{{ 1 }}\n{{ 2 -}}\n {{- 3 }}\n  {{ 4 }} ",
    "a\r\nb\r{% if 1 %}\r\nc{% endif %}\n\n",
    "{% raw %}{{ x }} {% if %}{% endraw %}!\n  {% raw -%}  q  {%- endraw %}\n  z",
    "  {% raw %}\n  a\n  {% endraw %}\n  b",
    "\t \u00a0{%- if 1 %}\u2003{% endif -%}\u3000 x",
    "{% if 1 %}a{% elif 2 %}b{% else %}c{% endif %}{% if 0 %}a{% elif 2 %}b{% else %}c{% endif %}{% if 0 %}a{% endif %}.",
    "{{ '{{' }}{{ \"%}\" }}{{ {'a': {'b': 1}}['a']['b'] }}{{ [{}] }}",
    "{#- x -#}\n\n{%- set a = 1 -%}\n{{- a -}}\n",
    "line\n   {#- x #}\n   {% set a = 1 +%}\n  {{ a }}\n",
    "\n", "\n\n", "", "{% if 0 %}x{% endif %}\n",
    "{{ '<a>' | safe }}{{ ('<' | safe) ~ ('>' | safe) }}{% set x = {'a': '<'} | tojson | safe if true else 'b' %}{{ x }}{{ nothing | safe }}",
    # Loops.
    "{% for m in messages %}{{ loop.index }},{{ loop.index0 }},{{ loop.revindex }},{{ loop.revindex0 }},"
    "{{ loop.first }},{{ loop.last }},{{ loop.length }};{% endfor %}",
    "{% for x in [1,2,3] %}{{ loop.previtem|default('-') }}{{ x }}{{ loop.nextitem|default('-') }} {% endfor %}",
    "{% for x in [1,2,3,4] if x is even %}{{ x }}{{ loop.index }}{{ loop.last }}{% endfor %}",
    "{% for x in [] %}a{% else %}none{% endfor %}{% for x in [1] %}a{% else %}none{% endfor %}",
    "{% for x in [1,2,3] %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in [1,2,3] %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% endfor %}!",
    "{% for x in [1] %}{% break %}{% else %}else{% endfor %}{% for x in [1] %}{% continue %}{% else %}else{% endfor %}",
    "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% endfor %}{% for k, v in {'a': 1}|items %}{{ k }}{{ v }}{% endfor %}",
    "{% for x in 'aé😀' %}[{{ x }}]{% endfor %}{% for k in {'a': 1, 'b': 2} %}{{ k }}{% endfor %}",
    "{% for a in [1,2] %}{% for b in [3,4] %}{{ a }}{{ b }}{{ loop.index }} {% endfor %}{{ loop.index }};{% endfor %}",
    "{% for a in [1,2] %}{% set outer = loop %}{% for b in [3,4] %}{{ outer.index }}{{ loop.index }}{% if loop.last and outer.last %}!{% endif %} {% endfor %}{% endfor %}",
    "{% for x in nothing %}a{% endfor %}{% for x in range(3) %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for (a, b) in [(1, 2), [3, 4]] %}{{ a }}{{ b }}{% endfor %}",
    "{% for x in [3,1,2]|sort %}{{ x }}{% endfor %}{% for x in 1, 2 %}{{ x }}{% endfor %}",
    "{% for m in messages[1:] %}{{ m.role }}{% endfor %}{% for m in messages[::-1] %}{{ loop.index0 }}{{ m.role }}{% endfor %}",
    "{% for x in [1,2,3] %}{% for y in [1,2] %}{% if y == 2 %}{% break %}{% endif %}{{ x }}{{ y }}{% endfor %}{% if x == 2 %}{% continue %}{% endif %};{% endfor %}",
    "{% for x in [0,1,2] if x %}{{ x }}{% else %}none{% endfor %}{% for x in [0] if x %}{{ x }}{% else %}none{% endfor %}",
    "{% for m in messages if m.role == 'user' and m.content is string %}{{ loop.length }}{{ m.role }}{% endfor %}",
    # Variables and scopes.
    "{% set x = 1 %}{% for i in [1,2] %}{{ x }}{% set x = i + 10 %}{{ x }} {% endfor %}{{ x }}",
    "{% for i in [1,2] %}{% if loop.first %}{% set y = i %}{% endif %}{{ y }}.{% endfor %}{{ y }}",
    "{% set x = 0 %}{% if true %}{% set x = 5 %}{% endif %}{{ x }}{% if false %}{% set z = 1 %}{% endif %}{{ z }}{{ z is defined }}",
    "{% set ns = namespace(n=0, found=false) %}{% for i in [1,2,3] %}{% set ns.n = ns.n + i %}{% if i == 2 %}{% set ns.found = true %}{% endif %}{% endfor %}{{ ns.n }}{{ ns.found }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set a, b = b, a %}{{ a }}{{ b }}{% set t = 1, 2 %}{{ t }}{% set (c, d) = [3, 4] %}{{ c }}{{ d }}",
    "{% set x %}  block {{ 1 + 1 }}\n{% endset %}[{{ x }}]{% set y | trim | upper %} a {% endset %}[{{ y }}]{{ x is string }}",
    "{% set x %}{% for i in [1,2] %}{{ i }}{% endfor %}{% endset %}{{ x * 2 }}",
    "{% if enable_thinking is defined and enable_thinking is false %}off{% else %}on{% endif %}",
    "{% if not enable_thinking is defined %}{% set enable_thinking = true %}{% endif %}{{ enable_thinking }}",
    "{% set enable_thinking = enable_thinking if enable_thinking is defined else 'u' %}{{ enable_thinking }}",
    "{% for i in [1] %}{{ q }}{% endfor %}{% set q = 1 %}{{ q }}",
    "{% for i in [1] %}{{ bos_token }}{% endfor %}{% set bos_token = 'b' %}{{ bos_token }}",
    "{% for i in [1] %}{% set messages = messages[1:] %}{{ messages|length }}{% endfor %}{{ messages|length }}",
    "{% if messages[0].role == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% endif %}{{ loop_messages|length }}{{ system_message is defined }}{{ system_message }}",
    "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% set a = 3 %}{{ a }}{% endwith %}{{ a is defined }}",
    "{% set a = 1 %}{% with a = a + 1, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}",
    "{% filter upper %}abc{{ 'd' }}{% endfilter %}{% filter trim|replace('a', 'b') %}  a a {% endfilter %}",
    "{% set x = 1 %}{% generation %}{{ x }}{% set x = 2 %}{{ x }}{% endgeneration %}{{ x }}",
    "{% for m in messages %}{% if m.role == 'assistant' %}{%- generation -%} {{ m.content }} {% endgeneration %}\n{% endif %}{% endfor %}",
    # Macros.
    "{% macro f(a, b=2, c='x') %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ f(1) }}{{ f(1, 3) }}{{ f(1, c='y') }}{{ f(b=1, a=2) }}{{ f() }}",
    "{%- macro render(m) -%}\n  <{{ m.role }}>\n  {%- if m.content %} {{ m.content }}{% endif -%}\n{%- endmacro -%}\n{% for m in messages %}{{ render(m) }}{% endfor %}",
    "{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}",
    "{% macro a(x) %}<{{ b(x) }}>{% endmacro %}{% macro b(x) %}{{ x }}{{ g }}{% endmacro %}{% set g = 'G' %}{{ a(1) }}",
    "{% set v = 'top' %}{% macro f() %}{{ v }}{% set v = 'in' %}{{ v }}{% endmacro %}{{ f() }}{{ v }}{{ f()|upper }}",
    "{% macro f(x) %}{% for i in range(x) %}{{ i }}{% if i == 1 %}{% break %}{% endif %}{% endfor %}{% endmacro %}{{ f(3) }}|{{ f(1)|length }}",
    "{% macro f(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}{{ f(1, 2) }}",
    "{% macro f() %}{{ messages[0].role }}{{ bos_token }}{{ loop is defined }}{% endmacro %}{% for i in [1] %}{{ f() }}{% endfor %}",
    "{% if true %}{% macro f() %}yes{% endmacro %}{% endif %}{{ f() }}{% set h = f %}{{ h() }}",
    "{% macro f(a) %}{% set r %}{{ a }}!{% endset %}{{ r|trim }}{% endmacro %}{{ f('x ') ~ f('y') }}{% if f('') == '!' %}same{% endif %}",
    # Errors while a template runs.
    "{{ raise_exception('no\nway') }}", "{{ x.y }}", "{{ x['y'] }}", "{{ x + 1 }}", "{{ 1 + 'a' }}", "{{ 'a' + 1 }}", "{{ 1 / 0 }}",
    "{{ 1 // 0 }}", "{{ 1 % 0 }}", "{{ [1] + 'a' }}", "{{ 5|length }}", "{{ 1 < 'a' }}", "{{ x < 1 }}", "{{ 1 in 5 }}", "{{ 1 in 'a' }}",
    "{% for x in 5 %}{% endfor %}", "{% for a, b in [1] %}{% endfor %}", "{% for a, b in [[1, 2, 3]] %}{% endfor %}",
    "{{ x() }}", "{{ 'a'() }}", "{{ none.strip() }}", "{{ messages.strip() }}", "{{ messages[0].content.items() }}",
    "{{ 'a'.split('') }}", "{{ range(200000) }}", "{% set x = 1 %}{% set x.y = 2 %}", "{% set x = none %}{{ x[1:] }}", "{{ 5|items|list }}",
    "{{ [1, 'a']|sort }}", "{{ [1, 'a']|sum }}", "{{ ''.join([1]) }}", "{{ 'a'.index('b') }}", "{{ ['a']|map('length')|sum }}",
    "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}", "{% macro f(a) %}{% endmacro %}{{ f(b=1) }}", "{{ namespace(_a=1) }}",
    "{{ '%s %s' % (1,) }}", "{{ '%s' % (1, 2) }}", "{{ '%d' % 'a' }}", "{{ -'a' }}", "{{ namespace|tojson }}", "{{ {[1]: 2} }}",
    "{{ 'x'|items|list }}", "{{ x|int }}", "{{ messages|map(attribute='a.b')|list }}", "{{ [1]|first|first }}", "{{ {}.x.y }}",
]

# Each filter is asked for what it makes of each value.
VALUES = """none false true 0 5 0.0 1.5 '' 'ab' [] {} () nothing""".split()
FILTERS = """
list join join(',') length count first last sort unique|list sum dictsort items|list max min reverse|list
map('upper')|list map(attribute='x')|list map(attribute='x',default=1)|list select|list reject|list reject('none')|list
select('string')|list selectattr('x')|list selectattr('x','equalto','y')|list rejectattr('x')|list rejectattr('x','none')|list
map('upper')|first map('length')|sum select|first selectattr('x')|join tojson int float trim default('d') default('d',true)
string replace('a','b') upper lower title capitalize indent round abs safe attr('x') list|length
""".split()

# Parts of templates that are refused, or not supported, where they are reached.
STATEMENTS = [
    "{% set _ = messages.append(1) %}", "{% set _ = messages.pop() %}", "{% set _ = messages[0].update({'a': 1}) %}",
    "{% include 'x' %}", "{% import 'x' as x %}", "{% from 'x' import y with context %}", "{% autoescape true %}a{% endautoescape %}",
    "{% call f() %}a{% endcall %}", "{% call(user) f(1) %}{{ user }}{% endcall %}", "{% for a in [[1]] recursive %}{{ loop(a) }}{% endfor %}",
    "{% for a in [1] %}{% macro f() %}{% endmacro %}{% endfor %}", "{% set ns._x = 1 %}",
]
PARTS = [
    "messages.insert(0, 1)", "messages.sort()", "messages.reverse()", "messages.extend([])", "{}.setdefault('a', 1)",
    "{}.popitem()", "{}.clear()", "messages.remove(1)", "'a'.swapcase()", "'a'.encode()", "messages|groupby('role')",
    "messages|batch(2)|list", "'a'|center", "'a' is escaped", "f(*messages)", "f(**x)", "'a'.join(*messages)", "'a'|trim(*messages)",
    "99999999999999999999", "messages[1, 2]", "1e999", "messages|sum(attribute='x')",
    "messages|map(role)|list", "messages|map('groupby', 'x')|list", "messages|select('nonsense')|list", "messages.__class__",
    "strftime_now('%Q %c')", "[1]|sort(attribute='a,b')", "'a'|wordcount", "loop.changed(1)", "'a'|nosuchfilter",
]
REACHED = ["messages.append(1)", "messages.pop()", "{}.update({'a': 1})", "messages[0].clear()", "messages.insert(0, 1)"]
TEMPLATES += ["{%% if nothing %%}%s{%% endif %%}ok" % part for part in STATEMENTS]
TEMPLATES += ["{%% if true %%}ok{%% else %%}{%% for a in b %%}%s{%% endfor %%}{%% endif %%}" % part for part in STATEMENTS[:6]]
TEMPLATES += ["{%% macro f() %%}%s{%% endmacro %%}{%% for a in [] %%}%s{%% else %%}ok{%% endfor %%}" % (part, part)
              for part in STATEMENTS[:6]]
TEMPLATES += ["{%% if nothing %%}{{ %s }}{%% endif %%}{{ 'ok' if true }}" % part for part in PARTS]
TEMPLATES += ["{{ true or %s }}{{ 'o' if true else %s }}{{ 1 < 0 < %s }}{%% if true %%}k{%% elif %s %%}{%% endif %%}" % ((part,) * 4)
              for part in REACHED]
TEMPLATES += ["{%% if true %%}{{ %s }}{%% endif %%}" % part for part in REACHED]
TEMPLATES += ["{% set loop = 2 %}{{ loop }}{% for i in [1] %}{{ loop.index }}{% endfor %}", "{{ messages[0]|attr('role') is defined }}"]
