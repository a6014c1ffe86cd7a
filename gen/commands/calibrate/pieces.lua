-- pieces.lua: cuts a text into pieces that a model reads one by one.
-- So the activations of only one piece are kept.
local faults = require("common.faults")
local files = require("common.files")

local pieces = {}

local MOST_BYTES = 100000       -- of a piece, which is a word of a command line
local BYTES_PER_TOKEN = 3       -- a low estimate
local NUMBERS_OF_PIECE = 1 << 25 -- of activations
local NUMBERS = 1 << 28         -- of activations in all
local MEASURED = 5              -- one piece of this number is not read, but measures the result

-- Returns the end of a piece from `first` with at most `most` bytes: after a line, else a word, else a character.
local function end_of(text, first, most)
  local last = first + most - 1
  if last >= #text then return #text end
  for _, pattern in ipairs { "^.*\n()", "^.* ()", "^.*()[^\x80-\xbf]" } do
    local after = text:sub(first, last):match(pattern)
    if after and after > 1 then return first + after - 2 end
  end
  return last
end

--- Returns the text of a file. Faults: io, format.
function pieces.read(path)
  local text = files.read_asked(path, "--text-file: ")
  if not text:find("%S") then faults.raise("format", "--text-file: %s: has no text", path) end
  local zero = text:find("\0", 1, true)
  if zero then
    faults.raise("format", "--text-file: %s: byte %d is 0, which is not text", path, zero)
  end
  return text
end

--- Returns the pieces to read, and those that measure the result: the same if there are few. each: numbers of
--- activations of a token; tokens: the most of a piece.
function pieces.cut(text, each, tokens)
  local most = math.max(64, math.min(MOST_BYTES, BYTES_PER_TOKEN * math.min(tokens, NUMBERS_OF_PIECE // each)))
  local all, at = {}, 1
  while at <= #text do
    local last = end_of(text, at, most)
    all[#all + 1] = text:sub(at, last)
    at = last + 1
  end
  local read, measured = {}, {}
  for i, piece in ipairs(all) do
    local is_measured = #all >= MEASURED and i % MEASURED == 0
    table.insert(is_measured and measured or read, piece)
  end
  local wanted = math.max(1, NUMBERS * BYTES_PER_TOKEN // (each * most))
  local step = math.max(1, (#read + wanted - 1) // wanted)
  local chosen = {}
  for i = 1, #read, step do chosen[#chosen + 1] = read[i] end
  return chosen, #measured > 0 and measured or read
end

return pieces
