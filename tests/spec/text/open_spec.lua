-- open_spec.lua: tokenizers whose tables are only seen to be wrong, or to be right, when the runtime opens them.
require("tests.spec.helper")
local classes = require("text.classes")
local dkjson = require("dkjson")
local json = require("common.json")
local from_text = require("tests.text.from_text")
local written = require("tests.spec.text.written")

-- Tables of a small WordPiece that lowers its texts and leaves x out; more: keys of the file; calls: of its class.
local function tables(more, calls)
  local root = { added_tokens = {}, model = { type = "WordPiece", unk_token = "[UNK]", continuing_subword_prefix = "##",
    max_input_chars_per_word = 100, vocab = { ["[UNK]"] = 0, a = 1, ["##b"] = 2 } },
    normalizer = { type = "Sequence", normalizers = { { type = "Lowercase" },
      { type = "Replace", pattern = { String = "x" }, content = "" } } } }
  for key, value in pairs(more) do root[key] = value end
  return (from_text(dkjson.encode(root), "t.json", calls))
end

local function added(id, content)
  return { id = id, content = content, single_word = false, lstrip = false, rstrip = false, normalized = true,
    special = false }
end

describe("added tokens", function()
  it("that are equal once they are normalized open, and the first is found", function()
    local piece = tables { added_tokens = { added(3, "FOO"), added(4, "foo"), added(5, "fxoo"), added(6, "fo") } }
    local places = { { 0, 1 }, { 1, 4 } }
    assert.equal("3 cases, 0 failed\n", written.run(piece, {
      { text = "aFoo", ids = { 1, 3 }, places = places, decoded = "a foo" },
      { text = "afoo", ids = { 1, 3 }, places = places, decoded = "a foo" },
      { text = "aFo", ids = { 1, 6 }, places = { { 0, 1 }, { 1, 3 } }, decoded = "a fo" } }))
  end)

  it("that take white characters on both sides leave none for the next one", function()
    local function wide(content, lstrip, rstrip)
      local piece = added(3, content)
      piece.lstrip, piece.rstrip, piece.normalized = lstrip, rstrip, false
      return piece
    end
    assert.equal("2 cases, 0 failed\n", written.run(tables { added_tokens = { wide(" ", true, true) } }, {
      { text = "   ", ids = { 3 }, places = { { 0, 3 } }, decoded = " " },
      { text = "a  a", ids = { 1, 3, 1 }, places = { { 0, 1 }, { 1, 3 }, { 3, 4 } }, decoded = "a   a" } }))
    assert.equal("1 cases, 0 failed\n", written.run(tables { added_tokens = { wide(" ", false, true) } }, {
      { text = "   ", ids = { 3, 3, 3 }, places = { { 0, 3 }, { 1, 3 }, { 2, 3 } }, decoded = "     " } }))
    local first, second = wide("y", false, true), wide("  b", true, false)
    second.id = 4
    assert.equal("1 cases, 0 failed\n", written.run(tables { added_tokens = { first, second } }, {
      { text = "y  b", ids = { 3, 4 }, places = { { 0, 3 }, { 3, 4 } }, decoded = "y   b" } }))
  end)

  it("that are special are texts like others for split_special_tokens, also where one covers another", function()
    local first, second, third = added(3, "ab"), added(4, "b"), added(5, "A")
    first.special, third.special, first.normalized, second.normalized = true, true, false, false
    local calls = classes.calls(json.object { split_special_tokens = true }, "c")
    local piece = tables({ added_tokens = { first, second, third } }, calls)
    assert.equal("2 cases, 0 failed\n", written.run(piece, {
      { text = "aab", ids = { 0 }, places = { { 0, 3 } }, decoded = "[UNK]" },
      { text = "ba", ids = { 4, 1 }, places = { { 0, 1 }, { 1, 2 } }, decoded = "b a" } }))
  end)

  it("of which normalizing leaves nothing are refused, with the reason", function()
    assert.equal("tokenizer tables: added token 1: it is empty after normalizing\n",
      written.run(tables { added_tokens = { added(3, "y"), added(4, "Xx") } }, {}))
  end)
end)

describe("a pattern that PCRE2 refuses", function()
  for text, reason in pairs {
    ["(?<=a+)b"] = "lookbehind assertion is not fixed length",
    ["a" .. ("{2}"):rep(300)] = "parentheses are too deeply nested",
    ["(?:ab|cd){9999}"] = "regular expression is too large",
  } do
    it("is refused with PCRE2's reason: " .. text:sub(1, 20), function()
      local piece = tables { pre_tokenizer = { type = "Split", pattern = { Regex = text }, behavior = "Isolated",
        invert = false } }
      assert.equal(("tokenizer tables: component 2: PCRE2 refuses the pattern: %s\n"):format(reason),
        written.run(piece, {}))
    end)
  end
end)
