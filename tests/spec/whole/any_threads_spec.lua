-- any_threads_spec.lua: models of any length for several workers: right, with the bits of one worker for every number
-- of them, and without races.
local helper = require("tests.spec.helper")
local checkpoint = require("tests.spec.checkpoint")

-- The most tokens, the lengths of the sequences of a call, what a description says in addition, threads. Calls have one
-- block of rows and more, fewer heads than workers, keys that heads share.
local models = {
  { 300, { 1, 70, 33, 9, 2, 16, 70 }, [[mask = "causal", positions = "rope", gated = true, heads = 4, kv_heads = 1]],
    helper.is_long and { 1, 2, 3 } or { 1, 3 } },
  { 300, { 300 }, [[norm = "pre", mask = { window = { 9, 5 } }, positions = "learned", heads = 8, kv_heads = 4,
    output = { pool "mean", linear { to = 5 } }]], { 1, 0 } },
  { 70, { 64, 1, 5 }, [[precision = "bf16", positions = "alibi", heads = 2, norm = "none", residual = false]],
    { 1, 3 } },
  { 77, { 77, 1, 40 }, [[precision = "int8", heads = 1, output = { pool "max", normalise() }]], { 1, 3 } },
}

local folder

-- Runs a line of shell, which must succeed.
local function runs(line)
  local code, errors, output = helper.script(("cd '%s' && %s"):format(folder, line), folder)
  assert.equal(0, code, line .. "\n" .. errors .. output)
  return output
end

local function describe_model(i)
  local most, _, more = table.unpack(models[i])
  helper.write(("%s/many%d.lua"):format(folder, i), ([[return { name = "many", seq = any(%d), d_model = 48, layers = 2,
    input = tokens { vocab = 40 }, %s }]]):format(most, more))
end

local function build(i, threads, environment)
  return runs(("%s %s/gen/attn2c build many%d.lua threads=%d -o many%d_%d"):format(environment,
    helper.shell(helper.absolute_root()), i, threads, i, threads))
end

describe("several workers of a model of any length", function()
  setup(function() folder = helper.folder() end)
  teardown(helper.clean)

  for _, i in ipairs(helper.sample({ 1, 2, 3, 4 }, 4)) do
    local model = models[i]
    it("are right, and have the bits of one: " .. model[3]:gsub("%s+", " "), function()
      describe_model(i)
      local ids, rows = {}, 0
      for _, length in ipairs(model[2]) do
        for _ = 1, length do
          rows = rows + 1
          ids[rows] = rows * 7 % 40
        end
      end
      helper.write(folder .. "/ids.npy", checkpoint.npy(("%d,"):format(rows), ids))
      helper.write(folder .. "/lengths.npy", checkpoint.npy(("%d,"):format(#model[2]), model[2]))
      helper.write(folder .. "/weights", checkpoint.text(("%s/many%d.lua"):format(folder, i), "F32"))
      local bits
      for _, threads in ipairs(model[4]) do
        build(i, threads, helper.optimised_runtime)
        local program = ("./many%d_%d/many"):format(i, threads)
        runs(program .. " check")
        if threads == 3 then runs(program .. " check --nan") end
        runs(program .. " run --weights weights --input ids=ids.npy --input lengths=lengths.npy --output y.npy")
        local now = helper.read(folder .. "/y.npy")
        bits = bits or now
        assert.is_true(now == bits, threads .. " workers give other bits")
      end
    end)
  end

  it("have no races", function()
    for _, i in ipairs(helper.is_long and { 1, 2 } or { 1 }) do
      describe_model(i)
      build(i, 3, helper.with_races)
      local text = runs(("TSAN_OPTIONS=halt_on_error=1 ./many%d_3/many check"):format(i))
      assert.is_truthy(text:find(" 0 failed", 1, true), text)
    end
  end)
end)
