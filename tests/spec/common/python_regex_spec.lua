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
  "[^a-c.]+", "[]a]*", "[\\w.-]*", "\\x61|\\W", "\\Aa\\Z|b$", "(|a)*", "(a|)+b",
  "\\b\\w+\\b", "(?=a)a", ".", "\\s*", "[a\\]]+", "(a+)+b", "[\\b]", "\\.", "(a|ab)(c|bcd)", "(?:a*)*", "x-y|1\\D",
}
local texts = { "", "a", "b", "aa", "ab", "aab", "a]", "a{", "a{x}", "abcd", "x-y", "1a", ".", "\n", ("a"):rep(15),
  "model.layers.0.self_attn.q_proj", "model.layers.11.self_attn.v_proj", "model.visual.blocks.3.attn.q_proj",
  "model.text.layers.3.mlp.down_proj" }

describe("an expression of Python", function()
  teardown(helper.clean)

  it("fits the same texts as Python", function()
    local said, input = {}, {}
    for _, expression in ipairs(expressions) do
      local fits = assert(python_regex.compile(expression), expression)
      for _, text in ipairs(texts) do
        said[#said + 1] = fits(text) and "1" or "0"
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
    for expression, why in pairs { ["(a"] = "a group has no end", ["a)"] = "a bracket is closed that was not opened",
      ["[a"] = "a set has no end", ["*a"] = "nothing is before *", ["a**"] = "a repetition is repeated",
      ["a*+"] = "possessive repetition is not supported", ["^*"] = "a place is repeated",
      ["a{2,1}"] = "its least times are more than its most", ["(a)\\1"] = "\\1 is not supported",
      ["(?i)a"] = "a group that begins with (?i is not supported",
      ["(?>a)"] = "a group that begins with (?> is not supported",
      ["[b-a]"] = "a range is wrong", ["\\"] = "it ends with a backslash", ["é"] = "it is not ASCII",
      [("("):rep(200)] = "its groups are too deep" } do
      assert.same({ nil, why }, { python_regex.compile(expression) })
    end
  end)

  it("is refused where it takes too many steps", function()
    local text = ("("):rep(60) .. "a" .. (")+"):rep(60)
    assert.same({ nil, "it takes too many steps" }, { python_regex.compile(text)(("a"):rep(30)) })
    assert.is_true(python_regex.compile("(a*){999999999}")("aa"))
  end)
end)
