-- lexer.lua: cuts a chat template into tokens, with LPeg.
-- Whitespace is treated as by Jinja with trim_blocks and lstrip_blocks, which transformers sets: a newline after a
-- block goes, and so do spaces between the beginning of a line and a block. `-` removes all white space on its side,
-- `+` none.
local lpeg = require("lpeg")
local P, S, R, C, Cp, Ct, Cc = lpeg.P, lpeg.S, lpeg.R, lpeg.C, lpeg.Cp, lpeg.Ct, lpeg.Cc

local lexer = {}

-- White space as Python's str.isspace.
local white = S(" \t\n\r\f\v\28\29\30\31")
for _, point in ipairs { 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000 } do
  white = white + P(utf8.char(point))
end
for point = 0x2000, 0x200a do white = white + P(utf8.char(point)) end

-- Returns a pattern that matches p at its first occurrence, after a capture of the text before it.
local function upto(p) return C((1 - p) ^ 0) * p end

local sign = C(S("-+") ^ -1)
local raw = P("{%") * sign * white ^ 0 * "raw" * white ^ 0 * (P("-%}") * white ^ 0 + "%}") * Cc("raw")
local opening = raw + P("{%") * sign * Cc("block") + P("{{") * sign * Cc("variable") + P("{#") * sign * Cc("comment")
local data = upto(opening) * Cp()
local comment = upto(P("+#}") + P("-#}") * white ^ 0 + P("#}") * P("\n") ^ -1) * Cp()
local block_end = P("+%}") + P("-%}") * white ^ 0 + P("%}") * P("\n") ^ -1
local raw_end = upto(P("{%") * sign * white ^ 0 * "endraw" * white ^ 0 * block_end) * Cp()
local closing = { block = block_end, variable = P("-}}") * white ^ 0 + P("}}") }
local trailing = C((white ^ 0 * (1 - white)) ^ 0)
local all_white = white ^ 1 * -1
local spaces, letters = white ^ 0, R("az", "AZ", "09", "\128\255") + "_"

local digits = R("09") * (P("_") ^ -1 * R("09")) ^ 0
local exponent = S("eE") * S("+-") ^ -1 * digits
local name = (R("az", "AZ") + "_") * (R("az", "AZ", "09") + "_") ^ 0
local function quoted(mark) return P(mark) * C((P("\\") * 1 + (1 - S("\\" .. mark))) ^ 0) * P(mark) end
local operators = P("//") + "**" + "==" + "!=" + ">=" + "<=" + S("+-/*%~[](){}><=.:|,;")
local token = Ct(Cc("float") * C(digits * (P(".") * digits * exponent ^ -1 + exponent)) + Cc("integer")
  * C(P("0") * S("xXoObB") * (R("09", "af", "AF") + "_") ^ 1 + digits) + Cc("name") * C(name)
  + Cc("string") * (quoted("'") + quoted('"')) + Cc("operator") * C(operators)) * Cp()

local pairs_of = { [")"] = "(", ["]"] = "[", ["}"] = "{" }

-- Returns a function that gives the line of a place; places must not decrease.
local function line_counter(source)
  local line, ending = 1, 0
  return function(place)
    while ending < place do
      line, ending = line + (ending > 0 and 1 or 0), source:find("\n", ending + 1, true) or math.huge
    end
    return line
  end
end

local simple = { n = "\n", t = "\t", r = "\r", a = "\a", b = "\b", f = "\f", v = "\v", ["\\"] = "\\", ["'"] = "'",
  ['"'] = '"', ["\n"] = "" }
local hexadecimal = { x = 2, u = 4, U = 8 }

-- Returns the text of a string's inside, with its escapes replaced as Python does it; or nil and what is wrong.
local function unescape(text)
  local parts, at = {}, 1
  while true do
    local from = text:find("\\", at, true)
    if not from then break end
    parts[#parts + 1] = text:sub(at, from - 1)
    local letter = text:sub(from + 1, from + 1)
    local octal = text:match("^[0-7][0-7]?[0-7]?", from + 1)
    at = from + 2
    if octal then
      parts[#parts + 1], at = utf8.char(tonumber(octal, 8)), from + 1 + #octal
    elseif simple[letter] then
      parts[#parts + 1] = simple[letter]
    elseif hexadecimal[letter] then
      local code = text:match("^" .. ("%x"):rep(hexadecimal[letter]), at)
      local point = code and tonumber(code, 16)
      if not point or point > 0x10ffff or point >= 0xd800 and point <= 0xdfff then
        return nil, "an escape \\" .. letter .. " that is no character"
      end
      parts[#parts + 1], at = utf8.char(point), at + #code
    elseif letter == "N" or letter == "" or letter:byte() >= 0x80 then
      return nil, "an escape that is not supported"
    else
      parts[#parts + 1] = "\\" .. letter
    end
  end
  parts[#parts + 1] = text:sub(at)
  return table.concat(parts)
end

-- Appends the tokens of an expression or a statement from place `at`. Returns the place after its end.
local function read_inside(source, at, kind, add, fail)
  local open = {}
  while true do
    at = lpeg.match(spaces, source, at)
    local after = #open == 0 and lpeg.match(closing[kind], source, at)
    if after then return after end
    local found, past = lpeg.match(token, source, at)
    if not found then
      if at > #source then fail(at, "the template ends inside of a tag") end
      local character = source:match(utf8.charpattern, at)
      fail(at, character:find("['\"]") and "a text has no end" or ("unexpected character %q"):format(character))
    end
    local word = found[2]
    if found[1] == "operator" then
      if word:find("^[%(%[{]$") then open[#open + 1] = word end
      if pairs_of[word] and table.remove(open) ~= pairs_of[word] then fail(at, ("unexpected %q"):format(word)) end
    elseif found[1] == "string" then
      local text, problem = unescape(word)
      if not text then fail(at, problem) end
      word = text
    elseif found[1] ~= "operator" and lpeg.match(letters, source, past) then
      fail(at, ("unexpected characters after %q"):format(word:sub(1, 40)))
    end
    add(found[1], word, at)
    at = past
  end
end

-- Returns the text before a tag as it is kept. is_line: the text begins a line.
local function trimmed(text, mark, kind, is_line)
  if mark == "-" then return lpeg.match(trailing, text) end
  if mark == "+" or kind == "variable" then return text end
  local last = text:match(".*\n()") or 1
  if (last > 1 or is_line) and lpeg.match(all_white, text, last) then return text:sub(1, last - 1) end
  return text
end

--- Returns the tokens of a template: a list of { kind, value, line }. Kinds: data, block, variable (the beginning of a
--- tag), end (of a tag), name, string, integer, float, operator. fail(line, what) must not return.
function lexer.read(source, fail_at)
  source = source:gsub("\r\n?", "\n"):gsub("\n$", "")
  local line_of = line_counter(source)
  local tokens, at, is_line = {}, 1, true
  local function fail(place, what) fail_at(line_of(place), what) end
  local function add(kind, value, place) tokens[#tokens + 1] = { kind = kind, value = value, line = line_of(place) } end
  while at <= #source do
    local text, mark, kind, after = lpeg.match(data, source, at)
    if not text then
      add("data", source:sub(at), at)
      break
    end
    text = trimmed(text, mark, kind, is_line)
    if text ~= "" then add("data", text, at) end
    local begins = at
    at = after
    if kind == "comment" then
      local _, past = lpeg.match(comment, source, at)
      at = past or fail(begins, "a comment has no end")
    elseif kind == "raw" then
      local inner, inner_mark, past = lpeg.match(raw_end, source, at)
      if not inner then fail(begins, "raw has no endraw") end
      inner = trimmed(inner, inner_mark, "block", source:sub(at - 1, at - 1) == "\n")
      if inner ~= "" then add("data", inner, at) end
      at = past
    else
      add(kind, nil, at)
      at = read_inside(source, at, kind, add, fail)
      add("end", nil, at - 1)
    end
    is_line = source:sub(at - 1, at - 1) == "\n"
  end
  tokens[#tokens + 1] = { kind = "over", line = line_of(#source + 1) }
  return tokens
end

return lexer
