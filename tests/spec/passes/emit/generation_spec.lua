-- generation_spec.lua: the defaults of generating text, of models that state some and of others.
require("tests.spec.helper")
local emit_generation = require("passes.emit.generation")

local function values(generation, context)
  local made, found = emit_generation.values({ context = context or 8, generation = generation,
    symbols = { past = { is_open = true } } }), {}
  for _, member in ipairs(made.members) do found[member[1]] = member[2] end
  return found, made
end

describe("passes.emit.generation", function()
  it("draws with numbers of its own where nothing is said about choosing a token", function()
    for _, said in ipairs { {}, { stop = { 2 }, tokens = 5 } } do
      local found, made = values(said)
      assert.same({ is_drawn = 1, is_usual = 1, temperature = "0.20000000000000001", top_k = 50,
        top_p = "0.90000000000000002", min_p = "0.0", repetition_penalty = "1.1000000000000001",
        tokens = said.tokens or 0 }, found)
      assert.is_true(made.is_drawn and made.is_usual)
      assert.same(said.stop or {}, made.stops)
    end
    assert.equal(1, (values(nil)).is_usual)
    assert.equal("temperature 0.2, top_p 0.9 and repetition_penalty 1.1", emit_generation.usual_text)
  end)

  it("keeps to what is said", function()
    local greedy = { is_drawn = 0, is_usual = 0, temperature = "1.0", top_k = 50, top_p = "1.0", min_p = "0.0",
      repetition_penalty = "1.0", tokens = 0 }
    assert.same(greedy, (values({ draw = false })))
    for key, value in pairs { temperature = 0.5, top_k = 7, top_p = 0.5, min_p = 0.5, repetition_penalty = 2 } do
      local found = values({ [key] = value })
      assert.equal(0, found.is_usual + found.is_drawn, key)
      assert.not_equal(greedy[key], found[key])
    end
    assert.equal(1, (values({ draw = true })).is_drawn)
  end)

  it("has options of beams only where some are said", function()
    local function beam_of(said)
      local found, made = {}, select(2, values(said)).beam
      for _, member in ipairs(made and made.members or {}) do found[member[1]] = member[2] end
      for _, list in ipairs(made and made.lists or {}) do found[list.name] = list.count .. ": " .. list.ids end
      return made and found
    end
    assert.is_nil(beam_of { draw = true, stop = { 2 }, tokens = 5, length = 9, repetition_penalty = 2 })
    assert.same({ beams = 4, length_penalty = "1.0", forced_bos = -1 }, beam_of { beams = 4 })
    assert.same({ beams = 1, length_penalty = "2.0", forced_bos = -1 }, beam_of { length_penalty = 2 })
    assert.same({ beams = 1, length_penalty = "1.0", forced_bos = 0 }, beam_of { forced_bos = 0 })
    assert.same({ beams = 1, length_penalty = "1.0", forced_bos = -1, early_stopping = "ATTN2C_STOP_NEVER",
      no_repeat_ngram = 3, min_length = 4, min_tokens = 5, renormalize = 1, forced_eos = "1: 2", suppressed = "2: 3, 4",
      begin_suppressed = "1: 5", bad_words = "5: 1, 7, 2, 8, 9" }, beam_of { early_stopping = "never", min_length = 4,
      no_repeat_ngram = 3, min_tokens = 5, renormalize = true, forced_eos = { 2 }, suppress = { 3, 4 },
      begin_suppress = { 5 }, bad_words = { { 7 }, { 8, 9 } } })
    assert.equal(0, (values({ beams = 4 })).is_drawn)
  end)

  it("has nothing of a model whose calls do not continue", function()
    assert.is_false(emit_generation.values({ generation = { draw = true }, symbols = { past = { is_open = false } } }))
  end)
end)
