-- symbols_spec: the sizes of an entry's calls.
local helper = require("tests.spec.helper")

-- Returns the symbols of a description as texts by name.
local function symbols_of(more)
  local found = {}
  for name, of in pairs(helper.tiny(more, "validate").spec.symbols) do
    assert.equal(name, of.name)
    assert.equal(of.set_by ~= "build", of.is_open)
    found[name] = ("%d to %d by %s"):format(of.least, of.most, of.set_by)
  end
  return found
end

describe("symbols", function()
  it("of fixed sizes have least = most", function()
    assert.same({ sequences = "2 to 2 by build", tokens = "8 to 8 by build", rows = "16 to 16 by build",
      past = "3 to 3 by build" }, symbols_of { seq = 8, batch = 2, past = 3 })
  end)

  it("of any length are set by a call", function()
    assert.same({ sequences = "1 to 40 by call", tokens = "2 to 40 by call", rows = "2 to 40 by call",
      past = "0 to 0 by build" }, symbols_of { seq = { any = 40 }, output = { { stage = "pool", over = "second" } } })
  end)

  it("of a model that continues are set by a call and by the slot that keeps a sequence", function()
    assert.same({ sequences = "1 to 3 by call", tokens = "1 to 300 by slot", rows = "1 to 20 by call",
      past = "0 to 299 by slot" }, symbols_of { context = 300, sequences = 3, chunk = 20, mask = "causal",
      input = { stage = "tokens", vocab = 9 }, output = { { stage = "vocabulary" } } })
  end)

  it("are those of the layers, and of an encoder, too", function()
    local state = helper.tiny({ layers = { {}, { mask = "none" } }, mask = "causal" }, "validate")
    for _, layer in ipairs(state.spec.each) do assert.equal(state.spec.symbols, layer.symbols) end
    local memory = { stage = "encoder", seq = 5, d_model = 16, heads = 2, layers = { {}, {} } }
    local encoder = helper.tiny({ memory = memory }, "validate").spec.memory.encoder
    assert.is_table(encoder.symbols)
    for _, layer in ipairs(encoder.each or {}) do assert.equal(encoder.symbols, layer.symbols) end
  end)
end)
