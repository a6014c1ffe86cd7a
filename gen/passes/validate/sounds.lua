-- sounds.lua: reads the key `sound` of a description, and makes the entry `features`, which turns a chunk of samples
-- into rows of the model's input, and `channels`, whose rows of the first convolution a norm over the sound measures.
local sounds = require("data.sounds")
local symbols = require("passes.validate.symbols")
local values = require("passes.validate.values")
local words = require("common.words")

local validate_sounds = {}

-- Rows that a call of the entry makes: many rows share one reading of the weights, but the chunk stays in the cache.
-- Rows of the last chunk may be made again, so calls of a known number of rows divide them evenly; then chunks of
-- convolutions may be longer.
local CHUNK_OF_MELS, CHUNK_OF_CONVOLUTIONS, EVEN_CHUNK_OF_CONVOLUTIONS = 256, 32, 50

-- Groups of channels whose means and variances are found together (runtime/model/features.c).
local MOST_GROUPS = 1024

-- Checks what the fields of convolution number i say of each other.
local function check_norm(say, key, i, conv)
  if conv.norm ~= "group" and conv.groups then say(key .. ".groups", "goes with norm = \"group\"") end
  if conv.norm == "none" and conv.activation_first then say(key .. ".activation_first", "goes with a norm") end
  if conv.norm ~= "group" or not (conv.width and conv.kernel) then return end
  if i > 1 then say(key .. ".norm", "group goes with the first convolution") end
  local groups = conv.groups or conv.width
  if conv.width % groups ~= 0 then say(key .. ".groups", "%d, which does not divide width %d", groups, conv.width) end
  if sounds.moments(conv) == "measured" and groups > MOST_GROUPS then
    say(key .. ".groups", "%d, but 1 to %d are allowed with an activation before the norm or a kernel over 64", groups,
      MOST_GROUPS)
  end
end

function values.read.convolutions(say, field, value)
  if type(value) ~= "table" or #value < 1 or #value > 64 then
    return say(field.key, values.show(value) .. ", but a list of 1 to 64 convolutions is allowed")
  end
  local list = {}
  for i, each in ipairs(value) do
    local key = ("%s.%d"):format(field.key, i)
    if type(each) ~= "table" then
      return say(key, values.show(each) .. ", but a table such as { width = 512, kernel = 3, stride = 2 } is allowed")
    end
    list[i] = values.fields(say, key, each, sounds.of_convolution)
    check_norm(say, key, i, list[i])
  end
  return list
end

--- Reads the key: a table with all fields of its kind; false for false.
function validate_sounds.reader(say, field, value)
  if value == false then return false end
  if type(value) ~= "table" or (value.mels ~= nil) == (value.convolutions ~= nil) then
    return say(field.key, values.show(value) .. ", but false or a table with mels, or with convolutions, is allowed")
  end
  return values.fields(say, field.key, value, words.merged(sounds.fields, value.mels ~= nil and sounds.of_mels
    or sounds.of_convolutions))
end

-- Returns the width of the input that sound fills, the key that says it, and its rows, if they are a fixed number; nil:
-- it fills no such input.
local function input_of(spec)
  local of = spec.memory and spec.memory.encoder or spec
  local input = of.input
  if input.stage == "hidden" then return of.d_model, "d_model" end
  if input.row_stride then return input.height, "input.height", input.width end
  return input.from, "input.from", input.stage == "frames" and of.seq and 2 * of.seq or nil
end

-- Returns the rows of the longest sequence that sound fills, and whether others are shorter.
local function rows_of(spec)
  local memory = spec.memory
  if memory and memory.encoder then return memory.seq, memory.any end
  return spec.seq, spec.any
end

-- Checks what a resolved sound's fields say of each other.
local function check_mels(say, sound)
  sound.fft, sound.high = sound.fft or sound.length, sound.high or sound.rate / 2
  if sound.fft < sound.length then say("sound.fft", "%d, but a frame has %d samples", sound.fft, sound.length) end
  if sound.high > sound.rate / 2 or sound.high <= sound.low then
    say("sound.high", "%g, but a number above low, %g, up to rate / 2, %g, is allowed", sound.high, sound.low,
      sound.rate / 2)
  end
  local first, last = sounds.bins(sound)
  if last < first then say("sound.fft", "%d: no frequency of its bins is between low and high", sound.fft) end
end

-- The most numbers of a tensor of the entry.
local MOST_NUMBERS = 1 << 26

-- Checks that the tensors of a chunk are small.
local function check_chunk(say, sound, rows)
  local widest = 1
  for _, each in ipairs(sound.convolutions or {}) do widest = math.max(widest, each.width // each.stride) end
  if (rows * sound.hop + sound.length) * widest > MOST_NUMBERS then
    say("sound", "%d rows are made of %d samples, which is too many: use smaller strides or widths", rows,
      rows * sound.hop + sound.length)
  end
end

-- Returns the rows that a call of the entry makes. most: the rows of the longest sound, if a sound is expected to have
-- them all; nil: any number.
local function rows_of_call(sound, most)
  if not most then return sound.mels and CHUNK_OF_MELS or CHUNK_OF_CONVOLUTIONS end
  local rows = sound.mels and CHUNK_OF_MELS or EVEN_CHUNK_OF_CONVOLUTIONS
  local calls = (most + rows - 1) // rows
  return (most + calls - 1) // calls
end

local function is_complete(sound)
  if sound.mels then return sound.length and sound.hop and sound.fft and sound.high and sound.low end
  for _, each in ipairs(sound.convolutions or {}) do
    if not (each.width and each.kernel and each.stride) then return false end
  end
  return sound.convolutions ~= nil
end

--- Checks that the key fits the model's input, and fills in its sizes: length and hop of a row's samples.
function validate_sounds.check(say, spec)
  local sound = spec.sound
  if not sound then return end
  if sound.mels and sound.length and sound.rate and sound.low then check_mels(say, sound) end
  if not is_complete(sound) then return end -- reported
  sound.length, sound.hop = sounds.field(sound)
  local most = rows_of(spec)
  check_chunk(say, sound, rows_of_call(sound, sound.rows or most))
  local width, name, rows = input_of(spec)
  if not width then
    return say("sound", "goes with an input of features: linear, frames, hidden, or an image with row_stride")
  end
  if width ~= sounds.width(sound) then
    say("sound", "makes rows of %d numbers, but %s is %d", sounds.width(sound), name, width)
  end
  if rows and sound.rows ~= rows then
    say("sound.rows", "%s, but the input has %d", sound.rows or "any number", rows)
  elseif not rows and (sound.rows or 0) > (most or math.huge) then
    say("sound.rows", "%d, but a sequence has at most %d", sound.rows, most)
  end
  if sound.samples and sound.samples < sound.length then
    say("sound.samples", "%d, but a row is made of %d", sound.samples, sound.length)
  end
  if spec.processes then say("sound", "does not go with ranks and stages") end
  if spec.layout == "seq_first" then say("sound", "does not go with layout = \"seq_first\"") end
end

--- Returns the spec of the entry `features` of a resolved spec, or nil. More than the model's: samples, of a chunk.
--- Then that of `channels`, if a norm over the sound is to be measured.
function validate_sounds.entries(spec)
  local sound = spec.sound
  if not sound then return nil end
  local rows, is_open = rows_of(spec)
  rows = rows_of_call(sound, sound.rows or not is_open and rows or nil)
  local entry = words.merged(spec, { role = "features", samples = (rows - 1) * sound.hop + sound.length, seq = rows,
    batch = 1, layers = 0, past = 0, least = rows, exact = "a chunk of sound has one size", output = {},
    input = { stage = "sound" }, layout = "batch_first", positions = "none",
    mask = { causal = false, padding = false } })
  for _, key in ipairs { "any", "context", "call_rows", "memory", "source", "each", "conv_kernel", "key_seq" } do
    entry[key] = nil
  end
  symbols.resolve(entry)
  local first = sound.convolutions and sound.convolutions[1]
  if not first or sounds.moments(first) ~= "measured" then return entry end
  rows = (entry.samples - first.kernel) // first.stride + 1
  local channels = words.merged(entry, { is_measuring = true, seq = rows, least = rows,
    samples = (rows - 1) * first.stride + first.kernel })
  symbols.resolve(channels)
  return entry, channels
end

return validate_sounds
