-- python_regex.lua: tells which texts fit a regular expression of Python as a whole, as re.fullmatch does. A tool,
-- runtime/tools/expressions.c, asks PCRE2, whose expressions are Python's but for what is written here.
local faults = require("common.faults")
local tool = require("common.tool")

local python_regex = {}

local matcher = { name = "expressions.matcher", what = "the matcher of regular expressions",
  sources = { "tools/expressions.c" }, folders = { "base" }, libraries = { "-lpcre2-8" } }

-- Texts and bytes that the tool is given at once. A word of a command may have 128 KB.
local AT_ONCE, MOST_BYTES, LONGEST = 1000, 500000, 100000

-- What PCRE2 writes in another way than Python, by the letter after a backslash.
local written = { Z = "\\z", v = "\\x0b" }

-- Letters that Python has after a backslash; others are mistakes there, and mean something in PCRE2.
local LETTERS = "^[dDwWsSbBAZafnrtvxuUN]"

-- Patterns of what may follow `(?` in Python. PCRE2 allows more.
local groups = { "^[:=!#>(]", "^<[=!]", "^P[<=]" }

-- Returns why what is behind `(?` begins no group, or nil. is_first: it may change the flags of the whole expression.
local function reason_against(behind, is_first)
  for _, pattern in ipairs(groups) do if behind:find(pattern) then return nil end end
  local on, minus, off, ending = behind:match("^([aiLmsux]*)(%-?)([imsx]*)([:)])")
  if not on or minus ~= "" and (off == "" or ending == ")") then
    return ("no group begins with (?%s"):format(behind:sub(1, 1))
  end
  if ending == ")" and not is_first then return "flags of the whole expression come first" end
  return off ~= "" and on:find(("[%s]"):format(off)) and "a flag is turned on and off" or nil
end

-- Returns an expression as PCRE2 has it, or nil and why it is not Python's. All that a lookbehind may find has one
-- width, which PCRE2 asks of a group in it.
local function as_pcre2(expression)
  local parts, at, is_in_set, ends, first = {}, 1, false, {}, 1
  local count, ended = 0, {} -- groups that are kept, and the numbers and names of those that have ended
  if #expression > LONGEST then return nil, ("more than %d bytes are not supported"):format(LONGEST) end
  if expression:find("\0", 1, true) then return nil, "NUL is not supported" end
  while at <= #expression do
    local c = expression:sub(at, at)
    local letter = c == "\\" and expression:sub(at + 1, at + 1)
    local taken, own = letter and c .. letter or c, letter and written[letter]
    local why = c == "(" and expression:find("^%?", at + 1) and not is_in_set
      and reason_against(expression:sub(at + 2), at == first)
    if letter and letter:find("%a") and not letter:find(LETTERS) then
      return nil, ("\\%s has no meaning"):format(letter)
    elseif letter == "x" and not expression:find("^%x%x", at + 2) then
      return nil, "\\x needs two hexadecimal digits"
    elseif is_in_set and letter and letter:find("[89]") then
      return nil, ("\\%s has no meaning"):format(letter)
    end
    local octal = not is_in_set and expression:match("^\\([4-7][0-7][0-7])", at)
    local group = not is_in_set and (expression:match("^%(%?P=([%w_]+)%)", at)
      or not expression:find("^\\[0-7][0-7][0-7]", at) and expression:match("^\\([1-9]%d?)", at))
    if octal then return nil, ("\\%s has no meaning"):format(octal) end
    if group and not ended[group] then return nil, ("no group %s has ended before"):format(group) end
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
    elseif why then
      return nil, why
    elseif expression:find("^%(%?%l+%)", at) then
      taken = expression:match("^[^)]*%)", at)
      first = at + #taken
    elseif c == "(" then
      taken = expression:match("^%(%?<[=!]", at) or c
      own = #taken > 1 and taken .. "(?:"
      local name, asked = expression:match("^%(%?P<([%w_]+)>", at), expression:match("^%(%?%(([%a_][%w_]*)%)", at)
      local is_kept = name or not expression:find("^%(%?", at)
      if asked and ended[asked] == nil then return nil, ("no group %s has begun before"):format(asked) end
      if is_kept then count, ended[name or ""] = count + 1, false end
      ends[#ends + 1] = { own and "))" or ")", name, is_kept and tostring(count) }
    elseif c == ")" and ends[1] then
      local of = table.remove(ends)
      own, ended[of[2] or ""], ended[of[3] or ""] = of[1], true, true
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
  local set, first = {}, 1
  repeat
    local last, bytes = first - 1, 0
    while last < #texts and last - first + 1 < AT_ONCE and bytes + #texts[last + 1] <= MOST_BYTES do
      last = last + 1
      if #texts[last] > LONGEST then return nil, ("it is for a name of more than %d bytes"):format(LONGEST) end
      bytes = bytes + #texts[last]
    end
    local child = tool.run(matcher, own, table.unpack(texts, first, last))
    if child.code == faults.code.format then return nil, child.errors:match("[^\n]*") end
    if child.code ~= 0 then faults.raise("machine", "%s ended with status %d", matcher.what, child.code) end
    for i = 1, #child.output do if child.output:sub(i, i) == "1" then set[texts[first + i - 1]] = true end end
    first = last + 1
  until first > #texts
  return set
end

return python_regex
