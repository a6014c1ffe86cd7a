-- any_types_spec.lua: models of any length in bf16 and int8: checked, and calls of sequences of several lengths,
-- which get the bits that each gets alone.
local helper = require("tests.spec.helper")
local checkpoint = require("tests.spec.checkpoint")

local FLAGS = "ATTN2C_CFLAGS='-g1 -O1 -Wall -Wextra -Werror'"

-- The most tokens, the lengths of the sequences of a call, and what a description says in addition.
local models = {
  { 70, { 1, 7, 33, 9, 2, 16, 70 }, [[precision = "bf16", mask = "causal", positions = "rope", gated = true]] },
  { 33, { 5, 33, 1, 8 }, [[precision = "bf16", target = "avx2", kv_heads = 2, weighting = "relu"]] },
  { 77, { 77, 1, 40 }, [[precision = { "int8", attention = "bf16" }, mask = { window = { 9, 5 } }]] },
  { 65, { 64, 65, 1, 2 }, [[precision = { "int8", attention = "f32" }, target = "avx2", positions = "alibi"]] },
  { 3, { 1, 2, 3 }, [[precision = "int8", head_dim = 7, mask = { "causal", window = { 1, 0 } }]] },
}

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

  for i, model in ipairs(models) do
    local most, lengths, more = table.unpack(model)
    it("in " .. more .. " is right, and a sequence has the same bits alone and next to others", function()
      local name, root = "any" .. i, helper.absolute_root()
      helper.write(folder .. "/" .. name .. ".lua", ([[return { name = "%s", seq = any(%d), d_model = 48, heads = 4,
        layers = 1, %s, output = { hidden { name = "states" } } }]]):format(name, most, more))
      local out = folder .. "/" .. name
      runs(("%s lua5.4 %s/gen/attn2c build %s.lua -o %s"):format(FLAGS, root, out, out))
      runs(("%s/%s check"):format(out, name))
      runs(("%s/%s check --nan"):format(out, name))
      helper.write(out .. ".safetensors", checkpoint.text(out .. ".lua", "F32"))
      runs(("gcc -O1 -DMODEL=%s %s/tests/c/host_lengths.c -o %s/host %s/lib%s.a -lm"):format(name, root, out, out,
        name))
      assert.equal("0 faults\n", runs(("%s/host %s.safetensors 48 %s"):format(out, out, table.concat(lengths, " "))))
    end)
  end
end)
