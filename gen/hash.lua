-- hash.lua: FNV-1a, 64 bits, as 16 hexadecimal digits: names a text, guards nothing.
local hash = {}

--- The digits of a string.
function hash.text(text)
  local h = 0xcbf29ce484222325
  for i = 1, #text do h = (h ~ text:byte(i)) * 0x100000001b3 end
  return ("%016x"):format(h)
end

return hash
