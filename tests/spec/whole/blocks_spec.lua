-- blocks_spec: GGUF files as they are: their weights stay in scale blocks, every tensor agrees with the reference,
-- with packed weights too, and the outputs are near transformers', which multiplies floats.
local helper = require("tests.spec.helper")
local checkpoint = require("tests.spec.checkpoint")
local files = require("common.files")
local lfs = require("lfs")
local mpirun = require("tests.spec.mpirun")

local root = helper.absolute_root()
local folder, goldens = root .. "/out/spec/blocks", root .. "/tests/hf/goldens"
local shell = helper.shell

local function sh(command) return helper.succeeds(command, folder) end

-- The float32 numbers of an .npy file.
local function floats(path)
  local text, list = helper.read(path), {}
  local at = 11 + string.unpack("<I2", text, 9)
  for i = at, #text - 3, 4 do list[#list + 1] = string.unpack("<f", text, i) end
  return list
end

-- The cosine of the angle between two lists of numbers.
local function cosine(a, b)
  local ab, aa, bb = 0, 0, 0
  assert.equal(#a, #b)
  for i = 1, #a do ab, aa, bb = ab + a[i] * b[i], aa + a[i] * a[i], bb + b[i] * b[i] end
  return ab / math.sqrt(aa * bb)
end

-- All types of blocks; a table of embeddings and residuals with factors.
for _, case in ipairs { "gguf_llama", "gguf_granite", "gguf_codebooks" } do
  describe("the GGUF file of " .. case, function()
    local path, program = goldens .. "/" .. case, ("%s/%s"):format(case, case)
    local weights = ("%s/%s.gguf"):format(path, case)

    setup(function()
      files.make_folder(folder)
      local words = {}
      for word in helper.read(path .. "/words.txt"):gmatch("%S+") do words[#words + 1] = shell(word) end
      sh(("lua5.4 %s/tests/program.lua %s %s %s"):format(shell(root), shell(weights), case,
        table.concat(words, " ")))
    end)
    teardown(function() os.execute("rm -rf " .. shell(folder)) end)

    it("keeps its blocks, and the reference rounds like the program", function()
      assert.matches("\n%d+ passed, 0 failed\n$", sh(("%s check --weights %s"):format(program, shell(weights))))
      sh(("%s pack --weights %s -o %s.packed"):format(program, shell(weights), case))
      assert.matches("\n%d+ passed, 0 failed\n$", sh(("%s check --weights %s.packed"):format(program, case)))
    end)

    it("is named as it is by a program that lacks it", function()
      local code, _, errors = helper.runner(folder)({ program, "run", "--input", "x", "--output", "y" })
      assert.equal(2, code)
      assert.is_truthy(errors:find(("run: --weights F is needed; this model was built from %s.gguf: --weights "
        .. "PATH/%s.gguf\n"):format(case, case), 1, true), errors)
    end)

    it("gives outputs near those of the same weights as floats", function()
      local inputs, outputs = {}, {}
      for file in lfs.dir(path) do
        local kind, name = file:match("^(%a+)_(.*)%.npy$")
        if kind == "in" then inputs[#inputs + 1] = ("--input %s=%s/%s"):format(name, shell(path), file) end
        if kind == "out" then outputs[#outputs + 1] = name end
      end
      local words = {}
      for i, name in ipairs(outputs) do words[i] = ("--output %s=%s_%s.npy"):format(name, case, name) end
      sh(("%s run --weights %s %s %s"):format(program, shell(weights), table.concat(inputs, " "),
        table.concat(words, " ")))
      for _, name in ipairs(outputs) do
        local found = cosine(floats(("%s/out_%s.npy"):format(path, name)), floats(("%s/%s_%s.npy"):format(folder, case,
          name)))
        assert.is_true(found > 0.999, ("%s: cosine %f"):format(name, found))
      end
    end)
  end)
end

-- Changes the first integers of a tensor in the file of a folder's copy.
local function change(copy, name, integers)
  local place = folder .. "/" .. copy .. "/model.safetensors"
  local text = helper.read(place)
  local header = string.unpack("<I8", text)
  local first = text:match('"' .. name:gsub("%p", "%%%0") .. '":{[^}]-"data_offsets":%[(%d+),')
  local at, bytes = 8 + header + math.tointeger(tonumber(first)), {}
  for i, integer in ipairs(integers) do bytes[i] = string.pack("<i4", integer) end
  bytes = table.concat(bytes)
  helper.write(place, text:sub(1, at) .. bytes .. text:sub(at + #bytes + 1))
end

-- Groups of inputs that are apart in the file (desc_act): layers that read the same numbers have one order.
describe("a GPTQ folder whose inputs have an order", function()
  local path = goldens .. "/gptq_order_llama"
  local program = "ordered/ordered"
  local run = ("%s run --input input_ids=%s/in_input_ids.npy --input lengths=%s/in_lengths.npy --output logits=y.npy "
    .. "--weights "):format(program, shell(path), shell(path))

  setup(function()
    files.make_folder(folder)
    sh(("lua5.4 %s/tests/program.lua %s ordered batch=2 seq=7 name=ordered"):format(shell(root), shell(path)))
    sh(("%s pack --weights %s -o ordered.packed"):format(program, shell(path)))
  end)
  teardown(function() os.execute("rm -rf " .. shell(folder)) end)

  it("keeps its blocks, and the reference rounds like the program", function()
    assert.matches("input_order = \"file\"", sh(("%s/gen/attn2c import %s"):format(shell(root), shell(path))))
    local said = sh(("%s check --weights %s"):format(program, shell(path)))
    assert.matches("\n%d+ passed, 0 failed\n$", said)
    local own = {}
    for layer, name in said:gmatch("\nl(%d)%.(%S+)%.weight, as in the file +%d+x%d+ [^\n]+ok") do
      own[#own + 1] = layer .. "." .. name
    end
    assert.same({ "0.attn.q", "0.attn.k", "0.attn.v", "0.attn.out", "0.ff.gate", "0.ff.up", "0.ff.down", "1.attn.q",
      "1.attn.k", "1.attn.v", "1.attn.out", "1.ff.gate", "1.ff.up", "1.ff.down" }, own)
    assert.matches("\n%d+ passed, 0 failed\n$", sh(program .. " check --seed 7"))
    assert.matches("\n%d+ passed, 0 failed\n$", sh(program .. " check --weights ordered.packed"))
    assert.is_true(lfs.attributes(folder .. "/ordered.packed", "size") < 72000, "weights are not of 4 bits")
  end)

  it("gives outputs near those of the same weights as floats, packed or not", function()
    sh(run .. shell(path))
    local found = floats(folder .. "/y.npy")
    assert.is_true(cosine(floats(path .. "/out_logits.npy"), found) > 0.999, "cosine")
    sh(run .. "ordered.packed")
    assert.same(found, floats(folder .. "/y.npy"))
  end)

  it("gives the same on ranks, which divide the columns anew", function()
    sh(("lua5.4 %s/tests/program.lua %s divided batch=2 seq=7 ranks=2 name=divided"):format(shell(root), shell(path)))
    local result = mpirun(2, { folder .. "/divided/divided", "check", "--weights", path })
    assert.equal(0, result.status, result.stderr)
    assert.matches("\n%d+ passed, 0 failed\n$", result.stdout)
  end)

  it("is refused if packed weights have an input twice, or none", function()
    local text = helper.read(folder .. "/ordered.packed")
    local place = sh(("%s/gen/attn2c show %s batch=2 seq=7 --stage layout"):format(shell(root), shell(path)))
      :match("(%d+) l0.attn.out.weight.order")
    local at = 4096 + math.tointeger(tonumber(place))
    for _, number in ipairs { 64, -1, 0 / 0, string.unpack("<f", text, at + 5) } do
      helper.write(folder .. "/damaged.packed", text:sub(1, at) .. string.pack("<f", number) .. text:sub(at + 5))
      local code, said = helper.run(run .. "damaged.packed", folder)
      assert.equal(3, code, said)
      assert.matches("l0.attn.out.weight.order: element [01] is not the number of an input, or is there twice\n$", said)
    end
  end)

  it("is refused if layers that should share an order do not", function()
    sh(("mkdir copy && cp %s/*.json %s/*.safetensors copy"):format(shell(path), shell(path)))
    local groups = {}
    for i = 1, 64 do groups[i] = (i - 1) // 32 end
    change("copy", "model.layers.1.self_attn.k_proj.g_idx", groups)
    local code, said = helper.run(run .. "copy", folder)
    assert.equal(3, code, said)
    assert.is_truthy(said:find("l1.attn.k.weight: its inputs are in other groups (g_idx) than l1.attn.q.",
      1, true), said)
    local text = sh(("%s/gen/attn2c import copy"):format(shell(root)))
    assert.is_truthy(text:find('input_order = { "file", ["l1.attn.k"] = "none" }', 1, true), text)
    sh(("lua5.4 %s/tests/program.lua copy other batch=2 seq=7 name=ordered"):format(shell(root)))
    assert.matches("\n%d+ passed, 0 failed\n$", sh("other/ordered check --weights copy"))
    sh("other/ordered pack --weights copy -o other.packed")
    code, said = helper.run(run .. "other.packed", folder)
    assert.equal(3, code, said)
    assert.matches("packed weights: for another description of ordered", said)
  end)
end)

-- Minima and products of scales are summed apart, and cancel where a block has one number that is much larger.
describe("weights in blocks with minima", function()
  teardown(function() os.execute("rm -rf " .. shell(folder)) end)

  it("are judged by the terms that are added, also if single weights are large", function()
    files.make_folder(folder)
    helper.write(folder .. "/large.lua", [[return { name = "large", d_model = 64, heads = 2, layers = 2, seq = 12,
      weights = "int8f" }]])
    local header, floats_of = checkpoint.text(folder .. "/large.lua", "F32"):match("^(.-}})(.*)$")
    local list = { header, floats_of:sub(1, #floats_of % 4) }
    for i = #floats_of % 4 + 1, #floats_of, 4 do
      list[#list + 1] = i % 400 < 4 and string.pack("<f", 100) or floats_of:sub(i, i + 3)
    end
    helper.write(folder .. "/large.safetensors", table.concat(list))
    sh(("lua5.4 %s/tests/program.lua large.lua large"):format(shell(root)))
    assert.matches("\n%d+ passed, 0 failed\n$", sh("large/large check --weights large.safetensors"))
  end)
end)
