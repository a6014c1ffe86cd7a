-- divided_experts_spec.lua: mixtures of experts that ranks divide, built and started by mpirun: check of every tensor,
-- transformers' results for families, packed weights, and ranks that would choose other experts.
local helper = require("tests.spec.helper")
local checkpoint = require("tests.spec.checkpoint")
local mpirun = require("tests.spec.mpirun")
local words = require("common.words")

-- Layers of each kind: dense, with a shared expert and biases, and with what is added once. With 3 heads of keys, 2
-- ranks are unequal.
local writing = [[return { name = "mixed", input = tokens { vocab = 70 }, context = 24, chunk = 10, sequences = 2,
  d_model = 48, heads = 6, kv_heads = 3, d_ff = 80, gated = true, norm = "pre", mask = "causal", positions = "rope",
  layers = { {}, { experts = { count = 5, used = 2, d_ff = 40, shared = 24, shared_gate = true, bias = true },
    bias = true }, { experts = { count = 3, used = 2, d_ff = 24, router = "sigmoid", correction = true, sum_bias = true,
    factor = 2.5 } } }, output = { vocabulary {} } }]]

-- Ranks have 128 and 64 of the columns of MXFP4's blocks.
local blocks = [[return { name = "blocks", seq = any(40), d_model = 64, heads = 2, layers = 1, gated = true,
  weights = "mxfp4", experts = { count = 3, used = 2, d_ff = 192, bias = true }, gate_limit = 0.6, sinks = true,
  mask = "causal" }]]

local normed = [[return { name = "normed", seq = any(40), d_model = 64, heads = 4, layers = 1, norm = "sandwich",
  experts = { count = 5, used = 2, d_ff = 36, normalise = false, bias = true, shared = 20, scales = true,
    own_norms = true }, precision = "bf16" }]]

-- Folders of tests/hf/goldens, the number of ranks, and further words.
local families = { { "mixtral_fused", 4 }, { "qwen2_moe_logits", 2 }, { "qwen3_moe_logits", 2 }, { "olmoe_logits", 2 },
  { "gpt_oss_logits", 4 }, { "granitemoe_fused", 4 }, { "gemma4_experts", 2 }, { "lfm2_moe_logits", 2 },
  { "mxfp4_gpt_oss", 2, "weights=none" } }
if not helper.is_long then families = { families[2] } end

local folder, root = nil, helper.absolute_root()

local function sh(command) return helper.succeeds(command, folder) end

local function checked(name, more, environment)
  local said = sh(("%s %s/gen/attn2c check %s.lua kernels=c target=host %s"):format(environment or "",
    helper.shell(root), name, more))
  assert.matches("\n%d+ passed, 0 failed\n", said)
  return said
end

-- Returns the float32 numbers of an .npy file.
local function floats(path)
  local text = helper.read(path)
  local at, list = 11 + string.unpack("<I2", text, 9), {}
  for i = at, #text - 3, 4 do list[#list + 1] = string.unpack("<f", text, i) end
  return list
end

describe("experts that ranks divide", function()
  setup(function()
    folder = helper.folder()
    for name, text in pairs { mixed = writing, blocks = blocks, normed = normed } do
      helper.write(("%s/%s.lua"):format(folder, name), text)
    end
  end)

  it("are right in every tensor, with 2 unequal ranks and memory that is watched", function()
    checked("mixed", "ranks=2", helper.with_addresses .. " ASAN_OPTIONS=detect_leaks=0")
  end)

  it("are right in scale blocks, of which each rank has whole ones, and with the same bits in any call", function()
    assert.matches("output hidden, beside others", checked("blocks", "ranks=2"))
  end)

  if helper.is_long then
    it("are right with 3 and 4 ranks, in all types of weights, and in stages", function()
      checked("mixed", "ranks=3")
      checked("mixed", "ranks=6")
      checked("blocks", "ranks=2 weights=int4")
      checked("blocks", "ranks=2 weights=int8")
      checked("normed", "ranks=4")
      checked("mixed", "stages=2 ranks=2")
    end)
  end

  for _, case in ipairs(families) do
    local name, ranks, more = table.unpack(case)
    it(("give transformers' results: %s on %d"):format(name, ranks), function()
      local from = ("%s/tests/hf/goldens/%s"):format(root, name)
      local out = folder .. "/" .. name
      sh(("lua5.4 %s/tests/program.lua %s %s --answers name=probe threads=1 ranks=%d %s %s"):format(helper.shell(root),
        helper.shell(from), out, ranks, (helper.read(from .. "/words.txt"):gsub("%s+", " ")), more or ""))
      local run, output = { out .. "/probe", "run", "--weights", from }, nil
      local known = sh(out .. "/probe info")
      for array in sh(("cd %s && ls *.npy"):format(helper.shell(from))):gmatch("[^\n]+") do
        local kind, input = array:match("^(%l+)_([%w_]+)%.npy$")
        if kind == "out" then
          output = input
        elseif known:find(input, 1, true) then
          words.append(run, { "--input", ("%s=%s/%s"):format(input, from, array) })
        end
      end
      words.append(run, { "--output", ("%s=%s/got.npy"):format(output, out) })
      local result = mpirun(ranks, run)
      assert.same({ 0, "" }, { result.status, result.stderr })
      local want, got = floats(("%s/out_%s.npy"):format(from, output)), floats(out .. "/got.npy")
      local allowed = output == "logits" and 1e-4 or 1e-5 -- as in hf_spec.lua
      assert.equal(#want, #got)
      for i, each in ipairs(want) do
        assert.is_true(each ~= each or math.abs(each - got[i]) <= allowed * math.max(1, math.abs(each)), i)
      end
    end)
  end

  local function writes_the_same()
    helper.write(folder .. "/mixed.safetensors", checkpoint.text(folder .. "/mixed.lua", "F32"))
    helper.write(folder .. "/ids.npy", checkpoint.npy("2, 5", { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3 }))
    local written, sizes = {}, {}
    for ranks = 1, 2 do
      local out = ("%s/written%d"):format(folder, ranks)
      sh(("lua5.4 %s/tests/program.lua mixed.lua %s --answers ranks=%d"):format(helper.shell(root), out, ranks))
      sh(("%s/mixed pack --weights mixed.safetensors -o packed%d"):format(out, ranks))
      for i, weights in ipairs { "mixed.safetensors", "packed" .. ranks } do
        local result = mpirun(ranks, { out .. "/mixed", "generate", "--weights", folder .. "/" .. weights, "--input",
          ("ids=%s/ids.npy"):format(folder), "--tokens", "12", "--greedy", "--format", "jsonl" })
        assert.same({ 0, "" }, { result.status, result.stderr })
        written[2 * ranks + i] = result.stdout
      end
      sizes[ranks] = #helper.read(("%s/packed%d%s"):format(folder, ranks, ranks > 1 and ".rank0" or ""))
    end
    for i = 4, 6 do assert.equal(written[3], written[i]) end
    assert.is_true(sizes[2] < 0.7 * sizes[1], ("%d of %d bytes"):format(sizes[2], sizes[1]))
  end

  if helper.is_long then
    it("write the same tokens as one process, also of packed weights, in which a rank has its part only",
      writes_the_same)
  end

  it("are compared: another choice of one rank is a failure", function()
    local change = "s/attn2c_topk_indices(y, x, rows, 5/attn2c_topk_indices(y, x + 1, rows, 4/"
    sh(("%s %s/tests/program.lua mixed.lua %s/wrong ranks=2"):format(helper.spoiling("_rank1_ops.c", change),
      helper.shell(root), folder))
    local result = mpirun(2, { folder .. "/wrong/mixed", "check" })
    assert.equal(1, result.status, result.stderr)
    assert.matches("first to diverge: l1.ff.chosen at .*: expected %d, got %d", result.stdout .. result.stderr)
  end)
end)
