-- python_regex.lua: tells whether a text fits a regular expression of Python as a whole, as re.fullmatch does.
-- A node takes the set of the places where it may begin, and returns the set of those where it may end. So nothing is
-- tried twice, greedy and lazy are the same, and any expression takes a limited time. Expressions and texts are ASCII.
-- Refused are references to groups, conditions, atomic groups, possessive repetition and flags.
local python_regex = {}

local MOST_STEPS, DEEPEST = 200000, 100

-- Sets of characters by the letter of their escape.
local classes = { d = "[0-9]", w = "[%w_]", s = "[ \t\n\r\f\v\x1c-\x1f]" }
local controls = { a = "\a", f = "\f", n = "\n", r = "\r", t = "\t", v = "\v" }

local function fail(why) error({ why = why }, 0) end

local function count(run)
  run.steps = run.steps + 1
  if run.steps > MOST_STEPS then fail("it takes too many steps") end
end

-- Returns a node for a character; fits: true for those that it may be.
local function one(fits)
  return function(run, starts)
    local ends = {}
    for at in pairs(starts) do
      count(run)
      if at <= #run.text and fits(run.text:sub(at, at)) then ends[at + 1] = true end
    end
    return ends
  end
end

-- Returns a node that takes no characters; holds(run, at): true at places where it fits.
local function place(holds)
  return function(run, starts)
    local ends = {}
    for at in pairs(starts) do
      count(run)
      if holds(run, at) then ends[at] = true end
    end
    return ends
  end
end

local function sequence(list)
  return function(run, starts)
    for _, node in ipairs(list) do starts = node(run, starts) end
    return starts
  end
end

local function choice(list)
  if #list == 1 then return list[1] end
  return function(run, starts)
    local ends = {}
    for _, node in ipairs(list) do for at in pairs(node(run, starts)) do ends[at] = true end end
    return ends
  end
end

local function is_same(a, b)
  for at in pairs(a) do if not b[at] then return false end end
  for at in pairs(b) do if not a[at] then return false end end
  return true
end

-- Returns a node that is repeated. A set of places that stays the same once stays so for ever; a place from which the
-- node was tried is not tried again.
local function repeated(node, least, most)
  return function(run, starts)
    for _ = 1, least do
      count(run)
      local ends = node(run, starts)
      if is_same(starts, ends) then break end
      starts = ends
    end
    local all, times = {}, least
    while true do
      local new = {}
      for at in pairs(starts) do
        count(run)
        if not all[at] then all[at], new[at] = true, true end
      end
      if not next(new) or times >= most then return all end
      starts, times = node(run, new), times + 1
    end
  end
end

-- True if a node fits before or after a place.
local function looks(node, is_behind)
  return function(run, at)
    if not is_behind then return next(node(run, { [at] = true })) ~= nil end
    for from = 1, at do if node(run, { [from] = true })[at] then return true end end
    return false
  end
end

local function is_word(run, at) return run.text:sub(at, at):find("^[%w_]") ~= nil and at >= 1 end
local function is_border(run, at) return is_word(run, at - 1) ~= is_word(run, at) end
local function is_last(run, at) return at == #run.text + 1 or at == #run.text and run.text:sub(at) == "\n" end

local function negated(fits) return function(...) return not fits(...) end end

local places = { b = is_border, B = negated(is_border), A = function(_, at) return at == 1 end,
  Z = function(run, at) return at == #run.text + 1 end }

-- Returns what fits an escape after its backslash, and the place after it: a function, or a character.
local function escape(text, at)
  local letter = text:sub(at, at)
  if classes[letter:lower()] then
    local class = "^" .. classes[letter:lower()]
    local function fits(c) return c:find(class) ~= nil end
    return letter:find("%l") and fits or negated(fits), at + 1
  end
  local digits = letter == "x" and text:match("^%x%x", at + 1)
  if digits then return string.char(tonumber(digits, 16)), at + 3 end
  if controls[letter] then return controls[letter], at + 1 end
  if letter == "" then fail("it ends with a backslash") end
  if letter:find("%w") then fail(("\\%s is not supported"):format(letter)) end
  return letter, at + 1
end

-- Reads a set in brackets, which begins after its first one. Returns what fits it, and the place after it.
local function set_of(text, at)
  local is_negated, list = text:sub(at, at) == "^", {}
  if is_negated then at = at + 1 end
  local function item()
    local c = text:sub(at, at)
    if c == "" then fail("a set has no end") end
    local value = c
    if c == "\\" and text:sub(at + 1, at + 1) == "b" then value, at = "\b", at + 2
    elseif c == "\\" then value, at = escape(text, at + 1)
    else at = at + 1 end
    return value
  end
  repeat
    local first = item()
    local last = first
    if text:find("^%-[^%]]", at) then
      at = at + 1
      last = item()
      if type(first) ~= "string" or type(last) ~= "string" or last < first then fail("a range is wrong") end
    end
    list[#list + 1] = type(first) == "string" and function(c) return c >= first and c <= last end or first
  until text:sub(at, at) == "]"
  local function fits(c)
    for _, each in ipairs(list) do if each(c) then return true end end
    return false
  end
  return is_negated and negated(fits) or fits, at + 1
end

local parse -- the choice that begins at a place, and the place after it

-- Reads a group behind its bracket. Returns its node, and the place after it.
local function group_of(text, at, depth)
  local behind, sign = text:match("^%?(<?)([=!])", at)
  local name = text:match("^%?P<[%a_][%w_]*>", at)
  local from = behind and at + 2 + #behind or name and at + #name or text:find("^%?:", at) and at + 2 or at
  if from == at and text:sub(at, at) == "?" then
    fail(("a group that begins with (%s is not supported"):format(text:sub(at, at + 1)))
  end
  if depth > DEEPEST then fail("its groups are too deep") end
  local node, next_at = parse(text, from, depth + 1)
  if text:sub(next_at, next_at) ~= ")" then fail("a group has no end") end
  if not behind then return node, next_at + 1 end
  local holds = looks(node, behind == "<")
  return place(sign == "=" and holds or negated(holds)), next_at + 1
end

-- Reads one part. Returns its node, the place after it, and true if it cannot be repeated.
local function part_of(text, at, depth)
  local c = text:sub(at, at)
  if c == "(" then return group_of(text, at + 1, depth) end
  if c == "^" then return place(places.A), at + 1, true end
  if c == "$" then return place(is_last), at + 1, true end
  if c == "." then return one(function(other) return other ~= "\n" end), at + 1 end
  if c:find("[*+?]") then fail("nothing is before " .. c) end
  local fits = c
  if c == "[" then
    fits, at = set_of(text, at + 1)
  elseif c == "\\" and places[text:sub(at + 1, at + 1)] then
    return place(places[text:sub(at + 1, at + 1)]), at + 2, true
  elseif c == "\\" then
    fits, at = escape(text, at + 1)
  else
    at = at + 1
  end
  return one(type(fits) == "string" and function(other) return other == fits end or fits), at
end

-- Reads how often a part is repeated. Returns the least and the most times, and the place after; nil: it is not.
local function times_of(text, at)
  local least, most, behind = text:match("^{(%d*),(%d*)}()", at)
  if least and least .. most ~= "" then return tonumber(least) or 0, tonumber(most) or math.huge, behind end
  least, behind = text:match("^{(%d+)}()", at)
  if least then return tonumber(least), tonumber(least), behind end
  local sign = text:match("^[*+?]", at)
  if not sign then return nil end
  return sign == "+" and 1 or 0, sign == "?" and 1 or math.huge, at + 1
end

function parse(text, at, depth)
  local list, parts = {}, {}
  while true do
    local c = text:sub(at, at)
    if c == "" or c == ")" or c == "|" then
      list[#list + 1], parts = sequence(parts), {}
      if c ~= "|" then return choice(list), at end
      at = at + 1
    else
      local node, behind, is_place = part_of(text, at, depth)
      local least, most, after = times_of(text, behind)
      if least then
        if is_place then fail("a place is repeated") end
        if most < least then fail("its least times are more than its most") end
        behind = text:sub(after, after) == "?" and after + 1 or after
        if text:sub(after, after) == "+" then fail("possessive repetition is not supported") end
        if times_of(text, behind) then fail("a repetition is repeated") end
        node = repeated(node, least, most)
      end
      parts[#parts + 1], at = node, behind
    end
  end
end

-- Calls a function that may fail. Returns its result, or nil and why.
local function try(action, ...)
  local ok, result = pcall(action, ...)
  if ok then return result end
  if type(result) ~= "table" or not result.why then error(result, 0) end
  return nil, result.why
end

--- Returns a function of a text, which returns true if the text fits the expression as a whole, or nil and why that
--- cannot be told; or nil and why the expression is wrong or not supported.
function python_regex.compile(expression)
  if expression:find("[\x80-\xff]") then return nil, "it is not ASCII" end
  local node, why = try(function()
    local whole, at = parse(expression, 1, 0)
    if at <= #expression then fail("a bracket is closed that was not opened") end
    return whole
  end)
  if not node then return nil, why end
  return function(text)
    return try(function() return node({ text = text, steps = 0 }, { [1] = true })[#text + 1] == true end)
  end
end

return python_regex
