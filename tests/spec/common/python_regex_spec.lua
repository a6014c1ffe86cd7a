-- python_regex_spec: expressions of Python, against what re.fullmatch says of texts.
local helper = require("tests.spec.helper")
local python_regex = require("common.python_regex")

-- Expressions of adapters that are published, and of each part of the syntax.
local expressions = {
  "(?:.*?(?:vision|text).*?(?:attn|mlp).*?(?:q_proj|down_proj).*?)|"
    .. "(?:\\bmodel\\.layers\\.[\\d]{1,}\\.(?:self_attn|mlp)\\.(?:(?:q_proj|v_proj)))",
  "^(?!.*visual).*(?:q_proj|v_proj).*", "^(model)(?!.*(lm_head|emb)).*", ".*\\.layers\\.(0|11)\\..*(q|v)_proj$",
  "model.*(?<!q)_proj", ".*(?<=self_attn)\\.q_proj", "(?P<a>a|b)+", "a{2}", "a{,1}b?", "a{1,}?", "(a?){3}b", "a{",
  "a{x}",
  "[^a-c.]+", "(a)\\1", "(?P<x>a)(?P=x)", "(?i)A", "(?>a|ab)c?", "a*+a?", "\\v",
  "[]a]*", "[\\w.-]*", "\\x61|\\W", "\\Aa\\Z|b$", "(|a)*", "(a|)+b",
  "\\b\\w+\\b", "(?=a)a", ".", "\\s*", "[a\\]]+", "(a+)+b", "[\\b]",
  "(?<=ab|cd)e|ab(?<=(?:b|c))", "(?i)(?s)A.", "(?i-s:A)\\n?", "(?P<n>a)(?(n)b|c)", "\\0?a\\141*", "((a)|b)\\2?",
  "a{,}", "[a{,3}]*", "[(*(?]*|a", "a\\Z\\n?", "\\.", "(a|ab)(c|bcd)", "(?:a*)*", "x-y|1\\D",
}
local texts = { "", "0", "a", "b", "a\n", "aa", "ab", "aab", "a]", "a{", "a{x}", "abcd", "x-y", "1a", ".", "\n",
  ("a"):rep(15), "model.layers.0.self_attn.q_proj", "model.layers.11.self_attn.v_proj",
  "model.visual.blocks.3.attn.q_proj", "model.text.layers.3.mlp.down_proj" }

describe("an expression of Python", function()
  teardown(helper.clean)

  it("fits the same texts as Python", function()
    local said, input = {}, {}
    for _, expression in ipairs(expressions) do
      local set = assert(python_regex.fitting(expression, texts), expression)
      for _, text in ipairs(texts) do
        said[#said + 1] = set[text] and "1" or "0"
        input[#input + 1] = expression .. "\0" .. text
      end
    end
    local path = helper.file(table.concat(input, "\1"), "expressions")
    local want = helper.succeeds(("/usr/bin/python3 -c 'import re, sys; print(\"\".join(str(int(re.fullmatch(*each"
      .. ".split(\"\\0\")) is not None)) for each in open(sys.argv[1], newline=\"\").read().split(\"\\1\")))' %s")
      :format(path), ".")
    for i, each in ipairs(input) do assert.equal(want:sub(i, i), said[i], (each:gsub("%z", " "))) end
  end)

  it("is refused with its reason", function()
    for expression, why in pairs { ["(a"] = "missing closing parenthesis", ["a)"] = "unmatched closing parenthesis",
      ["[a"] = "missing terminating ] for character class", ["\\"] = "\\ at end of pattern",
      ["*a"] = "quantifier does not follow a repeatable item", ["a{2,1}"] = "numbers out of order in {} quantifier",
      ["[b-a]"] = "range out of order in character class", ["\\Ra"] = "\\R has no meaning",
      ["\\Qa"] = "\\Q has no meaning", ["(*ACCEPT)"] = "nothing is before *", ["(?|a)"] = "no group begins with (?|",
      ["(?<n>a)"] = "no group begins with (?<", ["[[:alpha:]]"] = "sets with names are not supported",
      ["[\\w[:alpha:]]"] = "sets with names are not supported", ["a\0b"] = "NUL is not supported",
      ["\\xzz"] = "\\x needs two hexadecimal digits", ["[\\x6]"] = "\\x needs two hexadecimal digits",
      ["(?<=a|bc)x"] = "lookbehind assertion is not fixed length",
      ["(?<!a|bc)x"] = "lookbehind assertion is not fixed length",
      ["a(?i)b"] = "flags of the whole expression come first", ["(?i-i:a)"] = "a flag is turned on and off",
      ["(?-:a)"] = "no group begins with (?-", ["[\\8]"] = "\\8 has no meaning",
      ["\\777"] = "\\777 has no meaning", ["\\1(a)"] = "no group 1 has ended before",
      ["(a\\1)"] = "no group 1 has ended before", ["(?P=n)(?P<n>a)"] = "no group n has ended before",
      ["(?(n)a)(?P<n>a)"] = "no group n has begun before",
      [("a"):rep(100001)] = "more than 100000 bytes are not supported" } do
      assert.same({ nil, why }, { python_regex.fitting(expression, { "a" }) })
    end
  end)

  it("is refused where it takes too many steps", function()
    assert.same({ nil, "match limit exceeded" }, { python_regex.fitting("(a+)+b|(a+)+c", { ("a"):rep(40) }) })
  end)

  it("takes any number of texts", function()
    local list = {}
    for i = 1, 2001 do list[i] = tostring(i) end
    local set = python_regex.fitting("\\d*1", list)
    assert.is_true(set["1"] and set["1001"] and set["2001"])
    assert.is_nil(set["2000"])
    assert.same({}, python_regex.fitting("a", {}))
    for i = 1, 200 do list[i] = ("x"):rep(20000) .. i end
    assert.is_true(python_regex.fitting("x*20", list)[list[20]])
    assert.same({ nil, "it is for a name of more than 100000 bytes" },
      { python_regex.fitting("a", { "a", ("x"):rep(100001) }) })
  end)
end)
