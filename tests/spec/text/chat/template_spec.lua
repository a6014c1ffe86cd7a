-- template_spec.lua: chat templates that are refused, by name and line, and where a folder has its template.
local helper = require("tests.spec.helper")
local template = require("text.chat.template")

local function refusal(text)
  local made, problem = template.compile(text, "t")
  assert.is_nil(made)
  return problem
end

describe("a chat template", function()
  it("is refused in one line, also where it quotes the end of one", function()
    assert.equal('t: line 1: "\\?"; a name is expected', refusal('{%"\n", 1 %}'))
  end)

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
      { "{% with %}{% macro f() %}{% endmacro %}{% endwith %}",
        "t: line 1: a macro within a loop, a macro or a block is not supported" },
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

  -- Returns what a template with a part may reach that is refused, without the name and the end of the line.
  local function noted(text)
    local made = assert(template.compile(text, "t"))
    local lines = template.refusals(made, "t")
    for i, line in ipairs(lines) do lines[i] = line:match("^t: (.*); chats that reach it are refused$") end
    return table.concat(lines, "|"), made
  end

  it("is compiled if what is not supported is in a branch, and a line says what", function()
    local said = 'line 1: the method "append" is not allowed in templates, which may not change values'
    for _, text in ipairs { "{% if a %}%s{% endif %}", "{% if a %}{% elif b %}%s{% endif %}",
      "{% if a %}{% else %}%s{% endif %}", "{% for a in b %}%s{% endfor %}", "{% for a in b %}{% else %}%s{% endfor %}",
      "{% macro f() %}%s{% endmacro %}", "{% if a %}{% for b in c %}{% endfor %}%s{% endif %}",
      "{% if a %}{% if b %}{% else %}{% endif %}%s{% endif %}", "{% if a %}{% with %}%s{% endwith %}{% endif %}" } do
      assert.equal(said, noted((text:gsub("%%s", "{{ a.append(1) }}"))))
    end
    for _, text in ipairs { "a and $", "a or $", "$ if a", "b if a else $", "a < b < $" } do
      assert.equal(said, noted("{{ " .. text:gsub("%$", "a.append(1)") .. " }}"))
    end
    assert.equal(said, noted("{% if a %}{% elif a.append(1) %}{% endif %}"))
    assert.equal(said, noted("{% for a in b if a.append(1) %}{% endfor %}"))
    for _, text in ipairs { "a.append(1) and a", "b if a.append(1) else c", "a < a.append(1) < b", "[a.append(1)]" } do
      assert.matches('^t: line 1: the method "append" is not allowed', refusal("{{ " .. text .. " }}"))
    end
    for _, text in ipairs { "{% if a.append(1) %}{% endif %}", "{% for a in b.append(1) %}{% endfor %}",
      "{% if a %}{% endif %}{{ a.append(1) }}", "{% for a in b %}{% else %}{% endfor %}{{ a.append(1) }}",
      "{% with %}{{ a.append(1) }}{% endwith %}", "{% set x %}{{ a.append(1) }}{% endset %}" } do
      assert.matches('^t: line 1: the method "append" is not allowed', refusal(text))
    end
  end)

  it("is compiled with all that Jinja knows in a branch", function()
    for part, said in pairs { ["{% include 'x' ignore missing %}"] = "include: there are no other templates",
      ["{% import 'x' as y %}"] = "import: there are no other templates",
      ["{% from 'x' import y, z %}"] = "from: there are no other templates",
      ["{% extends x %}"] = "extends: there are no other templates",
      ["{% block x scoped %}{% if a %}{% endif %}{% endblock x %}"] = "block: not supported",
      ["{% call(u) f(1) %}{{ u }}{% endcall %}"] = "call: not supported",
      ["{% autoescape true %}{% endautoescape %}"] = "autoescape: not supported",
      ["{% for x in y recursive %}{{ loop(x) }}{% endfor %}"] = "recursive loops are not supported",
      ["{% with %}{% macro f() %}{% endmacro %}{% endwith %}"] = "a macro within a loop, a macro or a block is not "
        .. "supported",
      ["{{ f(*a, **b) }}"] = "arguments by * and ** are not supported",
      ["{{ 'a' | trim(*b) }}"] = "arguments by * and ** are not supported",
      ["{{ a[1, 2:3] }}"] = "an index of several values is not supported",
      ["{{ 12345678901 }}"] = "the number 12345678901; up to 2147483647 is supported",
      ["{{ 1e999 }}"] = "a number that is too large",
      ["{{ a | b.c }}"] = 'the filter "b.c" is not supported', ["{{ a is b }}"] = 'the test "b" is not supported',
      ["{{ a | map(b) }}"] = "the filter of map: its name must be a text, so that it is known when the template is "
        .. "compiled", ["{{ a | map('map') }}"] = 'map with the filter "map" is not supported',
      ["{{ a | select('b') }}"] = 'the test "b" is not supported', ["{{ a.__b__ }}"] = 'the attribute "__b__" is not '
        .. "allowed", ["{{ a | selectattr }}"] = "selectattr needs the name of an attribute",
      ["{{ a | trim(1, 2) }}"] = 'the filter "trim" takes 1 arguments, but has 2',
      ["{{ a | trim(b=1) }}"] = 'the filter "trim" has no parameter "b"',
      ["{{ a | trim(1, chars=1) }}"] = 'the filter "trim": "chars" is given twice',
      ["{{ a | replace(1) }}"] = 'the filter "replace" needs an argument "new"',
      ["{% for a in b if loop.x %}{% endfor %}"] = "the loop's condition reads \"loop\", which it cannot" } do
      assert.equal("line 1: " .. said, (noted("{% if a %}" .. part .. "{% endif %}")))
    end
    assert.equal('line 1: "varargs" of a macro is not supported', (noted("{% macro f() %}{{ varargs }}{% endmacro %}")))
    assert.equal("", (noted("{% macro f(varargs) %}{{ varargs }}{% endmacro %}{{ varargs }}")))
    assert.equal("line 1: strftime_now: the conversion %Q of its format is not supported|"
      .. "line 1: strftime_now: the conversion %E of its format is not supported",
      (noted("{% if a %}{{ strftime_now('%d %%Q %Q') }}{{ strftime_now(format='%-d%-E') }}{% endif %}")))
    assert.equal("t: line 1: strftime_now: the conversion %Q of its format is not supported",
      refusal("{{ strftime_now('%Q') }}"))
  end)

  it("has one line for each reason, with the first places", function()
    local parts = {}
    for i = 1, 8 do parts[i] = "{% if a %}{{ a.pop() }}{{ a.pop() }}{% endif %}" end
    for i = 1, 12 do parts[#parts + 1] = ("{%% if a %%}{{ a.b%d() }}{%% endif %%}"):format(i) end
    local lines = template.refusals(assert(template.compile(table.concat(parts, "\n\n"), "t")), "t")
    assert.equal('t: line 1, 3, 5, 7, 9, ...: the method "pop" is not allowed in templates, which may not change '
      .. "values; chats that reach it are refused", lines[1])
    assert.equal(10, #lines)
  end)

  it("has a step where a chat is refused", function()
    local made = select(2, noted("{% if a %}{{ b.pop() }}{% endif %}"))
    local names = {}
    for i, step in ipairs(made.steps) do names[i] = step.name end
    assert.equal("resolve resolve load jump_false load refuse print stop", table.concat(names, " "))
  end)

  it("takes time that grows as its length does", function()
    -- Returns the instructions of Lua that a template of n parts takes.
    local function cost(part, n, before, after)
      local parts, count = {}, 0
      for i = 1, n do parts[i] = part:gsub("#", i) end
      local text = (before or "") .. table.concat(parts) .. (after or "")
      debug.sethook(function() count = count + 1 end, "", 100)
      template.compile(text, "t")
      debug.sethook()
      return count
    end
    for _, case in ipairs { { "{% set x# = # %}" }, { "{% if x %}{% set y# = 1 %}{% endif %}" }, { "\n{{ x# }}" },
      { "{% elif x# %}{% set y# = 1 %}", "{% if x %}", "{% endif %}" }, { "{% for a in b %}{{ x# }}{% endfor %}" },
      { "{% macro f#(a) %}{{ a }}{% endmacro %}" }, { "{% set x# %}a{% endset %}" }, { "a#=1,", "{{ f(", ") }}" },
      { "a#,", "{% macro f(", "a) %}{% endmacro %}" }, { "'a',", "{{ [", "] }}" },
      { "{{ a.b#() }}", "{% if x %}", "{% endif %}" },
      { "{% if x %}{% else %}{% endif %}", ("{% set x = y %}"):rep(500) } } do
      local once, twice = cost(case[1], 300, case[2], case[3]), cost(case[1], 600, case[2], case[3])
      assert.is_true(twice < 2.6 * once, ("%s: %d, %d"):format(case[1], once, twice))
    end
  end)

  it("finds the lines of tokens once", function()
    local find, count = string.find, 0
    string.find = function(text, what, ...) -- luacheck: ignore 122
      count = count + (what == "\n" and 1 or 0)
      return find(text, what, ...)
    end
    local made = template.compile(("{% set x = 1 %}"):rep(1000) .. "\n{{ x }}", "t")
    string.find = find -- luacheck: ignore 122
    assert.equal(2, made.steps[#made.steps].line)
    assert.is_true(count <= 3, count)
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
      { "{% for a in b %}{% set loop = 2 %}{% endfor %}", "t: line 1: loop cannot be set" },
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
    local function find(file, config, more)
      return template.find("f", function(name)
        if name == "chat_template.jinja" then return file end
        return more and more[name]
      end, config)
    end
    for _, name in ipairs { "chat_template.json", "processor_config.json" } do
      local files = { [name] = '{"chat_template":"z"}' }
      assert.same({ text = "z", file = ("f/%s: chat_template"):format(name) }, find(nil, {}, files))
      assert.equal("y", find(nil, { chat_template = "y" }, files).text)
      for text, said in pairs { ['{"chat_template":1}'] = "chat_template: a string or a list is expected",
        ["{"] = "byte 2: a string is expected" } do
        assert.equal(("f/%s: %s"):format(name, said), find(nil, nil, { [name] = text }).problem)
      end
    end
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
