-- sounds.lua: reads how a folder prepares sounds: preprocessor_config.json, or the feature_extractor of
-- processor_config.json.
-- Keys and defaults are transformers 5.23's. If a step is not supported, the model takes no sound, and a note says why:
-- its features are right all the same.
local fields = require("data.sounds")
local json = require("common.json")
local known = require("common.known")
local words = require("common.words")

local sounds = {}

-- Kaldi's frames, as torchaudio has them: 25 ms at 16000 a second, every 10.
local KALDI = { length = 400, hop = 160, fft = 512, preemphasis = 0.97, remove_mean = true, mel_scale = "kaldi",
  mel_norm = "none", low = 20.0, log = "natural", least = 2.0 ^ -23 }

-- Functions by the class of a feature extractor: each returns the value of the key `sound`, or nil and what is not
-- supported. given(key, default): a key's value; model: as for sounds.of.
local extractors = {}

function extractors.Wav2Vec2FeatureExtractor(given, model)
  if not model.convolutions then return nil, "feature_extractor_type: the model has no convolutions over samples" end
  if given("feature_size", 1) ~= 1 then return nil, "feature_size: other than 1 is not supported" end
  return { convolutions = model.convolutions, activation = model.activation,
    normalise = given("do_normalize", true) or nil }
end

function extractors.WhisperFeatureExtractor(given)
  local rate, hop, points = given("sampling_rate", 16000), given("hop_length", 160), given("n_fft", 400)
  local samples = given("chunk_length", 30) * rate
  if rate < 16000 then return nil, "sampling_rate: less than 16000 is not supported: filters reach up to 8000 Hz" end
  return { mels = given("feature_size", 80), length = points, hop = hop, centre = true, high = 8000.0,
    samples = samples, rows = hop > 0 and samples // hop or 0, range = 8.0, mean = -4.0, std = 4.0 }
end

function extractors.ASTFeatureExtractor(given)
  local result = words.merged(KALDI, { mels = given("num_mel_bins", 128), window = "hann",
    rows = given("max_length", 1024) })
  if given("feature_size", 1) ~= 1 then return nil, "feature_size: other than 1 is not supported" end
  if given("sampling_rate", 16000) ~= 16000 then return nil, "sampling_rate: other than 16000 is not supported" end
  if not given("do_normalize", true) then return result end
  return words.merged(result, { mean = given("mean", -4.2677393), std = 2 * given("std", 4.5689974) })
end

local NO_SOUND = ": the model takes features, and no sound"

-- The keys that are numbers, and those that are integers, with what is allowed; others are flags or words.
local integers = words.set { "feature_size", "sampling_rate", "hop_length", "n_fft", "chunk_length", "num_mel_bins",
  "max_length" }
local numbers = words.set { "mean", "std" }

-- Returns the value of `sound` for a folder's configuration, or nil and what is not supported.
local function sound_of(config, model)
  local class = config.feature_extractor_type
  local extractor = type(class) == "string" and extractors[class]
  if not extractor then
    return nil, ("feature_extractor_type: %s is not supported; supported are %s"):format(json.shown(class),
      table.concat(words.sorted_keys(extractors), ", "))
  end
  for _, key in ipairs(words.sorted_keys(config)) do
    local value = config[key]
    local is_wrong = integers[key] and not (math.type(value) == "integer" and value >= 1 and value <= 1 << 20)
      or numbers[key] and type(value) ~= "number" or key:find("^do_") and type(value) ~= "boolean"
    if is_wrong and (value ~= json.null or not key:find("^do_")) then
      return nil, ("%s: %s is not supported"):format(key, json.shown(value))
    end
  end
  local function given(key, default) return json.stated(config, key, default) end
  local sound, problem = extractor(given, model)
  if not sound then return nil, problem end
  for _, pair in ipairs { { "numbers a row", sound.mels, model.width }, { "rows", sound.rows, model.rows } } do
    local what, made, expected = table.unpack(pair)
    if made and expected and made ~= expected then
      return nil, ("makes %d %s, but the model reads %d"):format(made, what, expected)
    end
  end
  sound.rate = given("sampling_rate", 16000)
  return sound
end

--- Returns the value of the key `sound` of a description, or nil. preprocessor: { file, config } of the folder, or nil;
--- notes: a list that lines for the user are added to; model: { width, rows } of what the model reads, rows nil for any
--- number; with { convolutions, activation } of a model whose own layers read samples.
function sounds.of(preprocessor, notes, model)
  return known.read(preprocessor, "preprocessor_config.json of sound", notes, NO_SOUND, function(config)
    return sound_of(config, model)
  end)
end

--- Returns the stage of features that come in, a row a frame, for an import's state, and sets its `sound`.
function sounds.frames(self)
  local f = self.facts
  self.sound = sounds.of(self.folder.preprocessor, self.notes, { width = f.features, convolutions = f.convolutions,
    activation = f.position_activation })
  return { stage = "linear", from = f.features, features_norm = f.features_norm or nil, norm = f.input_norm }
end

-- A model that writes down what its convolutions make of samples takes up to 30 seconds of these.
local MOST_SAMPLES = 30 * 16000

--- Returns the stage of an encoder that reads a sound, and its rows if it takes any number of them. Sets the `sound` of
--- an import's state, and the name of its input.
function sounds.source(self)
  local f, features = self.facts, self.family.features
  if features then
    self.inputs.source_features = "input_features"
    self.sound = sounds.of(self.folder.preprocessor, self.notes, { width = f[features],
      rows = 2 * f[self.family.encoder.seq] })
    return { stage = "frames", from = f[features] }
  end
  local length, hop = fields.field(f)
  local rows = (MOST_SAMPLES - length) // hop + 1
  self.inputs.source_hidden = "input_values"
  self.sound = sounds.of(self.folder.preprocessor, self.notes, { width = f.d_model, convolutions = f.convolutions })
  return { stage = "hidden" }, self.is_writer and { any = rows } or rows
end

--- True if a note says that the folder gives no sound.
function sounds.is_note(note) return note:sub(-#NO_SOUND) == NO_SOUND end

return sounds
