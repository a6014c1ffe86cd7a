-- values_spec: what each key of config.json becomes in the description, for every family. values.lua has the
-- description of a configuration that states its family alone, and the changes that each key makes. Nothing is built.
local helper = require("tests.spec.helper")
local families = require("checkpoints.families")
local headers = require("common.headers")
local heads = require("checkpoints.heads")
local json = require("common.json")
local made = require("tests.spec.checkpoints.made")
local pipeline = require("pipeline")
local values = require("tests.spec.checkpoints.values")

-- A table as path -> value; a list of plain values is one text.
local function flat(value, path, into)
  local plain = {}
  for i, each in ipairs(value) do plain[i] = type(each) ~= "table" and tostring(each) or nil end
  local count = 0
  for _ in pairs(value) do count = count + 1 end
  if path and count > 0 and #plain == count then
    into[path] = table.concat(plain, " ")
    return into
  end
  for key, each in pairs(value) do
    local name = path and path .. "." .. key or tostring(key)
    if type(each) == "table" then flat(each, name, into) else into[name] = each end
  end
  return into
end

-- Most configurations here have a file without tensors. They share a folder, as file systems make slowly what they
-- have just removed, and the file is read once: the program that reads it takes half the time of a case.
local shared
local read, is_read = headers.read, false
headers.read = function(path, ...) -- luacheck: ignore
  if path == shared and is_read then return { metadata = {}, tensors = {} } end
  local found = read(path, ...)
  if path == shared then
    assert.same({ metadata = {}, tensors = {} }, found)
    is_read = true
  end
  return found
end

-- The description of a folder with a configuration; tensors: name -> shape; more: files.
local function described(config, tensors, more)
  local folder
  if more or next(tensors or {}) then
    folder = made.checkpoint(made.json(config), tensors or {}, more)
  else
    shared = shared or made.checkpoint("", {})
    made.write(shared .. "/config.json", made.json(config))
    folder = shared
  end
  local description = pipeline.run(helper.root, folder, {}, "describe").description
  description.name = nil
  return flat(description, nil, {})
end

local function clean()
  helper.clean()
  shared = nil
end

-- A copy with keys more; values.NONE: a key less.
local function with(base, more)
  local result = {}
  for _, list in ipairs { base, more } do
    for key, value in pairs(list) do
      if value == values.NONE then result[key] = nil else result[key] = value end
    end
  end
  return result
end

-- Returns the differences as lines.
local function differences(expected, found)
  local lines, seen = {}, {}
  for _, list in ipairs { expected, found } do
    for key in pairs(list) do
      if not seen[key] and expected[key] ~= found[key] then
        lines[#lines + 1] = ("%s is %s, not %s"):format(key, tostring(found[key]), tostring(expected[key]))
      end
      seen[key] = true
    end
  end
  table.sort(lines)
  return lines
end

-- Compares a base with changes to what is found.
local function expect(base, changes, found, what)
  assert.same({}, differences(with(base, changes), found), what)
end

local function case_text(case) return made.json(case[1]) end

describe("config.json", function()
  teardown(clean)

  for model_type, family in pairs(values.families) do
    it("of " .. model_type .. " has transformers' defaults", function()
      expect(family.base, {}, described { model_type = model_type })
    end)

    it("of " .. model_type .. " gives each key's value", function()
      for _, case in ipairs(family.cases) do
        local config = with({ model_type = model_type }, case[1])
        expect(family.base, case[2], described(config, case.tensors), case_text(case))
      end
    end)

    it("of " .. model_type .. " gives the stages of each class", function()
      local begin = families.by_type[model_type].model_types[model_type]
      for suffix in pairs(families.by_type[model_type].heads) do
        local is_of_both = suffix == "CLIPModel" or suffix:find("^Siglip") -- of the folder of both towers
        if is_of_both then goto next end
        local expected = family.classes[suffix]
        assert.is_table(expected, suffix)
        local config = with({ model_type = model_type, architectures = { begin .. suffix } }, expected.config or {})
        local without = with(family.base, { ["output.1.stage"] = values.NONE, ["output.1.name"] = values.NONE,
          names = values.NONE })
        expect(without, expected[1], described(config), suffix)
        ::next::
      end
    end)
  end

  it("has a case for each key and each of its names, in every family", function()
    for model_type, family in pairs(families.by_type) do
      local is_whole = family.inside and family.inside[model_type] -- another model_type has the keys
      local expected, seen = values.families[model_type], {}
      for other in pairs(is_whole and family.model_types or {}) do expected = expected or values.families[other] end
      if family.pictures then goto next end -- goldens.py has them, of two parts
      assert.is_table(expected, model_type)
      for _, case in ipairs(expected.cases) do for key in pairs(case[1]) do seen[key] = true end end
      for _, class in pairs(expected.classes) do for key in pairs(class.config or {}) do seen[key] = true end end
      for _, entry in ipairs(family.config) do
        for _, key in ipairs(entry) do assert.is_true(seen[key], ("%s: %s"):format(model_type, key)) end
      end
      ::next::
    end
  end)

  it("is refused where a key has another value than every model of the family that is supported", function()
    for model_type, config in pairs { albert = { inner_group_num = 2 }, mpnet = { relative_attention_num_buckets = 16 },
      roberta = { position_embedding_type = "relative_key" }, bert = { is_decoder = true },
      llama = { partial_rotary_factor = 0.5 }, gpt2 = { scale_attn_weights = false },
      wav2vec2 = { add_adapter = true }, hubert = { conv_pos_batch_norm = true } } do
      local key = next(config)
      local line = helper.fault(described, with({ model_type = model_type }, config)).lines[1]
      assert.is_truthy(line:find("config.json: " .. key .. ": ", 1, true), line)
    end
    local base = values.families.albert.base
    expect(base, {}, described { model_type = "albert", inner_group_num = 1, is_decoder = false })
  end)

  it("of older folders of CLIP has a second object for a part, which counts alone", function()
    local config = { model_type = "clip", text_config_dict = { hidden_size = 32 },
      text_config = { hidden_act = "gelu", hidden_size = 64, num_hidden_layers = 3 },
      vision_config = { hidden_act = "gelu" }, vision_config_dict = json.null }
    local function of(tower)
      return pipeline.run(helper.root, made.checkpoint(made.json(config), {}), { tower }, "describe").description
    end
    assert.same({ "quick_gelu", 32, 12 }, { of("tower=text").activation, of("tower=text").d_model,
      of("tower=text").layers })
    assert.equal("gelu", of(nil).activation)
  end)

  it("of a model of text and images gives the text part", function()
    local text = { model_type = "gemma3_text", num_hidden_layers = 2, sliding_window = 5 }
    local whole = { model_type = "gemma3", architectures = { "Gemma3ForConditionalGeneration" }, text_config = text,
      vision_config = { model_type = "siglip_vision_model" } }
    expect(described(with(text, { architectures = { "Gemma3ForCausalLM" } })), {}, described(whole))
    assert.is_nil(described(with(whole, { architectures = { "Gemma3ForConditionalGeneration" } }))["output.2.tied"])
    assert.is_false(described(with(whole, { tie_word_embeddings = false }))["output.2.tied"])
    assert.equal(26, #pipeline.run(helper.root, made.checkpoint(made.json { model_type = "gemma3" }, {}), {},
      "describe").description.layers)
    local line = helper.fault(described, { model_type = "gemma3", text_config = 5 }).lines[1]
    assert.is_truthy(line:find("config.json: text_config: 5, but an object is expected", 1, true), line)
  end)

  it("is refused by name where a decoder would compute something else", function()
    for _, case in ipairs {
      { { model_type = "gemma2", use_bidirectional_attention = true }, "use_bidirectional_attention: true" },
      { { model_type = "bloom", is_causal = false }, "is_causal: false is not supported in models with ALiBi" },
      { { model_type = "gpt_neo", is_causal = false }, "is_causal: false is not supported, as transformers is causal" },
      { { model_type = "falcon", alibi = true, is_causal = false }, "is_causal: false is not supported in models" },
      { { model_type = "gemma2", num_hidden_layers = 1, layer_types = { "chunked_attention" } },
        'layer_types: "chunked_attention" is not supported; supported are full_attention, sliding_attention' },
      { { model_type = "qwen3", layer_types = "full_attention" },
        'layer_types: "full_attention", but a list is expected' },
      { { model_type = "qwen3", layer_types = { "full_attention" } },
        "layer_types: 1 values, but one for each of 32 layers is expected" },
      { { model_type = "qwen2", num_hidden_layers = 1, layer_types = { "sliding_attention" } },
        "layer_types: sliding_attention without use_sliding_window" },
      { { model_type = "smollm3", num_hidden_layers = 2, no_rope_layers = { 1 } },
        "no_rope_layers: 0 or 1 is expected for each of 2 layers" },
      { { model_type = "phi", partial_rotary_factor = 0.4 },
        "rope: partial_rotary_factor: it rotates 25 of 64 dimensions of a head, but an even number is expected" },
      { { model_type = "llama", rope_parameters = { partial_rotary_factor = 0.5 } },
        "rope: partial_rotary_factor is not supported" },
      { { model_type = "qwen2", rope_parameters = { full_attention = { rope_theta = 5.0 } } },
        "rope: full_attention: parameters by types of layers are not supported in this family" },
      { { model_type = "phi3", rope_scaling = { type = "linear", factor = 2.0 } },
        'rope: type "linear" is not supported; supported: default, longrope' },
      { { model_type = "gemma3_text", rope_parameters = { rope_theta = 5.0 } },
        'rope_parameters: "rope_theta" is not supported; supported are full_attention, sliding_attention' },
      { { model_type = "gemma3n_text", activation_sparsity_pattern = { 0.5 } },
        "activation_sparsity_pattern: 1 values, but one for each of 35 layers is expected" },
      { { model_type = "gemma3n_text", num_hidden_layers = 1, activation_sparsity_pattern = { 1.0 } },
        "activation_sparsity_pattern: value 1 is not supported: 0, and numbers from 0.0001 to 0.9999 are" },
      { { model_type = "gemma3n_text", num_hidden_layers = 2, intermediate_size = { 5, 6, 7 } },
        "intermediate_size: 3 values, but one for each of 2 layers is expected" },
      { { model_type = "gemma3n_text", num_hidden_layers = 2, intermediate_size = { 5, "x" } },
        "intermediate_size: value 2 is no integer of at least 1" },
      { { model_type = "gemma3n_text", altup_num_inputs = 17 }, "altup_num_inputs: 17 is not supported: 2 to 16 are" },
      { { model_type = "gemma3n_text", altup_active_idx = 4 }, "altup_active_idx: 4, but altup_num_inputs is 4" },
      { { model_type = "gemma3n_text", vocab_size = 9 }, "vocab_size_per_layer_input: 262144, but vocab_size is 9" },
      { { model_type = "gemma3n_text", num_hidden_layers = 4 },
        "num_kv_shared_layers: 15, but no layer of this kind before layer 0 has keys of its own" },
      { { model_type = "gemma4_text", enable_moe_block = true },
        "num_experts: missing, but enable_moe_block is true" },
      { { model_type = "gemma4_text", enable_moe_block = true, num_experts = 3, top_k_experts = 2 },
        "moe_intermediate_size: missing, but enable_moe_block is true" },
      { { model_type = "new", rope_scaling = { type = "linear", factor = 2.0 } },
        'rope_scaling: type "linear" is not supported; supported is ntk without mixed_b' },
      { { model_type = "new", rope_scaling = { type = "ntk", factor = "x" } },
        "rope_scaling.factor: a number of at least 1 is expected" },
      { { model_type = "new", position_embedding_type = "absolute" }, 'position_embedding_type: "absolute"' },
      { { model_type = "nomic_bert", expert_choice_router = true }, "expert_choice_router: true is not supported: ex" },
      { { model_type = "nomic_bert", activation_function = "swiglu" }, "rotary_emb_fraction: 1 is expected" },
      { { model_type = "modernbert", classifier_pooling = "max" },
        'classifier_pooling: "max" is not supported; supported are cls, mean' },
      { { model_type = "gemma", quantization_config = { bits = 4 } }, "quantization_config: quant_method: nil" },
      { { model_type = "opt", layer_norm_elementwise_affine = false }, "layer_norm_elementwise_affine: false is not" },
      { { model_type = "bloom", apply_residual_connection_post_layernorm = true },
        "apply_residual_connection_post_layernorm: true is not supported: residuals" },
      { { model_type = "bloom", slow_but_exact = true }, "slow_but_exact: true is not supported: products in slices" },
      { { model_type = "mpt", attn_config = { qk_ln = true } }, "attn_config: qk_ln: true is not supported" },
      { { model_type = "mpt", attn_config = { alibi = false } }, "attn_config: alibi: false is not supported" },
      { { model_type = "mpt", attn_config = 5 }, "attn_config: 5, but an object is expected" },
      { { model_type = "mpt", expansion_ratio = 3 }, "expansion_ratio: 3 is not supported" },
      { { model_type = "layoutlmv3", coordinate_size = 100 },
        "coordinate_size: 100, but four of them and two of shape_size, 128, must be hidden_size, 768" },
      { { model_type = "layoutlmv3", has_spatial_attention_bias = false }, "has_spatial_attention_bias: false, but "
        .. "models of pictures add numbers for boxes as well", { ["patch_embed.proj.weight"] = { 768, 3, 16, 16 } } },
      { { model_type = "layoutlmv3", patch_size = { 16, 8 } }, "patch_size: patches that are not square are not",
        { ["patch_embed.proj.weight"] = { 768, 3, 16, 8 } } },
      { { model_type = "layoutlmv3", text_embed = false }, "text_embed: false is not supported" },
      { { model_type = "siglip2_vision_model", num_patches = 50 },
        "num_patches: 50 is not supported: the square of at most 64 is" },
      { { model_type = "siglip2_vision_model", num_patches = 4225 }, "num_patches: 4225 is not supported" },
      { { model_type = "siglip2_vision_model", patch_size = { 14, 16 } }, "patch_size: patches that are not square" },
      { { model_type = "siglip2_vision_model", vision_use_head = false }, "vision_use_head: false is not supported" },
      { { model_type = "gptj", rotary_dim = json.null }, "rotary_dim: null is not supported" },
      { { model_type = "gpt_neo", num_layers = 2, attention_types = { { { "global" }, 3 } } },
        "attention_types: global or local is expected for each of 2 layers" },
      { { model_type = "gpt_neo", num_layers = 2, attention_types = { { { "global", "far" }, 1 } } },
        "attention_types: global or local is expected for each of 2 layers" },
      { { model_type = "gpt_neo", num_layers = 2, attention_types = { "global" } },
        "attention_types: global or local is expected for each of 2 layers" },
      { { model_type = "exaone4", sliding_window_pattern = "LLLG" },
        'sliding_window_pattern: "LLLG", but a number or layer_types is expected' },
      { { model_type = "ministral3", rope_parameters = { rope_type = "default", llama_4_scaling_beta = 0.1 } },
        "rope: llama_4_scaling_beta: does not go with type default" },
      { { model_type = "distilbert", dim = 24, hidden_size = 48 }, "hidden_size: 48, but dim is 24" },
      { { model_type = "moonshine", encoder_num_attention_heads = 4 },
        "encoder_num_attention_heads: 4, but decoder_num_attention_heads, 8, is the only supported number" },
      { { model_type = "moonshine", decoder_num_key_value_heads = 4 },
        "decoder_num_key_value_heads: 4, but decoder_num_attention_heads, 8, is the only supported number" },
      { { model_type = "moonshine", encoder_num_key_value_heads = 4 },
        "encoder_num_key_value_heads: 4, but decoder_num_attention_heads, 8, is the only supported number" },
      { { model_type = "whisper", num_key_value_heads = 2, encoder_attention_heads = 4 },
        "num_key_value_heads: 2, but encoder_attention_heads is 4" },
      { { model_type = "olmoe", sliding_window = 128 }, "sliding_window: 128 is not supported" },
      { { model_type = "phi3", hidden_act = "relu2" }, 'hidden_act: "relu2" is not supported' },
    } do
      local line = helper.fault(described, case[1], case[3]).lines[1]
      assert.is_truthy(line:find("config.json: " .. case[2], 1, true), line)
    end
  end)

  it("takes two names of a key that have one value", function()
    assert.equal(24, described { model_type = "distilbert", dim = 24, hidden_size = 24 }.d_model)
    assert.equal(24, described { model_type = "distilbert", dim = json.null, hidden_size = 24 }.d_model)
    assert.equal(24, described { model_type = "distilbert", dim = 24, hidden_size = json.null }.d_model)
  end)

  it("gives activations their names", function()
    for word, expected in pairs(values.activations) do
      assert.equal(expected, described { model_type = "bert", hidden_act = word }.activation, word)
    end
    for word in pairs(heads.activations) do assert.is_string(values.activations[word], word) end
  end)

  it("gives scaled rotary positions the numbers that transformers computes", function()
    local llama = values.families.llama
    for _, case in ipairs(values.rotary) do
      local config = with({ model_type = "llama", max_position_embeddings = 64 }, case[1])
      local found, attention = described(config), case[2]["rope_scaling.attention_factor"]
      if attention and found["rope_scaling.attention_factor"] then
        assert.is_true(math.abs(found["rope_scaling.attention_factor"] - attention) <= 1e-12, case_text(case))
        found["rope_scaling.attention_factor"] = attention
      end
      expect(with(llama.base, { seq = 64 }), case[2], found, case_text(case))
    end
  end)
end)

describe("the files beside config.json", function()
  teardown(clean)

  local tokenizer = { ["vocab.txt"] = "[UNK]" }
  local class = { model_type = "bert", architectures = { "BertForSequenceClassification" } }

  it("make labels of id2label, as many as the tensors have", function()
    local three = { ["classifier.weight"] = { 3, 768 } }
    local named = with(class, { id2label = { ["0"] = "no", ["1"] = "perhaps", ["2"] = "yes" } })
    assert.same({ 3, "no perhaps yes" }, { described(named, three, tokenizer)["output.3.to"],
      described(named, three, tokenizer).labels })
    assert.equal(3, described(named, nil, tokenizer)["output.3.to"])
    assert.is_nil(described(named, three).labels)
    assert.is_nil(described(named, { ["classifier.weight"] = { 4, 768 } }, tokenizer).labels)
    assert.same({ 4, 2 }, { described(named, { ["classifier.weight"] = { 4, 768 } })["output.3.to"],
      described(class)["output.3.to"] })
    for problem, expected in pairs { multi_label_classification = "sigmoid", regression = "none",
      single_label_classification = values.NONE } do
      local found = described(with(named, { problem_type = problem }), three, tokenizer).label_function
      assert.equal(expected ~= values.NONE and expected or nil, found, problem)
      local stated = described(with(class, { problem_type = problem,
        sbert_ce_default_activation_function = "torch.nn.modules.activation.Sigmoid" }),
        { ["classifier.weight"] = { 1, 768 } }, tokenizer)
      assert.equal("sigmoid", stated.label_function, problem)
      local tagger = with(class, { problem_type = problem, architectures = { "BertForTokenClassification" } })
      assert.is_nil(described(tagger, three, tokenizer).label_function)
      assert.equal("softmax", described(tagger, { ["classifier.weight"] = { 1, 768 } }, tokenizer).label_function)
    end
  end)

  it("make probabilities of a cross-encoder's several scores as it does", function()
    for word, expected in pairs { Sigmoid = "sigmoid", Identity = values.NONE, Softmax = values.NONE } do
      local several = with(class, { sentence_transformers = { activation_fn = "torch.nn." .. word } })
      local found = described(several, { ["classifier.weight"] = { 3, 768 } }, tokenizer).label_function
      assert.equal(expected ~= values.NONE and expected or nil, found, word)
    end
  end)

  it("say where the tokenizer is", function()
    assert.equal(".", described({ model_type = "bert" }, nil, tokenizer).tokenizer)
    assert.is_nil(described({ model_type = "vit" }, nil, tokenizer).tokenizer)
    assert.is_nil(described({ model_type = "bert" }, nil, { ["vocab.json"] = "{}" }).tokenizer)
    assert.equal(".", described({ model_type = "bert" }, nil, { ["vocab.json"] = "{}", ["merges.txt"] = "" })
      .tokenizer)
  end)

  -- The description of a folder of sentence-transformers with modules after its model.
  local function sentence(modules, limits, config)
    local list = { { type = "sentence_transformers.models.Transformer", path = "" } }
    local more = { ["sentence_bert_config.json"] = limits and made.json(limits) or nil }
    for i, module in ipairs(modules) do
      list[i + 1] = { type = "sentence_transformers.models." .. module[1], path = i .. "_" .. module[1] }
      more[("%d_%s/config.json"):format(i, module[1])] = made.json(module[2])
      if module[1] == "Dense" or module[1] == "LayerNorm" then
        more[("%d_%s/model.safetensors"):format(i, module[1])] = made.safetensors({})
      end
    end
    more["modules.json"] = made.json(list)
    return described(with({ model_type = "bert" }, config or {}), nil, more)
  end

  it("of sentence-transformers give each pooling", function()
    for word, expected in pairs(values.pools) do
      assert.equal(expected, sentence({ { "Pooling", { pooling_mode = word } } })["output.1.over"], word)
    end
    for word, expected in pairs(values.older_pools) do
      local found = sentence({ { "Pooling", { ["pooling_mode_" .. word] = true } } })
      assert.equal(expected, found["output.1.over"], word)
    end
    assert.equal("mean", sentence({ { "Pooling", { word_embedding_dimension = 768 } } })["output.1.over"])
    assert.equal("last max", sentence({ { "Pooling", { pooling_mode = { "lasttoken", "max" } } } })["output.1.over"])
    assert.equal("first max mean", sentence({ { "Pooling", { pooling_mode_mean_tokens = true,
      pooling_mode_max_tokens = true, pooling_mode_cls_token = true, pooling_mode_lasttoken = false } } })
      ["output.1.over"])
  end)

  it("of sentence-transformers give each dense layer", function()
    local pooling = { "Pooling", { pooling_mode = "mean" } }
    for word, expected in pairs(values.dense) do
      local found = sentence { pooling, { "Dense", { out_features = 5, activation_function = word } } }
      assert.same({ "linear", 5, expected ~= values.NONE and expected or nil, "sentence_embedding" },
        { found["output.2.stage"], found["output.2.to"], found["output.2.activation"], found["output.2.name"] }, word)
      assert.equal("2_Dense/linear", found["names.output.2.linear"])
      assert.is_nil(found["output.2.bias"])
    end
    local found = sentence { pooling, { "Dense", { out_features = 5, bias = false } }, { "Normalize", {} } }
    assert.same({ "tanh", false, "normalise" }, { found["output.2.activation"], found["output.2.bias"],
      found["output.3.stage"] })
    assert.is_nil(found["output.2.name"])
  end)

  it("of sentence-transformers give layer norms, which have their own kind", function()
    local pooling, norm = { "Pooling", { pooling_mode = "mean" } }, { "LayerNorm", { dimension = 768 } }
    local found = sentence { pooling, norm }
    assert.same({ "norm", "layer", 1e-5, "sentence_embedding", "2_LayerNorm/norm" }, { found["output.2.stage"],
      found["output.2.kind"], found["output.2.eps"], found["output.2.name"], found["names.output.2.norm"] })
    -- Before pooling a module works on the rows of tokens.
    local of_tokens = { "Dense", { out_features = 5, module_input_name = "token_embeddings" } }
    assert.same({ "linear", "pool" }, { sentence({ of_tokens, pooling })["output.1.stage"],
      sentence({ of_tokens, pooling })["output.2.stage"] })
  end)

  it("of sentence-transformers are refused by name where a module does something else", function()
    local pooling = { "Pooling", { pooling_mode = "mean" } }
    local function refused(modules, expected)
      local fault = helper.fault(sentence, modules)
      assert.equal(2, fault.code)
      assert.is_truthy(fault.lines[1]:find(expected, 1, true), fault.lines[1])
    end
    for _, case in ipairs {
      { { pooling, { "Asym", {} } }, "Asym is not supported: texts go through different modules by their kind" },
      { { pooling, { "Router", {} } }, "Router is not supported: texts go through different modules" },
      { { pooling, { "LSTM", {} } }, "LSTM is not supported: it is recurrent" },
      { { pooling, { "Own", {} } }, "Own is not supported; supported after Transformer are Pooling, Dense, LayerNorm" },
      { { { "Normalize", {} }, { "Dense", { out_features = 5, use_residual = true } } },
        "2_Dense/config.json: use_residual: true is not supported" },
      { { pooling, { "Dense", { out_features = 5, module_input_name = "token_embeddings" } } },
        'Dense: from "token_embeddings" to "token_embeddings" is not supported here; supported is sentence_embedding' },
      { { pooling, { "Normalize", { module_input_name = "token_embeddings" } } },
        'Normalize: from "token_embeddings" to "token_embeddings" is not supported here' },
      { { { "Normalize", {} }, pooling }, 'Normalize: from "sentence_embedding" to "sentence_embedding" is not' },
      { { { "LayerNorm", {} }, pooling }, 'LayerNorm: from "sentence_embedding" to "sentence_embedding" is not' },
      { { pooling, { "Dense", { out_features = 5, activation_function = "torch.nn.modules.activation.Mish" } } },
        'activation_function "torch.nn.modules.activation.Mish" is not supported; supported are GELU, Identity' },
      { { pooling, { "Dense", { out_features = 5, activation_function = "own.Tanh" } } }, '"own.Tanh" is not' },
      { { pooling, { "Dense", { out_features = 5, activation_function = 5 } } }, "is not supported" },
      { {}, "there is no Pooling" },
    } do refused(case[1], case[2]) end
  end)

  it("of sentence-transformers bound the length", function()
    local pooling = { { "Pooling", { pooling_mode = "mean" } } }
    assert.same({ 128, 20, 128 }, { sentence(pooling).seq, sentence(pooling, { max_seq_length = 20 }).seq,
      sentence(pooling, { max_seq_length = 1000 }).seq })
    assert.equal(40, sentence(pooling, { max_seq_length = 1000 }, { max_position_embeddings = 40 }).seq)
  end)
end)
