-- language.lua: finds the adapter of a language (MMS, Pratap et al. 2023) in a checkpoint's folder: adapter.LANGUAGE.
-- safetensors, or .bin of torch.save(). It has the second feed-forward of each layer, and the output.
-- The file is linked into the model, whose names of these tensors begin with LANGUAGE/, so the checkpoint's own are not
-- read. They may be of another number of tokens.
local adapter = require("checkpoints.adapter")
local faults = require("common.faults")
local files = require("common.files")
local headers = require("common.headers")
local json = require("common.json")
local lfs = require("lfs")
local words = require("common.words")

local language = {}

-- The parts of a layer's second feed-forward, in an adapter's file: norm, up, down.
local PARTS = { norm = "norm", linear_1 = "up", linear_2 = "down" }

local ENDINGS = { ".safetensors", ".bin" } -- in transformers' order

local function file_of(folder, name)
  for _, ending in ipairs(name:find("^[%w_-]+$") and ENDINGS or {}) do
    local path = ("%s/adapter.%s%s"):format(folder, name, ending)
    if lfs.attributes(path, "mode") == "file" then return path end
  end
  return nil
end

local function list_of(folder)
  local found = {}
  for _, name in ipairs(files.names(folder)) do
    local word = name:match("^adapter%.([%w_-]+)%.safetensors$") or name:match("^adapter%.([%w_-]+)%.bin$")
    if word then found[word] = true end
  end
  return words.sorted_keys(found)
end

--- Returns the adapter of a language, as adapter.linked does, with its `name`; or nil if the folder has none. Faults:
--- io, format.
function language.read(folder, name)
  local path = file_of(folder, name)
  return path and words.merged(adapter.linked(path), { name = name })
end

-- Refuses a tensor that has no place in the model, as transformers does. first: what the names of layers begin with.
local function check_names(name, tensors, first, layers)
  for _, each in ipairs(words.sorted_keys(tensors)) do
    local start = first .. "encoder.layers."
    local layer, part, kind = each:sub(#start + 1):match("^(%d+)%.adapter_layer%.([%w_]+)%.(%a+)$")
    local is_of_layer = each:sub(1, #start) == start and layer and tonumber(layer) < layers and PARTS[part]
    local is_of_output = each == "lm_head.weight" or each == "lm_head.bias"
    if not is_of_output and not (is_of_layer and (kind == "weight" or kind == "bias")) then
      faults.raise("format", "adapter.%s: %s: is no tensor of an adapter of %d layers, or of their output", name,
        faults.quote(each), layers)
    end
  end
end

--- Sets the names, tensors and tokens of the language that is asked for in an import's state, whose head is `head`; or
--- adds a note if the folder has several. Faults: io, format, usage.
function language.choose(self, head)
  local f, folder, name = self.facts, self.folder, self.asked.adapter
  if not f.second_ff then return end
  if not (name and file_of(folder.path, name)) then
    if name and lfs.attributes(name, "mode") == "directory" then return end -- of PEFT
    local list = table.concat(list_of(folder.path), ", ")
    if name then
      faults.raise("usage", "adapter: %s is no folder, and the checkpoint has %s", faults.quote(name),
        list ~= "" and "adapters of " .. list or "no adapters of languages")
    end
    self.notes[#self.notes + 1] = list ~= "" and ("config.json: adapter_attn_dim: the weights are of one language; "
      .. "adapter=LANGUAGE builds another one: %s"):format(list) or nil
    return
  end
  if head ~= "ForCTC" then
    faults.raise("usage", "adapter: an adapter of a language goes with a model that writes text (ForCTC)")
  end
  local tensors = headers.read(file_of(folder.path, name)).tensors
  local output, first = tensors["lm_head.weight"], nil
  for each in pairs(tensors) do first = first or each:match("^(.*)encoder%.layers%.0%.adapter_layer%.norm%.weight$") end
  if not first or not output or #output.shape ~= 2 then
    faults.raise("format", "adapter.%s: lm_head.weight and encoder.layers.0.adapter_layer are expected", name)
  end
  check_names(name, tensors, first, f.layers)
  f.vocab = output.shape[1]
  for own, path in pairs(PARTS) do
    self.names["l*.ff.second." .. path] = ("%s/%sencoder.layers.*.adapter_layer.%s"):format(name, first, own)
  end
  local stage = words.merged(self.family.heads.ForCTC[1], { tensor = name .. "/lm_head" })
  self.family = words.merged(self.family, { heads = { ForCTC = { ctc = true, stage } } })
  local config = json.kind(folder.tokenizer_config) == "object" and folder.tokenizer_config or {}
  folder.tokenizer_config = words.merged(config, { target_lang = name })
end

return language
