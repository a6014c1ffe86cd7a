-- rope_spec: frequencies of scaled rotary positions against what transformers 5.23 computes.
local helper = require("tests.spec.helper")
local rope = require("passes.graph.rope")

local function frequencies(scaling, longest)
  local state = helper.tiny({ positions = "rope", rope_theta = 100.0, rope_scaling = scaling, d_model = 16, heads = 2 },
    "validate")
  return rope.frequencies(state.spec, longest or 8)
end

local function near(expected, list)
  assert.equal(#expected, #list)
  for i, value in ipairs(expected) do
    assert.is_true(math.abs(list[i] - value) <= 1e-6 * value, ("%d: %.9g, not %.9g"):format(i, list[i], value))
  end
end

describe("scaled rotary positions", function()
  it("of type linear", function()
    local list, factor = frequencies({ type = "linear", factor = 2.5 })
    near({ 0.400000006, 0.1264911, 0.0399999991, 0.0126491114 }, list)
    near({ 1 }, { factor or 1 })
  end)

  it("of type dynamic", function()
    local list, factor = frequencies({ type = "dynamic", factor = 3.0, max_position = 16 }, 40)
    near({ 1, 0.179148197, 0.0320940763, 0.00574959582 }, list)
    near({ 1 }, { factor or 1 })
  end)

  it("of type llama3", function()
    local list, factor = frequencies({ type = "llama3", factor = 4.0, low_freq_factor = 1, high_freq_factor = 4,
      original = 64 })
    near({ 1, 0.254647911, 0.0254647899, 0.00790569466 }, list)
    near({ 1 }, { factor or 1 })
  end)

  it("of type yarn", function()
    local list, factor = frequencies({ type = "yarn", factor = 4.0, original = 64 })
    near({ 1, 0.237170815, 0.049999997, 0.00790569466 }, list)
    near({ 1.13862944 }, { factor or 1 })
  end)

  it("of type yarn have a table of their own for queries that grow", function()
    local function tables(original)
      local state = helper.tiny({ positions = "rope", d_model = 16, heads = 2, rope_scaling = { type = "yarn",
        factor = 4.0, original = original, query_beta = 0.25 } }, "graph")
      return helper.equations(state, "rotated$"), state.graph.tensors
    end
    local list, tensors = tables(4)
    assert.same({ "l0.attn.q_rotated = rotate(l0.attn.q, positions.cos_8_grown, positions.sin_8_grown)",
      "l0.attn.k_rotated = rotate(l0.attn.k, positions.cos_8, positions.sin_8)" }, list)
    assert.matches("^grown_sin 0 1%.1386%d* 0%.25 4 1 ", tensors["positions.sin_8_grown"].formula)
    assert.matches("^angle_sin 0 1%.1386%d* 1 ", tensors["positions.sin_8"].formula)
    assert.equal("l0.attn.q_rotated = rotate(l0.attn.q, positions.cos_8, positions.sin_8)", tables(8)[1])
    assert.same({ "rope_scaling.query_beta: goes with rope_dim = head_dim" }, helper.refusals(helper.description({
      positions = "rope", rope_dim = 2, rope_scaling = { type = "yarn", factor = 2, original = 4, query_beta = 1 } })))
  end)

  it("are refused where they are wrong", function()
    for line, scaling in pairs {
      ["rope_scaling: 5, but false or a table"] = 5, ['rope_scaling.type: "su", but'] = { type = "su" },
      ["rope_scaling.factor: missing"] = { type = "linear" }, ["rope_scaling.factor: 0, but"] = { type = "linear",
        factor = 0 },
      ["rope_scaling: linear has no field \"fctor\" (did you mean factor?)"] = { type = "linear", factor = 1,
        fctor = 2 },
      ["rope_scaling.short_factor: 1 factors, but one for each of 4"] = { type = "longrope", original = 4,
        short_factor = { 1 }, long_factor = { 1, 1, 1, 1 } },
    } do
      local lines = helper.refusals(helper.description({ positions = "rope", rope_scaling = scaling }))
      assert.is_truthy(lines[1] and lines[1]:find(line, 1, true), line .. "\n" .. tostring(lines[1]))
    end
    assert.same({ 'rope_scaling: goes with positions = "rope"' },
      helper.refusals(helper.description({ rope_scaling = { type = "linear", factor = 2 } })))
  end)
end)
