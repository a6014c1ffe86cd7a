-- stored.lua: finds the keys `weights` and `input_order` of the description of a GGUF file or quantised folder: the
-- type in scale blocks that holds each tensor's numbers exactly, and whether its inputs are in an order of their own. A
-- tensor whose type has none, or that has no blocks, is left to `precision`.
local gguf_types = require("common.gguf_types")
local names = require("checkpoints.names")
local types = require("data.types")
local words = require("common.words")

local stored = {}

-- Linear layers of a layer, and those that a factor of residuals multiplies. The factor of experts is not in a weight.
local layers = { "attn.q", "attn.k", "attn.v", "attn.out", "cross.q", "cross.k", "cross.v", "cross.out", "ff.gate",
  "ff.up", "ff.down", "ff.experts.gate", "ff.experts.up", "ff.experts.down", "ff.shared.gate", "ff.shared.up",
  "ff.shared.down", "low_rank.left", "low_rank.right", "tokens.gate", "tokens.project", "tokens.context" }
-- Parts whose weights are rows of one tensor for all layers.
local of_all_layers = { ["tokens.context"] = "input.layers_context.weight" }
local residual = words.set { "attn.out", "ff.down", "ff.shared.down" }

-- Returns the type of weights that holds the numbers of a tensor exactly, or nil.
local function held_by(tensor)
  if tensor.is_coded then return tensor.blocks and types.of_scaled[tensor.blocks] end
  local of_file = gguf_types.by_name[tensor.dtype]
  return of_file and of_file.type
end

-- Returns the tensor that a weight of the graph is read from, or nil.
local function tensor_of(folder, naming, path)
  local own = naming.own[path]
  if type(own) == "string" then return folder.tensors[own] end
  local source = names.find(naming.scheme, path, {})
  for _, each in ipairs(source.pieces or { source }) do
    for _, name in ipairs(each.names or {}) do
      local tensor = folder.tensors[name:gsub("{expert}", "0")]
      if tensor then return tensor end
    end
  end
  return nil
end

local function word_of(folder, naming, path, factor)
  local tensor = tensor_of(folder, naming, path)
  if not tensor then return nil end
  local type = types.all[held_by(tensor) or ""]
  if type and factor and factor ~= 1 and type.with_factor ~= nil then type = types.all[type.with_factor] end
  return type and type.weights or "none"
end

-- Returns the word that most of a list of { path, word } have.
local function most_common(list)
  local count, best = {}, "none"
  for _, each in ipairs(list) do count[each[2]] = (count[each[2]] or 0) + 1 end
  for _, word in ipairs(words.sorted_keys(count)) do
    if count[word] > (count[best] or 0) then best = word end
  end
  return best
end

--- Returns the value of `weights` as a description has it, or nil if no tensor has blocks.
--- folder: of folder.read; f: facts; output: the stages after the layers; naming: { scheme, own = path -> name }
function stored.weights(folder, f, output, naming)
  local list, value = {}, {}
  for i = 0, f.layers + (f.encoder_layers or 0) - 1 do
    for _, part in ipairs(layers) do
      local path = i < f.layers and ("l%d.%s"):format(i, part) or ("encoder.l%d.%s"):format(i - f.layers, part)
      local word = word_of(folder, naming, of_all_layers[part] or path .. ".weight",
        residual[part] and f.residual_scale)
      if word then list[#list + 1] = { path, word } end
    end
  end
  local all = most_common(list)
  for _, each in ipairs(list) do if each[2] ~= all then value[each[1]] = each[2] end end
  local embedding, result = word_of(folder, naming, "input.tokens.weight"), "none"
  for i, stage in ipairs(output) do
    if stage.stage == "vocabulary" then
      result = word_of(folder, naming, ("output.%d.vocabulary.weight"):format(i)) or embedding
    end
  end
  if embedding ~= all then value.embedding = embedding end
  if result ~= all then value.output = result end
  for i = 1, f.streams and f.streams.count - 1 or 0 do
    for place, usual in pairs { input = all, output = result } do
      local path = ("%s.streams.%d"):format(place, i)
      local word = word_of(folder, naming, path .. ".weight")
      if word ~= usual then value[path] = word end
    end
  end
  if all == "none" then
    local some = false
    for _, word in pairs(value) do some = some or word ~= "none" end
    if not some then return nil end
  end
  if next(value) == nil then return all end
  value[1] = all
  return value
end

-- Layers that read the same numbers; with one norm for both parts, a layer's first products all do.
local function reader_group(part, f)
  if part:find("^attn%.[qkv]$") then return "attn" end
  if part == "ff.gate" or part == "ff.up" then return (f.parallel == "one_norm") and "attn" or "ff" end
  return part
end

-- Adds { path, word } for a weight in blocks. leaders: the order of the first in an order of each group of readers.
local function add_order(folder, naming, path, group, leaders, list)
  local tensor = tensor_of(folder, naming, path .. ".weight")
  if not (tensor and tensor.blocks) then return end
  if tensor.order then leaders[group] = leaders[group] or tensor.order end
  list[#list + 1] = { path, not tensor.order and "none" or tensor.order == leaders[group] and "file" or "own" }
end

--- Returns the value of `input_order` as a description has it, or nil if all inputs are in their order. Arguments as
--- for stored.weights.
function stored.input_order(folder, f, output, naming)
  local list, value = {}, {}
  for i = 0, f.layers - 1 do
    local leaders = {}
    for _, part in ipairs(layers) do
      add_order(folder, naming, ("l%d.%s"):format(i, part), reader_group(part, f), leaders, list)
    end
  end
  for i, stage in ipairs(output) do
    local path = ("output.%d.vocabulary"):format(i)
    if stage.stage == "vocabulary" then add_order(folder, naming, path, path, {}, list) end
  end
  local all = most_common(list)
  for _, each in ipairs(list) do if each[2] ~= all then value[each[1]] = each[2] end end
  if next(value) == nil then return all ~= "none" and all or nil end
  value[1] = all
  return value
end

--- Returns the types of a file's tensors in blocks, with ours that hold the same numbers, as a line; nil: it has none.
function stored.said(folder)
  local seen, parts = {}, {}
  for _, tensor in pairs(folder.tensors) do
    local held = types.all[held_by(tensor) or ""]
    if held then seen[("%s as %s"):format(tensor.dtype, held.weights)] = true end
  end
  for i, text in ipairs(words.sorted_keys(seen)) do parts[i] = text end
  return #parts > 0 and "Weights in blocks keep their numbers: " .. table.concat(parts, ", ") .. "." or nil
end

return stored
