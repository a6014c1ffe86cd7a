-- fits.lua: checks that a folder has the tensors that its configuration and the user's overrides require.
-- The check comes before C is emitted, so that no build ends in a model that cannot be opened.
local faults = require("common.faults")
local paths = require("checkpoints.paths")
local words = require("common.words")

local fits = {}

local MOST_LINES = 8
local MOST_UNUSED = 5

local function without_ones(shape)
  return words.filter(shape, function(n) return n ~= 1 end)
end

local function same(a, b)
  if #a ~= #b then return false end
  for i, n in ipairs(a) do if n ~= b[i] then return false end end
  return true
end

--- True if a file's shape fits the wanted one, by the same rule as attn2c_hints_shape_fits of the runtime. If wanted[1]
--- is -1, any number of rows fits.
function fits.shape(shape, wanted)
  if wanted[1] == -1 then
    return #shape == #wanted and same(table.move(shape, 2, #shape, 1, {}), table.move(wanted, 2, #wanted, 1, {}))
  end
  local have, want = without_ones(shape), without_ones(wanted)
  if same(have, want) then return true end
  if #want ~= 2 or #have <= 2 or have[1] ~= want[1] then return false end
  local row = 1
  for i = 2, #have do row = row * have[i] end
  return row == want[2]
end

local function fault_of(stored, tensors, file)
  for _, name in ipairs(stored.names) do
    local tensor = tensors[name]
    if tensor and tensor.expected then
      return ("%s: type %s, but %s is expected"):format(name, tensor.dtype, tensor.expected)
    elseif tensor and not fits.shape(tensor.shape, stored.shape) then
      return ("%s: shape %s, but %s and the command line ask for %s"):format(name, words.shape(tensor.shape),
        paths.is_file(file) and "the metadata" or "config.json", words.shape(stored.shape))
    elseif tensor then
      return nil
    end
  end
  local more = table.concat(stored.names, ", ", 2)
  local said = more ~= "" and (" (also looked for %s)"):format(more) or ""
  return ("%s: missing%s"):format(stored.names[1], said), true
end

-- Returns the tensors of a checkpoint that the weights of graphs come from, in order.
local function stored_by(graphs)
  local list = {}
  for _, graph in ipairs(graphs) do
    for _, path in ipairs(graph.weights) do
      local from = graph.tensors[path].from
      for _, stored in ipairs(from and from.stored or {}) do list[#list + 1] = stored end
    end
  end
  return list
end

local LAYER = "^.*blk%.%d+%."

-- Returns the names of tensors that some weight comes from, and the beginnings of their layers' names, as sets.
-- known_as: a function of a name.
local function used_by(wanted, known_as)
  local used, layers = {}, {}
  for _, stored in ipairs(wanted) do
    for _, name in ipairs(stored.names) do used[known_as(name)], layers[name:match(LAYER) or ""] = true, true end
  end
  return used, layers
end

-- Beginnings of the names of tensors of the input, and of those that make an embedding smaller.
local OUTSIDE = { "^position_", "^token_", "^dense_" }

-- A tensor of layers that llama.cpp leaves out, as transformers does: older files of T5 have this table.
local LEFT_OUT = "%.cross_attn_rel_b%."

-- Returns the first tensor of a layer that no layer has a weight from, or one of OUTSIDE. llama.cpp refuses files with
-- tensors that its models do not compute with, so this one is part of the model.
local function unread_of(wanted, tensors)
  local function of_any_layer(name) return (name:gsub("blk%.%d+%.", "blk.*.", 1)) end
  local used, layers = used_by(wanted, of_any_layer)
  for _, name in ipairs(words.sorted_keys(tensors)) do
    local layer = name:match(LAYER)
    local is_part = layer and layers[layer] or words.any(OUTSIDE, function(start) return name:find(start) end)
    if is_part and not used[of_any_layer(name)] and not name:find(LEFT_OUT) then return name end
  end
  return nil
end

-- Returns a line with the file's tensors that no weight comes from, or nil.
local function unused_of(wanted, tensors, file)
  local used, list = used_by(wanted, function(name) return name end), {}
  for _, name in ipairs(words.sorted_keys(tensors)) do
    if not used[name] then list[#list + 1] = ("%s %s"):format(name, words.shape(tensors[name].shape)) end
  end
  if #list == 0 then return nil end
  local more = #list > MOST_UNUSED and (" and %d more"):format(#list - MOST_UNUSED) or ""
  return ("%s: the file's unused tensors: %s%s"):format(file, table.concat(list, ", ", 1, math.min(#list, MOST_UNUSED)),
    more):gsub("%c", "?")
end

--- Checks the tensors of a file against the graphs of all entries. Faults: format, in at most eleven lines, if tensors
--- are missing or have other shapes.
function fits.check(graphs, tensors, file)
  local lines, seen, count, has_missing, wanted = {}, {}, 0, false, stored_by(graphs)
  for _, stored in ipairs(wanted) do
    local key = stored.names[1] .. words.shape(stored.shape)
    local fault, is_missing
    if not seen[key] then fault, is_missing = fault_of(stored, tensors, file) end
    seen[key] = true
    has_missing = has_missing or is_missing
    if fault then
      count = count + 1
      if count <= MOST_LINES then lines[count] = ("%s: %s"):format(file, fault):gsub("%c", "?") end
    end
  end
  if count > MOST_LINES then
    lines[#lines + 1] = ("%s: and %d more tensors do not fit"):format(file, count - MOST_LINES):gsub("%c", "?")
  end
  if has_missing then lines[#lines + 1] = unused_of(wanted, tensors, file) end
  local unread = count == 0 and paths.is_file(file) and unread_of(wanted, tensors)
  if unread then
    lines[1] = ("%s: %s: this part of the model is not supported"):format(file, unread):gsub("%c", "?")
  end
  if #lines > 0 then faults.raise("format", lines) end
end

return fits
