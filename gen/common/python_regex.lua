-- python_regex.lua: tells which texts fit a regular expression of Python as a whole, as re.fullmatch does. A tool,
-- runtime/tools/expressions.c, asks PCRE2, whose expressions are Python's but for what is written here.
local faults = require("common.faults")
local tool = require("common.tool")

local python_regex = {}

local matcher = { name = "expressions.matcher", what = "the matcher of regular expressions",
  sources = { "tools/expressions.c" }, folders = { "base" }, libraries = { "-lpcre2-8" } }

local AT_ONCE = 1000 -- texts that the tool is given

-- What PCRE2 writes in another way than Python, by the letter after a backslash.
local written = { Z = "\\z", v = "\\x0b" }

-- Letters that Python has after a backslash; others are mistakes there, and mean something in PCRE2.
local LETTERS = "^[dDwWsSbBAZafnrtvxuUN]"

-- Patterns of what may follow `(?` in Python. PCRE2 allows more.
local groups = { "^[:=!#>(]", "^<[=!]", "^P[<=]", "^[aiLmsux-]+[:)]" }

local function begins_group(behind)
  for _, pattern in ipairs(groups) do if behind:find(pattern) then return true end end
  return false
end

-- Returns an expression as PCRE2 has it, or nil and why it is not Python's.
local function as_pcre2(expression)
  local parts, at, is_in_set = {}, 1, false
  if expression:find("\0", 1, true) then return nil, "NUL is not supported" end
  while at <= #expression do
    local c = expression:sub(at, at)
    local letter = c == "\\" and expression:sub(at + 1, at + 1)
    local taken, own = letter and c .. letter or c, letter and written[letter]
    if letter and letter:find("%a") and not letter:find(LETTERS) then
      return nil, ("\\%s has no meaning"):format(letter)
    end
    if is_in_set then
      if expression:find("^%[[:.=]", at) then return nil, "sets with names are not supported" end
      is_in_set = c ~= "]"
    elseif c == "[" then
      taken, is_in_set = expression:match("^%[%^?%]?", at), true
    elseif expression:find("^{,%d*}", at) then
      taken = expression:match("^{,%d*}", at)
      own = "{0" .. taken:sub(2)
    elseif expression:find("^%(%*", at) then
      return nil, "nothing is before *"
    elseif expression:find("^%(%?", at) and not begins_group(expression:sub(at + 2)) then
      return nil, ("no group begins with %s"):format(expression:sub(at, at + 2))
    end
    parts[#parts + 1] = own or taken
    at = at + #taken
  end
  return table.concat(parts)
end

--- Returns a set: the texts of a list that fit an expression as a whole; or nil and why the expression is wrong,
--- not supported, or takes too many steps. Faults: machine, if the tool does not compile.
function python_regex.fitting(expression, texts)
  local own, why = as_pcre2(expression)
  if not own then return nil, why end
  local set = {}
  for first = 1, math.max(#texts, 1), AT_ONCE do
    local child = tool.run(matcher, own, table.unpack(texts, first, math.min(first + AT_ONCE - 1, #texts)))
    if child.code == faults.code.format then return nil, child.errors:match("[^\n]*") end
    if child.code ~= 0 then faults.raise("machine", "%s ended with status %d", matcher.what, child.code) end
    for i = 1, #child.output do if child.output:sub(i, i) == "1" then set[texts[first + i - 1]] = true end end
  end
  return set
end

return python_regex
