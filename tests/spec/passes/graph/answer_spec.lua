-- answer_spec: a model's outputs decide what its answer to a text is; the dump has its lines.
local helper = require("tests.spec.helper")
local answer = require("passes.graph.answer")

local tokens = { stage = "tokens", vocab = 11 }

-- Returns the answer of a model with these output stages. more: further keys; mask: whether there is a mask token.
local function of(output, more, mask)
  local description = { input = tokens, output = output, mask = "padding" }
  for key, value in pairs(more or {}) do description[key] = value end
  local state = helper.tiny(description, "graph")
  return answer.of(state.spec, state.graph, { mask = mask and 4 or nil })
end

describe("the answer to a text", function()
  local mean = { stage = "pool", over = "mean" }

  it("is what the last output means", function()
    for kind, output in pairs { STATES = { { stage = "hidden" } }, EMBEDDING = { mean, { stage = "normalise" } },
      LABEL = { mean, { stage = "linear", to = 3 } }, TOKENS = { { stage = "linear", to = 3 } },
      NUMBER = { mean, { stage = "linear", to = 3 }, { stage = "argmax" } }, NEXT = { { stage = "vocabulary" } } } do
      assert.equal(kind, of(output).kind)
    end
    assert.equal("MASKED", of({ { stage = "vocabulary" } }, nil, true).kind)
    assert.equal("NEXT", of({ { stage = "vocabulary" } }, { mask = { "causal", "padding" } }, true).kind)
  end)

  it("to a question has two outputs", function()
    local span = of { { stage = "linear", to = 1, name = "start_logits", squeeze = true },
      { stage = "linear", to = 1, name = "end_logits", of = 0, squeeze = true } }
    assert.same({ "SPAN", 0, 1 }, { span.kind, span.output, span.second })
  end)

  it("has the inputs that text fills, by the names that they were given", function()
    local inputs = of({ mean }, { inputs = { ids = "input_ids" }, mask = "attention_mask" }).inputs
    assert.same({ ids = 0, attention_mask = 1, token_types = -1, lengths = -1, pool_mask = -1, marks = -1, boxes = -1,
      source_image = -1 }, inputs)
  end)

  it("is a probability by softmax, of one label by sigmoid, or as the model has made it", function()
    local function function_of(to, last, more)
      return of({ mean, { stage = "linear", to = to }, last }, more).label_function
    end
    assert.equal("SOFTMAX", function_of(3))
    assert.equal("SIGMOID", function_of(1))
    assert.equal("AS_IT_IS", function_of(3, { stage = "softmax" }))
    assert.equal("SIGMOID", function_of(3, nil, { label_function = "sigmoid" }))
  end)

  it("is in the dump of the graph", function()
    local made = of { mean, { stage = "linear", to = 3 } }
    assert.same({ "  answer LABEL of output 0, SOFTMAX", "  text fills input 0, ids", "  text fills input 1, lengths" },
      answer.dump(made))
  end)
end)
