-- divided_spec.lua: models that ranks divide, built and started by mpirun: check of every tensor, with memory watched,
-- unequal parts, other types, and packed weights.
local lfs = require("lfs")
local helper = require("tests.spec.helper")
local mpirun = require("tests.spec.mpirun")

local writing = [[return { name = "written", input = tokens { vocab = 70 }, context = 24, chunk = 10, sequences = 2,
  d_model = 48, heads = 6, kv_heads = 3, layers = 2, d_ff = 80, gated = true, activation = "silu", norm = "pre",
  norm_kind = "rms", final_norm = true, mask = "causal", positions = "rope", output = { vocabulary { tied = true } } }]]

local encoder = [[return { name = "encoded", input = tokens { vocab = 70, types = 2, norm = true }, seq = 12, batch = 2,
  d_model = 48, heads = 4, layers = 1, mask = "padding", output = { pool "mean", linear { to = 5 } } }]]

-- Ranks have 2 and 1 of its heads of keys. Sources and answers have one table.
local translator = [[return { name = "translator", memory = encoder { seq = any(11), input = tokens { vocab = 50 },
  layers = 1, heads = 3, kv_heads = 3 },
  names = { ["encoder.input.tokens.weight"] = "shared", ["input.tokens.weight"] = "shared" },
  context = 16, chunk = 7, sequences = 3, input = tokens { vocab = 50 },
  d_model = 48, heads = 6, kv_heads = 3, layers = 1, d_ff = 80, mask = "causal", output = { vocabulary {} } }]]

-- Sources of one length.
local captions = [[return { name = "captions", memory = encoder { input = image { height = 6, width = 9, patch = 3 },
  layers = 1, d_model = 32 }, context = 9, sequences = 2, input = tokens { vocab = 30 }, d_model = 32, heads = 4,
  layers = 1, mask = "causal", output = { vocabulary {} } }]]

describe("a model that ranks divide", function()
  local folder = helper.folder()

  setup(function()
    helper.write(folder .. "/written.lua", writing)
    helper.write(folder .. "/encoded.lua", encoder)
    helper.write(folder .. "/translator.lua", translator)
    helper.write(folder .. "/captions.lua", captions)
  end)

  local function checked(description, words, environment)
    local said = helper.succeeds(("%s gen/attn2c check %s kernels=c target=host %s"):format(environment or "",
      helper.shell(folder .. "/" .. description .. ".lua"), words))
    local passed = said:match("(%d+) passed, 0 failed")
    assert.truthy(passed, said)
    return tonumber(passed)
  end

  it("has every tensor of the reference, with 2 ranks and memory that is watched", function()
    assert.is_true(checked("written", "ranks=2", helper.with_addresses .. " ASAN_OPTIONS=detect_leaks=0") > 60)
  end)

  it("has them with 3 ranks whose parts are unequal, in bf16", function()
    checked("written", "ranks=3 precision=bf16 layers=1")
  end)

  it("has them and the keys of sources, with 2 ranks", function()
    checked("translator", "ranks=2", helper.is_long and helper.with_addresses .. " ASAN_OPTIONS=detect_leaks=0")
  end)

  if helper.is_long then
    it("has them with 4 ranks, and with 6 that share 3 heads of keys", function()
      checked("encoded", "ranks=4")
      checked("written", "ranks=6 layers=1")
    end)

    it("has them and the keys of sources in integers, of copies of heads, and of pictures", function()
      checked("translator", "ranks=2 cache=int8")
      checked("translator", "ranks=6 kv_heads=3 memory.heads=6")
      checked("captions", "ranks=2")
    end)

    it("translates by beams as one process does", function()
      local out = helper.folder()
      helper.succeeds(("lua5.4 tests/program.lua models/numbers %s --text --answers ranks=2 threads=1"):format(
        helper.shell(out)))
      local result = mpirun(2, { out .. "/numbers_model", "generate", "--weights", helper.absolute_root()
        .. "/models/numbers", "--prompt", "in French: 80097", "--beams", "4" })
      assert.same({ 0, "quatre-vingt mille quatre-vingt-dix-sept\n", "" }, { result.status, result.stdout,
        result.stderr })
    end)
  end

  it("reads its parts of a GGUF file, as ranks and as stages", function()
    for _, key in ipairs { "ranks=2", helper.is_long and "stages=2" or nil } do
      local said = helper.succeeds(("gen/attn2c check tests/hf/goldens/gguf_bert/gguf_bert.gguf %s threads=1 "
        .. "kernels=c target=host"):format(key))
      assert.matches("\n%d+ passed, 0 failed\n$", said)
    end
  end)

  -- The stages of ranks below have such positions, too.
  local function check_convolution()
    for _, key in ipairs { "ranks=2", "stages=2" } do
      -- The greatest length of the folder, 1,499, would take eight times as long, for the same calls.
      local said = helper.succeeds(("gen/attn2c check tests/hf/goldens/hubert_model 'seq=any(300)' %s threads=1 "
        .. "kernels=c target=host"):format(key))
      assert.matches("\n%d+ passed, 0 failed\n$", said)
    end
  end
  if helper.is_long then it("has positions by a convolution, as ranks and as stages", check_convolution) end

  it("is built with MPICH and started by its launcher", function()
    if os.execute("command -v mpiexec.mpich >/dev/null && pkg-config --exists mpich") ~= true then
      return pending("needs MPICH, libmpich-dev")
    end
    checked("written", "ranks=2 layers=1", "ATTN2C_MPI=mpich ATTN2C_MPIRUN=mpiexec.mpich")
  end)

  it("has them with 2 stages, and with 2 stages of 2 ranks and memory that is watched", function()
    if helper.is_long then assert.is_true(checked("written", "stages=2") > 60) end
    checked("encoded", "stages=2 ranks=2 layers=2 precision=bf16 positions=convolution position_kernel=4 "
      .. "position_groups=2", helper.with_addresses .. " ASAN_OPTIONS=detect_leaks=0")
  end)

  it("reads packed weights, a file for each rank, to the same answer", function()
    local out = helper.folder()
    helper.succeeds(("gen/attn2c build models/language ranks=2 kernels=c -o %s"):format(helper.shell(out)))
    local program = out .. "/language"
    local function answer(weights)
      local result = mpirun(2, { program, "run", "--weights", weights, "--text", "Kde je nádraží?" })
      assert.same({ 0, "" }, { result.status, result.stderr })
      return result.stdout
    end
    helper.succeeds(("%s pack --weights models/language -o %s/packed"):format(program, out))
    for rank = 0, 1 do
      assert.matches("the checksum is right", helper.succeeds(("%s pack --verify %s/packed.rank%d"):format(program, out,
        rank)))
    end
    assert.matches("^cs\t0.9787", answer(helper.root .. "/models/language"))
    assert.equal(answer(helper.root .. "/models/language"), answer(out .. "/packed"))
    local whole = mpirun(2, { program, "check", "--weights", out .. "/packed" })
    assert.equal(2, whole.status)
    assert.matches("packed weights of several ranks; the whole model's are expected", whole.stderr, 1, true)
    -- Packing writes over its own files alone, and no output over a part of the weights.
    helper.succeeds(("%s pack --weights models/language -o %s/packed"):format(program, out))
    helper.write(out .. "/mine.rank1", "a user's file")
    for _, words in ipairs {
      { "pack --weights models/language -o %s/mine", "mine.rank1 exists, and is not a file of packed weights" },
      { "pack --weights %s/packed -o %s/packed", "belongs to the weights" } } do
      local code, said = helper.run(program .. " " .. words[1]:gsub("%%s", out))
      assert.equal(2, code, said)
      assert.is_truthy(said:find(words[2], 1, true), said)
    end
    local over = mpirun(2, { program, "run", "--weights", out .. "/packed", "--text", "x", "--output",
      ("logits=%s/packed.rank1"):format(out) })
    assert.equal(2, over.status, over.stderr)
    assert.matches("this file belongs to the weights", over.stderr, 1, true)
    assert.equal("a user's file", helper.read(out .. "/mine.rank1"))
    assert.is_nil(lfs.attributes(out .. "/mine.rank0"))
  end)
end)
