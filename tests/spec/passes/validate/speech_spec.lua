-- speech_spec.lua: the key `speech` of a description, and what a folder says for it.
local helper = require("tests.spec.helper")
local json = require("common.json")
local faults = require("common.faults")
local readers = require("passes.validate.readers")
local speech = require("checkpoints.speech")

local function read(value)
  local said = {}
  local result = readers.speech(function(key, ...)
    if key then said[#said + 1] = key .. ": " .. faults.line(...) end
    return not key or nil
  end, { key = "speech" }, value)
  return result, said
end

describe("passes.validate.speech", function()
  it("reads every field", function()
    local result, said = read { no_timestamps = 9, previous = 7, no_speech = 8, transcribe = 5, translate = 4,
      initial = 50, languages = { haw = 3, en = 2 }, language = "haw", task = "translate", score = -2, silence = 1,
      words = true, heads = { { 1, 0 }, { 0, 3 } }, median = 5 }
    assert.same({}, said)
    assert.same({ no_timestamps = 9, previous = 7, no_speech = 8, transcribe = 5, translate = 4, initial = 50,
      languages = { { code = "en", token = 2 }, { code = "haw", token = 3 } }, language = "haw", task = "translate",
      score = -2.0, silence = 1.0, words = true, heads = { { 1, 0 }, { 0, 3 } }, median = 5 },
      result)
    assert.is_false((read(false)))
    assert.same({}, (read {})) -- a plain model
  end)

  it("says what is wrong", function()
    local _, said = read { no_timestamps = -1, languages = { EN = 2 }, language = 1, task = "sing", previus = 3,
      score = 1, compression = "x", heads = { { 1 } }, median = 33 }
    assert.same({
      "speech.compression: \"x\", but a number from 0 to 1000 is allowed",
      "speech.heads: a table, but layers and heads such as { { 3, 1 }, { 4, 2 } } are allowed",
      "speech.language: 1, but the code of a language such as \"en\" is allowed",
      "speech.languages.EN: \"EN\", but the code of a language such as \"en\" is allowed",
      "speech.median: 33, but an integer from 1 to 31 is allowed",
      "speech.no_speech: missing: a token id",
      "speech.no_timestamps: -1, but an integer from 0 to 1048575 is allowed",
      "speech.previous: missing: a token id",
      "speech: no field \"previus\" (did you mean previous?)",
      "speech.score: 1, but a number from -1000 to 0 is allowed",
      "speech.task: \"sing\", but transcribe or translate is allowed",
    }, said)
  end)

  it("goes with an encoder of frames, and with tokens that the model has", function()
    local function refusals(more)
      local all = { context = 16, mask = "causal", norm = "pre", d_model = 16, heads = 2, layers = 1,
        input = { stage = "tokens", vocab = 10 }, output = { { stage = "vocabulary" } },
        memory = { stage = "encoder", seq = 4, input = { stage = "frames", from = 4 } },
        generation = { start = { 1 }, stop = { 0 } }, speech = { no_timestamps = 8, previous = 6, no_speech = 7 } }
      for key, value in pairs(more) do all[key] = value end
      return table.concat(helper.refusals(all), "\n")
    end
    assert.truthy(refusals({}):find("speech: goes with a tokenizer", 1, true))
    for text, more in pairs {
      ["speech: goes with a context and memory = encoder"] = { memory = { stage = "encoder", seq = 4,
        input = { stage = "tokens", vocab = 9 } } },
      ["speech: has tokens, which go with input = frames"] = { memory = { stage = "encoder", seq = { any = 4 },
        input = { stage = "hidden" } } },
      ["speech: {} goes with an encoder of seq = any(N)"] = { speech = {} },
      ["speech: {} goes with an encoder of"] = { speech = {}, memory = { stage = "encoder", seq = 4,
        input = { stage = "hidden" } } },
      ["sound.samples: 900, but with speech = {} sounds have any length"] = { speech = {},
        sound = { rate = 16000, convolutions = { { width = 16, kernel = 9, stride = 3 } }, samples = 900 },
        memory = { stage = "encoder", seq = { any = 20 }, input = { stage = "hidden" } } },
      ["sound.rows: 21, but a sequence has at most 20"] = { speech = false,
        sound = { rate = 16000, convolutions = { { width = 16, kernel = 9, stride = 3 } }, rows = 21 },
        memory = { stage = "encoder", seq = { any = 20 }, input = { stage = "hidden" } } },
      ["generation.start: one token is needed"] = { generation = { start = { 1, 2 }, stop = { 0 } } },
      ["generation.stop: one token is needed"] = { generation = { start = { 1 } } },
      ["speech.no_timestamps: 10, but the model's tokens are 0 to 9"] = { speech = { no_timestamps = 9, previous = 1,
        no_speech = 1 } },
      ["speech.heads.1: layer 1, head 0, but layers 0 to 0 have heads 0 to 1"] = { speech = { no_timestamps = 8,
        previous = 1, no_speech = 1, heads = { { 1, 0 } } } },
      ["speech.median: is even, but an odd number is allowed"] = { speech = { no_timestamps = 8, previous = 1,
        no_speech = 1, median = 4 } },
      ["speech.transcribe: missing: goes with languages"] = { speech = { no_timestamps = 8, previous = 1, no_speech = 1,
        languages = { en = 2 } } },
      ["speech.language: is none of speech.languages"] = { speech = { no_timestamps = 8, previous = 1, no_speech = 1,
        transcribe = 3, languages = { en = 2 }, language = "de" } },
      ["speech.task: has no token"] = { speech = { no_timestamps = 8, previous = 1, no_speech = 1,
        task = "translate" } },
    } do
      assert.truthy(refusals(more):find(text, 1, true), text .. "\n" .. refusals(more))
    end
  end)

  it("says that a plain model does not draw what it writes down", function()
    local pipeline = require("pipeline")
    local function notes(overrides)
      local state = pipeline.run(helper.root, helper.root .. "/tests/hf/speech/moonshine", overrides, "validate")
      return table.concat(state.notes, "\n")
    end
    assert.equal("", notes {})
    assert.equal("generation.draw: speech is written down without chance; --temperature draws",
      notes { "generation.draw=true" })
  end)
end)

describe("checkpoints.speech", function()
  it("takes tokens of generation_config.json", function()
    local notes = {}
    assert.same({ no_timestamps = 90, previous = 88, no_speech = 89 }, speech.of({ no_timestamps_token_id = 90,
      is_multilingual = false, lang_to_id = { ["<|en|>"] = 3 }, prev_sot_token_id = json.null }, 100, notes))
    assert.same({ no_timestamps = 90, previous = 7, no_speech = 89, initial = 50, transcribe = 5, translate = 4,
      languages = { en = 3, haw = 6 }, language = "haw", task = "translate" }, speech.of({ no_timestamps_token_id = 90,
      prev_sot_token_id = 7, max_initial_timestamp_index = 50, task_to_id = { transcribe = 5, translate = 4 },
      lang_to_id = { ["<|en|>"] = 3, ["<|haw|>"] = 6 }, language = "<|haw|>", task = "translate" }, 100, notes))
    -- Old folders force tokens; where there is a key of its own, these say nothing.
    local old = { no_timestamps_token_id = 90, task_to_id = { transcribe = 5, translate = 4 },
      lang_to_id = { ["<|en|>"] = 3, ["<|haw|>"] = 6 }, compression_ratio_threshold = 1.5, logprob_threshold = -2,
      no_speech_threshold = json.null, condition_on_prev_tokens = false,
      forced_decoder_ids = { { 1, 6 }, { 2, 4 }, { 3, 90 } } }
    local made = speech.of(old, 100, notes)
    assert.same({ "haw", "translate", 1.5, -2 }, { made.language, made.task, made.compression, made.score })
    assert.is_nil(made.silence)
    assert.is_false(made.goes_on)
    for stated, expected in pairs { [{ "en" }] = { "en" }, [{ json.null, "transcribe" }] = { nil, "transcribe" },
      [{ "Hawaiian", json.null }] = { "haw" } } do -- a name, as fine-tuned models' folders have it
      old.language, old.task = stated[1], stated[2]
      made = speech.of(old, 100, notes)
      assert.same(expected, { made.language, made.task })
    end
    old.is_multilingual, old.forced_decoder_ids = false, { { 1, 90 } }
    old.language, old.task = "English", "transcribe" -- all that the model does
    made = speech.of(old, 100, notes)
    assert.same({}, { made.language, made.task })
    assert.same({}, notes)
    assert.is_nil(speech.of(nil, 100, notes))
    assert.truthy(notes[1]:find("no_timestamps_token_id: missing", 1, true))
  end)

  it("refuses what is no token", function()
    for key, value in pairs { no_timestamps_token_id = "x", lang_to_id = { ["<|en|>"] = 100 }, task_to_id = 3,
      logprob_threshold = 1, no_speech_threshold = "x", condition_on_prev_tokens = 1,
      forced_decoder_ids = { { 1, 91 } } } do
      local stated = { no_timestamps_token_id = 90, [key] = value }
      local ok, fault = pcall(speech.of, stated, 100, {})
      assert.is_false(ok)
      assert.truthy(fault.lines[1]:find("^generation_config%.json: "), fault.lines[1])
    end
    local multilingual = { lang_to_id = { ["<|en|>"] = 3 }, task_to_id = { transcribe = 5, translate = 4 } }
    for _, each in ipairs { { "language", "German", multilingual }, { "task", "summarize", multilingual },
      { "language", "German", { is_multilingual = false } }, { "task", "translate", { is_multilingual = false } },
      { "language", "en", {} } } do
      local stated = { no_timestamps_token_id = 90, [each[1]] = each[2] }
      for key, value in pairs(each[3]) do stated[key] = value end
      local ok, fault = pcall(speech.of, stated, 100, {})
      assert.same({ false, ('generation_config.json: %s: "%s" is none of the model\'s'):format(each[1], each[2]) },
        { ok, not ok and fault.lines[1] })
    end
  end)
end)
