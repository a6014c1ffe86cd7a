-- chat_templates.lua: prints chat templates as C, as a model has them, for test_chat.c.
package.path = "gen/?.lua;" .. package.path

local emit_chat = require("passes.emit.chat")
local template = require("common.template")
local chat = require("text.chat.template")

local tokens = { { name = "bos_token", text = "<s>" } }

local list = {
  { "plain", "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}"
    .. "{% if add_generation_prompt %}>{% endif %}{{ x }}{{ 1.5 if y }}" },
  { "raises", "a\n{{ raise_exception('no\n\27[31m way\tto \226\128\174go ' ~ messages[0].content) }}" },
  { "doubles", "{% set ns = namespace(x='ab') %}{% for i in range(64) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}" },
  { "lists", "{% set ns = namespace(x=[1]) %}{% for i in range(64) %}{% set ns.x = ns.x + ns.x %}{% endfor %}" },
  { "searches", "{% set x = 'a' * 20000000 %}{{ x.count('a' * 1000) }}" },
  { "writes", "{% for i in range(1000) %}{{ 'abcdefgh' * 100 }}{% endfor %}" },
  { "recurs", "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(y) }}" },
  { "deepens", "{% set ns = namespace(x=[]) %}{% for i in range(300) %}{% set ns.x = [ns.x] %}{% endfor %}"
    .. "{% if y == 1 %}{{ ns.x }}{% elif y == 2 %}{{ ns.x | tojson }}{% elif y == 3 %}{{ ns.x == [ns.x] }}"
    .. "{% elif y == 4 %}{{ ns.x < [ns.x] }}{% elif y == 5 %}{% set ns.x = ns %}{{ ns.x }}{% endif %}" },
  { "works", "{% macro f(a, b=2) %}{% for k, v in a | dictsort %}{{ k }}={{ v | upper }};{% endfor %}{{ b }}"
    .. "{% endmacro %}{% set t %}{{ f({'b': 'x', 'a': 'é'}, b=[1, 2.5]) }}{% endset %}{{ t | replace('=', ':') }}"
    .. "{{ messages | map(attribute='content') | select('string') | join('|') | title | indent }}"
    .. "{{ 'a b c'.split() | tojson(indent=2) }}{{ [3, 1, 2] | sort | reverse | list }}{{ messages[::-1] | length }}" },
  { "dates", "{{ strftime_now('%Y-%m-%d %H:%M:%S %A %j') }}" },
}

local write = template.open(".", "chat.c.in")
for _, each in ipairs(list) do
  local made = assert(chat.compile(each[2], each[1]))
  made.tokens, made.file = tokens, each[1]
  local values = emit_chat.values(made)
  values.name, values.generator = each[1], "tests"
  -- Several templates are in one file: their lists have names of their own.
  local text = write(values):gsub("/%*.-%*/", "")
  for _, name in ipairs { "words", "steps", "reals", "parameters", "macros", "tokens" } do
    text = text:gsub("([ %s])" .. name .. "([%[,])", "%1" .. each[1] .. "_" .. name .. "%2")
  end
  print(text)
end
