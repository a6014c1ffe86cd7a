-- listing.lua: lists a checkpoint's tensors: their types in the file, and the weights of the graph that they become.
local sources = require("checkpoints.sources")
local types = require("data.types")
local words = require("common.words")

local listing = {}

-- Returns the word of a weight's type: of blocks, or of numbers.
local function word_of(tensor)
  local type = types.all[tensor.type]
  return type.weights or type.word
end

-- Returns weights as a text, the type after the last of each.
local function weights_text(list)
  local text = ""
  for i, each in ipairs(list) do
    local following = list[i + 1]
    text = text .. each.text .. (following and following.type == each.type and "" or ", " .. each.type)
      .. (following and ", " or "")
  end
  return text
end

-- Returns name of a tensor -> list of the weights that are read from it, { text, type }.
local function uses_of(graph, tensors)
  local uses = {}
  for _, path in ipairs(graph.weights) do
    local tensor = graph.tensors[path]
    for _, stored in ipairs(tensor.from and tensor.from.stored or {}) do
      for _, name in ipairs(stored.names) do
        if tensors[name] then
          words.add(uses, name, { text = path .. sources.text(tensor.rule):gsub("^ from %S+", ""),
            type = word_of(tensor) })
          break
        end
      end
    end
  end
  return uses
end

--- Returns a line for each tensor of a checkpoint, in the order of their names: "blk.0.attn_q.weight Q4_K [32, 256] ->
--- l0.attn.q.weight, int4f". graph: the graph pass's result.
function listing.lines(graph, tensors)
  local uses, lines, longest = uses_of(graph, tensors), {}, 0
  for name in pairs(tensors) do longest = math.max(longest, #name) end
  for _, name in ipairs(words.sorted_keys(tensors)) do
    local tensor, list = tensors[name], uses[name]
    local becomes = list and weights_text(list) or name:find("^rope_") and "rope_scaling" or "not used"
    lines[#lines + 1] = ("%-" .. math.min(longest, 60) .. "s %-7s %-16s -> %s"):format(name, tensor.dtype,
      words.shape(tensor.shape), becomes)
  end
  return lines
end

return listing
