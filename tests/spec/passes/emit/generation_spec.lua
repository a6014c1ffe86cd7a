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

  it("has nothing of a model whose calls do not continue", function()
    assert.is_false(emit_generation.values({ generation = { draw = true }, symbols = { past = { is_open = false } } }))
  end)
end)
