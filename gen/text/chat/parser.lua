-- parser.lua: parses a chat template into a tree of statements, by Jinja's grammar.
-- A statement is a table with kind and line. Its other fields are below, where it is made.
local Expressions = require("text.chat.expressions")
local lexer = require("text.chat.lexer")

local parser = {}

local DEEPEST = 50 -- statements within each other

-- Statements that transformers does not know.
local unknown = { ["do"] = true, trans = true, debug = true }

local statements = {}

local function node(kind, line, fields)
  fields.kind, fields.line = kind, line
  return fields
end

-- Returns the statements up to a tag that begins with one of the words `ends`, and that word. The word is read, the
-- rest of its tag is not.
local function read_body(p, ends)
  local body = {}
  p.nested = p.nested + 1
  if p.nested > DEEPEST then p:fail(("more than %d statements within each other"):format(DEEPEST)) end
  while true do
    local token = p:next()
    if token.kind == "over" then
      if not ends then break end
      p:fail(("the template ends before %s"):format(ends[#ends]), token)
    elseif token.kind == "data" then
      body[#body + 1] = node("text", token.line, { value = token.value })
    elseif token.kind == "variable" then
      body[#body + 1] = node("print", token.line, { value = p:tuple() })
      p:expect_end()
    else
      local word = p:look()
      local name = p:expect_name()
      for _, each in ipairs(ends or {}) do
        if each == name then
          p.nested = p.nested - 1
          return body, name
        end
      end
      if unknown[name] then p:fail(name .. ": transformers does not have it", word) end
      if not statements[name] then
        p:fail(("unknown statement %q%s"):format(name:sub(1, 40), ends and ("; %s is expected"):format(ends[#ends])
          or ""), word)
      end
      body[#body + 1] = statements[name](p, word.line)
      p:expect_end()
    end
  end
  p.nested = p.nested - 1
  return body
end

-- Reads the end of a tag, the statements after it, and the end's word, which must be the only one.
local function read_block(p, ending)
  p:expect_end()
  return (read_body(p, { ending }))
end

-- Returns the target of an assignment: a name, an attribute of a namespace, or a list of names.
local function read_target(p, with_attribute, last)
  local list, is_list, line = {}, false, p:look().line
  local in_brackets = p:take("(")
  while true do
    if last and p:is_word(last) or p:look().kind == "end" then break end
    local token = p:look()
    local name = p:expect_name()
    if ({ ["true"] = 1, ["false"] = 1, none = 1, ["True"] = 1, ["False"] = 1, None = 1 })[name] then
      p:fail(("%s cannot be set"):format(name), token)
    end
    if name == "loop" and p.loops > 0 then p:fail("loop cannot be set", token) end
    list[#list + 1] = node("name", token.line, { name = name })
    if with_attribute and #list == 1 and p:take(".") then
      return node("namespace", token.line, { name = name, attribute = p:expect_name() })
    end
    if not p:take(",") then break end
    is_list = true
    if in_brackets and p:is_operator(")") then break end
  end
  if in_brackets then p:expect(")") end
  if #list == 0 then p:fail("a name is expected") end
  return is_list and node("names", line, { items = list }) or list[1]
end

statements["if"] = function(p, line)
  local branches = {}
  local test = p:tuple(false, true)
  p:expect_end()
  while true do
    local body, word = read_body(p, { "elif", "else", "endif" })
    branches[#branches + 1] = { test = test, body = body }
    if word == "endif" then return node("if", line, { branches = branches }) end
    if word == "else" then return node("if", line, { branches = branches, other = read_block(p, "endif") }) end
    test = p:tuple(false, true)
    p:expect_end()
  end
end

statements["for"] = function(p, line)
  local target = read_target(p, false, "in")
  p:expect("in")
  local over = p:tuple(false, true, "recursive")
  local test
  if p:take("if") then test = p:expression() end
  local is_recursive = p:take("recursive")
  p:expect_end()
  p.loops = p.loops + 1
  local body, word = read_body(p, { "else", "endfor" })
  p.loops = p.loops - 1
  local other = word == "else" and read_block(p, "endfor") or nil
  if is_recursive then return node("refused", line, { what = "recursive loops are not supported" }) end
  return node("for", line, { target = target, over = over, test = test, body = body, other = other })
end

for _, name in ipairs { "break", "continue" } do
  statements[name] = function(p, line)
    if p.loops == 0 then p:fail(name .. ": not in a loop of the same block") end
    return node(name, line, {})
  end
end

-- Calls read(p) where break and continue do not reach the loops outside.
local function apart(p, read, ...)
  local loops = p.loops
  p.loops = 0
  local result = read(p, ...)
  p.loops = loops
  return result
end

-- Adds a statement that Jinja knows and that is not supported: it is refused where it is reached.
local function add_refused(name, what, ending)
  statements[name] = function(p, line)
    while p:look().kind ~= "end" do p:next() end
    if ending then apart(p, read_block, ending) end
    if name == "block" and p:look().kind == "name" then p:next() end
    return node("refused", line, { what = ("%s: %s"):format(name, what) })
  end
end

for _, name in ipairs { "include", "import", "from", "extends" } do
  add_refused(name, "there are no other templates")
end
for _, name in ipairs { "block", "call", "autoescape" } do add_refused(name, "not supported", "end" .. name) end

function statements.set(p, line)
  local target = read_target(p, true)
  if p:take("=") then return node("set", line, { target = target, value = p:tuple() }) end
  local filters = {}
  while p:take("|") do filters[#filters + 1] = p:filter() end
  return node("set_block", line, { target = target, filters = filters, body = apart(p, read_block, "endset") })
end

function statements.filter(p, line)
  local filters = { p:filter() }
  while p:take("|") do filters[#filters + 1] = p:filter() end
  return node("filter_block", line, { filters = filters, body = apart(p, read_block, "endfilter") })
end

function statements.generation(p, line)
  return node("generation", line, { body = apart(p, read_block, "endgeneration") })
end

statements["with"] = function(p, line)
  local names, values = {}, {}
  while p:look().kind ~= "end" do
    if #names > 0 then p:expect(",") end
    names[#names + 1] = p:expect_name()
    p:expect("=")
    values[#values + 1] = p:expression()
  end
  return node("with", line, { names = names, values = values, body = read_block(p, "endwith") })
end

function statements.macro(p, line)
  local name, parameters, seen = p:expect_name(), {}, {}
  p:expect("(")
  while not p:take(")") do
    if #parameters > 0 then p:expect(",") end
    local parameter = { name = p:expect_name() }
    if seen[parameter.name] then p:fail(("%q is twice in the list of parameters"):format(parameter.name)) end
    seen[parameter.name] = true
    if p:take("=") then
      parameter.default = p:expression()
    elseif #parameters > 0 and parameters[#parameters].default then
      p:fail("a parameter without a default after one with a default")
    end
    parameters[#parameters + 1] = parameter
  end
  return node("macro", line, { name = name, parameters = parameters, body = apart(p, read_block, "endmacro") })
end

--- Returns the statements of a template. fail(line, what) is called for a fault and must not return.
function parser.read(source, fail)
  local p = Expressions.new(lexer.read(source, fail), fail)
  p.nested, p.loops = 0, 0
  function p.expect_end(self)
    if self:look().kind ~= "end" then self:fail("the end of the tag is expected") end
    return self:next()
  end
  return (read_body(p))
end

return parser
