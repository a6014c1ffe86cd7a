-- parser_spec.lua: the trees of expressions and statements: what binds closer, and what belongs to a statement.
require("tests.spec.helper")
local parser = require("text.chat.parser")

local function fail(line, what) error(("line %d: %s"):format(line, what), 0) end

-- Returns an expression's tree as text.
local show

local function list(nodes)
  local parts = {}
  for i, each in ipairs(nodes) do parts[i] = show(each) end
  return table.concat(parts, " ")
end

local shown = {
  name = function(e) return e.name end,
  integer = function(e) return tostring(e.value) end,
  string = function(e) return ("%q"):format(e.value) end,
  boolean = function(e) return tostring(e.value) end,
  none = function() return "none" end,
  binary = function(e) return ("(%s %s %s)"):format(e.operator, show(e.left), show(e.right)) end,
  join = function(e) return ("(~ %s)"):format(list(e.items)) end,
  tuple = function(e) return ("(, %s)"):format(list(e.items)) end,
  item = function(e) return ("%s[%s]"):format(show(e.object), show(e.key)) end,
  attribute = function(e) return ("%s.%s"):format(show(e.object), e.name) end,
  filter = function(e) return ("(| %s %s)"):format(show(e.object), e.name) end,
  test = function(e)
    return ("(is %s %s%s)"):format(show(e.object), e.name, e.list[1] and " " .. list(e.list) or "")
  end,
  call = function(e) return ("%s(%s)"):format(show(e.callee), list(e.list)) end,
  conditional = function(e)
    return ("(if %s %s %s)"):format(show(e.test), show(e.value), e.other and show(e.other) or "-")
  end,
  compare = function(e)
    local parts = { show(e.first) }
    for _, each in ipairs(e.others) do parts[#parts + 1] = each.operator .. " " .. show(each.value) end
    return "(" .. table.concat(parts, " ") .. ")"
  end,
}
for _, kind in ipairs { "and", "or" } do
  shown[kind] = function(e) return ("(%s %s %s)"):format(kind, show(e.left), show(e.right)) end
end
for _, kind in ipairs { "not", "negative", "positive" } do
  shown[kind] = function(e) return ("(%s %s)"):format(kind, show(e.value)) end
end

function show(e) return shown[e.kind](e) end

local function tree(text) return show(parser.read("{{ " .. text .. " }}", fail)[1].value) end

describe("an expression of a chat template", function()
  it("binds as Jinja's do", function()
    assert.equal("(add a (multiply b c))", tree("a + b * c"))
    assert.equal("(add (~ a b) c)", tree("a ~ b + c"))
    assert.equal("(~ (remainder a b) c)", tree("a % b ~ c"))
    assert.equal("(power (negative a) b)", tree("-a ** b"))
    assert.equal("(| (negative a) abs)", tree("-a | abs"))
    assert.equal("(multiply a (| b abs))", tree("a * b | abs"))
    assert.equal("(not (a eq b))", tree("not a == b"))
    assert.equal("(or a (and b (not c)))", tree("a or b and not c"))
    assert.equal("(a lt b not_in c)", tree("a < b not in c"))
    assert.equal("(if b a (if d c e))", tree("a if b else c if d else e"))
    assert.equal("(if b a -)", tree("a if b"))
    assert.equal("(, a b)", tree("a, b"))
    assert.equal("(, )", tree("()"))
    assert.equal("a", tree("(a)"))
  end)

  it("has filters, tests and calls one after the other", function()
    assert.equal("(| (| a trim) upper)", tree("a | trim | upper"))
    assert.equal("(and (is a defined) (not (is b none)))", tree("a is defined and b is not none"))
    assert.equal("(is a divisibleby 3)", tree("a is divisibleby 3"))
    assert.equal("(is a eq b.c)", tree("a is eq b.c"))
    assert.equal("a.b(1)[2].c", tree("a.b(1)[2].c"))
    assert.equal("a[0]", tree("a.0"))
    assert.equal('"ab"', tree("'a' 'b'"))
  end)
end)

describe("a statement of a chat template", function()
  local function first(text) return parser.read(text, fail)[1] end

  it("keeps its parts apart", function()
    local loop = first("{% for a, b in c if d %}x{% else %}y{% endfor %}")
    assert.same({ "for", "names", "name", "d", "text", "text" }, { loop.kind, loop.target.kind, loop.over.kind,
      loop.test.name, loop.body[1].kind, loop.other[1].kind })
    local branches = first("{% if a %}1{% elif b %}2{% elif c %}3{% else %}4{% endif %}")
    assert.equal(3, #branches.branches)
    assert.equal("4", branches.other[1].value)
    local block = first("{% set x | trim %}y{% endset %}")
    assert.same({ "set_block", "x", "trim" }, { block.kind, block.target.name, block.filters[1].name })
    local macro = first("{% macro f(a, b=1) %}{% endmacro %}")
    assert.same({ "f", "a", "b", 1 }, { macro.name, macro.parameters[1].name, macro.parameters[2].name,
      macro.parameters[2].default.value })
    assert.equal("namespace", first("{% set a.b = 1 %}").target.kind)
  end)
end)
