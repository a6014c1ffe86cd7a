-- lexer_spec.lua: tokens of chat templates, their lines, and what of the text around tags goes.
require("tests.spec.helper")
local lexer = require("text.chat.lexer")

local function fail(line, what) error(("line %d: %s"):format(line, what), 0) end

-- Returns the tokens as one line: KIND:VALUE, with the line where it changes.
local function read(source)
  local parts, line = {}, 1
  for _, token in ipairs(lexer.read(source, fail)) do
    if token.line ~= line then parts[#parts + 1] = "@" .. token.line end
    line = token.line
    parts[#parts + 1] = token.value and ("%s:%s"):format(token.kind, token.value) or token.kind
  end
  return (table.concat(parts, " "):gsub("\n", "/"))
end

-- Returns the tokens without their lines.
local function plain(source) return (read(source):gsub("@%d+ ", "")) end

local function refusal(source) return select(2, pcall(lexer.read, source, fail)) end

describe("the lexer of chat templates", function()
  it("cuts tags into names, numbers, texts and operators", function()
    assert.equal("variable name:a operator:. name:b operator:| name:c operator:( integer:1_0 operator:, float:1.5e3 "
      .. "operator:) end over", read("{{ a.b | c(1_0, 1.5e3) }}"))
    assert.equal("variable name:a operator:// name:b operator:** name:c operator:!= string:}} end over",
      read("{{a//b**c!='}}'}}"))
    assert.equal("variable operator:{ string:a operator:: operator:{ operator:} operator:} end over",
      read("{{ {'a': {}} }}"))
  end)

  it("replaces escapes as Python does", function()
    assert.equal("variable string:a/b\tA\u{e9}\u{1f600}\\d'S end over",
      read([[{{ 'a\nb\tA\u00e9\U0001F600\d\'\123' }}]]))
    assert.equal('line 1: an escape \\u that is no character', refusal([[{{ "\ud800" }}]]))
    assert.equal("line 1: an escape that is not supported", refusal([[{{ "\N{DASH}" }}]]))
  end)

  it("removes the newline after a block and the spaces before it", function()
    assert.equal("data:a/ block name:b end data:c over", plain("a\n  {% b %}\nc"))
    assert.equal("data:a   block name:b end data:  c over", plain("a  {% b %}  c"))
    assert.equal("block name:b end data:/ over", plain("  {% b +%}\n\n"))
    assert.equal("data:   block name:b end over", plain("  {%+ b %}"))
    assert.equal("data:a variable name:b end data:c over", plain("a \n {{- b -}} \n c"))
    assert.equal("data:a/ data:   variable name:b end data:/ over", plain("a\n  {# x #}\n  {{ b }}\n\n"))
  end)

  it("keeps what raw holds, and normalizes newlines", function()
    assert.equal("data:{{ a }}/ over", plain("{% raw %}{{ a }}\r\n{% endraw %}\n"))
    assert.equal("data:a/b/c over", plain("a\rb\r\nc\n"))
  end)

  it("knows the lines of tokens", function()
    assert.equal("data:a/ @2 variable name:b @3 operator:+ name:c end data:/ @4 data:x/ @5 over",
      read("a\n{{ b\n + c }}\n{#x#}x\n\n"):gsub("data:/x", "data:x"))
  end)

  it("refuses what does not end, and what is no token", function()
    assert.equal("line 2: the template ends inside of a tag", refusal("\n{{ a"))
    assert.equal("line 1: a comment has no end", refusal("{# a"))
    assert.equal("line 1: raw has no endraw", refusal("{% raw %}"))
    assert.matches("^line 3: unexpected character", refusal("\n\n{{ a ! b }}"))
    assert.matches('^line 1: unexpected "%)"', refusal("{{ (a]) }}"):gsub("%]", ")"))
    assert.equal('line 1: unexpected characters after "1"', refusal("{{ 1a }}"))
    assert.equal("line 1: a text has no end", refusal("{{ 'a }}"))
  end)
end)
