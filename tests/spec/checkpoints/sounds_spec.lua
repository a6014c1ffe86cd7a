-- sounds_spec.lua: preprocessor_config.json becomes the key `sound`, or a note says why not.
require("tests.spec.helper")
local json = require("common.json")
local sounds = require("checkpoints.sounds")

local function read(config, model)
  local notes = {}
  return sounds.of(config and { file = "p.json", config = config }, notes, model or {}), notes
end

local WHISPER = { feature_extractor_type = "WhisperFeatureExtractor" }
local AST = { feature_extractor_type = "ASTFeatureExtractor" }
local WAVE = { feature_extractor_type = "Wav2Vec2FeatureExtractor" }

local function with(base, more)
  local result = {}
  for _, each in ipairs { base, more } do for key, value in pairs(each) do result[key] = value end end
  return result
end

describe("checkpoints.sounds", function()
  it("says that sound is missing, unless the key is overridden", function()
    local pipeline, helper = require("pipeline"), require("tests.spec.helper")
    local function notes(overrides)
      return table.concat(pipeline.run(helper.root, helper.root .. "/tests/hf/goldens/wav2vec2_model", overrides,
        "validate").notes, "\n")
    end
    assert.equal(helper.root .. "/tests/hf/goldens/wav2vec2_model/preprocessor_config.json: missing: the model takes "
      .. "features, and no sound", notes {})
    assert.equal("", notes { "sound=false" })
  end)

  it("is read from processor_config.json, too", function()
    local folder, made = require("checkpoints.folder"), require("tests.spec.checkpoints.made")
    local found = folder.read(made.checkpoint(nil, nil, {
      ["processor_config.json"] = '{"feature_extractor":{"n_fft":2}}' })).preprocessor
    assert.same({ "processor_config.json", 2 }, { found.file, found.config.n_fft })
  end)

  it("has the class of the model if a file names none", function()
    local folder, made = require("checkpoints.folder"), require("tests.spec.checkpoints.made")
    local function class_of(model_type, text)
      local config = folder.read(made.checkpoint({ model_type = model_type }, nil, {
        ["preprocessor_config.json"] = text })).preprocessor.config
      return config.feature_extractor_type or config.image_processor_type
    end
    assert.equal("Wav2Vec2FeatureExtractor", class_of("hubert", '{"do_normalize":true}'))
    assert.equal("ViTImageProcessor", class_of("vit", '{"size":224,"image_processor_type":null}'))
    assert.equal("Bark", class_of("whisper", '{"feature_extractor_type":"Bark"}'))
    assert.is_nil(class_of("bert", "{}"))
  end)

  it("has the defaults of each class, and what a folder states", function()
    local whisper = read(WHISPER, { width = 80, rows = 3000 })
    assert.same({ mels = 80, length = 400, hop = 160, centre = true, high = 8000.0, samples = 480000, rows = 3000,
      range = 8.0, mean = -4.0, std = 4.0, rate = 16000 }, whisper)
    local other = read(with(WHISPER, { feature_size = 128, n_fft = 512, hop_length = 128, chunk_length = 2,
      sampling_rate = 32000, mel_filters = { 1 }, n_samples = 64000, nb_max_frames = 500, padding_value = 0.0 }))
    assert.same({ 128, 512, 128, 64000, 500, 32000 },
      { other.mels, other.length, other.hop, other.samples, other.rows, other.rate })
    local ast = read(AST, { width = 128, rows = 1024 })
    assert.same({ 128, 1024, -4.2677393, 2 * 4.5689974, 512, "kaldi" },
      { ast.mels, ast.rows, ast.mean, ast.std, ast.fft, ast.mel_scale })
    local plain = read(with(AST, { do_normalize = json.null, num_mel_bins = 64, max_length = 10, mean = 1, std = 2 }))
    assert.same({ 64, 10 }, { plain.mels, plain.rows })
    assert.is_nil(plain.mean)
    local convolutions = { { width = 4, kernel = 3, stride = 2 } }
    local wave = read(WAVE, { width = 4, convolutions = convolutions, activation = "gelu" })
    assert.same({ convolutions = convolutions, activation = "gelu", normalise = true, rate = 16000 }, wave)
    for _, none in ipairs { false, json.null } do
      assert.is_nil(read(with(WAVE, { do_normalize = none }), { convolutions = convolutions }).normalise)
    end
  end)

  it("names each key that is not known, and refuses values that change the result", function()
    local _, notes = read(with(WHISPER, { nonsense = 1 }))
    assert.same({ 'p.json: "nonsense": not known: results may differ from transformers\'' }, notes)
    for said, config in pairs {
      ["dither: 1"] = with(WHISPER, { dither = 1 }), ["padding_value: 1"] = with(WHISPER, { padding_value = 1 }),
      ["hop_length: 0"] = with(WHISPER, { hop_length = 0 }), ["hop_length: null"] =
        with(WHISPER, { hop_length = json.null }), ["n_fft: \"x\""] = with(WHISPER, { n_fft = "x" }),
      ["sampling_rate: less than 16000"] = with(WHISPER, { sampling_rate = 8000 }),
      ["sampling_rate: other"] = with(AST, { sampling_rate = 8000 }), ["std: true"] = with(AST, { std = true }),
      ["feature_size: other"] = with(AST, { feature_size = 2 }),
      ["the model has no convolutions"] = WAVE, ["feature_extractor_type: \"Bark\""] =
        { feature_extractor_type = "Bark" }, ["feature_extractor_type: null"] = { feature_extractor_type = json.null },
    } do
      local made, lines = read(config)
      assert.is_nil(made, said)
      assert.is_truthy(lines[1]:find(said, 1, true), lines[1])
      assert.matches("^p%.json: .*: the model takes features, and no sound$", lines[1])
    end
    local made, lines = read(WHISPER, { width = 80, rows = 100 })
    assert.is_nil(made)
    assert.same({ "p.json: makes 3000 rows, but the model reads 100: the model takes features, and no sound" }, lines)
  end)
end)
