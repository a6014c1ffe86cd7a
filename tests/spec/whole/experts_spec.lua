-- experts_spec.lua: mixtures of experts: checked in all types of weights, in calls of any length, which give a sequence
-- the bits that it has by itself, and with several workers; and what is refused.
local helper = require("tests.spec.helper")
local checkpoint = require("tests.spec.checkpoint")

-- The most tokens, the lengths of the sequences of a call, and what a description says in addition. 600 rows are sorted
-- in two blocks.
local models = {
  { 70, { 1, 7, 33, 9, 2, 16, 70 }, [[experts = { count = 9, used = 3, d_ff = 20 }, gated = true,
    gate_limit = 0.6, sinks = true, mask = "causal"]] },
  { 40, { 40, 1, 5 }, [[experts = { count = 5, used = 2, d_ff = 36, normalise = false, bias = true, factor = 2.5,
    shared = 20, shared_gate = true, scales = true, own_norms = true }, norm = "sandwich", precision = "bf16",
    target = "avx2"]] },
  { 600, { 600, 5 }, [[experts = { count = 2, used = 1, d_ff = 8, router = "sigmoid" }, threads = 2]] },
  { 33, { 5, 33, 1 }, [[experts = { count = 4, used = 4, d_ff = 12, router = "sigmoid", correction = true,
    sum_bias = true }, precision = "int8", gated = true, threads = 2]] },
  { 40, { 40, 3 }, [[experts = { count = 3, used = 2, d_ff = 64, bias = true }, weights = "mxfp4", gated = true]] },
  { 20, { 20, 3 }, [[layers = { { experts = { count = 3, used = 2, d_ff = 64 } }, { d_ff = 100 } }, threads = 2,
    weights = { "int4", ["l0.ff.experts.down"] = "none" }]] },
}

local folder

local function runs(line)
  local code, errors, output = helper.script(line, folder)
  assert.equal(0, code, line .. "\n" .. errors .. output)
  return output
end

describe("a mixture of experts", function()
  setup(function() folder = helper.folder() end)
  teardown(helper.clean)

  local root = helper.shell(helper.absolute_root())
  for i, model in ipairs(helper.sample(models, 2)) do
    local most, lengths, more = table.unpack(model)
    it("is right, and a sequence has the same bits alone and next to others: " .. more:match("[^{]*{[^}]*}"), function()
      local name = "mixed" .. i
      local out = folder .. "/" .. name
      helper.write(out .. ".lua", ([[return { name = "%s", seq = any(%d), d_model = 64, heads = 4, %s %s,
        output = { hidden { name = "states" } } }]]):format(name, most, more:find("layers") and "" or "layers = 1,",
        more))
      runs(("%s %s/gen/attn2c build %s.lua -o %s"):format(helper.optimised_runtime, root, out, out))
      runs(("%s/%s check"):format(out, name))
      runs(("%s/%s check --nan"):format(out, name))
      helper.write(out .. ".safetensors", checkpoint.text(out .. ".lua", "F32"))
      runs(("gcc -O1 -DMODEL=%s %s/tests/c/host_lengths.c -o %s/host %s/lib%s.a -lm"):format(name, root, out, out,
        name))
      assert.equal("0 faults\n", runs(("%s/host %s.safetensors 64 %s"):format(out, out, table.concat(lengths, " "))))
    end)
  end

  it("has the same bits with any number of workers, and in calls that go on", function()
    local text = [[return { name = "%s", context = 40, sequences = 3, chunk = 12, d_model = 64, heads = 4, layers = 2,
      experts = { count = 7, used = 2, d_ff = 32 }, gated = true, mask = "causal", positions = "rope",
      input = tokens { vocab = 50 }, output = { vocabulary { } }, threads = %d }]]
    for _, threads in ipairs { 1, 3 } do
      local name = "team" .. threads
      helper.write(("%s/%s.lua"):format(folder, name), text:format(name, threads))
      runs(("%s %s/gen/attn2c build %s/%s.lua -o %s/%s"):format(helper.optimised_runtime, root, folder, name, folder,
        name))
      runs(("%s/%s/%s check"):format(folder, name, name))
    end
    helper.write(folder .. "/ids.npy", checkpoint.npy("2, 5", { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3 }))
    helper.write(folder .. "/team.safetensors", checkpoint.text(folder .. "/team1.lua", "F32"))
    local said = {}
    for i, threads in ipairs { 1, 3 } do
      said[i] = runs(("%s/team%d/team%d generate --weights %s/team.safetensors --input ids=%s --tokens 20 --greedy "
        .. "--format jsonl"):format(folder, threads, threads, folder, folder .. "/ids.npy"))
    end
    assert.equal(said[1], said[2])
  end)
end)

describe("experts", function()
  it("are refused in one line each", function()
    local function refusal(experts, more)
      local description = helper.description({ d_model = 64, heads = 4, experts = experts })
      for key, value in pairs(more or {}) do description[key] = value end
      local lines = helper.refusals(description)
      assert.equal(1, #lines, table.concat(lines, "\n"))
      return (lines[1]:gsub("^[^:]*%.lua: ", ""))
    end
    local e = { count = 4, used = 2, d_ff = 32 }
    local function with(key, value)
      local copy = { count = 4, used = 2, d_ff = 32 }
      copy[key] = value
      return copy
    end
    assert.equal("experts.used: 5, but there are 4 experts", refusal(with("used", 5)))
    assert.equal("experts.count: 0, but an integer from 1 to 1024 is allowed", refusal(with("count", 0)))
    assert.equal("experts.count: missing: the number of experts", refusal({ used = 1, d_ff = 32 }))
    assert.equal("experts.d_ff: 33, but experts have multiples of 4", refusal(with("d_ff", 33)))
    assert.equal("experts.d_ff: 32, but experts in scale blocks have multiples of 64; weights=none has them as floats",
      refusal(e, { weights = "int4" }))
    assert.equal("d_model: 6, but experts have multiples of 4", refusal(e, { d_model = 6, heads = 2 }))
    assert.equal("experts.correction: goes with router = \"sigmoid\"", refusal(with("correction", true)))
    assert.equal("experts.shared_gate: goes with shared, a width", refusal(with("shared_gate", true)))
    assert.equal("experts: 8, but false or a table such as { count = 8, used = 2, d_ff = 1024 } is allowed", refusal(8))
  end)
end)
