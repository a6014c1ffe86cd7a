-- sounds.lua: makes the graph of the entry `features`: rows of log-mel filters, or of strided convolutions, of a chunk
-- of samples.
-- All steps that are linear in a frame are one product. Numbers of the whole sound come in as an input, or are found
-- after the calls (runtime/model/features.c).
local sounds = require("data.sounds")

local graph_sounds = {}

local function number_of(list, word)
  for i, each in ipairs(list) do if each == word then return i - 1 end end
  error(word)
end

-- Returns a product with a constant weight, in f32.
local function by_constant(self, path, x, rows, formula)
  local weight = self:constant(path .. ".weight", { rows, x.shape[#x.shape] }, formula)
  weight.is_of_sound = true
  return self:op("linear", path, { x = x, weight = weight })
end

-- Returns rows of the logarithms of filters' energies.
local function mels(self, sound, samples)
  local first, last = sounds.bins(sound)
  local frames = self:op("windows", "sound.frames", { x = samples }, { kernel = sound.length, stride = sound.hop })
  local spectrum = by_constant(self, "sound.spectrum", frames, 2 * (last - first + 1),
    ("spectrum %d %d %.17g %d %.17g %d"):format(sound.fft, number_of(sounds.windows, sound.window), sound.preemphasis,
      sound.remove_mean and 1 or 0, sound.scale, first))
  local energies = self:op("activate", "sound.energies", { x = spectrum }, { ["function"] = "square" })
  local filtered = by_constant(self, "sound.filters", energies, sound.mels,
    ("mels %d %d %d %d %.17g %.17g %d"):format(number_of(sounds.scales, sound.mel_scale),
      sound.mel_norm == "slaney" and 1 or 0, sound.rate, sound.fft, sound.low, sound.high, first))
  local unit = sound.log == "log10" and 1 / math.log(10) or 1
  return self:op("logarithm", "sound.logarithms", { x = filtered }, { least = self.to_float(sound.least),
    factor = self.to_float(unit / sound.std), shift = self.to_float(-sound.mean / sound.std) })
end

-- Returns the factors that normalise the channels of the first convolution over the whole sound. With the mean m and
-- the covariance C = L Lᵀ of its windows of samples, which come in, the mean of a channel of weight w is w m, and its
-- variance w C wᵀ. Otherwise each channel's mean and deviation come in.
local function factors(self, path, conv)
  local is_measured = sounds.moments(conv) == "measured"
  local shape = is_measured and { 1, 2, conv.width } or { 1, conv.kernel + 1, conv.kernel }
  local moments = self:grows(self:input("moments", "f32", shape), "b..")
  local norm = path .. ".norm"
  return self:op("channel_factors", norm .. ".factors", {
    x = is_measured and moments
      or self:op("linear", norm .. ".moments", { x = moments, weight = self:weight_of_taps(path, 1, conv) }),
    gain = self:weight(norm .. ".weight", { conv.width }, 1, 0.1),
    bias = self:weight(norm .. ".bias", { conv.width }, 0, 0.1) }, { eps = 1e-5 })
end

-- Returns whether a call begins at an even row of a convolution, whichever row of the last one it begins at.
local function begins_even(list, i)
  for j = i + 1, #list do if list[j].stride % 2 == 0 then return true end end
  return false
end

-- Returns the rows of the last of several convolutions; for an entry that is to measure them, the first one's rows
-- before its norm.
local function convolutions(self, sound, x, is_measuring)
  for i, conv in ipairs(sound.convolutions) do
    local path = ("sound.%d"):format(i - 1)
    local function activated(y)
      return self:op("activate", path .. ".act", { x = y }, { ["function"] = conv.activation or sound.activation })
    end
    local of_sound = conv.norm == "group" and not is_measuring and factors(self, path, conv)
    x = self:strided(path, x, conv, i == 1, begins_even(sound.convolutions, i))
    if conv.activation_first then x = activated(x) end
    if is_measuring then return x end
    if of_sound then
      x = self:op("scale_columns", path .. ".norm", { x = x, factors = of_sound })
    elseif conv.norm == "layer" then
      x = self:norm(path .. ".norm", x, { kind = "layer", eps = 1e-5 })
    end
    if not conv.activation_first then x = activated(x) end
  end
  return x
end

--- Makes the graph of a spec's entry, whose output is `features`, or `channels` if it is to measure these.
function graph_sounds.build(self, spec)
  local sound = spec.sound
  self.section = "input"
  local samples = self:grows(self:input("samples", "f32", { 1, spec.samples, 1 }), "b..")
  local made = (sound.mels and mels or convolutions)(self, sound, samples, spec.is_measuring)
  self:expose(made, spec.is_measuring and "channels" or "features", "b..")
end

return graph_sounds
