-- template_spec.lua: chat templates that are refused, by name and line, and where a folder has its template.
local helper = require("tests.spec.helper")
local template = require("text.chat.template")

local function refusal(text)
  local made, problem = template.compile(text, "t")
  assert.is_nil(made)
  return problem
end

describe("a chat template", function()
  it("is refused by the name of what is not supported, with its line", function()
    local cases = {
      { "\n{{ a | groupby('b') }}", "t: line 2: the filter \"groupby\" is not supported; supported: abs, attr," },
      { "{{ a is escaped }}", "t: line 1: the test \"escaped\" is not supported; supported: boolean," },
      { "{{ a.swapcase() }}", "t: line 1: the method \"swapcase\" is not supported; supported: capitalize," },
      { "{{ a.append(1) }}", "t: line 1: the method \"append\" is not allowed in templates" },
      { "{% include 'x' %}", "t: line 1: include: there are no other templates" },
      { "{% do x %}", "t: line 1: do: transformers does not have it" },
      { "{% call f() %}{% endcall %}", "t: line 1: call: not supported" },
      { "a\n\n{% frob %}", "t: line 3: unknown statement \"frob\"" },
      { "{% for a in b recursive %}{% endfor %}", "t: line 1: recursive loops are not supported" },
      { "{% for a in b if loop.first %}{% endfor %}",
        "t: line 1: the loop's condition reads \"loop\", which it cannot" },
      { "{% for a in b if ns.x %}{% set ns.x = 1 %}{% endfor %}",
        "t: line 1: the loop's condition reads \"ns\", which the loop changes" },
      { "{% for a in b %}{% macro f() %}{% endmacro %}{% endfor %}",
        "t: line 1: a macro within a loop, a macro or a block is not supported" },
      { "{% macro f() %}{{ varargs }}{% endmacro %}", "t: line 1: \"varargs\" of a macro is not supported" },
      { "{{ f(*a) }}", "t: line 1: arguments by * and ** are not supported" },
      { "{{ a.__class__ }}", "t: line 1: the attribute \"__class__\" is not allowed" },
      { "{{ a | map(b) }}", "t: line 1: the filter of map: its name must be a text" },
      { "{{ 12345678901 }}", "t: line 1: the number 12345678901; up to 2147483647 is supported" },
      { "{{ a | trim(1, 2) }}", "t: line 1: the filter \"trim\" takes 1 arguments, but has 2" },
      { "{{ a | replace('b') }}", "t: line 1: the filter \"replace\" needs an argument \"new\"" },
      { "{{ a | indent(depth=1) }}", "t: line 1: the filter \"indent\" has no parameter \"depth\"" },
    }
    for _, case in ipairs(cases) do assert.equal(case[2], refusal(case[1]):sub(1, #case[2])) end
    for _, own in ipairs { "{{ a | map_attribute('b') }}", "{{ a is truth }}" } do -- the compiler's own
      local said = refusal(own)
      assert.matches(" is not supported; ", said)
      assert.is_nil(said:match("supported: .*map_attribute") or said:match("supported: .*truth"))
    end
  end)

  it("is refused if it is malformed", function()
    local cases = {
      { "{% if a %}\n\n", "t: line 2: the template ends before endif" },
      { "{% endif %}", "t: line 1: unknown statement \"endif\"" },
      { "{% for a b %}", "t: line 1: \"b\"; \"in\" is expected" },
      { "{{ }}", "t: line 1: the end of the tag; an expression is expected" },
      { "{{ a b }}", "t: line 1: the end of the tag is expected" },
      { "{{ 1 + }}", "t: line 1: the end of the tag is not expected" },
      { "{% set 1 = 2 %}", "t: line 1: \"1\"; a name is expected" },
      { "{% set loop = 2 %}", "t: line 1: loop cannot be set" },
      { "{% set none = 2 %}", "t: line 1: none cannot be set" },
      { "{% break %}", "t: line 1: break: not in a loop of the same block" },
      { "{% for a in b %}{% generation %}{% continue %}{% endgeneration %}{% endfor %}",
        "t: line 1: continue: not in a loop of the same block" },
      { "{{ a[1:2:3:4] }}", "t: line 1: a slice has at most three parts" },
      { "{% macro f(a=1, b) %}{% endmacro %}", "t: line 1: a parameter without a default after one with a default" },
      { "{{ \255 }}", "t: it is not UTF-8" },
      { (" "):rep(1 << 20) .. " ", "t: 1048577 bytes, but at most 1048576 are allowed" },
      { "{{ " .. ("("):rep(101) .. "a" .. (")"):rep(101) .. " }}",
        "t: line 1: more than 100 expressions within each other" },
      { "{{ a" .. ("+a"):rep(1002) .. " }}", "t: line 1: more than 1000 parts of an expression in a row" },
      { ("{% if a %}"):rep(51), "t: line 1: more than 50 statements within each other" },
    }
    for _, case in ipairs(cases) do assert.equal(case[2], refusal(case[1]):sub(1, #case[2])) end
  end)

  it("has steps with the lines of the template", function()
    local made = assert(template.compile("a\n{{ b }}", "t"))
    local list = {}
    for i, step in ipairs(made.steps) do list[i] = ("%d %s %d %d"):format(step.line, step.name, step.a, step.b) end
    assert.same({ "1 resolve 0 0", "1 text 1 0", "2 load 0 0", "2 print 0 0", "2 stop 0 0" }, list)
    assert.same({ "b", "a\n" }, made.words)
  end)

  it("comes from chat_template.jinja, or from tokenizer_config.json", function()
    local function find(file, config) return template.find("f", function() return file end, config) end
    assert.same({ text = "x", file = "f/chat_template.jinja" }, find("x", { chat_template = "y" }))
    local place = "f/tokenizer_config.json: chat_template"
    assert.same({ text = "y", file = place }, find(nil, { chat_template = "y" }))
    assert.same({ text = "d", file = place }, find(nil, { chat_template = { { name = "rag", template = "r" },
      { name = "default", template = "d" } } }))
    assert.is_nil(find(nil, {}))
    assert.is_nil(find(nil, nil))
    assert.equal(place .. ": no template is called default, but there are \"rag\"",
      find(nil, { chat_template = { { name = "rag", template = "r" } } }).problem)
    assert.equal(place .. ": a list of names and templates is expected",
      find(nil, { chat_template = { 1 } }).problem)
    assert.equal(place .. ": a string or a list is expected", find(nil, { chat_template = 1 }).problem)
  end)

  it("knows the special tokens that the folder's files name", function()
    local config = { bos_token = "<b>", eos_token = { content = "<e>" }, pad_token = 3 }
    assert.same({ { name = "bos_token", text = "<m>" }, { name = "eos_token", text = "<e>" },
      { name = "unk_token", text = "<u>" } }, template.tokens(config, { bos_token = "<m>", unk_token = "<u>" }))
    config.added_tokens_decoder = {}
    assert.same({ { name = "bos_token", text = "<b>" }, { name = "eos_token", text = "<e>" } },
      template.tokens(config, { bos_token = "<m>", unk_token = "<u>" }))
    assert.same({}, template.tokens(nil, nil))
    assert.is_truthy(helper.root)
  end)
end)
