-- compile_spec.lua: the steps of chat templates: variables of scopes and how they begin, loops, macros, arguments.
require("tests.spec.helper")
local numbers = require("text.chat.numbers")
local template = require("text.chat.template")

-- Returns the steps of a template as "name a b", words in place of their numbers.
local function steps(text)
  local made, list = assert(template.compile(text, "t")), {}
  local of_a = { text = true, word = true, attribute = true, set = true }
  local of_b = { resolve = true, clear = true }
  for i, step in ipairs(made.steps) do
    local a, b = step.a, step.b
    if of_a[step.name] then a = made.words[a + 1] end
    if of_b[step.name] then b = made.words[b + 1] end
    list[i] = ("%s %s %s"):format(step.name, a, b)
  end
  return list, made
end

-- Returns the steps with one of the names.
local function only(text, ...)
  local wanted, list = {}, {}
  for _, name in ipairs { ... } do wanted[name] = true end
  for _, step in ipairs((steps(text))) do if wanted[step:match("^%S+")] then list[#list + 1] = step end end
  return list
end

describe("a variable of a chat template", function()
  it("begins with the caller's value if it is read first, and undefined if it is set first", function()
    assert.same({ "resolve 0 a" }, only("{{ a }}{% set a = 1 %}", "resolve", "clear"))
    assert.same({ "clear 0 a" }, only("{% set a = 1 %}{{ a }}", "resolve", "clear"))
    assert.same({ "resolve 0 a" }, only("{% set a = a %}", "resolve", "clear"))
    assert.same({ "clear 0 a", "resolve 1 b" }, only("{% set a = 1 %}{% if b %}{{ a }}{% endif %}", "resolve", "clear"))
  end)

  it("begins with the caller's value if only some branches set it", function()
    assert.same({ "resolve 0 b", "resolve 1 a" },
      only("{% if b %}{% set a = 1 %}{% endif %}{{ a }}", "resolve", "clear"))
    assert.same({ "resolve 0 b", "clear 1 a" }, only("{% if b %}{% set a = 1 %}{% elif b %}{% set a = 2 %}{% else %}"
      .. "{% set a = 3 %}{% endif %}{{ a }}", "resolve", "clear"))
  end)

  it("of a loop begins anew in each iteration, with the value outside", function()
    assert.same({ "clear 0 a", "integer 1 0", "store 0 0", "list 0 0", "loop 0 0", "next 13 0", "store 2 0",
      "itself 1 0", "load 0 0", "store 3 0", "integer 2 0", "store 3 0", "jump 5 0", "end_loop 0 0", "stop 0 0" },
      (steps("{% set a = 1 %}{% for i in [] %}{% set a = 2 %}{% endfor %}")))
  end)

  it("of a macro has slots of its own, and the template's are within reach", function()
    local _, made = steps("{% set g = 1 %}{% macro f(a, b=g) %}{{ a }}{{ c }}{% endmacro %}")
    assert.same({ name = 1, entry = 7, first = 0, count = 2, slots = 3 }, made.macros[1])
    assert.same({ "f", "a", "b" }, { made.words[2], made.words[made.parameters[1] + 1],
      made.words[made.parameters[2] + 1] })
    assert.same({ "load_root 0 0" }, only("{% set g = 1 %}{% macro f(a, b=g) %}{% endmacro %}", "load_root"))
  end)
end)

describe("the steps of a chat template", function()
  it("have break and continue go to the end and to the next item", function()
    assert.same({ "next 9 0", "jump 9 0", "jump 3 0", "jump 3 0" },
      only("{% for a in b %}{% break %}{% continue %}{% endfor %}", "next", "jump"))
  end)

  it("have the arguments of filters, tests and methods in the order of their parameters", function()
    assert.same({ "resolve 0 a", "load 0 0", "constant 3 0", "constant 2 0",
      ("filter %d 0"):format(numbers.filter.default.number),
      "print 0 0", "stop 0 0" },
      (steps("{{ a | default(boolean=true) }}")))
    assert.same({ "word u 0", "word x 0",
      ("filter %d %d"):format(numbers.filter.selectattr.number, numbers.test.eq.number) },
      only("{{ a | selectattr('u', 'equalto', 'x') }}", "word", "filter"))
    assert.same({ "word , 0", "constant 3 0", ("method %d 0"):format(numbers.method.split.number) },
      only("{{ a.split(',') }}", "word", "constant", "method"))
    assert.same({ "integer 1 0", "word k 0", "integer 2 0", "call 1 1" },
      only("{{ f(1, k=2) }}", "integer", "word", "call"))
  end)

  it("store a text once", function()
    local _, made = steps("{{ 'a' ~ 'a' ~ b.a }}a")
    assert.same({ "b", "a" }, made.words)
  end)
end)
