-- names.lua: reads the key `names` of a description: a scheme's word, or a table with rules of its own.
-- A table may have prefixes, modules, the form of quantised tensors, and rules (checkpoints/names.lua explains rules).
local coded = require("checkpoints.coded")
local names = require("checkpoints.names")
local values = require("passes.validate.values")
local words = require("common.words")

local LONGEST = 300 -- characters of a name

-- Fields of a rule and their allowed values.
local fields = {
  part = "integer", parts = "parts", groups = "groups", unpair = "boolean", transpose = "boolean", factor = "number",
  plus_one = "boolean", row = "integer", plus = "rule", join = "join",
  flat = "boolean", across = "boolean",
  times = "rule", grid = "grid", tokens = "integer", smooth = "boolean", count = "integer",
}

local function is_text(value)
  return type(value) == "string" and value ~= "" and #value <= LONGEST and not value:find("[%c%%]")
end

local function is_count(value, most) return math.type(value) == "integer" and value >= 1 and value <= most end

local function is_sizes(value)
  if type(value) ~= "table" or #value == 0 or #value > 64 then return false end
  for _, size in ipairs(value) do
    if not is_count(size, 1 << 24) and size ~= "heads" and size ~= "kv_heads" then return false end
  end
  return true
end

local allowed = {
  integer = function(value) return math.type(value) == "integer" and value >= 0 and value <= 1 << 24 end,
  parts = function(value) return is_count(value, 64) or is_sizes(value) end,
  groups = function(value)
    return value == "heads" or value == "kv_heads" or value == "rows" or is_count(value, 4096)
  end,
  boolean = function(value) return type(value) == "boolean" end,
  number = function(value) return type(value) == "number" and math.abs(value) <= 1e6 and value ~= 0 end,
  grid = function(value)
    return type(value) == "table" and #value == 2 and is_count(value[1], 4096) and is_count(value[2], 4096)
  end,
  join = function(value) return value == "rows" or value == "columns" end,
}

local show, suggestion = values.show, values.suggestion
local check_rule

-- Checks the members of a list: names or, in a join, rules.
local function check_members(say, key, rule, depth)
  if #rule == 0 or #rule > 64 then return say(key, "a rule begins with the name of a tensor, or a list of them") end
  for i, member in ipairs(rule) do
    if rule.join then
      if not check_rule(say, ("%s.%d"):format(key, i), member, depth + 1, true) then return nil end
    elseif not is_text(member) then
      return say(key, show(member) .. ", but the name of a tensor is expected")
    end
  end
  return true
end

-- in_join: a member of a join, which may be zeros.
function check_rule(say, key, rule, depth, in_join)
  if depth > 4 then return say(key, "rules nest deeper than 4 levels") end
  if type(rule) == "string" and is_text(rule) then return true end
  if type(rule) ~= "table" then return say(key, show(rule) .. ", but the name of a tensor, or a rule, is expected") end
  for _, field in ipairs(words.sorted_keys(rule)) do
    local kind = fields[field]
    if math.type(field) == "integer" then goto next end
    if not kind then
      return say(key, "a rule has no field %s%s", show(field), suggestion(say, field, words.sorted_keys(fields)))
    elseif kind == "rule" then
      if not check_rule(say, key .. "." .. field, rule[field], depth + 1) then return nil end
    elseif not allowed[kind](rule[field]) and not (in_join and field == "factor" and rule.factor == 0) then
      return say(key .. "." .. field, show(rule[field]) .. " is not allowed here")
    end
    ::next::
  end
  if (rule.part == nil) ~= (rule.parts == nil) then return say(key, "part and parts go together") end
  local count = type(rule.parts) == "table" and #rule.parts or rule.parts
  if rule.part and (rule.part < 1 or rule.part > count) then
    return say(key .. ".part", "%d, but 1 to %d is allowed", rule.part, count)
  end
  return check_members(say, key, rule, depth)
end

local readers = {}

function readers.prefix(say, key, value, result)
  local list = type(value) == "table" and value or { value }
  for _, prefix in ipairs(list) do
    if prefix ~= "" and not is_text(prefix) then return say(key, show(prefix) .. ", but a text is expected") end
  end
  result.prefixes = #list > 0 and list or nil
end

function readers.modules(say, key, value, result)
  if type(value) ~= "table" then return say(key, show(value) .. ", but { theirs = \"yours\" } is expected") end
  for _, from in ipairs(words.sorted_keys(value)) do
    if not (is_text(from) and is_text(value[from])) then
      return say(key, "the name of a module and its other name are expected")
    end
    result.modules[#result.modules + 1] = { name = from, to = value[from] }
  end
end

function readers.quantised(say, key, value, result)
  if not coded.kinds[value] then
    return say(key, "%s, but %s is allowed", show(value), values.one_of(words.sorted_keys(coded.kinds)))
  end
  result.quantised = value
end

local function scheme_word(say, key, value)
  if names.scheme(value) then return value end
  local shown = show(type(value) == "string" and value:sub(1, 24) or value)
  return say(key, "%s, but attn2c, torch or a family (albert, bert, ... in gen/checkpoints/README.md) is allowed%s",
    shown, suggestion(say, value, names.list()))
end

return function(say, field, value)
  if type(value) ~= "table" then return scheme_word(say, field.key, value) end
  local result = { scheme = "attn2c", rules = {}, modules = {} }
  for _, key in ipairs(words.sorted_keys(value)) do
    local place = field.key .. "." .. tostring(key):gsub("%c", "?"):sub(1, 80)
    if key == 1 then
      result.scheme = scheme_word(say, field.key, value[1]) or "attn2c"
    elseif readers[key] then
      readers[key](say, place, value[key], result)
    elseif not is_text(key) then
      say(field.key, show(key) .. ", but the path of a weight (l*.attn.q) is expected")
    elseif check_rule(say, place, value[key], 1) then
      local rule = names.compile(key, value[key])
      rule.path = key
      result.rules[#result.rules + 1] = rule
    end
  end
  -- Puts the rule of a path without a star, which is for one weight, before those with a star.
  table.sort(result.rules, function(a, b)
    local a_star, b_star = a.path:find("*", 1, true) ~= nil, b.path:find("*", 1, true) ~= nil
    if a_star ~= b_star then return b_star end
    if #a.path ~= #b.path then return #a.path > #b.path end
    return a.path < b.path
  end)
  return result
end
