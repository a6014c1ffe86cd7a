-- roff.lua: writes pages of a manual in the man macros.
-- Its input is plain text and is printed as it is: no character is read as a request, an escape or another glyph.
local roff = {}

-- Escapes of characters that man(7) reads in another way: - as a hyphen, ' and ` as quotes, ^ and ~ as accents.
local glyphs = { ["\\"] = "\\e", ["-"] = "\\-", ["'"] = "\\(aq", ["`"] = "\\(ga", ["^"] = "\\(ha", ["~"] = "\\(ti",
  ['"'] = "\\(dq" }

-- No hyphenation and no wide spaces, because names are searched for and copied. .YS resets both.
local FLUSH = ".nh\n.ad l"
local WIDTH = 78 -- characters of a line of the source

--- Returns plain text, escaped: ASCII only, and no character with a meaning to roff.
function roff.escape(text)
  local parts = {}
  for _, code in utf8.codes(text) do
    local c = code < 128 and string.char(code) or ("\\[u%04X]"):format(code)
    parts[#parts + 1] = glyphs[c] or c
  end
  return (table.concat(parts):gsub("%c", " "))
end

function roff.bold(text) return "\\fB" .. roff.escape(text) .. "\\fR" end
function roff.italic(text) return "\\fI" .. roff.escape(text) .. "\\fR" end

--- Returns plain text, escaped. Words between backquotes become bold.
function roff.marked(text)
  local parts, at = {}, 1
  for from, word, to in text:gmatch("()`([^`]+)`()") do
    parts[#parts + 1] = roff.escape(text:sub(at, from - 1)) .. roff.bold(word)
    at = to
  end
  return table.concat(parts) .. roff.escape(text:sub(at))
end

-- Returns escaped text as lines of the source. None of them is a request.
local function wrapped(text)
  local lines, line = {}, ""
  for word in text:gmatch("%S+") do
    if line ~= "" and #line + 1 + #word > WIDTH then
      lines[#lines + 1] = line
      line = ""
    end
    if line == "" and word:match("^[.']") then word = "\\&" .. word end
    line = line == "" and word or line .. " " .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

local Page = {}
Page.__index = Page

--- Returns a page. about: { name, section, date, version }.
function roff.page(about)
  local self = setmetatable({ lines = {} }, Page)
  self:add((".TH %s %d %s %s"):format(about.name:upper(), about.section, about.date,
    ('"%s"'):format(roff.escape(about.version))))
  self:add(FLUSH)
  return self
end

function Page:add(line) self.lines[#self.lines + 1] = line end

function Page:section(title) self:add('.SH "' .. roff.escape(title) .. '"') end
function Page:subsection(title) self:add('.SS "' .. roff.escape(title) .. '"') end

-- Begins a paragraph, unless the line before is a heading, which begins one itself.
function Page:separate()
  if not self.lines[#self.lines]:match("^%.S[HS] ") then self:add(".PP") end
end

--- Adds a paragraph. Here and in the functions below, `text` is already escaped.
function Page:paragraph(text)
  self:separate()
  self:add(wrapped(text))
end

--- Adds a tag with its meaning next to it.
function Page:term(tag, text)
  self:add(".TP")
  self:add(wrapped(tag))
  self:add(wrapped(text))
end

--- Adds a line of the synopsis: a command, and the words after it.
function Page:usage(command, words)
  self:add('.SY "' .. roff.escape(command) .. '"')
  if words ~= "" then self:add(wrapped(words)) end
  self:add(".YS")
  self:add(FLUSH)
end

--- Adds lines of plain text as they are.
function Page:example(text)
  self:separate()
  self:add(".RS 4")
  self:add(".nf")
  for line in (text:gsub("\n$", "") .. "\n"):gmatch("([^\n]*)\n") do
    line = roff.escape(line)
    self:add(line:match("^[.]") and "\\&" .. line or line)
  end
  self:add(".fi")
  self:add(".RE")
end

function Page:text() return table.concat(self.lines, "\n") .. "\n" end

return roff
