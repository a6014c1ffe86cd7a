-- regex.lua: translates tokenizer.json's patterns, in Oniguruma's syntax (Ruby's), for PCRE2.
-- A translation has the same meaning in UTF mode with Unicode's properties; other patterns are refused. Code points
-- whose properties PCRE2's tables lack are added by number (differences.lua), which makes matching slow. So each
-- pattern has two versions: an exact one, and a plain one for texts without the bytes that such code points begin with.
local listed = require("text.differences")
local words = require("common.words")

local regex = {}

local general = "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp Alphabetic"
local scripts = "Han Hiragana Katakana Hangul Latin Cyrillic Greek Arabic Hebrew Thai Devanagari Armenian Bengali"

-- The members of each property, as written inside brackets.
local members = {
  space = "\\p{White_Space}", digit = "\\p{Nd}", word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}",
  rust_word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}", hex = "0-9a-fA-F", ascii = "\\x{0}-\\x{7f}",
}
for name in general:gmatch("%S+") do members[name] = "\\p{" .. name .. "}" end
for name in scripts:gmatch("%S+") do members[name] = "\\p{sc:" .. name .. "}" end

-- Returns the union of the code points that several properties have more, merged where ranges touch.
local function union(...)
  local all, list = {}, {}
  for _, name in ipairs { ... } do words.append(all, (listed[name] or {}).more) end
  table.sort(all, function(one, other) return one[1] < other[1] end)
  for _, pair in ipairs(all) do
    local last = list[#list]
    if last and last[2] + 1 == pair[1] then last[2] = pair[2] else list[#list + 1] = { pair[1], pair[2] } end
  end
  return { more = list }
end

-- The differences that follow from listed ones. Oniguruma's \w has \u{b2} and its like, but not inside of brackets.
members.inner_word = members.word
local differences = setmetatable({ L = union("Lu", "Ll", "Lt", "Lm", "Lo"), N = union("Nd", "Nl", "No"),
  P = union("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"), S = union("Sm", "Sc", "Sk", "So"), digit = listed.Nd,
  inner_word = listed.rust_word, word = union("outer_word", "rust_word") }, { __index = listed })

local function ranges(list)
  return table.concat(words.map(list, function(pair) return ("\\x{%x}-\\x{%x}"):format(pair[1], pair[2]) end))
end

-- Lower-case name of a property -> its name in differences.lua. Patterns may write names with any case, spaces and
-- underscores.
local names = {}
for name in pairs(members) do names[name:lower()] = name end
local long = { letter = "L", mark = "M", number = "N", punctuation = "P", symbol = "S", separator = "Z" }
for name, short in pairs(long) do names[name] = short end

-- Returns the text of a property inside brackets.
local function inside(name, plain)
  local difference = differences[name]
  return members[name] .. (difference and not plain and ranges(difference.more or {}) or "")
end

-- Returns the text of a property outside brackets, or, with `negated`, of everything else.
local function outside(name, negated, plain)
  local less = not plain and (differences[name] or {}).less or {}
  if inside(name, plain) == members[name] and members[name]:find("^\\p{[^}]*}$") then
    return negated and members[name]:gsub("\\p", "\\P") or members[name]
  end
  local class = ("[%s%s]"):format(negated and "^" or "", inside(name, plain))
  if #less == 0 then return class end
  if negated then return ("(?:%s|[%s])"):format(class, ranges(less)) end
  return ("(?![%s])%s"):format(ranges(less), class)
end

-- Returns the first bytes of the code points that the used properties differ in, as a set of 256 bits.
local function first_bytes(used)
  local set = {}
  for i = 1, 32 do set[i] = 0 end
  for name in pairs(used) do
    for _, list in pairs(differences[name] or {}) do
      for _, pair in ipairs(list) do
        for byte = utf8.char(pair[1]):byte(), utf8.char(pair[2]):byte() do
          set[byte // 8 + 1] = set[byte // 8 + 1] | 1 << byte % 8
        end
      end
    end
  end
  return string.char(table.unpack(set))
end

-- Packs two patterns for runtime/text/regex.c: the plain pattern's length, the set of first bytes, both patterns.
local function pack(plain, exact, used)
  if plain == exact then used = {} end
  return string.pack("<I4", #plain) .. first_bytes(used) .. plain .. exact
end

--- The patterns of one letter of a word, as Rust's engine has it, and of Whitespace.
regex.word = pack(outside("rust_word", false, true), outside("rust_word"), { rust_word = true })

local function whitespace(plain)
  return ("%s+|[^%s\\p{White_Space}]+"):format(outside("rust_word", false, plain), inside("rust_word", plain))
end
regex.whitespace = pack(whitespace(true), whitespace(), { rust_word = true })
--- ByteLevel's own pattern, in Oniguruma's syntax.
regex.byte_level = [['s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+]]

local Reader = {}
Reader.__index = Reader

function Reader.refuse(_, what) error({ refused = what }, 0) end
function Reader:peek(n) return self.text:sub(self.at, self.at + (n or 1) - 1) end
function Reader:take(pattern)
  local found = self.text:match("^" .. pattern, self.at)
  if found then self.at = self.at + #found end
  return found
end
function Reader:emit(piece)
  self.atom, self.quantified = #self.out + 1, nil -- the piece that a quantifier applies to
  self.out[self.atom] = piece
end

local function literal(code)
  if code < 0x80 and string.char(code):find("[%w ]") then return string.char(code) end
  return ("\\x{%x}"):format(code)
end

local plain_escapes = { r = 13, n = 10, t = 9, f = 12, v = 11, a = 7, e = 27 }

-- Returns the code point of an escape for one character, or nil.
function Reader:escaped_character()
  local hex = self:take("\\x{%x+}") or self:take("\\x%x%x?") or self:take("\\u%x%x%x%x")
  if hex then
    local code = tonumber(hex:match("%x+", 3), 16)
    if code > 0x10ffff or (code >= 0xd800 and code < 0xe000) then self:refuse(hex) end
    return code
  end
  local letter = self.text:match("^\\(.)", self.at)
  if not letter then self:refuse("a backslash at the end") end
  if plain_escapes[letter] then
    self.at = self.at + 2
    return plain_escapes[letter]
  end
  if letter:find("%p") then
    self.at = self.at + 2
    return letter:byte()
  end
  return nil
end

local classes = { s = "space", d = "digit", w = "word", h = "hex" }

-- Returns the name of a property that is written as an escape, and true if it is negated. Returns nil if the escape is
-- not a property.
function Reader:property()
  local letter = self:take("\\[sSdDwWhH]")
  if letter then
    letter = letter:sub(2)
    return classes[letter:lower()], letter:find("%u") ~= nil
  end
  local whole = self:take("\\[pP]{%^?[%w_ ]+}")
  if not whole then return nil end
  local kind, caret, name = whole:match("^\\([pP]){(%^?)(.*)}$")
  name = names[name:lower():gsub("[_ ]", "")]
  if not name or name:find("^%l") then self:refuse(whole) end
  return name, (kind == "P") ~= (caret == "^")
end

local function next_character(reader)
  local character = reader:take(utf8.charpattern)
  return character and utf8.codepoint(character)
end

-- Brackets are operands, of which `&&` takes what all have. An operand has members, the inside of PCRE2's brackets, and
-- more patterns of one character, which these brackets cannot hold.
local function operand() return { members = "", more = {} } end

function Reader:add_property(to, name, negated)
  if name == "word" then name = "inner_word" end
  self.used[name] = true
  local text = outside(name, negated, self.plain)
  local members_alone = text:match("^\\[pP]{[^}]*}$") or text:match("^%[([^^].*)%]$")
  if members_alone then
    to.members = to.members .. members_alone
  else
    to.more[#to.more + 1] = text
  end
end

-- Returns the code point of one end of a range, or nil after a property was added to an operand.
function Reader:class_member(to)
  if self:peek() ~= "\\" then return next_character(self) end
  local name, negated = self:property()
  if name then return self:add_property(to, name, negated) end
  local code = self:take("\\b") and 8 or self:escaped_character()
  if not code then self:refuse(self:peek(2)) end
  return code
end

-- Returns the pattern of brackets: of one character, which is never matched in a second way.
local function pattern_of(operands, negated)
  local parts = {}
  if #operands == 1 and #operands[1].more == 0 then
    return ("[%s%s]"):format(negated and "^" or "", operands[1].members)
  end
  for i, each in ipairs(operands) do
    local list = { each.members ~= "" and "[" .. each.members .. "]" or nil }
    words.append(list, each.more)
    parts[i] = ("(?%s%s)"):format(i < #operands and "=" or ">", table.concat(list, "|"))
  end
  local text = table.concat(parts)
  return negated and ("(?>(?!%s)(?s:.))"):format(text) or #parts > 1 and ("(?>%s)"):format(text) or text
end

-- POSIX's names of classes, as names of properties.
local posix = { alpha = "Alphabetic", alnum = "Alphabetic Nd", digit = "digit", space = "space", word = "word",
  xdigit = "hex", ascii = "ascii" }

-- Adds brackets within brackets to an operand.
function Reader:inner_class(to)
  local name = self:take("%[:%^?%a+:%]")
  local operands, negated = { operand() }, name and name:sub(3, 3) == "^"
  if name then
    for each in (posix[name:match("%a+")] or self:refuse(name)):gmatch("%S+") do
      self:add_property(operands[1], each)
    end
  else
    self.at = self.at + 1
    operands, negated = self:class()
  end
  if self.insensitive and negated then self:refuse("ignoring the case of brackets in brackets") end
  if negated or #operands > 1 then
    to.more[#to.more + 1] = pattern_of(operands, negated)
  else
    to.members = to.members .. operands[1].members
    words.append(to.more, operands[1].more)
  end
end

-- True if a hyphen that is next stands for a range.
function Reader:has_range() return self:peek() == "-" and self:peek(2) ~= "-]" and self:peek(3) ~= "-&&" end

-- Reads brackets after their first character. Returns the operands, and true if they are negated.
function Reader:class()
  local negated, operands, to = self:take("%^") ~= nil, {}, operand()
  local function finish()
    if to.members == "" and #to.more == 0 then self:refuse("empty brackets") end
    operands[#operands + 1], to = to, operand()
  end
  self:deeper(function()
    while not self:take("%]") do
      if self:peek() == "" then self:refuse("brackets without an end") end
      if self:take("&&") then
        if self.insensitive then self:refuse("ignoring the case of &&") end
        finish()
      else
        local first
        if self:peek() == "[" then self:inner_class(to) else first = self:class_member(to) end
        if not first then
          if self:has_range() then self:refuse("a range from a property") end
        elseif self:has_range() then
          self.at = self.at + 1
          local last = self:peek() ~= "[" and self:class_member(operand())
          if not last or last < first then self:refuse("a malformed range") end
          to.members = ("%s%s-%s"):format(to.members, literal(first), literal(last))
        else
          to.members = to.members .. literal(first)
        end
        if self.insensitive and first and first >= 0x80 then self:refuse("ignoring the case of non-ASCII letters") end
      end
    end
  end)
  finish()
  return operands, negated
end

-- Letters that fold with their neighbour into one. PCRE2 folds single characters only.
local folding = { ss = true, ff = true, fi = true, fl = true, st = true }

function Reader:literal(code)
  local before = self.last_literal and self.last_literal_at == #self.out and self.last_literal or ""
  local character = utf8.char(code)
  if self.insensitive then
    if code >= 0x80 then self:refuse("ignoring the case of non-ASCII letters") end
    if folding[(before .. character):lower()] then self:refuse("letters that fold into one") end
  end
  self:emit(literal(code))
  self.last_literal, self.last_literal_at = character, #self.out
end

-- Calls read(self) one level deeper.
function Reader:deeper(read)
  self.depth = self.depth + 1
  if self.depth > 50 then self:refuse("groups too deep in each other") end
  read(self)
  self.depth = self.depth - 1
end

local opening = { "%(%?:", "%(%?=", "%(%?!", "%(%?<=", "%(%?<!", "%(%?>" }

function Reader:group()
  local head
  for _, pattern in ipairs(opening) do head = head or self:take(pattern) end
  local insensitive = self.insensitive
  if not head then
    head = self:take("%(%?i:")
    if head then
      insensitive = true
    else
      head = self:take("%(%?%-i:")
      if head then insensitive = false end
    end
  end
  if not head then
    if self:peek(2) == "(?" or self:peek(2) == "(*" then self:refuse(self:take("%(.[^%)]?[^%)]?")) end
    self.at = self.at + 1
    head = "(?:" -- the text that a group matched is never used
  end
  self:emit(head)
  local start, outer = self.atom, self.insensitive
  self.insensitive = insensitive
  self:deeper(self.alternatives)
  self.insensitive = outer
  if not self:take("%)") then self:refuse("a group without an end") end
  self.out[#self.out + 1] = ")"
  self.atom, self.quantified = start, nil
end

-- Reads a quantifier. {n,m}+ repeats what {n,m} matched; it is not possessive as ++ is.
function Reader:quantifier()
  local simple = self:take("[%*%+%?][%+%?]?")
  local low, high
  if not simple then
    local whole = self.text:match("^{%d*,?%d*}", self.at)
    if whole then low, high = whole:match("^{(%d*),?(%d*)}$") end
    if not whole or whole == "{}" or whole == "{,}" then return false end
    self.at = self.at + #whole
    if not whole:find(",") then high = low end
    if low == "" then low = "0" end
    if #low > 4 or #high > 4 then self:refuse(whole) end
    simple = low == high and ("{%s}"):format(low) or ("{%s,%s}"):format(low, high)
    if self:peek() == "?" then
      if low == high then self:refuse(whole .. "?") end
      simple, self.at = simple .. "?", self.at + 1
    end
  end
  if not self.atom then self:refuse("a quantifier of nothing") end
  table.insert(self.out, self.atom, "(?:")
  self.out[#self.out + 1] = ")" .. simple
  -- A simple atom needs no group around it, and PCRE2 is faster without one.
  local is_simple = #self.out == self.atom + 2 and not self.out[self.atom + 1]:find("^%(")
  if is_simple and self.quantified ~= self.atom then
    local atom = self.out[self.atom + 1]
    for _ = 1, 3 do table.remove(self.out) end
    self.out[self.atom] = atom .. simple
  end
  self.quantified = self.atom
  return true
end

-- The edges of words and their opposite. PCRE2's own words have no marks.
local edges = { ["\\b"] = "(?:(?<=w)(?!w)|(?<!w)(?=w))", ["\\B"] = "(?:(?<=w)(?=w)|(?<!w)(?!w))" }
local other_escapes = { ["\\R"] = "(?>\\x{d}\\x{a}|[\\x{a}-\\x{d}\\x{85}\\x{2028}\\x{2029}])",
  ["\\N"] = "[^\\x{a}]", ["\\O"] = "(?s:.)" }

function Reader:escape()
  local name, negated = self:property()
  if name then
    self.used[name] = true
    return self:emit(outside(name, negated, self.plain))
  end
  for escape, pattern in pairs(other_escapes) do if self:take(escape) then return self:emit(pattern) end end
  local anchor = self:take("\\[AzZ]")
  local edge = not anchor and edges[self:take("\\[bB]")]
  if edge then
    self.used.word = true
    anchor = edge:gsub("w", function() return "[" .. inside("word", self.plain) .. "]" end)
  end
  if anchor then
    self:emit(anchor)
    self.atom = nil
    return
  end
  local code = self:escaped_character()
  if not code then self:refuse(self:peek(2)) end
  self:literal(code)
end

function Reader:alternatives()
  self.atom = nil
  while self.at <= #self.text and self:peek() ~= ")" do
    local character = self:peek()
    if self:quantifier() then -- luacheck: ignore 542
    elseif character == "|" then
      self.at = self.at + 1
      self.out[#self.out + 1] = "|"
      self.atom = nil
    elseif character == "[" then
      self.at = self.at + 1
      self:emit(pattern_of(self:class()))
    elseif character == "(" then
      self:group()
    elseif character == "\\" then
      self:escape()
    elseif character == "." then
      self.at = self.at + 1
      self:emit(".")
    elseif character == "^" or character == "$" then
      self.at = self.at + 1
      self.out[#self.out + 1] = character
      self.atom = nil
    else
      self:literal(next_character(self))
    end
  end
end

--- Returns a pattern for PCRE2 and the set of properties in it, or nil and the part that is not supported.
function regex.convert(text, plain)
  if not utf8.len(text) then return nil, "text that is not UTF-8" end
  if #text > 10000 then return nil, "more than 10,000 bytes" end
  local reader = setmetatable({ text = text, at = 1, out = {}, depth = 0, plain = plain, used = {} }, Reader)
  local ok, problem = pcall(function()
    reader:alternatives()
    if reader.at <= #text then reader:refuse(")") end
  end)
  if ok then return table.concat(reader.out), reader.used end
  if type(problem) == "table" and problem.refused then return nil, problem.refused end
  error(problem, 0)
end

--- Returns both patterns, packed, or nil and the part that is not supported.
function regex.translate(text)
  local exact, used = regex.convert(text)
  if not exact then return nil, used end
  return pack(regex.convert(text, true), exact, used)
end

--- Returns a packed pattern that matches the text literally.
function regex.quote(text)
  local parts = {}
  for _, code in utf8.codes(text) do parts[#parts + 1] = literal(code) end
  local pattern = table.concat(parts)
  return pack(pattern, pattern, {})
end

return regex
