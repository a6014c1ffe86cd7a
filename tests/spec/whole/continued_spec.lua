-- continued_spec.lua: models whose calls go on from earlier ones: `check` compares outputs and states with the
-- reference, and scripts of calls with one whole sequence, for one worker and for two, also with NaN.
local helper = require("tests.spec.helper")

local FLAGS = "ATTN2C_CFLAGS='-g1 -O1 -Wall -Wextra -Werror'"

-- What a description says in addition: pages of keys that are not full, more sequences than one, heads that share
-- keys, every kind of position, windows, types of products.
local models = {
  [[context = 300, chunk = 40, sequences = 3, kv_heads = 2, positions = "rope", norm = "pre", norm_kind = "rms",
    gated = true, output = { vocabulary { tied = true } }, mask = "causal"]],
  [[context = 150, chunk = 150, positions = "alibi", kv_heads = 1, precision = "int8", mask = { window = { 9, 0 } },
    output = { vocabulary {}, softmax() }]],
  [[context = 70, chunk = 7, sequences = 32, positions = "learned", precision = "bf16", target = "avx2",
    mask = "causal", output = { hidden { name = "states" }, linear { to = 5 } }]],
}

local folder

-- Runs a line of shell in the folder, which must succeed.
local function runs(line)
  local code, errors, output = helper.script(("cd '%s' && %s"):format(folder, line), folder)
  assert.equal(0, code, line .. "\n" .. errors .. output)
  return output
end

describe("a model that continues", function()
  setup(function() folder = helper.folder() end)
  teardown(helper.clean)

  for i, more in ipairs(models) do
    it("is right for one worker and for two: " .. more:gsub("%s+", " "), function()
      helper.write(("%s/writer%d.lua"):format(folder, i), ([[return { name = "writer", d_model = 48, heads = 4,
        layers = 2, input = tokens { vocab = 40 }, %s }]]):format(more))
      for threads = 1, 2 do
        runs(("%s lua5.4 %s/tests/program.lua writer%d.lua out threads=%d"):format(FLAGS, helper.absolute_root(), i,
          threads))
        local said = runs("out/writer check")
        assert.truthy(said:find("in chunks", 1, true) and said:find("token by token", 1, true))
        if threads == 1 then runs("out/writer check --nan") end
      end
    end)
  end
end)
