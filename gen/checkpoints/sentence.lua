-- sentence.lua: turns the modules of a sentence-transformers folder into stages after the layers.
-- The modules are pooling, dense layers, layer norms, and scaling to a unit vector. A cross-encoder has none of them.
local faults = require("common.faults")
local json = require("common.json")
local known = require("common.known")

local sentence = {}

local SETTINGS = "config_sentence_transformers.json: "

local function refuse(what) faults.raise("usage", "modules.json: " .. what) end

-- A pooling's old key, its new word and attn2c's word, in the order in which several results are concatenated.
local pools = {
  { "cls_token", "cls", "first" }, { "max_tokens", "max", "max" }, { "mean_tokens", "mean", "mean" },
  { "mean_sqrt_len_tokens", "mean_sqrt_len_tokens", "root" },
  { "weightedmean_tokens", "weightedmean", "weighted" }, { "lasttoken", "lasttoken", "last" },
}

local function pooling_words(config)
  local mode = config.pooling_mode
  if type(mode) == "string" then mode = { mode } end
  local list = {}
  if type(mode) == "table" and mode ~= json.null then
    local by_word = {}
    for _, pool in ipairs(pools) do by_word[pool[2]] = pool[3] end
    for i, word in ipairs(mode) do
      list[i] = by_word[word] or refuse(("Pooling: pooling_mode %s is not supported"):format(faults.quote(word)))
    end
    return list
  end
  for _, pool in ipairs(pools) do
    if config["pooling_mode_" .. pool[1]] == true then list[#list + 1] = pool[3] end
  end
  return #list > 0 and list or { "mean" }
end

local kinds = {}

function kinds.Pooling(module, stages, has_prompts)
  local config = module.config or refuse("Pooling: has no config.json")
  local list, without = pooling_words(config), has_prompts and config.include_prompt == false
  for _, word in ipairs(without and list or {}) do
    if word == "first" then refuse("Pooling: cls after a prompt that is left out (include_prompt) is not supported") end
  end
  stages[#stages + 1] = { "pool", over = #list == 1 and list[1] or list,
    mask = without or nil }
end

-- The last part of the path of a class of torch.nn, such as torch.nn.modules.activation.Tanh.
local activations = { Tanh = "tanh", ReLU = "relu", GELU = "gelu", SiLU = "silu", Sigmoid = "sigmoid" }

-- Returns the activation of a dense layer, or nil for none. Without a word it is Tanh.
local function activation_of(path)
  if path == nil then return activations.Tanh end
  local word = type(path) == "string" and path:find("^torch%.") and path:match("([%w_]+)$")
  if word == "Identity" then return nil end
  return activations[word] or refuse(("Dense: activation_function %s is not supported; supported are GELU, Identity, "
    .. "ReLU, Sigmoid, SiLU and Tanh of torch.nn"):format(faults.quote(path)))
end

-- Refuses a module that reads or writes something else than the module before it gave.
local function check_place(module, stages)
  local name = #stages == 0 and "token_embeddings" or "sentence_embedding"
  local from = module.config.module_input_name or "sentence_embedding"
  local to = json.given(module.config, "module_output_name", from)
  if from == name and to == name then return end
  refuse(("%s: from %s to %s is not supported here; supported is %s"):format(module.kind, faults.quote(from),
    faults.quote(to), name))
end

function kinds.Dense(module, stages)
  local config = module.config or refuse("Dense: has no config.json")
  check_place(module, stages)
  if math.type(config.out_features) ~= "integer" then refuse("Dense: out_features is missing") end
  stages[#stages + 1] = { "linear", to = config.out_features, activation = activation_of(config.activation_function),
    bias = config.bias ~= false, tensor = module.path .. "/linear" }
end

function kinds.LayerNorm(module, stages)
  if not module.config then refuse("LayerNorm: has no config.json") end
  check_place(module, stages)
  stages[#stages + 1] = { "norm", kind = "layer", eps = 1e-5, tensor = module.path .. "/norm" }
end

function kinds.Normalize(module, stages)
  check_place({ kind = module.kind, config = module.config or {} }, stages)
  stages[#stages + 1] = { "normalise" }
end

function kinds.Dropout() end

-- Modules that are not supported, and the reason.
local refused = {
  Asym = "texts go through different modules by their kind, and a program has one", BoW = "it counts words",
  CLIPModel = "it is a model of pictures and texts", CNN = "it convolves tokens", LSTM = "it is recurrent",
  LogitScore = "it scores pairs by the tokens yes and no", Router = "texts go through different modules by their kind, "
    .. "and a program has one", SpladePooling = "its embeddings are sparse",
  StaticEmbedding = "it has no transformer", WeightedLayerPooling = "it reads the states of all layers",
  WordEmbeddings = "it has no transformer", WordWeights = "it weighs words",
}

local function module_of(kind)
  return kinds[kind] or refuse(("%s is not supported%s; supported after Transformer are Pooling, Dense, LayerNorm, "
    .. "Normalize and Dropout"):format(kind, refused[kind] and ": " .. refused[kind] or ""))
end

-- Returns the object of the folder's prompts, by name; it may be empty.
local function prompts_of(folder)
  local prompts = (folder.settings or {}).prompts
  return type(prompts) == "table" and prompts ~= json.null and prompts or {}
end

-- Refuses a folder whose model gives something else than the states of all tokens, or scores.
local function check_modality(config, file)
  local text = type(config) == "table" and config.text
  if type(text) ~= "table" then return end
  local name = text.method_output_name
  if text.method ~= "forward" or name ~= "last_hidden_state" and name ~= "logits" then
    faults.raise("usage", ("%s: modality_config: text: method %s with %s is not supported; supported is forward with "
      .. "last_hidden_state or logits"):format(file, json.shown(text.method), json.shown(name)))
  end
end

--- Looks at the keys of a folder's files of sentence-transformers. notes: a list that lines for the user are added to.
--- Faults: usage.
function sentence.check(folder, notes)
  local limits = folder.limits or {}
  local function look(object, file, section)
    if type(object) == "table" and object ~= json.null then known.check(object, file, { section or file }, notes) end
  end
  look(folder.settings, "config_sentence_transformers.json")
  local file = folder.limits_file or "sentence_bert_config.json"
  look(limits, file, "sentence_bert_config.json")
  for _, key in ipairs { "processor_kwargs", "tokenizer_args" } do
    look(limits[key], ("%s: %s"):format(file, key), "sentence_bert_config.json: processor_kwargs")
  end
  check_modality(limits.modality_config, file)
  for _, module in ipairs(folder.modules) do
    look(module.entry, "modules.json")
    if kinds[module.kind] and module.path then -- a GGUF file's modules have none
      look(module.config, module.path .. "/config.json", "config.json of module " .. module.kind)
    end
  end
end

--- Returns the text that encode() puts in front of each text unless its caller says otherwise, or nil.
function sentence.prompt(folder)
  local name, prompts = json.given(folder.settings or {}, "default_prompt_name"), prompts_of(folder)
  if name == nil then return nil end
  if type(name) ~= "string" then
    faults.raise("format",
      SETTINGS .. "default_prompt_name: a name of prompts or null is expected")
  end
  local prompt = prompts[name]
  if type(prompt) ~= "string" then
    faults.raise("format", (SETTINGS .. "default_prompt_name: prompts has no %s"):format(faults.quote(name)))
  end
  return prompt ~= "" and prompt or nil
end

--- Returns the texts of the folder's prompts by name, or nil if it has none that is not empty.
function sentence.prompts(folder)
  local result, has_text = {}, false
  for name, text in pairs(prompts_of(folder)) do
    if text == json.null then text = "" end
    if type(name) ~= "string" or type(text) ~= "string" then
      faults.raise("format", SETTINGS .. "prompts: an object of names and texts is expected")
    end
    result[name], has_text = text, has_text or text ~= ""
  end
  return has_text and result or nil
end

--- Returns the numbers of an embedding that encode() keeps, or nil for all.
function sentence.dimensions(folder)
  local count = json.given(folder.settings or {}, "truncate_dim")
  if count == nil then return nil end
  if math.type(count) ~= "integer" or count < 1 then
    faults.raise("format", SETTINGS .. "truncate_dim: a number from 1 or null is expected")
  end
  return count
end

--- True if a folder is a cross-encoder's: its only module is the model, with its own task head.
function sentence.is_cross_encoder(folder)
  return folder.modules ~= nil and #folder.modules == 1 and folder.modules[1].kind == "Transformer"
end

--- Returns the last part of the path of the function that a cross-encoder applies to its scores, or nil if its folder
--- names none.
function sentence.score_function(folder)
  local of_config, settings = folder.config.sentence_transformers, folder.settings or {}
  local path = type(of_config) == "table" and of_config.activation_fn
    or folder.config.sbert_ce_default_activation_function or settings.activation_fn
  return type(path) == "string" and (path:match("([%w_]+)$") or path) or nil
end

--- Returns the stages of a folder's modules after the first, which is the model. The last stage gives
--- sentence_embedding.
function sentence.stages(folder)
  local stages, first = {}, folder.modules[1]
  if not first then refuse("the list is empty") end
  if first.kind ~= "Transformer" then
    refuse(("%s is not supported%s; the first module must be Transformer"):format(first.kind,
      refused[first.kind] and ": " .. refused[first.kind] or ""))
  end
  local has_prompts = sentence.prompts(folder) ~= nil
  for i = 2, #folder.modules do module_of(folder.modules[i].kind)(folder.modules[i], stages, has_prompts) end
  if #stages == 0 then refuse("there is no Pooling") end
  stages[#stages].name = "sentence_embedding"
  return stages
end

return sentence
