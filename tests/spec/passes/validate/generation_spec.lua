-- generation_spec.lua: the key `generation` of a description.
require("tests.spec.helper")
local faults = require("common.faults")
local readers = require("passes.validate.readers")

local function read(value)
  local said = {}
  local result = readers.generation(function(key, ...)
    if key then said[#said + 1] = key .. ": " .. faults.line(...) end
    return not key or nil
  end, { key = "generation" }, value)
  return result, said
end

describe("passes.validate.generation", function()
  it("reads every field", function()
    local all = { draw = true, temperature = 0.7, top_k = 0, top_p = 0.9, min_p = 0.1, repetition_penalty = 1.1,
      tokens = 5, length = 9, stop = { 1, 2 }, beams = 1, length_penalty = -1, early_stopping = "never",
      no_repeat_ngram = 3, min_length = 4, min_tokens = 2, renormalize = true, forced_bos = 3, forced_eos = { 2 },
      suppress = { 4 }, begin_suppress = { 5, 6 }, bad_words = { { 7 }, { 8, 9 } } }
    local result, said = read(all)
    assert.same(all, result)
    assert.same({}, said)
    assert.same({ 7 }, read({ stop = 7 }).stop)
  end)

  it("says what is wrong", function()
    local _, said = read({ temperature = 0, top_k = -1, top_p = 2, tokens = 0, draw = 1, stop = { -1 },
      temprature = 1 })
    assert.same({
      "generation.draw: 1, but true or false is allowed",
      "generation.stop.1: -1, but an integer from 0 to 1048575 is allowed",
      "generation.temperature: 0, but a number from 1.18e-38 to 3.4e+38 is allowed",
      "generation: no field \"temprature\" (did you mean temperature?)",
      "generation.tokens: 0, but an integer from 1 to 2147483647 is allowed",
      "generation.top_k: -1, but an integer from 0 to 2147483647 is allowed",
      "generation.top_p: 2, but a number from 0 to 1 is allowed",
    }, said)
    _, said = read({ beams = 129, length_penalty = 9, early_stopping = "soon", forced_bos = -1, suppress = "x",
      bad_words = { { 1 }, {}, { -1 } }, min_tokens = -1 })
    assert.same({
      "generation.bad_words.2: no token, but 1 or more are allowed",
      "generation.bad_words.3.1: -1, but an integer from 0 to 1048575 is allowed",
      "generation.beams: 129, but an integer from 1 to 128 is allowed",
      'generation.early_stopping: "soon", but true, false or "never" is allowed',
      "generation.forced_bos: -1, but an integer from 0 to 1048575 is allowed",
      "generation.length_penalty: 9, but a number from -8 to 8 is allowed",
      "generation.min_tokens: -1, but an integer from 0 to 2147483647 is allowed",
      'generation.suppress: "x", but a list of at most 4096 token ids is allowed',
    }, said)
    _, said = read({ beams = 2, draw = true })
    assert.same({ "generation.beams: 2, but with draw = true only 1 is allowed" }, said)
    _, said = read("warm")
    assert.same({ "generation: \"warm\", but a table such as { temperature = 0.7, stop = { 2 } } is allowed" }, said)
    _, said = read({ stop = "x" })
    assert.same({ "generation.stop: \"x\", but a list of at most 64 token ids is allowed" }, said)
  end)
end)
