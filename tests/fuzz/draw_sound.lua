-- draw_sound.lua: draws the key `sound` for a model that reads features: convolutions of samples, or log-mel filters.
local sizes = require("sizes")
local sounds = require("data.sounds")

local draw_sound = {}

local random, pick, chance, size = math.random, sizes.pick, sizes.chance, sizes.size

-- Returns the width of the input that sound may fill, or nil.
local function width_of(d)
  local stage = d.input and d.input.stage or "hidden"
  if d.layout == "seq_first" or (d.ranks or 1) > 1 or (d.stages or 1) > 1 or d.context then return nil end
  if d.memory and d.memory.stage then return nil end
  return stage == "hidden" and d.d_model or stage == "linear" and d.input.from or nil
end

-- Draws convolutions whose last has this width. A norm of few numbers would multiply any rounding.
local function convolutions(activations, width)
  local list, count = {}, random(3)
  for i = 1, count do
    local own = i == count and width or size(40)
    local norm = i == 1 and chance(50) and "group" or own >= 4 * sizes.NARROW and chance(40) and "layer" or nil
    list[i] = { width = own, kernel = random(i == 1 and (chance(20) and 150 or 12) or 4), stride = random(3),
      bias = chance(40) or nil, norm = norm, activation = chance(30) and pick(activations) or nil,
      activation_first = norm and chance(40) or nil,
      groups = norm == "group" and chance(40) and (chance(50) and 1 or own) or nil }
  end
  return { convolutions = list, activation = pick(activations), normalise = chance(50) or nil }
end

-- seq: the most rows of a sequence.
local function mels(width, seq)
  local length, rate = random(20, 150), pick { 8000, 16000 }
  return { mels = width, length = length, hop = random(60), fft = chance(50) and length + random(0, 100) or nil,
    window = pick(sounds.windows), centre = chance(50), scale = pick { 1, 32768 }, remove_mean = chance(50),
    preemphasis = chance(50) and 0.97 or nil, mel_scale = pick(sounds.scales), mel_norm = pick { "none", "slaney" },
    low = chance(50) and 20 or nil, high = chance(50) and rate * 0.45 or nil, rate = rate,
    log = pick { "log10", "natural" }, least = pick { 1e-10, 1e-6 }, range = chance(30) and 8 or nil,
    mean = chance(50) and -4 or nil, std = chance(50) and 4 or nil, subtract_mean = chance(30) or nil,
    rows = chance(40) and math.min(size(120), seq) or nil }
end

-- Returns the most rows of a sequence: of any length, or the largest of a list.
local function rows_of(d)
  if type(d.seq) ~= "table" then return d.seq end
  return d.seq.any or math.max(table.unpack(d.seq))
end

--- Gives a description the key, if its model may take sound.
function draw_sound.draw(d, activations)
  local width = width_of(d)
  if not width then return end
  d.sound = chance(50) and convolutions(activations, width) or mels(width, rows_of(d))
  d.sound.rate = d.sound.rate or 16000
end

return draw_sound
