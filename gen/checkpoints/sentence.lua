-- sentence.lua: turns the modules of a sentence-transformers folder into stages after the layers.
-- The modules are pooling, dense layers, and scaling to a unit vector.
local faults = require("common.faults")
local json = require("common.json")
local pools_of_kept = require("data.stages").pools_of_kept

local sentence = {}

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

-- True if the result of some pool of a list depends on which rows it leaves out. Pools of one row do not.
local function leaves_rows_out(list)
  for _, word in ipairs(list) do if pools_of_kept[word] then return true end end
  return false
end

function kinds.Pooling(module, stages, prompt)
  local config = module.config or refuse("Pooling: has no config.json")
  local list = pooling_words(config)
  stages[#stages + 1] = { "pool", over = #list == 1 and list[1] or list,
    mask = prompt and config.include_prompt == false and leaves_rows_out(list) or nil }
end

-- The last part of a class's path, such as torch.nn.modules.activation.Tanh.
local activations = { Tanh = "tanh", ReLU = "relu", GELU = "gelu", SiLU = "silu", Sigmoid = "sigmoid" }

function kinds.Dense(module, stages)
  local config = module.config or refuse("Dense: has no config.json")
  local word = type(config.activation_function) == "string" and config.activation_function:match("([%w_]+)$") or "Tanh"
  if word ~= "Identity" and not activations[word] then
    refuse(("Dense: activation_function %s is not supported"):format(faults.quote(word)))
  end
  if config.use_residual == true then refuse("Dense: use_residual is not supported") end
  if math.type(config.out_features) ~= "integer" then refuse("Dense: out_features is missing") end
  stages[#stages + 1] = { "linear", to = config.out_features, activation = activations[word],
    bias = config.bias ~= false, tensor = module.path .. "/linear" }
end

function kinds.Normalize(_, stages) stages[#stages + 1] = { "normalise" } end

function kinds.Dropout() end

--- Returns the text that encode() puts in front of each text unless its caller says otherwise, or nil.
function sentence.prompt(folder)
  local settings = folder.settings or {}
  local name, prompts = settings.default_prompt_name, settings.prompts
  if name == nil or name == json.null then return nil end
  if type(name) ~= "string" then
    faults.raise("format",
      "config_sentence_transformers.json: default_prompt_name: a name of prompts or null is expected")
  end
  local prompt = type(prompts) == "table" and prompts[name]
  if type(prompt) ~= "string" then
    faults.raise("format", ("config_sentence_transformers.json: default_prompt_name: prompts has no %s"):format(
      faults.quote(name)))
  end
  return prompt ~= "" and prompt or nil
end

--- Returns the stages of a folder's modules after the first, which is the model. The last stage gives
--- sentence_embedding.
function sentence.stages(folder)
  local stages = {}
  for i, module in ipairs(folder.modules) do
    if i == 1 then
      if module.kind ~= "Transformer" then refuse(("%s is not supported"):format(faults.quote(module.kind))) end
    elseif not kinds[module.kind] then
      refuse(("%s is not supported; supported are Pooling, Dense, Normalize and Dropout"):format(
        faults.quote(module.kind)))
    else
      kinds[module.kind](module, stages, sentence.prompt(folder))
    end
  end
  if #stages == 0 then refuse("there is no Pooling") end
  local settings = folder.settings or {}
  if settings.truncate_dim ~= nil and settings.truncate_dim ~= json.null then
    faults.raise("usage", "config_sentence_transformers.json: truncate_dim is not supported")
  end
  stages[#stages].name = "sentence_embedding"
  return stages
end

return sentence
