-- any_types_spec.lua: models of any length in bf16 and int8, and with weights in scale blocks: checked, and calls of
-- sequences of several lengths, which get the bits that each gets by itself.
local helper = require("tests.spec.helper")
local checkpoint = require("tests.spec.checkpoint")
local targets = require("data.targets")

-- The most tokens, the lengths of the sequences of a call, and what a description says in addition.
local models = {
  { 70, { 1, 7, 33, 9, 2, 16, 70 }, [[precision = "bf16", mask = "causal", positions = "rope", gated = true]] },
  { 33, { 5, 33, 1, 8 }, [[precision = "bf16", target = "avx2", kv_heads = 2, weighting = "relu"]] },
  { 77, { 77, 1, 40 }, [[precision = { "int8", attention = "bf16" }, mask = { window = { 9, 5 } }]] },
  { 65, { 64, 65, 1, 2 }, [[precision = { "int8", attention = "int8" }, target = "avx2", positions = "alibi"]] },
  { 70, { 1, 9, 33, 8, 70 }, [[weights = { "int4m", qkv = "int8", ["l0.ff.down"] = "int8h" }, d_ff = 100]] },
  { 30, { 30, 1, 17 }, [[weights = { "int2", ["l0.attn.q"] = "int3", ["l0.attn.k"] = "int4k", ["l0.attn.v"] = "iq4k",
    ["l0.attn.out"] = "int5k", ["l0.ff.down"] = "iq2h" }, d_ff = 300]] },
  { 40, { 40, 1, 5 }, [[weights = { "iq3", qkv = "int6k", out = "int8f", ["l0.ff.up"] = "mxfp4" }, target = "avx2",
    threads = 2, sinks = true]] },
  { 40, { 3, 40 }, [[weights = { "int4f", qkv = "iq2", out = "mxfp4", ["l0.ff.down"] = "int5m" }, precision = "bf16",
    target = "x86_64", sinks = true]] },
  { 3, { 1, 2, 3 }, [[precision = "int8", head_dim = 7, mask = { "causal", window = { 1, 0 } }]] },
}

-- Tiles of AMX are emulated, by instructions of AVX-512: strips of two tiles of rows, of one, and less.
local TILES = "ATTN2C_TARGET=amx"
if targets.host(targets.machine(os.getenv), { bf16 = true }) == "avx512bf16" then
  table.insert(models, { 70, { 1, 70, 33, 16, 17, 32, 5 }, [[precision = "bf16", target = "amx"]], TILES })
  table.insert(models, { 70, { 65, 48, 15 }, [[precision = { "int8", attention = "int8" }, target = "amx", d_ff = 100]],
    TILES })
  table.insert(models, { 40, { 1, 37, 16, 40, 15 }, [[weights = { "int3", qkv = "int8", out = "iq4k",
    ["l0.ff.up"] = "mxfp4", ["l0.ff.down"] = "int2" }, target = "amx", d_ff = 1100]], TILES })
end

local folder

-- Runs a line of shell, which must succeed.
local function runs(line)
  local code, errors, output = helper.script(line, folder)
  assert.equal(0, code, line .. "\n" .. errors .. output)
  return output
end

describe("a model of any length", function()
  setup(function() folder = helper.folder() end)
  teardown(helper.clean)

  for i, model in ipairs(helper.sample(models, 5)) do
    local most, lengths, more, flags = table.unpack(model)
    local start = flags and helper.emulated_tiles or helper.optimised_runtime
    flags = flags or ""
    it("in " .. more .. " is right, and a sequence has the same bits alone and next to others", function()
      local name, root = "any" .. i, helper.shell(helper.absolute_root())
      helper.write(folder .. "/" .. name .. ".lua", ([[return { name = "%s", seq = any(%d), d_model = 48, heads = 4,
        layers = 1, %s, output = { hidden { name = "states" } } }]]):format(name, most, more))
      local out = folder .. "/" .. name
      runs(("%s %s/gen/attn2c build %s.lua -o %s"):format(start, root, out, out))
      runs(("%s %s/%s check"):format(flags, out, name))
      runs(("%s %s/%s check --nan"):format(flags, out, name))
      helper.write(out .. ".safetensors", checkpoint.text(out .. ".lua", "F32"))
      runs(("gcc -O1 -DMODEL=%s %s/tests/c/host_lengths.c -o %s/host %s/lib%s.a -lm"):format(name, root, out, out,
        name))
      assert.equal("0 faults\n", runs(("%s %s/host %s.safetensors 48 %s"):format(flags, out, out,
        table.concat(lengths, " "))))
    end)
  end
end)

-- Inputs that are next to the middle between two integers are rounded to either.
describe("a model that goes on, with weights in blocks", function()
  setup(function() folder = helper.folder() end)
  teardown(helper.clean)

  it("is compared with a reference that follows its roundings", function()
    local root = helper.shell(helper.absolute_root())
    helper.write(folder .. "/rounds.lua", [[return { name = "rounds", input = tokens { vocab = 300 }, d_model = 64,
      heads = 2, d_ff = 64, layers = 2, norm_kind = "rms", mask = "causal", context = 256, weights = "int8",
      final_norm = true, output = { vocabulary() } }]])
    runs(("%s %s/gen/attn2c build %s/rounds.lua -o %s/rounds"):format(helper.optimised_runtime, root, folder,
      folder))
    for _, seed in ipairs { 1, 4 } do runs(("%s/rounds/rounds check --seed %d"):format(folder, seed)) end
  end)
end)
