-- language.lua: defines the names that a description may use: constructors of stages, some functions and numbers.
-- Any other name is refused, with the list of those allowed.
local faults = require("common.faults")
local hints = require("data.hints")
local keys = require("data.keys")
local masks = require("data.masks")
local stages = require("data.stages")
local words = require("common.words")

local language = {}

--- Functions that descriptions may call in addition to operators.
language.functions = { floor = math.floor, max = math.max, min = math.min, sqrt = math.sqrt }

--- Functions that make sizes: any(512) is any length up to 512. A wrong argument is refused by the pass validate.
language.sizes = { any = function(most, ...) return { any = most or false, ... } end }
language.numbers = { huge = math.huge, pi = math.pi }

local function constructor(name, stage)
  return function(argument)
    local fields = { stage = name }
    if type(argument) == "table" then
      for key, value in next, argument do fields[key] = value end
      fields.stage = name
    elseif argument ~= nil then
      fields[stage.word or 1] = argument
    end
    return fields
  end
end

-- Raises { unknown, line } for a name that does not exist; the message is made outside of the limits.
local function refuse(_, name)
  if type(name) ~= "string" then return nil end
  return error({ unknown = name, line = debug.getinfo(2, "l").currentline }, 0)
end

--- Returns a new table of globals.
function language.globals()
  local env = {}
  for name, stage in pairs(stages.constructors) do env[name] = constructor(name, stage) end
  for name, value in pairs(language.functions) do env[name] = value end
  for name, value in pairs(language.sizes) do env[name] = value end
  for name, value in pairs(language.numbers) do env[name] = value end
  return setmetatable(env, { __index = refuse })
end

--- Makes the globals a plain table, as a description may return them.
function language.close(env) setmetatable(env, nil) end

local computing = {}
for _, list in ipairs { language.functions, language.numbers } do
  for name in pairs(list) do computing[#computing + 1] = name end
end
table.sort(computing)

local function listed() return table.concat(computing, ", ", 1, #computing - 1) .. " and " .. computing[#computing] end

-- Words that are values of keys and must be quoted.
local values = {}
for _, field in ipairs(keys.list) do for _, word in ipairs(field.words or {}) do values[word] = true end end
for _, word in ipairs(masks.words) do values[word] = true end
for word in pairs(stages.pools) do values[word] = true end

-- Returns advice about math.sqrt and the like. It names the member that the line of the text uses.
local function about_math(line)
  local member = line:match("math%s*%.%s*([%a_][%w_]*)")
  if member and (language.functions[member] or language.numbers[member]) then
    return ("math.%s is %s here; there are %s"):format(member, member, listed())
  end
  return ("there is no math%s here, only %s"):format(member and "." .. member or "", listed())
end

local function line_of(text, number)
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    number = number - 1
    if number == 0 then return line end
  end
  return ""
end

-- Lua's messages that mean something else to who has only written a table, and their meaning. %1: a capture.
local meanings = {
  { "attempt to index a string value.*", "a text has no methods or fields here" },
  { "attempt to call a string value.*", "a text cannot be called: is a comma missing before it?" },
  { "attempt to call a table value.*", "a table cannot be called: is a comma missing before it?" },
  { "attempt to call a nil value %(method '([^']*)'%)", "there is no method '%1' here" },
  { "attempt to call a (%a+) value.*", "a %1 cannot be called" },
  { "attempt to perform arithmetic on a string value", "a text is no number: attempt to perform arithmetic on it" },
  { "unexpected symbol near '{'", "unexpected symbol near '{': a description begins with return {" },
  { "<name> expected near (.*)$", "a name is expected near %1: a key is written as KEY = VALUE" },
  { "('.-' expected.* near ['\"]?[%w_\"'{]+['\"]?)$", "%1: is a comma missing before it?" },
}

--- Returns a message of Lua about a description with its meaning, if that is not plain; else nil.
function language.explained(message)
  for _, each in ipairs(meanings) do
    local text, count = message:gsub(each[1], each[2])
    if count > 0 then return text end
  end
  return message
end

--- Returns the message about an unknown name in a line of a text.
function language.unknown(name, text, line)
  if name == "math" then return about_math(line_of(text, line)) end
  local hint = hints.text(hints.activations, name) or hints.text(hints.globals, name)
  if values[name] and not hint then
    local numbers = line_of(text, line):find(name .. "%s*[{(]") and masks.numbers[name]
    if numbers then return ("%s is no stage; its numbers are written as mask = %s"):format(name, numbers) end
    return ("%s is a word, which must be quoted: \"%s\""):format(name, name)
  end
  local known = words.sorted_keys(stages.constructors)
  local all = table.move(computing, 1, #computing, #known + 1, { table.unpack(known) })
  local near = not hint and words.nearest(name, all)
  if near then hint = (" (did you mean %s?)"):format(near) end
  return ("no stage and no function is called %s%s; stages: %s; functions and numbers: %s"):format(faults.quote(name),
    hint or "", table.concat(known, ", "), table.concat(computing, ", "))
end

return language
