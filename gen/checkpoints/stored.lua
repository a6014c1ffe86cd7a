-- stored.lua: finds the key `weights` of a GGUF file's description: the type in scale blocks that holds each tensor's
-- numbers exactly. A tensor whose type has none, or that has no blocks, is left to `precision`.
local gguf_types = require("common.gguf_types")
local names = require("checkpoints.names")
local types = require("data.types")
local words = require("common.words")

local stored = {}

-- Linear layers of a layer, and those that a factor of residuals multiplies.
local layers = { "attn.q", "attn.k", "attn.v", "attn.out", "ff.gate", "ff.up", "ff.down" }
local residual = words.set { "attn.out", "ff.down" }

-- Returns the record of the tensor's type that a weight of the graph is read from, or nil.
local function type_of(folder, path)
  local source = names.find(folder.scheme, path, {})
  for _, each in ipairs(source.pieces or { source }) do
    for _, name in ipairs(each.names or {}) do
      local tensor = folder.tensors[name]
      if tensor then return gguf_types.by_name[tensor.dtype] end
    end
  end
  return nil
end

local function word_of(folder, path, factor)
  local stored_as = type_of(folder, path)
  if not stored_as then return nil end
  local type = types.all[stored_as.type]
  if type and factor and factor ~= 1 then type = types.all[type.with_factor] or type end
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
--- folder: of folder.read; f: facts; output: the stages after the layers
function stored.weights(folder, f, output)
  local list, value = {}, {}
  for i = 0, f.layers - 1 do
    for _, part in ipairs(layers) do
      local path = ("l%d.%s"):format(i, part)
      local word = word_of(folder, path .. ".weight", residual[part] and f.residual_scale)
      if word then list[#list + 1] = { path, word } end
    end
  end
  local all = most_common(list)
  for _, each in ipairs(list) do if each[2] ~= all then value[each[1]] = each[2] end end
  local embedding, result = word_of(folder, "input.tokens.weight", f.embedding_scale), "none"
  for i, stage in ipairs(output) do
    if stage.stage == "vocabulary" then
      result = word_of(folder, ("output.%d.vocabulary.weight"):format(i), f.logit_scale)
        or word_of(folder, "input.tokens.weight", f.logit_scale)
    end
  end
  if embedding ~= all then value.embedding = embedding end
  if result ~= all then value.output = result end
  if all == "none" then
    local some = false
    for _, word in pairs(value) do some = some or word ~= "none" end
    if not some then return nil end
  end
  if next(value) == nil then return all end
  value[1] = all
  return value
end

--- Returns the types of a file's tensors in blocks, with ours that hold the same numbers, as a line; nil: it has none.
function stored.said(folder)
  local seen, parts = {}, {}
  for _, tensor in pairs(folder.tensors) do seen[tensor.dtype] = true end
  for _, name in ipairs(words.sorted_keys(seen)) do
    local type = types.all[gguf_types.by_name[name].type]
    if type then parts[#parts + 1] = ("%s as %s"):format(name, type.weights) end
  end
  return #parts > 0 and "Weights in blocks keep their numbers: " .. table.concat(parts, ", ") .. "." or nil
end

return stored
