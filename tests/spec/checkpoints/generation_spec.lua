-- generation_spec.lua: what a folder says about generating text, in the words of a description.
local helper = require("tests.spec.helper")
local generation = require("checkpoints.generation")
local json = require("common.json")

local function read(stated, config)
  local notes = {}
  return generation.of(stated, config or {}, 100, notes), notes
end

describe("checkpoints.generation", function()
  it("has the fields of a description, without usual values", function()
    local found, notes = read({ do_sample = true, temperature = 0.7, top_k = 20, top_p = 0.8, min_p = 0,
      bos_token_id = 1, repetition_penalty = 1.05, max_new_tokens = 64,
      eos_token_id = { 7, 2 }, transformers_version = "5.0",
      num_beams = 1, suppress_tokens = json.null, typical_p = 1.0 })
    assert.same({ draw = true, temperature = 0.7, top_k = 20, top_p = 0.8, repetition_penalty = 1.05, tokens = 64,
      stop = { 7, 2 } }, found)
    assert.same({}, notes)
  end)

  it("says that tokens are not drawn if the folder states anything about choosing them", function()
    for _, stated in ipairs { { do_sample = false }, { temperature = 1.0 }, { top_k = 50, top_p = 1.0 } } do
      assert.same({ draw = false }, (read(stated)))
    end
    assert.same({ draw = false, repetition_penalty = 1.2 }, (read({ repetition_penalty = 1.2 })))
    assert.same({ draw = false, tokens = 9 }, (read({ max_new_tokens = 9, do_sample = json.null, temperature = 0.0 })))
  end)

  it("takes the same keys of config.json without generation_config.json", function()
    local found, notes = read(nil, { eos_token_id = 2, temperature = 0.5, max_length = 20, num_beams = 4,
      typical_p = 0.5, vocab_size = 3 })
    assert.same({ draw = false, stop = { 2 }, temperature = 0.5, length = 20, beams = 4 }, found)
    assert.same({ "config.json: typical_p: not supported, and left out: generated texts differ from transformers'" },
      notes)
    assert.is_nil((read({}, { eos_token_id = 2, max_length = 20 })))
    assert.is_nil((read(nil, { eos_token_id = json.null })))
  end)

  it("has the length of prompt and answer together unless the answer's own is there", function()
    assert.same({ length = 12 }, (read { max_length = 12 }))
    assert.same({ tokens = 3 }, (read { max_length = 12, max_new_tokens = 3 }))
    assert.same({ length = 12 }, (read { max_length = 12, max_new_tokens = json.null }))
    assert.same({ tokens = 9, min_length = 10 }, (read { max_length = 8, max_new_tokens = 9, min_length = 10 }))
    assert.same({ min_tokens = 2 }, (read { min_length = 5, min_new_tokens = 2 }))
    assert.is_nil((read { min_length = 5, min_new_tokens = 0 }))
    assert.same({ min_length = 5 }, (read { min_length = 5, min_new_tokens = json.null }))
    for _, value in ipairs { 0, 1, 2.5, "12" } do
      local found, notes = read { max_length = value }
      assert.is_nil(found)
      assert.matches("max_length: .* is not supported, and is left out", notes[1])
    end
  end)

  it("has the options of beams and of processors", function()
    local found, notes = read({ num_beams = 4, length_penalty = 0.6, early_stopping = "never", min_length = 5,
      min_new_tokens = 2, no_repeat_ngram_size = 3, forced_bos_token_id = 7, forced_eos_token_id = 2,
      bad_words_ids = { { 1 }, { 2, 3 } }, suppress_tokens = { 4, 5 }, begin_suppress_tokens = { 6 },
      renormalize_logits = true, num_beam_groups = 1, diversity_penalty = 0.0, force_words_ids = json.null })
    assert.same({ draw = false, beams = 4, length_penalty = 0.6, early_stopping = "never",
      min_tokens = 2, no_repeat_ngram = 3, forced_bos = 7, forced_eos = { 2 }, bad_words = { { 1 }, { 2, 3 } },
      suppress = { 4, 5 }, begin_suppress = { 6 }, renormalize = true }, found)
    assert.same({}, notes)
    assert.same({ draw = false }, (read({ num_beams = 1, length_penalty = 1.0, early_stopping = false, min_length = 0,
      no_repeat_ngram_size = 0, bad_words_ids = {}, suppress_tokens = {} })))
    assert.is_nil((read({ length_penalty = 1.0, early_stopping = false, min_length = 0 })))
  end)

  it("refuses a search that is not supported", function()
    for key, each in pairs {
      num_beam_groups = { 2, "2 is not supported: groups of beams are not supported" },
      diversity_penalty = { 0.5, "0.5 is not supported: groups of beams are not supported" },
      force_words_ids = { { { 3 } }, "constrained search is not supported" },
      constraints = { { {} }, "constrained search is not supported" },
      penalty_alpha = { 0.6, "0.6 is not supported: contrastive search is not supported" },
      dola_layers = { "high", '"high" is not supported: contrasting layers (DoLa) is not supported' },
    } do
      local fault = helper.fault(read, { [key] = each[1] })
      assert.same({ ("generation_config.json: %s: %s"):format(key, each[2]) }, fault.lines)
    end
    local fault = helper.fault(read, { num_beams = 4, do_sample = true })
    assert.same({ 2, "generation_config.json: num_beams: 4 with do_sample is not supported: beams that are drawn" },
      { fault.code, fault.lines[1] })
  end)

  it("is greedy with a temperature of 0, and takes all tokens with a top_k of -1, as vLLM does", function()
    assert.same({ { draw = false }, {} }, { read { temperature = 0.0, do_sample = true } })
    assert.same({ { draw = true, top_k = 0 }, {} }, { read { top_k = -1, do_sample = true } })
  end)

  it("goes by the greatest length if the least one is above it, as transformers does, and notes it", function()
    for said, stated in pairs { ["min_length: 9, but max_length is 8"] = { max_length = 8, min_length = 9 },
      ["min_new_tokens: 9, but max_new_tokens is 7"] = { max_length = 8, max_new_tokens = 7, min_new_tokens = 9 } } do
      local found, notes = read(stated)
      assert.same({ "generation_config.json: " .. said .. ", and answers end there" }, notes)
      assert.equal(9, found.min_length or found.min_tokens)
    end
    assert.same({}, select(2, read { min_length = 8, max_length = 8 }))
  end)

  it("notes what it leaves out", function()
    local found, notes = read({ temperature = -1.0, top_p = 1.5, top_k = "a", eos_token_id = { 2, 100 }, num_beams = 0,
      length_penalty = 9, early_stopping = 1, no_repeat_ngram_size = -1, bad_words_ids = { { 1 }, 2 }, max_time = 3,
      forced_bos_token_id = { 1 }, forced_eos_token_id = 100, suppress_tokens = 2.5, begin_suppress_tokens = "x" })
    assert.is_nil(found)
    table.sort(notes)
    assert.same({
      "generation_config.json: bad_words_ids: not lists of token ids below 100, and left out",
      "generation_config.json: begin_suppress_tokens: not a token id below 100 or a list of them, and left out",
      "generation_config.json: early_stopping: 1 is not supported, and is left out",
      "generation_config.json: eos_token_id: not a token id below 100 or a list of them, and left out",
      "generation_config.json: forced_bos_token_id: not a token id below 100, and left out",
      "generation_config.json: forced_eos_token_id: not a token id below 100 or a list of them, and left out",
      "generation_config.json: length_penalty: 9 is not supported, and is left out",
      "generation_config.json: max_time: not supported, and left out: generated texts differ from transformers'",
      "generation_config.json: no_repeat_ngram_size: -1 is not supported, and is left out",
      "generation_config.json: num_beams: 0 is not supported, and is left out",
      "generation_config.json: suppress_tokens: not a token id below 100 or a list of them, and left out",
      "generation_config.json: temperature: -1.0 is not supported, and is left out",
      "generation_config.json: top_k: \"a\" is not supported, and is left out",
      "generation_config.json: top_p: 1.5 is not supported, and is left out",
    }, notes)
  end)
end)
