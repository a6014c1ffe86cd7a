-- hash.lua: computes short hashes of texts, for names only, and SHA-256, to compare contents.
local hash = {}

local hexadecimal = {} -- the two digits of each byte
for byte = 0, 255 do hexadecimal[string.char(byte)] = ("%02x"):format(byte) end

--- Returns the 64-bit FNV-1a hash as 16 hexadecimal digits.
function hash.text(text)
  local h = 0xcbf29ce484222325
  for i = 1, #text do h = (h ~ text:byte(i)) * 0x100000001b3 end
  return ("%016x"):format(h)
end

--- Returns the SHA-256 as 64 hexadecimal digits.
function hash.content(text)
  local digest = require("openssl.digest").new("sha256"):final(text)
  return (digest:gsub(".", hexadecimal))
end

--- Returns the SHA-256 of a list of texts. Lengths are hashed too: { "ab", "c" } differs from { "a", "bc" }.
function hash.list(texts) return hash.content(string.pack(("s"):rep(#texts), table.unpack(texts))) end

return hash
