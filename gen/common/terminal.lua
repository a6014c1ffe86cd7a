-- terminal.lua: text of a user (a path, a name, a piece of a description) made safe for a line on
-- a terminal: it stays one line, moves no cursor, sets no colour and keeps its reading order.
local terminal = {}

-- Characters that a line of text has no use for: controls, marks of direction, joiners and others of no width, tags.
local unseen = {
  { 0x80, 0x9F }, { 0xAD, 0xAD }, { 0x61C, 0x61C }, { 0x180E, 0x180E }, { 0x200B, 0x200F }, { 0x2028, 0x202E },
  { 0x2060, 0x206F }, { 0xFEFF, 0xFEFF }, { 0xFFF9, 0xFFFB }, { 0xE0000, 0xE007F },
}

local function seen(character)
  local code = utf8.codepoint(character)
  for _, range in ipairs(unseen) do
    if code >= range[1] and code <= range[2] then return "?" end
  end
  return nil
end

--- The text with a question mark for each character that is not to be seen, and for each byte that is no UTF-8.
function terminal.safe(text)
  text = tostring(text):gsub("%c", "?")
  local parts, at = {}, 1
  while at <= #text do
    local _, bad = utf8.len(text, at)
    parts[#parts + 1] = text:sub(at, (bad or #text + 1) - 1):gsub("[\194-\244][\128-\191]+", seen)
    if bad then parts[#parts + 1] = "?" end
    at = (bad or #text) + 1
  end
  return table.concat(parts)
end

--- The same of no more than `most` bytes; what is cut off leaves three dots.
function terminal.short(text, most)
  text = tostring(text)
  if #text > most then text = text:sub(1, most - 3) .. "..." end
  return terminal.safe(text)
end

--- The same of a text of many lines, which stay lines.
function terminal.lines(text) return (text:gsub("[^\n]+", terminal.safe)) end

return terminal
