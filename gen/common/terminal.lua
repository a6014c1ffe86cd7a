-- terminal.lua: makes a user's text (a path, a name, a piece of a description) safe for one line on a terminal.
-- The text stays one line, moves no cursor, sets no colour and keeps its reading order.
local terminal = {}

-- Characters that a line of text does not need: controls, direction marks, joiners and others without width, tags.
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

--- Returns the text with a question mark for each invisible character and for each byte that is not UTF-8.
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

--- Returns the safe text of at most `most` bytes. A text that is cut ends with three dots.
function terminal.short(text, most)
  text = tostring(text)
  if #text > most then text = text:sub(1, most - 3) .. "..." end
  return terminal.safe(text)
end

--- Returns the safe text of several lines, which remain lines.
function terminal.lines(text) return (text:gsub("[^\n]+", terminal.safe)) end

return terminal
