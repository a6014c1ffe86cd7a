-- coded_spec: folders that their authors quantised: which tensors stand for which, what is noted, and what is refused
-- by name. Their values are those of tests/c/test_coded.c; whole models of them are in whole/hf_spec.
local helper = require("tests.spec.helper")
local coded = require("checkpoints.coded")
local folder = require("checkpoints.folder")
local json = require("common.json")
local made = require("tests.spec.checkpoints.made")
local words = require("common.words")

local LAYER = "encoder.layer.0.attention.self.query"

local function ints(...) return { dtype = "I32", ... } end

-- The parts of a layer of 8 x 8 in two groups.
local parts = {
  gptq = { qweight = ints(1, 8), qzeros = ints(2, 1), scales = { 2, 8 }, g_idx = ints(8) },
  awq = { qweight = ints(8, 1), qzeros = ints(2, 1), scales = { 2, 8 } },
  ["compressed-tensors"] = { weight_packed = ints(8, 1), weight_scale = { 8, 2 }, weight_zero_point = ints(1, 2),
    weight_shape = { 2, dtype = "I64", bytes = string.pack("<i8i8", 8, 8) } },
}

local function scheme(of, more)
  local result = { quant_method = of, bits = 4, group_size = 4 }
  if of == "compressed-tensors" then
    result = { quant_method = of, format = "pack-quantized", config_groups = { group_0 = { targets = { "Linear" },
      input_activations = json.null, weights = { num_bits = 4, type = "int", strategy = "group" } } } }
  end
  for key, value in pairs(more or {}) do result[key] = value end
  return result
end

-- A folder whose one layer is quantised. change: parts of it -> others, or false.
local function checkpoint(kind, config, change, files)
  local tensors = made.bert()
  tensors[LAYER .. ".weight"] = nil
  for name, part in pairs(parts[kind]) do tensors[LAYER .. "." .. name] = part end
  for name, part in pairs(change or {}) do tensors[LAYER .. "." .. name] = part or nil end
  return made.checkpoint(made.config { quantization_config = config }, tensors, files)
end

local function refused(path, what, code)
  local fault = helper.fault(folder.read, path)
  assert.is_truthy(fault, "nothing was refused: " .. what)
  assert.equal(1, #fault.lines)
  assert.is_truthy(fault.lines[1]:find(what, 1, true), fault.lines[1])
  assert.equal(1, fault.lines[1]:find(path, 1, true), fault.lines[1])
  assert.equal(code, fault.code)
end

describe("a quantised folder", function()
  teardown(helper.clean)

  it("has one tensor for the parts of each layer", function()
    for kind in pairs(parts) do
      local found = folder.read(checkpoint(kind, scheme(kind)))
      assert.equal(kind, found.quantised)
      assert.same({ dtype = "int4/4", shape = { 8, 8 }, is_coded = true }, found.tensors[LAYER .. ".weight"])
      assert.is_nil(found.config.quantization_config)
      for name in pairs(found.tensors) do
        assert.is_nil(name:find("q?zeros$") or name:find("scale") or name:find("packed") or name:find("g_idx"), name)
      end
      assert.equal("F16", found.tensors["encoder.layer.0.output.dense.weight"].dtype)
    end
  end)

  it("has the words of the runtime's kinds", function()
    local newer = scheme("gptq", { checkpoint_format = "gptq_v2" })
    assert.equal("gptq_v2", folder.read(checkpoint("gptq", newer)).quantised)
    assert.equal("gptq", folder.read(checkpoint("gptq", scheme("auto-round",
      { packing_format = "auto_round:auto_gptq" }))).quantised)
    assert.equal("awq", folder.read(checkpoint("awq", scheme("awq", { version = "GEMM" }))).quantised)
    local text, numbers = helper.read(helper.root .. "/runtime/base/readers.h"), {}
    for _, kind in pairs(coded.kinds) do
      assert.is_truthy(text:find("%f[%w_]" .. kind.reader:sub(2) .. "[,;]"), kind.reader)
      numbers[kind.number] = true
    end
    assert.same({ true, true, true, true, true }, numbers)
  end)

  it("in MXFP4 has one tensor for codes and exponents, with an axis for the codes of a block or without", function()
    local function bytes(...) return { dtype = "U8", ... } end
    local function of(blocks, scales)
      local tensors = made.bert()
      tensors["experts.up_blocks"], tensors["experts.up_scales"] = blocks, scales
      return made.checkpoint(made.config { quantization_config = { quant_method = "mxfp4" } }, tensors)
    end
    for _, blocks in ipairs { bytes(3, 8, 2, 16), bytes(3, 8, 32) } do
      local found = folder.read(of(blocks, bytes(3, 8, 2)))
      assert.same({ dtype = "MXFP4", shape = { 3, 8, 64 }, is_coded = true, blocks = "mxfp4" },
        found.tensors["experts.up"])
      assert.equal("mxfp4", found.quantised)
      assert.is_nil(found.tensors["experts.up_blocks"] or found.tensors["experts.up_scales"])
    end
    refused(of(bytes(3, 8, 2, 16)), "experts.up_scales: missing, but the tensor is one of MXFP4", 3)
    for _, pair in ipairs { { bytes(3, 8, 4, 8), bytes(3, 8, 2) }, { bytes(3, 8, 2, 16), bytes(3, 8, 4) },
      { bytes(8, 3, 2, 16), bytes(3, 8, 2) }, { { 3, 8, 2, 16 }, bytes(3, 8, 2) }, { bytes(16), bytes(1) } } do
      refused(of(pair[1], pair[2]), "experts.up_blocks: 16 bytes (U8) for each of experts.up_scales are expected", 3)
    end
  end)

  it("has types in scale blocks for tensors whose groups are whole ones, in their order or apart", function()
    local ONES = 0x11111111
    local function in_order(inputs, group)
      local list = {}
      for i = 0, inputs - 1 do list[i + 1] = string.pack("<i4", i // group) end
      return { inputs, dtype = "I32", bytes = table.concat(list) }
    end
    local function of(zero, order, scales)
      local tensors = { ["layer.qweight"] = ints(8, 8), ["layer.scales"] = { 2, 8, dtype = scales },
        ["layer.qzeros"] = { 2, 1, dtype = "I32", bytes = string.pack("<I4", zero * ONES):rep(2) },
        ["layer.g_idx"] = order }
      local found = folder.read(made.checkpoint(made.config { quantization_config = scheme("gptq") }, tensors))
      return found.tensors["layer.weight"].blocks, found.tensors["layer.weight"].order, found.notes
    end
    assert.equal("int4", of(7, in_order(64, 32)))
    assert.equal("int4", of(7))
    assert.equal("int4f", of(8, in_order(64, 32)))
    assert.is_nil(of(7, ints(64)), "all inputs are in one group of two")
    local apart = { 64, dtype = "I32", bytes = string.pack("<i4i4", 1, 0):rep(32) }
    local word, order, notes = of(7, apart)
    assert.same({ "int4", {} }, { word, notes })
    assert.matches("^%x+$", order)
    assert.equal(order, select(2, of(7, apart)))
    apart.bytes = string.pack("<i4i4i4i4", 1, 0, 0, 1):rep(16)
    assert.not_equal(order, select(2, of(7, apart)))
    local uneven = { 64, dtype = "I32", bytes = string.pack("<i4i4i4i4", 1, 0, 0, 0):rep(16) }
    word, order, notes = of(7, uneven)
    assert.is_nil(word or order)
    assert.same({ '"layer.g_idx": groups have different numbers of inputs, group 0 has 48: the weights become floats' },
      notes)
    uneven.bytes = string.pack("<i4i4", 1, 2):rep(32)
    local fault = helper.fault(of, 7, uneven)
    assert.matches(': layer.g_idx: group 2 of input 1, but the tensor has 2 groups$', fault.lines[1])
    assert.equal(3, fault.code)
  end)

  it("of symmetric GPTQ whose zero points are stored as gptq_v2 has them is read so, with a note", function()
    for stored, kind in pairs { ["\x88"] = "gptq_v2", ["\x77"] = "gptq", ["\x87"] = "gptq" } do
      local zeros = { qzeros = { 2, 1, dtype = "I32", bytes = stored:rep(8) } }
      local found = folder.read(checkpoint("gptq", scheme("gptq", { sym = true }), zeros))
      assert.same({ kind, kind ~= "gptq" }, { found.quantised, words.any(found.notes, function(note)
        return note:find("sym: zero points are stored as gptq_v2 has them", 1, true)
      end) and true or false })
      assert.equal("gptq", folder.read(checkpoint("gptq", scheme("gptq", { sym = false }), zeros)).quantised)
    end
  end)

  it("may say so in a file of its own, as older programs did", function()
    assert.equal("gptq", folder.read(checkpoint("gptq", nil, nil,
      { ["quantize_config.json"] = made.json { bits = 4, group_size = 4, desc_act = true } })).quantised)
    assert.equal("awq", folder.read(checkpoint("awq", nil, nil,
      { ["quant_config.json"] = made.json { w_bit = 4, q_group_size = 4, version = "GEMM" } })).quantised)
    refused(checkpoint("gptq"), 'quantization_config: missing, but the file has "' .. LAYER .. '.qweight"', 3)
  end)

  it("has weights of bytes as well", function()
    local config = scheme("compressed-tensors", { format = "int-quantized" })
    local found = folder.read(checkpoint("compressed-tensors", config, { weight_packed = false, weight_shape = false,
      weight_zero_point = false, weight_scale = { 8, 1 }, weight = { 8, 8, dtype = "I8" } }))
    assert.same({ dtype = "int8/8", shape = { 8, 8 }, is_coded = true }, found.tensors[LAYER .. ".weight"])
  end)

  it("whose activations are quantised as well has a note", function()
    local config = scheme("compressed-tensors", { kv_cache_scheme = { num_bits = 8 } })
    config.config_groups.group_0.input_activations = { num_bits = 8 }
    local notes = folder.read(checkpoint("compressed-tensors", config)).notes
    assert.same({ "config.json: quantization_config: kv_cache_scheme: keys and values stay floats",
      "config.json: quantization_config: config_groups.group_0: activations stay floats, which loses nothing" }, notes)
  end)

  it("of another format is refused by name, with what to do", function()
    for _, method in ipairs { "bitsandbytes", "fp8", "fbgemm_fp8", "hqq", "aqlm", "exl2", "exl3", "quanto", "nvfp4",
      "torchao" } do
      refused(checkpoint("gptq", scheme(method)), ("quant_method: %q is not supported"):format(method), 2)
      refused(checkpoint("gptq", scheme(method)), "give the folder of the model before it was quantised", 2)
    end
    local groups = { group_0 = { weights = { num_bits = 4, type = "float", strategy = "group" } } }
    for _, case in ipairs {
      { "gptq", { bits = 3 }, "bits: 3 is not supported; supported is 2, 4, 8" },
      { "gptq", { checkpoint_format = "marlin" }, "checkpoint_format: \"marlin\" is not supported" },
      { "gptq", { is_marlin_format = true }, "is_marlin_format: true" },
      { "gptq", { pack_dtype = "int64" }, "pack_dtype: \"int64\"" },
      { "awq", { version = "gemv" }, "version: \"gemv\" is not supported; supported is gemm" },
      { "awq", { bits = 8 }, "bits: 8" }, { "auto-round", {}, "packing_format: nil" },
      { "compressed-tensors", { format = "nvfp4-pack-quantized" }, "format: \"nvfp4-pack-quantized\"" },
      { "compressed-tensors", { format = "float-quantized" }, "format: \"float-quantized\"" },
      { "compressed-tensors", { config_groups = {} }, "config_groups" },
      { "compressed-tensors", { config_groups = groups }, "config_groups.group_0.weights.type: \"float\"" },
      { "compressed-tensors", { config_groups = { g = { weights = json.null } } }, "config_groups.g.weights: null" },
      { "compressed-tensors", { sparsity_config = { format = "sparse-24-bitmask" } }, "sparsity_config.format" },
      { "compressed-tensors", { transform_config = { config_groups = {} } }, "transform_config" },
    } do
      refused(checkpoint(parts[case[1]] and case[1] or "gptq", scheme(case[1], case[2])), case[3], 2)
    end
  end)

  it("whose parts do not fit is refused by the part's name", function()
    for _, case in ipairs {
      { "gptq", { scales = false }, LAYER .. '.scales: missing, but the tensor is one of GPTQ' },
      { "gptq", { qzeros = false }, '.qzeros: missing' },
      { "gptq", { qweight = { 1, 8 } }, '.qweight: F16 [1, 8], but I32 of two axes is expected' },
      { "gptq", { scales = { 16 } }, '.scales: F16 [16], but a shape of two axes' },
      { "gptq", { scales = { 0, 8 } }, '.scales: F16 [0, 8]' },
      { "gptq", { qzeros = ints(1, 1) }, '.qzeros: I32 [1, 1], but one zero point of 2, 4 or 8 bits' },
      { "gptq", { qzeros = ints(2, 3) }, '.qzeros: I32 [2, 3]' },
      { "gptq", { qweight = ints(8, 1) }, '.qweight: I32 [8, 1], but a code for each input and output' },
      { "gptq", { g_idx = ints(7) }, '.g_idx: I32 [7], but I32 with a group for each input' },
      { "gptq", { g_idx = ints(2, 4) }, '.g_idx: I32 [2, 4], but I32 with a group for each input' },
      { "gptq", { scales = ints(2, 8) }, '.scales: I32 [2, 8], but F32, F64, F16 or BF16 is expected' },
      { "gptq", { qweight = ints(0, 8) }, '.qweight: I32 [0, 8], but I32 of two axes is expected' },
      { "gptq", { g_idx = false, scales = { 3, 8 }, qzeros = ints(3, 1) }, "but groups of equal numbers of inputs" },
      { "gptq", { weight = { 8, 8 } }, '.weight: is in the file as numbers and as codes' },
      { "awq", { qzeros = ints(2, 2) }, '.qzeros: I32 [2, 2]' },
      { "awq", { qweight = ints(1, 8) }, '.qweight: I32 [1, 8]' },
      { "compressed-tensors", { weight_shape = false }, '.weight_shape: missing' },
      { "compressed-tensors", { weight_shape = { 3, dtype = "I64" } }, '.weight_shape: I64 [3]' },
      { "compressed-tensors", { weight_packed = ints(8, 5) }, '.weight_packed: I32 [8, 5]' },
      { "compressed-tensors", { weight_scale = { 7 } }, '.weight_scale: F16 [7]' },
      { "compressed-tensors", { weight_scale = { 2, 8 } }, '.weight_scale: F16 [2, 8]' },
      { "compressed-tensors", { weight_scale = { 8, 2, 1 } }, '.weight_scale: F16 [8, 2, 1]' },
      { "compressed-tensors", { weight_scale = ints(8, 2) }, '.weight_scale: I32 [8, 2], but F32' },
      { "compressed-tensors", { weight_scale = { 1 } }, '.weight_zero_point: I32 [1, 2]' },
      { "compressed-tensors", { weight_zero_point = ints(2, 1) }, '.weight_zero_point: I32 [2, 1]' },
    } do
      refused(checkpoint(case[1], scheme(case[1]), case[2]), case[3], 3)
    end
  end)

  it("whose groups are apart is refused without the order of its inputs", function()
    local said = LAYER .. '.weight": has no groups of inputs, but quantization_config has desc_act, so that'
    refused(checkpoint("gptq", scheme("gptq", { desc_act = true }), { g_idx = false }), said, 3)
    for _, case in ipairs { { { desc_act = true }, {} }, { { desc_act = false }, { g_idx = false } },
      { { desc_act = true }, { g_idx = false, scales = { 1, 8 }, qzeros = ints(1, 1) } } } do
      assert.is_truthy(folder.read(checkpoint("gptq", scheme("gptq", case[1]), case[2])).quantised)
    end
    for word, is_refused in pairs { group = true, dynamic = true, static = false, weight = false } do
      local config = scheme("compressed-tensors")
      config.config_groups.group_0.weights.actorder = word
      local path = checkpoint("compressed-tensors", config)
      if is_refused then refused(path, '.weight": has no groups of inputs, but quantization_config has actorder', 3) end
      assert.equal(is_refused, not pcall(folder.read, path))
    end
  end)

  it("is in the description that import writes, and `names` knows no other kinds", function()
    local import = require("checkpoints.import")
    local pipeline = require("pipeline")
    local text = import.text(checkpoint("awq", scheme("awq")))
    assert.is_truthy(text:find('quantised = "awq" },', 1, true), text)
    local state = pipeline.run(helper.root, helper.file(text, "x.lua"), {}, "emit")
    local emitted = {}
    for i, file in ipairs(state.files) do emitted[i] = file.text end
    assert.is_truthy(table.concat(emitted):find(".coding = &attn2c_awq,", 1, true))
    local fault = helper.fault(pipeline.run, helper.root, helper.file((text:gsub('"awq"', '"exl2"')), "y.lua"), {},
      "graph")
    assert.is_truthy(fault.lines[1]:find('names.quantised: "exl2", but ' .. table.concat(
      words.sorted_keys(coded.kinds), ", ", 1, 3), 1, true), fault.lines[1])
  end)
end)
