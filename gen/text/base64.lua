-- base64.lua: writes and reads bytes in base64, as tokenizer.json has its map of characters.
local base64 = {}

local LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local values = {}
for i = 1, 64 do values[LETTERS:byte(i)] = i - 1 end

local function letter(number) return LETTERS:sub(number + 1, number + 1) end

function base64.encode(bytes)
  local out = {}
  for at = 1, #bytes, 3 do
    local a, b, c = bytes:byte(at, at + 2)
    local word = a << 16 | (b or 0) << 8 | (c or 0)
    out[#out + 1] = letter(word >> 18) .. letter(word >> 12 & 63) .. (b and letter(word >> 6 & 63) or "=")
      .. (c and letter(word & 63) or "=")
  end
  return table.concat(out)
end

--- Returns the bytes of a text in base64, or nil if it is not one.
function base64.decode(text)
  if #text % 4 ~= 0 or text:find("[^%w+/=]") then return nil end
  local body, padding = text:match("^([^=]*)(=*)$")
  if not body or #padding > 2 then return nil end
  local out = {}
  for at = 1, #text, 4 do
    local a, b, c, d = text:byte(at, at + 3)
    if not values[a] or not values[b] then return nil end
    local word = values[a] << 18 | values[b] << 12 | (values[c] or 0) << 6 | (values[d] or 0)
    out[#out + 1] = string.char(word >> 16, word >> 8 & 255, word & 255)
  end
  local bytes = table.concat(out)
  return bytes:sub(1, #bytes - #padding)
end

return base64
