-- gguf_spec.lua: descriptions of GGUF files, and that metadata which is missing, wrong or not supported is refused in
-- one line by its name.
local helper = require("tests.spec.helper")
local architectures = require("checkpoints.architectures")
local faults = require("common.faults")
local gguf_file = require("tests.spec.gguf_file")
local import = require("checkpoints.import")
local names = require("checkpoints.names")
local pipeline = require("pipeline")

-- Writes a small Llama with changed metadata. Returns its path.
local function file(change, more)
  local entries, tensors = gguf_file.llama(change)
  table.move(more or {}, 1, #(more or {}), #tensors + 1, tensors)
  return helper.file(gguf_file.bytes(entries, tensors), "My-Model.Q4.gguf")
end

local function text(...) return (import.text(file(...))) end

local function refused(said, code, change, more)
  local fault = helper.fault(import.text, file(change, more))
  assert.same({ faults.code[code], 1 }, { fault.code, #fault.lines }, table.concat(fault.lines, "\n"))
  assert.matches("My%-Model%.Q4%.gguf: metadata:? \"?" .. said, fault.lines[1])
end

describe("a GGUF file in place of a folder", function()
  teardown(helper.clean)

  it("gives a description with its name, sizes and naming scheme", function()
    local made = text()
    for _, said in ipairs { '  name = "my_model_q4",', "  d_model = 32,", "  heads = 4,", "  kv_heads = 2,",
      "  layers = 2,", "  d_ff = 64,", "  eps = 1e-05,", "  rope_theta = 10000.0,",
      'names = { "gguf-llama", ["output.2.vocabulary.weight"] = "output.weight" }', "vocab = 300",
      "from its GGUF file.", "-- 20 tensors of type BF16, F16, F32, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0." } do
      assert.truthy(made:find(said, 1, true) or said:find("rope_theta") and made:find("rope_theta = 1e+04", 1, true),
        said .. "\n" .. made)
    end
    assert.falsy(made:find("tied = false", 1, true))
    assert.truthy(text(nil, { { "output.weight", "Q6_K", { 300, 256 } } }):find("tied = false", 1, true))
  end)

  it("is compiled as far as its tensors are found, and refused if they do not fit", function()
    local state = pipeline.run(helper.root, file(), { "seq=8" }, "graph")
    local from = state.primary.graph.tensors["l0.attn.q.weight"].from
    assert.same({ "blk.0.attn_q.weight" }, from.stored[1].names)
    assert.equal(2, from.views[1].row_step // 32, "pairs become halves")
    local fault = helper.fault(pipeline.run, helper.root,
      file { ["llama.feed_forward_length"] = { "UINT32", 96 } }, { "seq=8" }, "graph")
    assert.matches("blk.0.ffn_gate.weight: shape %[64, 32%], but the metadata and the command line ask for %[96, 32%]",
      table.concat(fault.lines, "\n"))
  end)

  it("may have queries, keys and values in one tensor, in blocks and in pairs", function()
    local entries, tensors = gguf_file.llama()
    local joined = {}
    for _, tensor in ipairs(tensors) do
      if not tensor[1]:find("attn_[qkv]%.") then joined[#joined + 1] = tensor end
    end
    for i = 0, 1 do joined[#joined + 1] = { ("blk.%d.attn_qkv.weight"):format(i), "Q5_1", { 64, 32 } } end
    local path = helper.file(gguf_file.bytes(entries, joined), "j.gguf")
    assert.matches('weights = {%s+"int5m"', (import.text(path)))
    local made = pipeline.run(helper.root, path, { "seq=8" }, "graph").primary.graph.tensors
    for name, first in pairs { q = 0, k = 32, v = 48 } do
      local from = made[("l1.attn.%s.weight"):format(name)].from
      assert.same({ { "blk.1.attn_qkv.weight" }, first, name == "v" and 1 or 2 },
        { from.stored[1].names, from.views[1].first // 32, from.views[1].row_step // 32 })
    end
  end)

  it("is refused if it has a part of a layer that no weight comes from", function()
    local more = { { "blk.1.attn_output.bias", "F32", { 32 } } }
    local fault = helper.fault(pipeline.run, helper.root, file(nil, more), { "seq=8" }, "graph")
    assert.same({ faults.code.format, 1 }, { fault.code, #fault.lines })
    assert.matches("gguf: blk.1.attn_output.bias: this part of the model is not supported$", fault.lines[1])
    for _, name in ipairs { "position_embd.weight", "dense_2.weight" } do
      more[1] = { name, "F32", { 64, 32 } }
      fault = helper.fault(pipeline.run, helper.root, file(nil, more), { "seq=8" }, "graph")
      assert.truthy(fault.lines[1]:find("gguf: " .. name .. ": this part of the model is not supported", 1, true))
    end
    for _, name in ipairs { "blk.2.attn_output.bias", "blk.0.cross_attn_rel_b.weight", "rope_freqs.weight" } do
      pipeline.run(helper.root, file(nil, { { name, "F32", { 4 }, ("\0\0\128\63"):rep(4) } }), { "seq=8" }, "graph")
    end
  end)

  it("has llama.cpp's values for keys that are missing or 0", function()
    for name, each in pairs {
      granite = { "granite.attention.scale", "FLOAT32", "scale = 0.35355" },
      command_r = { "command-r.logit_scale", "FLOAT32", 'name = "logits", scale = 1 }' },
      gemma2 = { "gemma2.final_logit_softcapping", "FLOAT32", 'vocabulary { name = "logits" }' },
      gemma3 = { "gemma3.attention.sliding_window", "UINT32", "layers = 6," },
      qwen3 = { "qwen3.attention.key_length", "UINT32", "kv_heads = 2,\n  layers = 2," },
      gpt_oss = { "gpt-oss.rope.scaling.type", "STRING", 'rope_theta = 1e+03,\n  input =', "none" },
      lfm2_moe = { "lfm2moe.leading_dense_block_count", "UINT32", "layers = { { short_conv = 3 }, {}," },
      olmo3 = { "olmo2.rope.freq_base", "FLOAT32", "rope_theta = 1e+02", 100 },
    } do
      local golden = helper.read(("%s/tests/hf/goldens/gguf_%s/gguf_%s.gguf"):format(helper.root, name, name))
      local key, kind, said, value = table.unpack(each)
      for _, place in ipairs(gguf_file.places(golden)) do
        if place.key == key then golden = gguf_file.with(golden, place, kind, value or 0) break end
      end
      local made = import.text(helper.file(golden, "g.gguf"))
      assert.truthy(made:find(said, 1, true), name .. "\n" .. made)
      assert.falsy(name == "olmo3" and made:find("5e+05", 1, true), "windows have the base of all layers")
    end
  end)

  it("has a base of positions of its own in layers with a window", function()
    for name, each in pairs {
      olmo3 = { "olmo2", { "rope_theta = 3e+02 }", "  rope_theta = 5e+05," } }, cohere2 = { "cohere2", { "= 3e+02," } },
      exaone4 = { "exaone4", { "= 3e+02," } },
    } do
      local golden = helper.read(("%s/tests/hf/goldens/gguf_%s/gguf_%s.gguf"):format(helper.root, name, name))
      local key = string.pack("<s8I4f", each[1] .. ".rope.freq_base_swa", 6, 300)
      local count = string.unpack("<I8", golden, 17)
      local rest = string.pack("<s8I4s8", "general.author", 8, ("a"):rep(-(#key + 34) % 32)) -- keeps the alignment
      local made = import.text(helper.file(golden:sub(1, 16) .. string.pack("<I8", count + 2) .. key .. rest
        .. golden:sub(25), "g.gguf"))
      for _, said in ipairs(each[2]) do assert.truthy(made:find(said, 1, true), name .. "\n" .. made) end
    end
  end)

  it("may be saved by llama.cpp, which writes every key, and lists with a value for each layer", function()
    assert.equal(text(), text { ["llama.rope.freq_base_swa"] = { "FLOAT32", 300 },
      ["llama.attention.key_length_swa"] = { "UINT32", 4 }, ["llama.rope.scaling.factor"] = { "FLOAT32", 0 },
      ["llama.attn_logit_softcapping"] = { "FLOAT32", 50 }, ["llama.attention.scale"] = { "FLOAT32", 0.5 },
      ["llama.rope.dimension_sections"] = { "ARRAY INT32", { 0, 0 } },
      ["llama.pooling_type"] = { "UINT32", 0xffffffff },
      ["llama.attention.sliding_window_pattern"] = { "ARRAY UINT32", { 0, 0 } } })
    for name, pattern in pairs { gpt_oss = { 0, 1 }, cohere2 = { 0, 1, 0, 1 }, gemma2 = { 0, 1 }, gemma3 = 1 } do
      local golden = helper.read(("%s/tests/hf/goldens/gguf_%s/gguf_%s.gguf"):format(helper.root, name, name))
      local key = gguf_file.entry(name:gsub("_", "-") .. ".attention.sliding_window_pattern",
        type(pattern) == "table" and "ARRAY UINT32" or "UINT32", pattern)
      local rest = string.pack("<s8I4s8", "general.author", 8, ("a"):rep(-(#key + 34) % 32))
      local made = import.text(helper.file(golden:sub(1, 16) .. string.pack("<I8", string.unpack("<I8", golden, 17) + 2)
        .. key .. rest .. golden:sub(25), "g.gguf"))
      local first, second = made:match("layers = {%s*({.-}),%s*({.*)")
      assert.same({ name, nil, type(pattern) == "table" and "window" or nil },
        { name, (first or made):match("window"), second and second:match("window") })
    end
  end)

  it("has rotary positions as its metadata says", function()
    local none = { ["llama.rope.scaling.type"] = { "STRING", "none" },
      ["llama.rope.scaling.factor"] = { "FLOAT32", 4 } }
    assert.falsy(text(none):find("rope_scaling", 1, true))
    local freqs = { { "rope_freqs.weight", "F32", { 4 }, string.pack("<ffff", 1, 2, 4, 8) } }
    assert.truthy(text { ["llama.rope.scaling.type"] = { "STRING", "longrope" },
      ["llama.rope.scaling.factor"] = { "FLOAT32", 4 } }:find('type = "linear"', 1, true))
    local both = text({ ["llama.rope.scaling.factor"] = { "FLOAT32", 2 } }, freqs)
    assert.truthy(both:find("long_factor = { 2.0, 4.0, 8.0, 16.0 }", 1, true)
      or both:find("long_factor = { 2, 4, 8, 16 }", 1, true), both)
    refused('llama.rope.scaling.type": yarn does not go with rope_freqs.weight', "format",
      { ["llama.rope.scaling.type"] = { "STRING", "yarn" }, ["llama.rope.scaling.factor"] = { "FLOAT32", 2 } }, freqs)
    assert.truthy(text { ["llama.rope.scaling.type"] = { "STRING", "linear" },
      ["llama.rope.scaling.factor"] = { "FLOAT32", 4 } }:find('rope_scaling = { factor = 4.0, type = "linear" }', 1,
      true) or text { ["llama.rope.scale_linear"] = { "FLOAT32", 4 } }:find('type = "linear"', 1, true))
    assert.truthy(text { ["llama.rope.scaling.type"] = { "STRING", "yarn" },
      ["llama.rope.scaling.factor"] = { "FLOAT32", 4 },
      ["llama.rope.scaling.original_context_length"] = { "UINT32", 16 } }:find("original = 16", 1, true))
    local factors = text(nil, { { "rope_freqs.weight", "F32", { 4 }, string.pack("<ffff", 1, 2, 4, 8) } })
    assert.truthy(factors:find("long_factor = { 1.0, 2.0, 4.0, 8.0 }", 1, true) or
      factors:find("long_factor = { 1, 2, 4, 8 }", 1, true), factors)
    refused('llama.rope.scaling.type": "ntk" is not supported; supported are none, linear, yarn and longrope', "format",
      { ["llama.rope.scaling.type"] = { "STRING", "ntk" } })
    refused('llama.rope.dimension_count": 4, but a head has 8', "format",
      { ["llama.rope.dimension_count"] = { "UINT32", 4 } })
  end)

  it("has a number of tokens as its table has rows, whatever its metadata says", function()
    for _, count in ipairs { 0, 299, 0xffffffff, 300 } do
      local made, notes = import.text(file { ["llama.vocab_size"] = { "UINT32", count } })
      assert.truthy(made:find("vocab = 300", 1, true))
      assert.equal(count ~= 300 and ("My-Model.Q4.gguf: metadata: llama.vocab_size: %d, but token_embd.weight has 300 "
        .. "rows, which count"):format(count) or nil, notes[1])
    end
    refused('llama.vocab_size": a number is expected', "format", { ["llama.vocab_size"] = { "STRING", "300" } })
  end)

  it("is refused by the key that is missing, wrong or not supported", function()
    refused('general.architecture": "mamba" is not supported; supported are bert, ', "usage",
      { ["general.architecture"] = { "STRING", "mamba" } })
    refused('general.architecture": is missing', "format", { ["general.architecture"] = false })
    refused('llama.block_count": is missing', "format", { ["llama.block_count"] = false })
    refused('llama.block_count": 0, but an integer from 1 to 1000 is expected', "format",
      { ["llama.block_count"] = { "UINT32", 0 } })
    refused('llama.block_count": 2147483648, but an integer from 1 to 1000 is expected', "format",
      { ["llama.block_count"] = { "UINT32", 1 << 31 } })
    local many = {}
    for i = 1, 1001 do many[i] = 2 end
    refused('llama.attention.head_count_kv": has 1001 values, but at most 1000 are supported', "format",
      { ["llama.attention.head_count_kv"] = { "ARRAY INT32", many } })
    refused('llama.block_count": two, but an integer from 1 to 1000 is expected', "format",
      { ["llama.block_count"] = { "STRING", "two" } })
    refused('llama.attention.layer_norm_rms_epsilon": 0%.0, but a positive number is expected', "format",
      { ["llama.attention.layer_norm_rms_epsilon"] = { "FLOAT32", 0 } })
    refused('llama.attention.head_count_kv": layers with different values are not supported', "format",
      { ["llama.attention.head_count_kv"] = { "ARRAY INT32", { 2, 4 } } })
    refused('llama.expert_used_count": is missing', "format", { ["llama.expert_count"] = { "UINT32", 8 } })
    refused('llama.attention.sliding_window_pattern: this list is not supported', "format",
      { ["llama.attention.sliding_window_pattern"] = { "ARRAY BOOL", { 1, 0 } } })
    refused('llama.nextn_predict_layers: 1 is not supported', "format",
      { ["llama.nextn_predict_layers"] = { "UINT32", 1 } })
    refused('llama.expert_gating_func: 2 is not supported', "format",
      { ["llama.expert_gating_func"] = { "UINT32", 2 } })
    assert.truthy(text { ["llama.attention.head_count_kv"] = { "ARRAY INT32", { 2, 2 } } }:find("kv_heads = 2"))
    local _, notes = import.text(file { ["llama.colour"] = { "UINT32", 3 } })
    assert.equal('My-Model.Q4.gguf: metadata: "llama.colour": not known: results may differ from llama.cpp\'s',
      notes[1])
  end)

  it("is refused by its own name, where config.json's keys of the family are", function()
    local entries, tensors = gguf_file.llama { ["llama.rope.scaling.factor"] = { "FLOAT32", 4 } }
    for _, entry in ipairs(entries) do entry[1] = entry[1]:gsub("^llama", "phi3") end
    entries[1][3] = "phi3"
    local lines = helper.fault(import.text, helper.file(gguf_file.bytes(entries, tensors), "p.gguf")).lines
    assert.equal(1, #lines)
    assert.matches('p.gguf: metadata, in words of config.json: rope: type "linear" is not supported; supported: '
      .. "default, longrope$", lines[1])
  end)

  it("names its tokenizer from the description's folder", function()
    local tokens = { ["tokenizer.ggml.model"] = { "STRING", "gpt2" } }
    local path = file(tokens)
    assert.truthy((import.text(path)):find('tokenizer = "My-Model.Q4.gguf"', 1, true))
    local elsewhere = helper.folder()
    local made = import.text(path, elsewhere .. "/m.lua")
    local place = made:match('tokenizer = "([^"]*)"')
    assert.equal(path, require("common.libuv").fs_realpath(elsewhere .. "/" .. place))
  end)

  it("may have 0 for what it has not", function()
    local golden = helper.read(helper.root .. "/tests/hf/goldens/gguf_phi3/gguf_phi3.gguf")
    local key = string.pack("<s8I4I4", "phi3.attention.sliding_window", 4, 4)
    local at = assert(golden:find(key, 1, true))
    local without = golden:sub(1, at - 1) .. key:sub(1, -5) .. "\0\0\0\0" .. golden:sub(at + #key)
    assert.truthy((import.text(helper.file(golden, "p.gguf"))):find("window = { 3, 0 }", 1, true))
    assert.falsy((import.text(helper.file(without, "p.gguf"))):find("window", 1, true))
  end)

  it("says which tokens end a text, and which part of a head is rotated", function()
    local stops = text { ["tokenizer.ggml.eos_token_id"] = { "UINT32", 7 },
      ["tokenizer.ggml.eot_token_id"] = { "UINT32", 9 }, ["tokenizer.ggml.eom_token_id"] = { "UINT32", 300 },
      ["tokenizer.ggml.model"] = { "STRING", "gpt2" } }
    assert.truthy(stops:find("generation = { stop = { 7, 9 } }", 1, true), stops)
    local tokens, kinds = {}, {}
    for i, token in ipairs { "a", "</s>", "<|im_end|>", "<|end|>", "<|call|>", "<|return|>", "<end_of_turn>" } do
      tokens[i], kinds[i] = token, i == 7 and 1 or i == 1 and 1 or i % 2 == 0 and 3 or 4
    end
    local words = { ["tokenizer.ggml.model"] = { "STRING", "gpt2" }, ["tokenizer.ggml.eos_token_id"] = { "UINT32", 2 },
      ["tokenizer.ggml.tokens"] = { "ARRAY STRING", tokens }, ["tokenizer.ggml.token_type"] = { "ARRAY INT32", kinds } }
    assert.equal("{ 2, 1, 4, 5 }", text(words):match("generation = { stop = (%b{})"), "<|end|> ends a message there")
    tokens[6], kinds[2] = "b", 4
    words["tokenizer.ggml.eos_token_id"] = { "UINT32", 2 }
    words["tokenizer.ggml.model"], words["tokenizer.ggml.tokens"] = { "STRING", "gpt2" }, { "ARRAY STRING", tokens }
    words["tokenizer.ggml.token_type"] = { "ARRAY INT32", kinds }
    assert.equal("{ 2, 3, 4 }", text(words):match("generation = { stop = (%b{})"))
    local golden = helper.root .. "/tests/hf/goldens/gguf_gptneox/gguf_gptneox.gguf"
    assert.truthy(import.text(golden):find("rope_dim = 4", 1, true))
  end)

  it("says how tokens are drawn", function()
    local words = { ["tokenizer.ggml.model"] = { "STRING", "gpt2" } }
    local function generation(more)
      for key, value in pairs(more) do words["general.sampling." .. key] = value end
      return (text(words):match("generation = (%b{})"))
    end
    assert.equal("{ draw = true, temperature = 0.5, top_k = 7, top_p = 0.25 }", generation { temp = { "FLOAT32", 0.5 },
      top_k = { "INT32", 7 }, top_p = { "FLOAT32", 0.25 } })
    assert.equal("{ draw = true, min_p = 0.125, repetition_penalty = 1.5, temperature = 0.5, top_k = 7, top_p = 0.25 }",
      generation { min_p = { "FLOAT32", 0.125 }, penalty_repeat = { "FLOAT32", 1.5 } })
    words["general.sampling.mirostat"] = { "INT32", 2 }
    local _, notes = import.text(file(words))
    assert.same({ "My-Model.Q4.gguf: metadata: general.sampling.mirostat: not supported, and left out: generated texts "
      .. "differ from llama.cpp's" }, notes)
    words = { ["tokenizer.ggml.model"] = { "STRING", "gpt2" } }
    assert.equal("{ draw = false, top_k = 7 }", generation { temp = { "FLOAT32", 0 }, top_k = { "INT32", 7 } })
  end)

  it("of a decoder may see both sides, and pool what it computes", function()
    local both = text { ["llama.attention.causal"] = { "BOOL", 0 } }
    assert.truthy(both:find('mask = "padding"', 1, true), both)
    assert.truthy(text { ["llama.attention.causal"] = { "BOOL", 1 } }:find('mask = { "causal"', 1, true))
    local pooled = text { ["llama.pooling_type"] = { "UINT32", 3 } }
    assert.truthy(pooled:find('pool { over = "last" },\n    normalise { name = "sentence_embedding" }', 1, true),
      pooled)
    refused('llama.pooling_type": 4 is not supported', "format", { ["llama.pooling_type"] = { "UINT32", 4 } })
    refused('llama.rope.scaling.attn_factor": is only supported with factors of frequencies', "format",
      { ["llama.rope.scaling.attn_factor"] = { "FLOAT32", 1.5 } })
  end)

  it("of OLMo 3 has the architecture of OLMo 2, and windows in some layers", function()
    local function of(name)
      return (import.text(("%s/tests/hf/goldens/gguf_%s/gguf_%s.gguf"):format(helper.root, name, name)))
    end
    assert.truthy(of("olmo3"):find("window = { 3, 0 }", 1, true))
    assert.falsy(of("olmo2"):find("window", 1, true))
    local golden = helper.read(helper.root .. "/tests/hf/goldens/gguf_olmo3/gguf_olmo3.gguf")
    local key = string.pack("<s8I4f", "olmo2.rope.scaling.attn_factor", 6, 1.2079441541679836)
    local at = assert(golden:find(key, 1, true))
    local other = golden:sub(1, at - 1) .. key:sub(1, -5) .. string.pack("<f", 1.5) .. golden:sub(at + #key)
    local line = helper.fault(import.text, helper.file(other, "o.gguf")).lines[1]
    assert.matches("attn_factor\": is only supported with factors of frequencies", line)
  end)

  it("of Gemma 4 has heads of two widths, shared projections, tokens in each layer, and experts", function()
    local entries = { { "general.architecture", "STRING", "gemma4" } }
    local function add(kind, values)
      for key, value in pairs(values) do entries[#entries + 1] = { "gemma4." .. key, kind, value } end
    end
    add("UINT32", { block_count = 2, context_length = 64, embedding_length = 16, embedding_length_per_layer_input = 4,
      expert_count = 4, expert_used_count = 2, expert_feed_forward_length = 8, feed_forward_length = 12,
      ["attention.head_count"] = 2, ["attention.key_length"] = 8, ["attention.value_length"] = 8,
      ["attention.key_length_swa"] = 4, ["attention.value_length_swa"] = 4, ["attention.sliding_window"] = 3,
      ["attention.shared_kv_layers"] = 0, ["rope.dimension_count"] = 8 })
    add("FLOAT32", { ["attention.layer_norm_rms_epsilon"] = 1e-6, ["rope.freq_base"] = 1e6,
      ["rope.freq_base_swa"] = 300, final_logit_softcapping = 4 })
    add("ARRAY INT32", { ["attention.head_count_kv"] = { 2, 1 } })
    add("ARRAY BOOL", { ["attention.sliding_window_pattern"] = { 1, 0 } })
    local tensors = { { "rope_freqs.weight", "F32", { 4 }, string.pack("<ffff", 1, 1e30, 1e30, 1e30) } }
    local function tensor(name, ...) tensors[#tensors + 1] = { name, "F32", { ... } } end
    tensor("token_embd.weight", 20, 16)
    tensor("per_layer_token_embd.weight", 20, 8)
    tensor("per_layer_model_proj.weight", 8, 16)
    tensor("per_layer_proj_norm.weight", 4)
    tensor("output_norm.weight", 16)
    for i, heads in ipairs { { 4, 2 }, { 8, 1 } } do
      local width, count = table.unpack(heads)
      for name, shape in pairs { ["attn_q.weight"] = { 2 * width, 16 }, ["attn_k.weight"] = { count * width, 16 },
        ["attn_output.weight"] = { 16, 2 * width }, ["attn_q_norm.weight"] = { width },
        ["attn_k_norm.weight"] = { width }, ["layer_output_scale.weight"] = { 1 }, ["ffn_gate.weight"] = { 12, 16 },
        ["ffn_up.weight"] = { 12, 16 }, ["ffn_down.weight"] = { 16, 12 }, ["ffn_gate_inp.weight"] = { 4, 16 },
        ["ffn_gate_inp.scale"] = { 16 }, ["ffn_down_exps.scale"] = { 4 }, ["ffn_gate_up_exps.weight"] = { 4, 16, 16 },
        ["ffn_down_exps.weight"] = { 4, 16, 8 }, ["inp_gate.weight"] = { 4, 16 }, ["proj.weight"] = { 16, 4 } } do
        tensor(("blk.%d.%s"):format(i - 1, name), table.unpack(shape))
      end
      for norm in ("attn_norm post_attention_norm ffn_norm post_ffw_norm post_norm post_ffw_norm_1 post_ffw_norm_2 "
        .. "pre_ffw_norm_2"):gmatch("%S+") do
        tensor(("blk.%d.%s.weight"):format(i - 1, norm), 16)
      end
    end
    tensor("blk.0.attn_v.weight", 8, 16)
    local path = helper.file(gguf_file.bytes(entries, tensors), "g.gguf")
    local made = import.text(path)
    for _, said in ipairs { "{ mask = { \"causal\", \"padding\", window = { 2, 0 } } },", "head_dim = 8, kv_heads = 1",
      "rope_scaling = { rotated = 2, type = \"proportional\" }, rope_theta = 1e+06, values = \"keys\" }",
      "rope_theta = 3e+02,", "layer_inputs = 4,",
      "experts = { count = 4, d_ff = 8, own_norms = true, scales = true, shared = 12, used = 2 }" } do
      assert.truthy(made:find(said, 1, true), said .. "\n" .. made)
    end
    local tensors_of = pipeline.run(helper.root, path, { "context=8" }, "graph").primary.graph.tensors
    assert.same({ "blk.1.ffn_gate_up_exps.weight" }, tensors_of["l1.ff.experts.up.weight"].from.stored[1].names)
    for key, said in pairs { ["gemma4.rope.dimension_count_swa"] = "2, but heads have 4: a part is not supported",
      ["gemma4.rope.scaling.factor"] = "2.0 is not supported" } do
      entries[#entries + 1] = { key, key:find("factor") and "FLOAT32" or "UINT32", 2 }
      local line = helper.fault(import.text, helper.file(gguf_file.bytes(entries, tensors), "g.gguf")).lines[1]
      assert.truthy(line:find(said, 1, true), line)
      entries[#entries] = nil
    end
    entries[#entries][3] = { 1, 1 }
    local line = helper.fault(import.text, helper.file(gguf_file.bytes(entries, tensors), "g.gguf")).lines[1]
    assert.matches("sliding_window_pattern\": the last layer has a window, which is not supported", line)
  end)

  it("of T5 has its own table of tokens beside that of its output", function()
    local function t5(more)
      local entries = { { "general.architecture", "STRING", "t5" } }
      for key, count in pairs { embedding_length = 32, feed_forward_length = 64, block_count = 1, context_length = 64,
        ["attention.head_count"] = 4, ["attention.key_length"] = 8, ["attention.relative_buckets_count"] = 32 } do
        entries[#entries + 1] = { "t5." .. key, "UINT32", count }
      end
      entries[#entries + 1] = { "t5.attention.layer_norm_rms_epsilon", "FLOAT32", 1e-6 }
      local tensors = { { "token_embd.weight", "F32", { 40, 32 } }, more }
      return (import.text(helper.file(gguf_file.bytes(entries, tensors), "t.gguf")))
    end
    local own = t5 { "output.weight", "F32", { 40, 32 } }
    assert.falsy(own:find("input.tokens.weight", 1, true), own)
    assert.truthy(own:find('["output.2.vocabulary.weight"] = { "output.weight"', 1, true), own)
    assert.falsy(t5():find("input.tokens.weight", 1, true))
  end)

  it("of every architecture has a naming scheme of its own", function()
    for name in pairs(architectures) do assert.is_table(names.scheme("gguf-" .. name), name) end
  end)
end)
