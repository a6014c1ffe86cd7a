-- checksum.lua: computes the same checksum as runtime/base/checksum.c, for the runtime to compare with its own.
local checksum = {}

local LANES, WORD = 4, 8
local BLOCK = ("<" .. ("i8"):rep(LANES))

local function step(lane, word)
  lane = (lane ~ word) * 0x9ddfea08eb382d69
  return lane ~ (lane >> 29)
end

--- Returns the checksum of a text, a 64-bit integer. begin: 0, or the checksum of the text before it.
function checksum.of(begin, text)
  local a, b, c, d = begin, 1, 2, 3
  local whole = #text - #text % (LANES * WORD)
  for at = 1, whole, LANES * WORD do
    local p, q, r, s = BLOCK:unpack(text, at)
    a, b, c, d = step(a, p), step(b, q), step(c, r), step(d, s)
  end
  local lanes = { a, b, c, d }
  for i = 1, (#text - whole + WORD - 1) // WORD do
    local at = whole + (i - 1) * WORD
    local word = text:sub(at + 1, at + WORD)
    lanes[i] = step(lanes[i], (("<i8"):unpack(word .. ("\0"):rep(WORD - #word))))
  end
  local sum = #text
  for i = 1, LANES do sum = step(sum, lanes[i]) end
  return sum
end

return checksum
