-- sentence.lua: turns the modules of a sentence-transformers folder into stages after the layers.
-- The modules are pooling, dense layers, layer norms, and scaling to a unit vector. A cross-encoder has none of them.
-- Folders of SPLADE, ColBERT and BGE-M3 give lexical weights and vectors of tokens.
local faults = require("common.faults")
local json = require("common.json")
local known = require("common.known")
local words = require("common.words")

local sentence = {}

local SETTINGS = "config_sentence_transformers.json: "

local function refuse(...) faults.raise("usage", "modules.json: " .. faults.line(...)) end

-- True for a folder of sentence-transformers' own models of vectors of tokens.
local function is_multi_vector(folder) return (folder.settings or {}).model_type == "MultiVectorEncoder" end

-- True for models of sentence-transformers that give lexical weights.
local function is_lexical(folder)
  return folder.modules ~= nil and (folder.modules[2] or {}).kind == "SpladePooling"
end

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
      list[i] = by_word[word] or refuse("Pooling: pooling_mode %s is not supported", faults.quote(word))
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
  return activations[word] or refuse("Dense: activation_function %s is not supported; supported are GELU, Identity, "
    .. "ReLU, Sigmoid, SiLU and Tanh of torch.nn", faults.quote(path))
end

-- Refuses a module that reads or writes something else than the module before it gave.
local function check_place(module, stages)
  local name = #stages == 0 and "token_embeddings" or "sentence_embedding"
  local from = module.config.module_input_name or "sentence_embedding"
  local to = json.given(module.config, "module_output_name", from)
  if from == name and to == name then return end
  refuse("%s: from %s to %s is not supported here; supported is %s", module.kind, faults.quote(from), faults.quote(to),
    name)
end

function kinds.Dense(module, stages, _, is_of_tokens)
  local config = module.config or refuse("Dense: has no config.json")
  if not is_of_tokens then check_place(module, stages) end
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
    .. "and a program has one", SparseAutoEncoder = "it is an autoencoder",
  StaticEmbedding = "it has no transformer", WeightedLayerPooling = "it reads the states of all layers",
  WordEmbeddings = "it has no transformer", WordWeights = "it weighs words",
}

local function module_of(kind)
  return kinds[kind] or refuse("%s is not supported%s; supported after Transformer are Pooling, Dense, LayerNorm, "
    .. "Normalize, Dropout and SpladePooling", kind, refused[kind] and ": " .. refused[kind] or "")
end

-- Returns the object of the folder's prompts, by name; it may be empty.
local function prompts_of(folder)
  local prompts = (folder.settings or {}).prompts
  return type(prompts) == "table" and prompts ~= json.null and prompts or {}
end

-- Refuses a folder whose model gives something else than the states of all tokens, or scores.
local function check_modality(config, file)
  if type(config) ~= "table" or config == json.null then return end
  local text, message = config.text, json.given(config, "message")
  if message then
    faults.raise("usage", "%s: modality_config: message: texts become chats by the chat template, which is not "
      .. "supported here; only text is", file)
  end
  if type(text) ~= "table" or text == json.null then return end
  local name = text.method_output_name
  if text.method ~= "forward" or name ~= "last_hidden_state" and name ~= "logits" then
    faults.raise("usage", "%s: modality_config: text: method %s with %s is not supported; supported is forward with "
      .. "last_hidden_state or logits", file, json.shown(text.method), json.shown(name))
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
  if is_multi_vector(folder) then
    known.check(limits, file, { "sentence_bert_config.json of MultiVectorEncoder", "sentence_bert_config.json" }, notes)
  else
    look(limits, file, "sentence_bert_config.json")
  end
  for _, key in ipairs { "processor_kwargs", "tokenizer_args" } do
    look(limits[key], ("%s: %s"):format(file, key), "sentence_bert_config.json: processor_kwargs")
  end
  check_modality(limits.modality_config, file)
  local normalises = false
  for _, module in ipairs(folder.modules or {}) do normalises = normalises or module.kind == "Normalize" end
  if normalises and sentence.dimensions(folder) then
    notes[#notes + 1] = SETTINGS .. "truncate_dim: embeddings that are cut are scaled to unit vectors again; encode() "
      .. "does so with normalize_embeddings"
  end
  local likeness = json.given(folder.settings or {}, "similarity_fn_name", "dot")
  if is_lexical(folder) and likeness ~= "dot" then
    notes[#notes + 1] = SETTINGS .. "similarity_fn_name: lexical weights are always compared by the sum of products"
  end
  if folder.read then look(folder.read("artifact.metadata"), "artifact.metadata") end
  for _, module in ipairs(folder.modules or {}) do
    look(module.entry, "modules.json")
    local is_known = kinds[module.kind] or words.set { "SpladePooling", "MultiVectorMask" }[module.kind]
    if is_known and module.path then -- a GGUF file's modules have none
      look(module.config, module.path .. "/config.json", "config.json of module " .. module.kind)
    end
  end
end

--- Returns the text that encode() puts in front of each text unless its caller says otherwise, or nil. task: the one
--- whose adapter the model gets, or nil; jina-embeddings-v3 has an instruction for each.
function sentence.prompt(folder, task)
  local instructions = json.given(folder.config, "task_instructions", {})
  if task and type(instructions) == "table" and type(instructions[task]) == "string" then
    return instructions[task] ~= "" and instructions[task] or nil
  end
  local name, prompts = json.given(folder.settings or {}, "default_prompt_name"), prompts_of(folder)
  if is_multi_vector(folder) then name = prompts.document and "document" or nil end -- texts are documents
  if name == nil then return nil end
  if type(name) ~= "string" then
    faults.raise("format",
      SETTINGS .. "default_prompt_name: a name of prompts or null is expected")
  end
  local prompt = prompts[name]
  if type(prompt) ~= "string" then
    faults.raise("format", SETTINGS .. "default_prompt_name: prompts has no %s", faults.quote(name))
  end
  return prompt ~= "" and prompt or nil
end

--- Returns the texts of the folder's prompts by name, or nil if it has none. An empty one has a name that callers may
--- give.
function sentence.prompts(folder)
  local result = {}
  for name, text in pairs(prompts_of(folder)) do
    if text == json.null then text = "" end
    if type(name) ~= "string" or type(text) ~= "string" then
      faults.raise("format", SETTINGS .. "prompts: an object of names and texts is expected")
    end
    result[name] = text
  end
  return next(result) ~= nil and result or nil
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

--- Returns how embeddings are compared, or nil for the cosine, which other words mean, too. Lexical weights and vectors
--- of tokens have one way.
function sentence.similarity(folder, notes)
  local name = json.given(folder.settings or {}, "similarity_fn_name", "cosine")
  if name == "cosine" or is_lexical(folder) or sentence.is_late(folder) then return nil end
  if words.set { "dot", "euclidean", "manhattan" }[name] then return name end
  notes[#notes + 1] = SETTINGS .. ("similarity_fn_name: %s is not known, and the cosine is taken, as in "
    .. "sentence-transformers"):format(json.shown(name))
  return nil
end

--- Returns the most tokens of a text that the folder's files state, with special tokens, or nil: what
--- sentence-transformers gives the tokenizer, else the tokenizer's own. Numbers beyond all integers mean none.
function sentence.limit(folder, notes)
  local limits, file = folder.limits or {}, folder.limits_file
  local own, config = limits.processor_kwargs or limits.tokenizer_args, folder.tokenizer_config or {}
  for _, each in ipairs { { type(own) == "table" and own or {}, "model_max_length", file },
    { limits, "max_seq_length", file }, { config, "model_max_length", "tokenizer_config.json" },
    { config, "max_len", "tokenizer_config.json" } } do
    local value = each[1][each[2]]
    local count = type(value) == "number" and value >= 1 and math.tointeger(value)
    if count or type(value) == "number" and value >= 2 ^ 63 then return count or nil end
    if value ~= nil and value ~= json.null then
      notes[#notes + 1] = ("%s: %s: %s is no number of tokens, and is left out"):format(each[3], each[2],
        json.shown(value))
    end
  end
  return nil
end

--- True if a folder is a cross-encoder's: its only module is the model, with its own task head.
function sentence.is_cross_encoder(folder)
  return folder.modules ~= nil and #folder.modules == 1 and folder.modules[1].kind == "Transformer"
end

--- Returns the last part of the path of the function of a cross-encoder's scores, or nil if its folder names none.
function sentence.score_function(folder)
  local of_config, settings = folder.config.sentence_transformers, folder.settings or {}
  local path = type(of_config) == "table" and of_config.activation_fn
    or folder.config.sbert_ce_default_activation_function or settings.activation_fn
  return type(path) == "string" and (path:match("([%w_]+)$") or path) or nil
end

-- Returns the stages that make lexical weights of the scores of a masked language model (Formal et al. 2021, SPLADE):
-- the largest weight of each token. Weights grow with the scores, so the largest score is taken first. scores: the
-- stages of the model's head; times: how often the logarithm is applied.
local function splade_stages(scores, times)
  local stages = words.map(scores, function(stage) return words.merged(stage) end)
  stages[#stages].name = nil
  stages[#stages + 1] = { "pool", over = "max" }
  for _ = 1, times do stages[#stages + 1] = { "log_relu" } end
  stages[#stages].name = "lexical_weights"
  return stages
end

--- Returns the stages of lexical weights of a folder of a masked language model. scores: the stages of the family's
--- head for such models, or nil. Faults: usage.
function sentence.lexical_stages(folder, scores)
  local class = (folder.config.architectures or {})[1]
  if scores and type(class) == "string" and class:find("ForMaskedLM$") then return splade_stages(scores, 1) end
  faults.raise("usage", "head: splade goes with a masked language model (ForMaskedLM)")
end

-- Returns the stages of SpladePooling. scores: of the model's head for masked language models, or nil.
local function splade_of(module, scores)
  local config = module.config or {}
  local strategy = json.given(config, "pooling_strategy", "max")
  local times = ({ relu = 1, log1p_relu = 2 })[json.given(config, "activation_function", "relu")]
  if not scores then refuse("SpladePooling: goes with a masked language model (ForMaskedLM)") end
  if strategy ~= "max" then
    refuse("SpladePooling: pooling_strategy %s is not supported; max is", json.shown(strategy))
  end
  return splade_stages(scores, times
    or refuse("SpladePooling: activation_function %s is not supported; relu and log1p_relu are",
      json.shown(config.activation_function)))
end

--- True if a folder's model gives vectors of tokens compared one by one (ColBERT): of sentence-transformers, PyLate or
--- in Stanford's format.
function sentence.is_late(folder)
  local settings, classes = folder.settings or {}, folder.config.architectures
  return is_multi_vector(folder) or settings.similarity_fn_name == "MaxSim" or settings.query_prefix ~= nil
    or type(classes) == "table" and classes[1] == "HF_ColBERT"
end

-- Returns the stages of vectors of tokens: the linear layers after the model, and unit length.
local function late_stages(folder)
  local stages, is_own, is_unit = {}, is_multi_vector(folder), false
  for i = 2, #(folder.modules or {}) do
    local module = folder.modules[i]
    if module.kind ~= "Dense" and module.kind ~= "Normalize" and not (is_own and module.kind == "MultiVectorMask") then
      refuse(module.kind .. " is not supported here; supported after Transformer are Dense, MultiVectorMask, Normalize")
    end
    is_unit = is_unit or module.kind == "Normalize"
    if module.kind == "Dense" then
      if is_unit then refuse("Dense after Normalize is not supported here") end
      kinds.Dense(module, stages, nil, true)
    end
  end
  if is_own then
    if #stages == 0 then refuse("MultiVectorEncoder without Dense is not supported") end
    if is_unit then stages[#stages + 1] = { "normalise" } end
    stages[#stages].name = "token_embeddings"
    return stages
  end
  local tensor = folder.tensors["linear.weight"]
  if #stages == 0 then
    if not tensor then refuse("there is no Dense, and the file has no linear.weight") end
    stages[1] = { "linear", to = tensor.shape[1], bias = folder.tensors["linear.bias"] ~= nil, tensor = "linear" }
  end
  stages[#stages + 1] = { "normalise", name = "token_embeddings" }
  return stages
end

-- Words that PyLate and ColBERT leave out of documents.
local PUNCTUATION = {}
for byte = 33, 126 do
  local character = string.char(byte)
  if not character:find("%w") then PUNCTUATION[#PUNCTUATION + 1] = character end
end

-- Returns the first value that is there of a key in a list of { object, key }.
local function first_of(list, default)
  for _, each in ipairs(list) do
    local value = each[1][each[2]]
    if value ~= nil and value ~= json.null then return value end
  end
  return default
end

-- Returns how sentence-transformers' own models make vectors of tokens, as the key `late_interaction` has it. Prompts
-- say which texts are queries. most: the most tokens of a text.
local function of_multi_vector(folder, most)
  local limits, file = folder.limits or {}, folder.limits_file or "sentence_bert_config.json"
  local expansion, mask = json.given(limits, "query_expansion"), nil
  for _, module in ipairs(folder.modules) do
    if module.kind == "MultiVectorMask" then mask = module.config or {} end
  end
  if expansion and (type(expansion) ~= "table" or expansion.strategy ~= "fixed" or not mask
    or json.given(expansion, "token", "[MASK]") ~= "[MASK]") then
    faults.raise("usage", "%s: query_expansion: supported is only the strategy fixed with the mask token, with a "
      .. "module MultiVectorMask", file)
  end
  mask = mask or {}
  local tasks = json.given(mask, "skiplist_tasks", { "document" })
  if json.given(mask, "keep_only_token_ids") or type(tasks) ~= "table" or #tasks ~= 1 or tasks[1] ~= "document" then
    refuse("MultiVectorMask: only a list of words that documents leave out is supported")
  end
  local longest = math.min(most, sentence.limit(folder, {}) or most)
  local function count(object, key, name)
    local value = json.given(object, key, longest)
    if math.type(value) == "integer" and value >= 4 then return math.min(value, most) end
    faults.raise("format", "%s: %s: %s, but a number of tokens from 4 is expected", file, name or key,
      json.shown(value))
  end
  local skip = json.given(mask, "skiplist_words", {})
  skip = #skip > 0 and skip or nil
  return { document_length = count(limits, "document_length"), skip = skip, skips_unknown = skip and false,
    query_length = expansion and count(expansion, "length", "query_expansion.length") or count(limits, "query_length"),
    expands = expansion and true or nil, attends = expansion and expansion.attend == true or nil,
    mean = json.given(folder.settings, "similarity_fn_name") == "meanmaxsim" or nil }
end

--- Returns how a folder's vectors of tokens are compared, as the key `late_interaction` has it; nil for others. most:
--- the most tokens of a text.
function sentence.late(folder, most)
  local settings = folder.settings or {}
  if folder.tensors["colbert_linear.weight"] and folder.modules then return { first = 1, mean = true } end
  if not sentence.is_late(folder) then return nil end
  if is_multi_vector(folder) then return of_multi_vector(folder, most) end
  local old = folder.read and folder.read("artifact.metadata") or {}
  local is_old = folder.config.architectures and folder.config.architectures[1] == "HF_ColBERT"
  local function count(key, old_key, default)
    local value = first_of({ { settings, key }, { old, old_key } }, default)
    if math.type(value) ~= "integer" or value < 4 then
      faults.raise("format", "%s%s: %s, but a number of tokens from 4 is expected", SETTINGS, key, json.shown(value))
    end
    return math.min(value, most)
  end
  local punctuation = old.mask_punctuation == false and {} or PUNCTUATION
  local result = { query_marker = first_of({ { settings, "query_prefix" }, { old, "query_token_id" } },
      is_old and "[unused0]" or "[Q] "),
    document_marker = first_of({ { settings, "document_prefix" }, { old, "doc_token_id" } },
      is_old and "[unused1]" or "[D] "),
    query_length = count("query_length", "query_maxlen", 32),
    document_length = count("document_length", "doc_maxlen", 180),
    expands = first_of({ { settings, "do_query_expansion" } }, true),
    attends = first_of({ { settings, "attend_to_expansion_tokens" }, { old, "attend_to_mask_tokens" } }, false),
    skip = first_of({ { settings, "skiplist_words" } }, punctuation) }
  if result.expands == false then result.attends = nil end
  for key, value in pairs(result) do if value == false or value == "" then result[key] = nil end end
  if #result.skip == 0 then result.skip = nil end
  return result
end

-- The linear layers of BGE-M3 next to the model.
local OF_TOKENS = { "sparse_linear", "colbert_linear" }

--- Adds a line with linear layers of vectors of tokens or of lexical weights that a folder's file has, but which no
--- stage reads.
function sentence.note_unread(folder, stages, notes)
  local list, read = {}, words.set(words.map(stages, function(stage) return stage.tensor or "" end))
  for _, name in ipairs { "linear", table.unpack(OF_TOKENS) } do
    if folder.tensors[name .. ".weight"] and not read[name] then list[#list + 1] = name end
  end
  if not list[1] then return end
  notes[#notes + 1] = ("the file has %s, which no result of the model reads: %s"):format(table.concat(list, ", "),
    list[1] == "linear" and "vectors of tokens need HF_ColBERT in architectures, or no Dense in modules.json"
      or "lexical weights and vectors of tokens need modules.json of sentence-transformers with a Pooling")
end

-- Returns the stages of lexical weights and vectors of tokens that come before the embedding's, which then reads the
-- model's states; none for other folders.
local function token_stages(folder)
  local stages = {}
  for i, name in ipairs(OF_TOKENS) do
    local tensor = folder.tensors[name .. ".weight"]
    if tensor and i == 1 then
      stages[1] = { "linear", to = 1, activation = "relu", squeeze = true, name = "lexical_weights", tensor = name }
    elseif tensor then
      stages[#stages + 1] = { "linear", to = tensor.shape[1], of = 0, tensor = name }
      stages[#stages + 1] = { "normalise", name = "token_embeddings" }
    end
  end
  return stages
end

--- Refuses modules that do not begin with a model. Faults: usage.
function sentence.check_first(modules)
  local first = modules[1] or refuse("the list is empty")
  if first.kind == "Transformer" or first.kind == "MLMTransformer" then return end
  refuse("%s is not supported%s; the first module must be Transformer", first.kind,
    refused[first.kind] and ": " .. refused[first.kind] or "")
end

--- Returns the stages of a folder's modules after the first, which is the model. The last stage gives
--- sentence_embedding, lexical_weights or token_embeddings. scores: the stages of the model's head for masked language
--- models, or nil.
function sentence.stages(folder, scores)
  if sentence.is_late(folder) then return late_stages(folder) end
  local stages = {}
  sentence.check_first(folder.modules)
  local has_prompts, second = false, folder.modules[2]
  for _, text in pairs(sentence.prompts(folder) or {}) do has_prompts = has_prompts or text ~= "" end
  if second and second.kind == "SpladePooling" and #folder.modules == 2 then return splade_of(second, scores) end
  for i = 2, #folder.modules do module_of(folder.modules[i].kind)(folder.modules[i], stages, has_prompts) end
  if #stages == 0 then refuse("there is no Pooling") end
  stages[#stages].name = "sentence_embedding"
  local of_tokens = token_stages(folder)
  if #of_tokens > 0 then stages[1].of = 0 end
  return words.append(of_tokens, stages)
end

return sentence
