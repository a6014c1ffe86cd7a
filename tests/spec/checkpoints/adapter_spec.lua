-- adapter_spec: folders of LoRA adapters: the tensors that they change and by which scale, and what is refused by name.
-- tests/c/test_adapter.c computes with them; whole models of them are in whole/hf_spec.
local helper = require("tests.spec.helper")
local adapter = require("checkpoints.adapter")
local headers = require("common.headers")
local made = require("tests.spec.checkpoints.made")
local pipeline = require("pipeline")
local words = require("common.words")

local LAYER = "encoder.layer.0."
local QUERY, DOWN = LAYER .. "attention.self.query", LAYER .. "output.dense"

-- The tensors of an adapter for two layers. change: names -> others, or false.
local function tensors(change)
  local list = { [QUERY .. ".lora_A.weight"] = { 4, 8 }, [QUERY .. ".lora_B.weight"] = { 8, 4 },
    [DOWN .. ".lora_A.weight"] = { 2, 12 }, [DOWN .. ".lora_B.weight"] = { 8, 2 } }
  for name, value in pairs(change or {}) do list[name] = value or nil end
  local result = {}
  for name, value in pairs(list) do result["base_model.model." .. name] = value end
  return result
end

local function folder(config, change)
  local path = helper.folder()
  made.write(path .. "/adapter_config.json", made.json(words.merged({ peft_type = "LORA", r = 4, lora_alpha = 6,
    rank_pattern = { ["output.dense"] = 2 } }, config or {})))
  made.write(path .. "/adapter_model.safetensors", made.safetensors(tensors(change)))
  return path
end

-- Returns the state of a BertModel with an adapter, whose weights are known.
local function model(config, change)
  return pipeline.run(helper.root, made.checkpoint(made.config(), made.bert("bert.")),
    { "seq=5", "adapter=" .. folder(config, change) }, "ranks")
end

local function refused(what, code, run, ...)
  local fault = helper.fault(run, ...)
  assert.is_truthy(fault, "nothing was refused: " .. what)
  assert.equal(1, #fault.lines)
  assert.is_truthy(fault.lines[1]:find(what, 1, true), fault.lines[1])
  assert.equal(code, fault.code)
end

-- Returns the rows of a golden's adapter, its notes, and the adapter's tensors.
local function tied(name, config, list)
  local path, renamed = helper.folder(), {}
  for module, shape in pairs(list) do renamed["base_model.model." .. module] = shape end
  made.write(path .. "/adapter_config.json", made.json(words.merged({ peft_type = "LORA", r = 4 }, config)))
  made.write(path .. "/adapter_model.safetensors", made.safetensors(renamed))
  local state = pipeline.run(helper.root, helper.root .. "/tests/hf/goldens/" .. name, { "adapter=" .. path }, "ranks")
  return state.adapter.rows, table.concat(state.notes, "\n"), state.adapter.tensors
end

describe("an adapter", function()
  teardown(helper.clean)

  local function scales(config)
    local result = {}
    for _, change in ipairs(adapter.read(folder(config), {}).changes) do result[change.target] = change.scale end
    return { result[QUERY .. ".weight"], result[DOWN .. ".weight"] }
  end

  it("has a scale for each module", function()
    assert.same({ 1.5, 3.0 }, scales())
    assert.same({ 3.0, 6 / math.sqrt(2) }, scales { use_rslora = true })
    assert.same({ 1.5, 5.0 }, scales { alpha_pattern = { ["dense"] = 10 } })
    assert.same({ 1.5, 3.0 }, scales { alpha_pattern = { ["^dense"] = 10, ["ense"] = 9 } })
    assert.same({ 2.0, 3.0 }, scales { alpha_pattern = { ["self\\.query"] = 8 } })
    assert.same({ 2.5, 5.0 }, scales { alpha_pattern = { ["(?:layer|block)\\.\\d+\\..*(query|dense)"] = 10 } })
    assert.same({ 1.5, 5.0 }, scales { alpha_pattern = { ["((?!query).)*dense"] = 10, ["layer.1.*"] = 9 } })
    assert.same({ 2.0, 3.0 }, scales { alpha_pattern = { ["^encoder.l.yer.0.attention.self.quer."] = 8, uery = 1 } })
  end)

  it("has the scale of the first pattern that fits, in the order of its file", function()
    for _, case in ipairs { { '{"query": 8, "attention.self.query": 4}', 2.0 },
      { '{"attention.self.query": 4, "query": 8}', 1.0 } } do
      local path = folder()
      made.write(path .. "/adapter_config.json", ('{"target_modules": ["query", "output.dense"], "rank_pattern": '
        .. '{"dense": 2}, "alpha_pattern": %s, "peft_type": "LORA", "r": 4}'):format(case[1]))
      for _, change in ipairs(adapter.read(path, {}).changes) do
        if change.module == QUERY then assert.equal(case[2], change.scale) end
      end
    end
  end)

  it("that torch.save() wrote is kept as safetensors, which come first where both are", function()
    local path, query = helper.folder(), "base_model.model." .. QUERY
    made.write(path .. "/adapter_config.json", made.json { peft_type = "LORA", r = 4, lora_alpha = 6 })
    made.write(path .. "/adapter_model.bin", helper.read(helper.root .. "/tests/hf/torch/adapter.bin"))
    local found = adapter.read(path, {})
    assert.same({ { target = QUERY .. ".weight", module = QUERY, inputs = query .. ".lora_A.weight",
      outputs = query .. ".lora_B.weight", rank = 4, scale = 1.5 } }, found.changes)
    assert.equal("{", found.text:sub(9, 9)) -- the header of safetensors
    made.write(path .. "/adapter_model.safetensors", found.text)
    local again = adapter.read(path, {})
    assert.equal(found.text, again.text)
    for name, tensor in pairs(again.tensors) do
      local from = found.tensors[name]
      assert.same({ from.dtype, from.shape }, { tensor.dtype, tensor.shape })
      assert.equal(helper.read(path .. "/adapter_model.bin"):sub(from.at + 1, from.at + from.bytes),
        found.text:sub(tensor.at + 1, tensor.at + tensor.bytes))
    end
    made.write(path .. "/adapter_model.bin", "PK\3\4")
    assert.equal(found.text, adapter.read(path, {}).text)
    os.remove(path .. "/adapter_model.safetensors")
    refused("adapter_model.bin: is not a zip of torch.save()", 3, adapter.read, path, {})
  end)

  it("has tensors in place of others", function()
    local found = adapter.read(folder({}, { ["pooler.dense.weight"] = { 8, 8 },
      [QUERY .. ".base_layer.bias"] = { 8 }, ["head.modules_to_save.weight"] = { 2, 8 } }), {})
    local bases = {}
    for _, change in ipairs(found.changes) do bases[change.target] = change.base end
    assert.same({ ["pooler.dense.weight"] = "base_model.model.pooler.dense.weight",
      [QUERY .. ".bias"] = "base_model.model." .. QUERY .. ".base_layer.bias",
      ["head.weight"] = "base_model.model.head.modules_to_save.weight" }, bases)
  end)

  it("is found from the folder of the model, and changes its weights", function()
    local rows = {}
    for _, row in ipairs(model().adapter.rows) do rows[row.target] = { row.names[1], row.rank, row.is_transposed } end
    assert.same({ [QUERY .. ".weight"] = { "bert." .. QUERY .. ".weight", 4, false },
      [DOWN .. ".weight"] = { "bert." .. DOWN .. ".weight", 2, false } }, rows)
  end)

  it("has lengths of the outputs of tables and of transposed layers, which are columns as they are stored", function()
    local function read(length, config, more)
      return tied("gpt2_adapter", words.merged({ use_dora = true }, config), words.merged({
        ["transformer.wte.lora_embedding_A"] = { 4, 37 }, ["transformer.wte.lora_embedding_B"] = { 24, 4 },
        ["transformer.wte.lora_magnitude_vector"] = { 24 }, ["transformer.h.0.attn.c_attn.lora_A.weight"] = { 4, 24 },
        ["transformer.h.0.attn.c_attn.lora_B.weight"] = { 72, 4 },
        ["transformer.h.0.attn.c_attn.lora_magnitude_vector.weight"] = { length } }, more))
    end
    local found = {}
    for _, row in ipairs(read(72)) do found[row.names[1]] = { row.is_transposed, row.lengths } end
    local base = "base_model.model.transformer."
    assert.same({
      ["transformer.h.0.attn.c_attn.weight"] = { true, base .. "h.0.attn.c_attn.lora_magnitude_vector.weight" },
      ["transformer.wte.weight"] = { true, base .. "wte.lora_magnitude_vector" } }, found)
    refused("is [24], but the model's transformer.h.0.attn.c_attn.weight is [24, 72]", 3, read, 24)
    -- the same factors of a table and of the layer that is tied to it are other sums with lengths
    refused("are one tensor of the model, which would get both changes", 2, read, 72, { ensure_weight_tying = true },
      { ["lm_head.lora_A.weight"] = { 4, 24 }, ["lm_head.lora_B.weight"] = { 37, 4 },
        ["lm_head.lora_magnitude_vector"] = { 37 } })
  end)

  it("has biases of factors, which are added to those of layers with the same scale", function()
    local biases = { [DOWN .. ".lora_B.bias"] = { 8 } }
    local state = model({ lora_bias = true }, biases)
    local row = words.filter(state.adapter.rows, function(each) return each.target == DOWN .. ".bias" end)[1]
    assert.same({ "base_model.model." .. DOWN .. ".lora_B.bias", "one", 1, 3.0 },
      { row.outputs, row.inputs, row.rank, row.scale })
    local path = helper.file(state.adapter.text, "again.safetensors")
    local one = headers.read(path).tensors.one
    assert.equal(1.0, (("<f"):unpack(state.adapter.text, one.at + 1)))
    local q = "model.layers.0.self_attn.q_proj"
    refused(q .. '.lora_B.bias" changes ' .. q .. ".bias, which the model does not have", 2, tied, "llama_tied",
      { lora_bias = true }, { [q .. ".lora_A.weight"] = { 4, 24 }, [q .. ".lora_B.weight"] = { 24, 4 },
        [q .. ".lora_B.bias"] = { 24 } })
  end)

  it("has factors of each expert where PEFT has those of all in one", function()
    local rank, experts, layer = 2, 5, "model.layers.0.mlp.experts"
    local function numbers(rows, columns, first)
      local list = {}
      for i = 1, rows * columns do list[i] = first + i - 1.0 end
      return { rows, columns, dtype = "F32", bytes = ("<" .. ("f"):rep(#list)):pack(table.unpack(list)) }
    end
    local list = { [layer .. ".base_layer.lora_A.weight"] = numbers(rank * experts, 24, 0),
      [layer .. ".base_layer.lora_B.weight"] = numbers(40, rank * experts, 1000),
      [layer .. ".lora_A.weight"] = numbers(rank * experts, 20, 2000),
      [layer .. ".lora_B.weight"] = numbers(24, rank * experts, 3000) }
    local config = { r = rank, lora_alpha = 6,
      target_parameters = { "mlp.experts.gate_up_proj", "experts.down_proj" } }
    local rows, _, tensors_ = tied("qwen3_moe_logits", config, list)
    assert.equal(3 * experts, #rows)
    local outputs, first_b = { gate_proj = 20, up_proj = 20, down_proj = 24 },
      { gate_proj = 1000, up_proj = 1000 + 20 * rank * experts, down_proj = 3000 }
    for _, row in ipairs(rows) do
      local expert, name = row.target:match("experts%.(%d+)%.(.*)%.weight$")
      local a, b, inputs = tensors_[row.inputs], tensors_[row.outputs], name == "down_proj" and 20 or 24
      assert.same({ { rank, inputs }, { outputs[name], rank }, 3.0 }, { a.shape, b.shape, row.scale })
      for k = 0, rank - 1 do
        local place = (math.tointeger(expert) * rank + k) * inputs
        assert.equal((name == "down_proj" and 2000 or 0) + place + 0.0, (("<f"):unpack(a.data, k * inputs * 4 + 1)))
        for out = 0, outputs[name] - 1 do -- experts alternate
          assert.equal(first_b[name] + out * rank * experts + k * experts + math.tointeger(expert) + 0.0,
            (("<f"):unpack(b.data, (out * rank + k) * 4 + 1)))
        end
      end
    end
    refused("target_parameters: x.y: no factors of experts' gate_up_proj and down_proj", 2, tied, "qwen3_moe_logits",
      words.merged(config, { target_parameters = { "x.y" } }), list)
    refused("alpha_pattern: not supported with target_parameters", 2, tied, "qwen3_moe_logits",
      words.merged(config, { alpha_pattern = { x = 1 } }), list)
    refused("[experts 3][inputs] and [outputs][3 experts] are expected", 3, tied, "qwen3_moe_logits",
      words.merged(config, { r = 3 }), list)
    list[layer .. ".lora_A.weight"] = numbers(rank * experts, 24, 0)
    refused("versions of PEFT differ in which are the inputs", 2, tied, "qwen3_moe_logits", config, list)
  end)

  it("is another one with another scale", function()
    assert.equal(model().adapter.hash, model().adapter.hash)
    assert.is_not.equal(model().adapter.hash, model({ lora_alpha = 7 }).adapter.hash)
  end)

  it("does not change one tensor twice", function()
    local both = { ["transformer.wte.lora_embedding_A"] = { 4, 37 }, ["transformer.wte.lora_embedding_B"] = { 24, 4 },
      ["lm_head.lora_A.weight"] = { 4, 24 }, ["lm_head.lora_B.weight"] = { 37, 4 } }
    refused("lm_head.weight and transformer.wte.weight are one tensor of the model, which would get both changes", 2,
      tied, "gpt2_adapter", {}, both)
    -- with ensure_weight_tying PEFT saves the table's factors again for the layer
    local rows = tied("gpt2_adapter", { ensure_weight_tying = true, target_modules = { "wte" } }, both)
    assert.same({ "transformer.wte.weight" }, words.map(rows, function(row) return row.target end))
    -- both of two tied biases are saved with `bias`
    local biases = { ["cls.predictions.bias"] = { 37 }, ["cls.predictions.decoder.bias"] = { 37 } }
    rows = tied("bert_adapter", {}, biases)
    assert.same({ "cls.predictions.bias" }, words.map(rows, function(row) return row.target end))
    biases["cls.predictions.bias"].bytes = ("\0\60"):rep(37)
    refused("cls.predictions.bias and cls.predictions.decoder.bias are one tensor of the model", 2, tied,
      "bert_adapter", {}, biases)
    both["lm_head.lora_A.weight"].bytes = ("\0\60"):rep(4 * 24)
    refused("target_modules: \"lm_head\" is not chosen", 3, tied, "gpt2_adapter",
      { ensure_weight_tying = true, target_modules = { "wte" } }, both)
  end)

  it("is refused in one line", function()
    refused("adapter: no such folder or file", 4, adapter.read, "/nowhere", {})
    refused("adapter: a file, but a folder of PEFT or a GGUF file is expected", 2, adapter.read,
      helper.file("PK", "a.bin"), {})
    refused("adapter_config.json: missing", 4, adapter.read, helper.folder(), {})
    refused("peft_type: \"IA3\" is not supported; LORA is", 2, adapter.read, folder { peft_type = "IA3" }, {})
    for key, config in pairs { rank_pattern = { rank_pattern = { ["(a"] = 1 } },
      target_modules = { target_modules = "(a" }, exclude_modules = { target_modules = ".*",
        exclude_modules = "(a" } } do
      refused(key .. ": \"(a\": missing closing parenthesis; supported are regular expressions of Python's re", 2,
        adapter.read, folder(config), {})
    end
    refused("r: 8, but", 3, adapter.read, folder { r = 8 }, {})
    refused("lora_alpha: \"x\", but a number is expected", 3, adapter.read, folder { lora_alpha = "x" }, {})
    refused("lora_bias: true, but there is no lora_B.bias", 3, adapter.read, folder { lora_bias = true }, {})
    refused("lora_bias: false, but there is a lora_B.bias", 3, adapter.read,
      folder({}, { [QUERY .. ".lora_B.bias"] = { 8 } }), {})
    refused("lora_bias: \"base_model.model.pooler.dense.lora_B.bias\" is no bias of factors", 3, adapter.read,
      folder({ lora_bias = true }, { ["pooler.dense.lora_B.bias"] = { 8 } }), {})
    refused("init_lora_weights: \"pissa\" is not supported: PEFT would change the model's weights, too", 2,
      adapter.read, folder { init_lora_weights = "pissa" }, {})
    refused("use_dora: true, but \"" .. QUERY .. "\" has no lora_magnitude_vector", 3, adapter.read,
      folder { use_dora = true }, {})
    refused("use_dora: false, but \"" .. QUERY .. "\" has a lora_magnitude_vector", 3, adapter.read,
      folder({}, { [QUERY .. ".lora_magnitude_vector"] = { 8 } }), {})
    refused("has one of two factors", 3, adapter.read, folder({}, { [QUERY .. ".lora_A.weight"] = false }), {})
    refused("do not fit together", 3, adapter.read, folder({}, { [QUERY .. ".lora_A.weight"] = { 3, 8 } }), {})
  end)

  it("has factors of the modules that its configuration chooses", function()
    local both = { "query", "output.dense" }
    for _, config in ipairs { { target_modules = both }, { target_modules = ".*dense|.*query" },
      { target_modules = "all-linear" }, { target_modules = ".*", exclude_modules = "layer.*" },
      { target_modules = "^(?!.*pooler)(?:.*?(?:encoder|text).*?(?:self|output).*?(?:query|dense).*?)|(?:\\bmodel)" },
      { target_modules = both, layers_to_transform = 0 }, { target_modules = both, layers_to_transform = { 1, 0 } },
      { target_modules = both, layers_to_transform = { 0 }, layers_pattern = "layer" },
      { target_modules = both, layers_to_transform = { 0 }, layers_pattern = { "h", "l[a-z]+r" } },
      { target_modules = { QUERY, DOWN }, layers_to_transform = { 5 } } } do
      adapter.read(folder(config), {})
    end
    for expression, module in pairs { ["dense|query"] = QUERY, [".*query"] = DOWN } do
      refused(("target_modules: \"%s\" is not chosen"):format(module), 3, adapter.read,
        folder { target_modules = expression }, {})
    end
    refused(("exclude_modules: \"%s\" is not chosen"):format(QUERY), 3, adapter.read,
      folder { target_modules = both, exclude_modules = "encoder\\.layer\\.\\d+\\.attention\\..*" }, {})
    for key, config in pairs { target_modules = { target_modules = { "query", "ense" } },
      exclude_modules = { target_modules = both, exclude_modules = { "self.query" } },
      layers_to_transform = { target_modules = both, layers_to_transform = { 1 } } } do
      local module = key == "target_modules" and DOWN or QUERY
      refused(("%s: \"%s\" is not chosen, so PEFT would not load it"):format(key, module), 3, adapter.read,
        folder(config), {})
    end
    -- the number of the layer is the first one, as that of an expert comes later
    local expert = "encoder.layer.1.experts.0.down"
    local more = { [expert .. ".lora_A.weight"] = { 4, 8 }, [expert .. ".lora_B.weight"] = { 8, 4 } }
    local targets = { "query", "output.dense", "down" }
    adapter.read(folder({ target_modules = targets, layers_to_transform = { 0, 1 } }, more), {})
    refused(("layers_to_transform: \"%s\" is not chosen"):format(expert), 3, adapter.read,
      folder({ target_modules = targets, layers_to_transform = { 0 } }, more), {})
    refused("layers_to_transform: ", 3, adapter.read,
      folder { target_modules = both, layers_to_transform = { 0 }, layers_pattern = { "h" } }, {})
  end)

  it("of another model is refused by its weights", function()
    refused("changes other.weight, which the model does not have", 2, model, {}, { ["other.lora_A.weight"] = { 4, 8 },
      ["other.lora_B.weight"] = { 8, 4 } })
    refused("is [4, 9], but the model's " .. QUERY .. ".weight is [8, 8]", 3, model, {},
      { [QUERY .. ".lora_A.weight"] = { 4, 9 } })
    refused("is [9, 4], but", 3, model, {}, { [QUERY .. ".lora_B.weight"] = { 9, 4 } })
    refused("is [7], but", 3, model, {}, { [QUERY .. ".bias"] = { 7 } })
    refused("which the model does not have", 2, model, {}, { ["other.weight"] = { 3 } })
    local state = model({}, { ["other.bias"] = { 3 } })
    assert.is_truthy(state.notes[#state.notes]:find("the model has none of the adapter's other.bias", 1, true))
  end)

  it("replaces a table that is the output's weight, too, if its configuration ties both", function()
    local function read(tensors_, ties) return tied("gpt2_adapter", { ensure_weight_tying = ties, r = 8 }, tensors_) end
    for _, tensor in ipairs { "transformer.wte.weight", "lm_head.weight" } do
      refused(tensor .. "\" takes the place of one of two tied weights: not supported without ensure_weight_tying", 2,
        read, { [tensor] = { 37, 24 } }, false)
    end
    assert.equal("transformer.wte.weight", read({ ["transformer.wte.weight"] = { 37, 24 } }, true)[1].target)
    for _, ties in ipairs { true, false } do
      local rows, said = read({ ["lm_head.lora_A.weight"] = { 8, 24 }, ["lm_head.lora_B.weight"] = { 37, 8 } }, ties)
      assert.same({ "lm_head.weight", "transformer.wte.weight" }, { rows[1].target, rows[1].names[1] })
      local expected = "the change of lm_head.weight is also one of the weight that is tied"
      assert.equal(not ties, said:find(expected, 1, true) ~= nil)
    end
  end)
end)

describe("an adapter of a GGUF file", function()
  teardown(helper.clean)

  local Q = "model.layers.0.self_attn.q_proj"

  -- Returns the rows of an adapter for a golden's file, with these tensors.
  local function rows_of(name, list, ...)
    local path, renamed = helper.folder(), {}
    for module, shape in pairs(list) do renamed["base_model.model." .. module] = shape end
    made.write(path .. "/adapter_config.json", made.json { peft_type = "LORA", r = 2, lora_alpha = 6 })
    made.write(path .. "/adapter_model.safetensors", made.safetensors(renamed))
    local state = pipeline.run(helper.root, ("%s/tests/hf/goldens/%s/%s.gguf"):format(helper.root, name, name),
      { "seq=5", "adapter=" .. path, ... }, "ranks")
    return state.adapter.rows, state.adapter.tensors
  end

  local of_queries = { [Q .. ".lora_A.weight"] = { 2, 32 }, [Q .. ".lora_B.weight"] = { 32, 2 } }

  it("changes the file's tensor, with rows in its order", function()
    local rows, tensors_ = rows_of("gguf_llama_adapter", of_queries, "weights=none")
    assert.equal(1, #rows)
    assert.same({ "blk.0.attn_q.weight" }, rows[1].names)
    assert.equal("base_model.model." .. Q .. ".lora_B.weight of blk.0.attn_q.weight", rows[1].outputs)
    assert.same({ 32, 2 }, tensors_[rows[1].outputs].shape)
    assert.equal("base_model.model." .. Q .. ".lora_A.weight", rows[1].inputs)
    assert.equal(3.0, rows[1].scale)
  end)

  it("has the rows of halves of heads as the file's pairs", function()
    local golden = helper.root .. "/tests/hf/goldens/gguf_llama_adapter"
    local given = adapter.read(golden .. "/adapter", {})
    local made_ = pipeline.run(helper.root, golden .. "/gguf_llama_adapter.gguf", { "seq=5", "weights=none",
      "adapter=" .. golden .. "/adapter" }, "ranks").adapter
    local name = "base_model.model." .. Q .. ".lora_B.weight"
    local from, to = given.tensors[name], made_.tensors[name .. " of blk.0.attn_q.weight"]
    local bytes = from.bytes // 32
    for row = 0, 31 do -- heads of 8: row 2d + s of a head is row 4s + d of the model's
      local place = row // 8 * 8 + row % 2 * 4 + row % 8 // 2
      assert.equal(given.text:sub(from.at + place * bytes + 1, from.at + (place + 1) * bytes),
        to.data:sub(row * bytes + 1, (row + 1) * bytes))
    end
  end)

  it("has the same rows where torch.save() wrote it", function()
    local path, name = helper.folder(), "base_model.model." .. Q .. ".lora_B.weight"
    made.write(path .. "/adapter_config.json", made.json { peft_type = "LORA", r = 2 })
    made.write(path .. "/adapter_model.bin", helper.read(helper.root .. "/tests/hf/torch/adapter_llama.bin"))
    local golden = helper.root .. "/tests/hf/goldens/gguf_llama_adapter/gguf_llama_adapter.gguf"
    local made_ = pipeline.run(helper.root, golden, { "seq=5", "weights=none", "adapter=" .. path }, "ranks").adapter
    local to = made_.tensors[name .. " of blk.0.attn_q.weight"]
    for row = 0, 31 do -- row r of the model's has the numbers r and r + 0.5
      local place = row // 8 * 8 + row % 2 * 4 + row % 8 // 2
      local one, other = ("<ff"):unpack(to.data, 8 * row + 1)
      assert.same({ place + 0.0, place + 0.5 }, { one, other })
    end
  end)

  it("is refused in one line", function()
    refused("weights=none makes floats of them", 2, rows_of, "gguf_llama_adapter", of_queries)
    refused("changes model.layers.7.x.weight, which the model does not have", 2, rows_of, "gguf_llama_adapter",
      { ["model.layers.7.x.lora_A.weight"] = { 2, 32 }, ["model.layers.7.x.lora_B.weight"] = { 32, 2 } },
      "weights=none")
    refused("is [33, 2], but the model's " .. Q .. ".weight is [32, 32]", 3, rows_of, "gguf_llama_adapter",
      { [Q .. ".lora_A.weight"] = { 2, 32 }, [Q .. ".lora_B.weight"] = { 33, 2 } }, "weights=none")
    refused("model.layers.0.input_layernorm.weight is in blk.0.attn_norm.weight in another form", 2, rows_of,
      "gguf_gemma", { ["model.layers.0.input_layernorm.weight"] = { 32 } }, "weights=none")
  end)
end)

describe("adapters next to the weights", function()
  teardown(helper.clean)

  -- Returns the state of a BertModel with adapters, which are overrides, or the folders of two: of all tensors above,
  -- and of the query's.
  local function beside(...)
    local words_ = { ... }
    if #words_ == 0 then
      local small = folder({ rank_pattern = {} }, { [DOWN .. ".lora_A.weight"] = false,
        [DOWN .. ".lora_B.weight"] = false })
      words_ = { "adapters.sql=" .. folder(), "adapters.tone=" .. small }
    end
    return pipeline.run(helper.root, made.checkpoint(made.config(), made.bert("bert.")), { "seq=5",
      table.unpack(words_) }, "ranks")
  end

  it("are two weights of a linear layer, with the ranks of all", function()
    local state = beside()
    local graph, adapted = state.primary.graph, state.entries[#state.entries - 1].graph
    assert.same({ "adapted", "forward" }, { adapted.entry.name, graph.entry.name })
    local ops = {}
    for _, op in ipairs(adapted.entry.ops) do if op.op == "adapt" then ops[op.result.name] = op end end
    assert.same({ "l0.attn.q", "l0.ff.down" }, words.sorted_keys(ops))
    assert.equal("0, 4, 8", ops["l0.attn.q"].attributes.first)
    assert.equal("0, 2, 2", ops["l0.ff.down"].attributes.first)
    local inputs, outputs = ops["l0.attn.q"].operands.inputs, ops["l0.attn.q"].operands.outputs
    assert.same({ { 8, 8 }, { 8, 8 } }, { inputs.shape, outputs.shape })
    assert.same({ "sql/base_model.model." .. QUERY .. ".lora_A.weight" }, inputs.from.stored[1].names)
    local view = outputs.from.views[2]
    assert.same({ 2, 4, 4, 1, 4, 1.5 }, { view.stored, view.row, view.rows, view.row_step, view.column_step,
      view.factor })
    for _, op in ipairs(graph.entry.ops) do assert.is_not.equal("adapt", op.op) end
  end)

  it("have the outputs of calls without one, inner tensors too", function()
    local state = pipeline.run(helper.root, made.checkpoint(made.config(), made.bert("bert.")),
      { "seq=5", "adapters.sql=" .. folder() }, "ranks", { exposed = true })
    local graph, adapted = state.primary.graph, state.entries[#state.entries - 1].graph
    assert.is_true(#graph.exposed > 5)
    assert.same(graph.exposed, adapted.exposed)
    local function members(of)
      return words.map(of.entry.outputs, function(name) return of.tensors[name].member end)
    end
    assert.same(members(graph), members(adapted))
  end)

  it("leave the code of calls without one as it is", function()
    local function forward(...)
      local state = pipeline.run(helper.root, made.checkpoint(made.config(), made.bert("bert.")), { "seq=5", "name=m1",
        ... })
      for _, file in ipairs(state.files) do
        if file.name == "m1.c" then
          return (file.text:gsub("^/%*.-%*/", ""):gsub("[^\n]*in%.?%->adapters[^\n]*\n", "")
            :gsub(", %.adapters = call%->in%[3%]", ""))
        end
      end
    end
    assert.equal(forward(), forward("adapters.sql=" .. folder()))
  end)

  it("are looked up with the tokens of a table", function()
    local path = folder({}, { ["embeddings.word_embeddings.lora_embedding_A"] = { 4, 11 },
      ["embeddings.word_embeddings.lora_embedding_B"] = { 8, 4 } })
    local entries = beside("adapters.sql=" .. path).entries
    local ops = {}
    for _, op in ipairs(entries[#entries - 1].graph.entry.ops) do ops[op.result.name] = op end
    local adapt = ops["input.embedded"] or ops["input.tokens.embedded"]
    assert.equal("adapt", adapt.op)
    assert.equal("embed", ops[adapt.operands.rows.name].op)
    local table_ = ops[adapt.operands.rows.name].operands.table
    assert.same({ 11, 4 }, table_.shape)
    assert.same({ 1, 11 }, { table_.from.views[1].row_step, table_.from.views[1].column_step })
    assert.equal("identity", adapt.operands.inputs.formula)
  end)

  it("may have copies of the model's own weights, in another type, which are left out", function()
    local copy, name = { 8, 8, dtype = "BF16" }, QUERY .. ".base_layer.weight"
    local found = beside("adapters.sql=" .. folder({}, { [name] = copy })).adapters[1]
    assert.is_nil(found.tensors["base_model.model." .. name])
    assert.is_nil(found.text:find("base_layer", 1, true))
    copy.bytes = ("\0"):rep(127) .. "\1"
    refused("a parameter in place of the model's", 2, beside,
      "adapters.sql=" .. folder({}, { [name] = copy }))
  end)

  it("are refused where a table of distances is made of what they change", function()
    local path, q = helper.folder(), "base_model.model.encoder.layer.0.attention.self.key_proj"
    made.write(path .. "/adapter_config.json", made.json { peft_type = "LORA", r = 2 })
    made.write(path .. "/adapter_model.safetensors", made.safetensors { [q .. ".lora_A.weight"] = { 2, 24 },
      [q .. ".lora_B.weight"] = { 24, 2 } })
    refused("of which a table of distances is made, which adapters cannot be kept next to", 2, pipeline.run,
      helper.root, helper.root .. "/tests/hf/goldens/deberta_v2_model", { "adapters.x=" .. path }, "ranks")
  end)

  it("reach a table of tokens by the name of its own module only", function()
    local path, shared = helper.folder(), "base_model.model.shared.lora_embedding_"
    made.write(path .. "/adapter_config.json", made.json { peft_type = "LORA", r = 2 })
    made.write(path .. "/adapter_model.safetensors", made.safetensors { [shared .. "A"] = { 2, 37 },
      [shared .. "B"] = { 24, 2 } })
    refused("changes shared.weight, which is no linear layer or table of tokens", 2, pipeline.run, helper.root,
      helper.root .. "/tests/hf/goldens/t5_writes", { "adapters.x=" .. path }, "ranks")
  end)

  it("are refused by name where they cannot be kept so", function()
    local function each(what, code, ...) refused(what, code, beside, "adapters.x=" .. folder(...)) end
    each("use_dora: the length of the sum of both, which cannot be kept next to the weights", 2, { use_dora = true },
      { [QUERY .. ".lora_magnitude_vector"] = { 8 }, [DOWN .. ".lora_magnitude_vector"] = { 8 } })
    each("a parameter in place of the model's, which cannot be kept", 2, {}, { ["pooler.dense.weight"] = { 8, 8,
      bytes = ("\1"):rep(128) } })
    each("changes embeddings.position_embeddings.weight, which is no linear layer or table of tokens", 2, {},
      { ["embeddings.position_embeddings.lora_embedding_A"] = { 4, 9 },
        ["embeddings.position_embeddings.lora_embedding_B"] = { 8, 4 } })
    each("lora_bias: a change of a bias, which cannot be kept", 2, { lora_bias = true },
      { [DOWN .. ".lora_B.bias"] = { 8 } })
    each("of rank 65 (1 to 64 are allowed)", 2, { r = 65 }, { [QUERY .. ".lora_A.weight"] = { 65, 8 },
      [QUERY .. ".lora_B.weight"] = { 8, 65 } })
    each("changes other.weight, which is no linear layer or table of tokens of the model", 2, {},
      { ["other.lora_A.weight"] = { 4, 8 }, ["other.lora_B.weight"] = { 8, 4 } })
    each("is [4, 9], but the model's " .. QUERY .. ".weight is [8, 8]", 3, {},
      { [QUERY .. ".lora_A.weight"] = { 4, 9 } })
    refused("adapter: no such folder", 4, beside, "adapters.x=/nowhere")
    refused("adapters.2: the name \"same\" is given twice", 2, beside, "adapters={'/a/same', '/b/same'}")
    refused("the name \"none\", but 1 to 64 letters", 2, beside, "adapters.none=/a")
    refused("adapters.same: is the model's name, by which", 2, beside, "name=same", "adapters.same=" .. folder())
    refused("adapters.x: 1, but the path of a folder or GGUF file is allowed", 2, beside, "adapters={x=1}")
    refused("do not go with adapter, which is a part of the weights", 2, beside, "adapters.x=" .. folder(),
      "adapter=" .. folder())
  end)
end)
