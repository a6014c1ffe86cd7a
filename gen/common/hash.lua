-- hash.lua: computes short hashes of texts, for names only, and SHA-256, to compare contents.
local files = require("common.files")

local hash = {}

local PIECE = 1 << 20 -- bytes of a file that are in memory at a time

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

--- Returns the SHA-256 of a regular file, which may be large; nil if it cannot be opened.
function hash.file(path)
  local handle <close> = files.open(path)
  if not handle then return nil end
  local digest = require("openssl.digest").new("sha256")
  for piece in handle:lines(PIECE) do digest:update(piece) end
  return (digest:final():gsub(".", hexadecimal))
end

--- Returns the SHA-256 of a list of texts. Lengths are hashed too: { "ab", "c" } differs from { "a", "bc" }.
function hash.list(texts) return hash.content(string.pack(("s"):rep(#texts), table.unpack(texts))) end

return hash
