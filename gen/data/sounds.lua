-- sounds.lua: lists the fields of the key `sound` of a description, by which samples become features: rows of log-mel
-- filters, or of strided convolutions. validate, the graph and the docs read this table.
local sounds = {}

--- Windows and scales of mels in the order of their numbers in formulas (runtime/weights/sound_constants.h).
sounds.windows = { "none", "hann", "hann_periodic", "hamming", "hamming_periodic", "povey" }
sounds.scales = { "htk", "slaney", "kaldi" }

local LARGEST = 1e9
local MOST_HOP = 1 << 30 -- products with it are integers

-- Fields of both kinds, of mels, and of convolutions: a type of readers, what restricts its value, and its meaning.
sounds.fields = {
  rate = { type = "integer", min = 1000, max = 768000, required = true, meaning = "samples a second" },
  samples = { type = "integer", min = 1, max = 1 << 30,
    meaning = "a sound is filled up with zeros to this many samples, and cut after them" },
  rows = { type = "integer", min = 1, max = 65536,
    meaning = "the features have this many rows: further ones are zeros before `mean` and `std`, or are cut off" },
}
sounds.of_mels = {
  mels = { type = "integer", min = 1, max = 1024, required = true,
    meaning = "filters, evenly spaced from low to high" },
  length = { type = "integer", min = 2, max = 16384, required = true, meaning = "samples of a frame" },
  hop = { type = "integer", min = 1, max = 16384, required = true, meaning = "samples from one frame to the next" },
  fft = { type = "integer", min = 2, max = 65536, meaning = "points of the transform; default: length" },
  window = { type = "word", words = sounds.windows, default = "hann_periodic",
    meaning = "what a frame is multiplied by" },
  centre = { type = "boolean", default = false,
    meaning = "the first frame's middle is the first sample, and the last one's the last; the ends are reflected" },
  scale = { type = "number", min = 1e-9, max = LARGEST, default = 1.0,
    meaning = "factor of samples: 32768 for Kaldi's" },
  remove_mean = { type = "boolean", default = false, meaning = "a frame loses its mean" },
  preemphasis = { type = "number", min = 0, max = 1, default = 0.0,
    meaning = "a sample loses this times the one before it in its frame" },
  low = { type = "number", min = 0, max = 384000, default = 0.0, meaning = "hertz at which the first filter begins" },
  high = { type = "number", min = 1e-3, max = 384000, meaning = "hertz at which the last one ends; default: rate / 2" },
  mel_scale = { type = "word", words = sounds.scales, default = "slaney",
    meaning = "the scale of mels; kaldi: triangles are straight on the scale, not over hertz" },
  mel_norm = { type = "word", words = { "none", "slaney" }, default = "slaney",
    meaning = "slaney: filters have equal areas" },
  log = { type = "word", words = { "log10", "natural" }, default = "log10", meaning = "the logarithm" },
  least = { type = "number", min = 1e-37, max = LARGEST, default = 1e-10, meaning = "smaller energies become this" },
  range = { type = "number", min = 1e-3, max = LARGEST,
    meaning = "logarithms below the largest of the sound less this become that" },
  mean = { type = "number", min = -LARGEST, max = LARGEST, default = 0.0, meaning = "then, (x - mean) / std" },
  std = { type = "number", min = 1e-9, max = LARGEST, default = 1.0, meaning = "see mean" },
  subtract_mean = { type = "boolean", default = false, meaning = "last, each filter loses its mean over the sound" },
}
sounds.of_convolutions = {
  convolutions = { type = "convolutions", required = true,
    meaning = "one after the other, without padding: { { width = 512, kernel = 10, stride = 5, bias = false, norm = "
      .. "\"group\" }, ... }; norm: none; layer; or group, of the first, over the whole sound: each channel, or each "
      .. "of `groups` equal parts of them; activation: in place of the other; activation_first: the norm follows it" },
  activation = { type = "activation", default = "gelu", meaning = "the function after each convolution" },
  normalise = { type = "boolean", default = false, meaning = "samples get the mean 0 and the variance 1 first" },
}
sounds.of_convolution = {
  width = { type = "integer", min = 1, max = 8192, required = true, meaning = "channels" },
  kernel = { type = "integer", min = 1, max = 1024, required = true, meaning = "rows of a window" },
  stride = { type = "integer", min = 1, max = 64, required = true, meaning = "rows from one window to the next" },
  bias = { type = "boolean", default = false },
  norm = { type = "word", words = { "none", "group", "layer" }, default = "none" },
  groups = { type = "integer", min = 1, max = 8192 },
  activation = { type = "activation" },
  activation_first = { type = "boolean", default = false },
}

-- The longest window of samples whose covariance is found (runtime/model/features.c).
local MOST_COVARIANCE = 64

--- Returns how a convolution's norm over the sound gets means and variances: "covariance": each channel's follow from
--- the samples' covariance; "measured": its rows are made for them; nil: it has no such norm.
function sounds.moments(conv)
  if conv.norm ~= "group" then return nil end
  local follows = not conv.activation_first and (conv.groups or conv.width) == conv.width
  return follows and conv.kernel <= MOST_COVARIANCE and "covariance" or "measured"
end

--- Returns the first and the last bin of the transform between the ends of the filters, which have no weight there.
function sounds.bins(sound)
  local width = sound.rate / sound.fft -- hertz
  return math.tointeger(sound.low // width + 1), math.ceil(sound.high / width) - 1
end

--- Returns the samples that one row of a resolved sound is made of, and those from one row to the next.
function sounds.field(sound)
  if sound.mels then return sound.length, sound.hop end
  local length, hop = 1, 1
  for _, each in ipairs(sound.convolutions) do
    length, hop = length + (each.kernel - 1) * hop, math.min(hop * each.stride, MOST_HOP)
  end
  return length, hop
end

--- Returns the numbers of a row.
function sounds.width(sound) return sound.mels or sound.convolutions[#sound.convolutions].width end

return sounds
