-- adapters.lua: finds the adapters that a description names: the key `adapter` has a LoRA adapter that is merged into
-- the weights, or the language of a folder that has an adapter for each; `adapters` has LoRA adapters that are kept
-- next to them. state.linked: the files that are linked in, whose tensors are among the checkpoint's, with NAME/ before
-- their names.
local adapter = require("checkpoints.adapter")
local faults = require("common.faults")
local files = require("common.files")
local hash = require("common.hash")
local json = require("common.json")
local language = require("checkpoints.language")
local lfs = require("lfs")
local same_numbers = require("passes.common.same_numbers")
local words = require("common.words")

local adapters = {}

-- Returns the path of a key's folder. An override's path is looked for in the working directory first.
local function path_of(state, key, path)
  local is_asked = words.any(state.overrides, function(override) return override:find("^" .. key .. "[.=]") end)
  if path:sub(1, 1) == "/" or is_asked and lfs.attributes(path, "mode") then return path end
  return (state.folder .. "/" .. path):gsub("/%.$", "")
end

-- Sets state.linked.
local function link(state, list)
  local hashes, tensors = {}, {}
  for i, each in ipairs(list) do
    hashes[i] = each.name .. " " .. each.hash
    for name, tensor in pairs(each.tensors) do tensors[each.name .. "/" .. name] = tensor end
  end
  list.hash, state.linked = hash.text(table.concat(hashes, "\0")), list
  if state.checkpoint then state.checkpoint = words.merged(state.checkpoint, tensors) end
end

-- Reads the adapters that are kept next to the weights: sets state.adapters.
local function gather_beside(state)
  if state.factors then
    faults.raise("usage", "%s: adapters: do not go with factors against outliers; leave these out by --factors=none",
      state.file)
  end
  state.adapters = words.map(state.spec.adapters, function(each)
    return adapter.beside(each.name, path_of(state, "adapters", each.path), state.notes)
  end)
  link(state, state.adapters)
end

--- Reads the adapter: sets state.adapter (checkpoints/adapter.lua), or state.linked. A folder that has adapters for
--- tasks, such as jina-embeddings-v3, takes the name of a task. Faults: io, format, usage.
function adapters.gather(state)
  local spec = state.spec
  if spec.adapters then return gather_beside(state) end
  if not spec.adapter then return end
  local of_language = language.read(state.folder, spec.adapter)
  if of_language then return link(state, { of_language }) end
  if adapter.has_tasks(state.checkpoint) then
    local config = json.decode(files.read(state.folder .. "/config.json") or "", json.null) or {}
    state.adapter = adapter.of_task(state.folder, state.checkpoint, config, spec.adapter)
  else
    state.adapter = adapter.read(path_of(state, "adapter", spec.adapter), state.notes)
  end
end

--- Finds the weights that it changes, once the graphs are made: sets its rows. Faults: usage, format.
function adapters.conclude(state)
  local function are_one(a, b) return same_numbers.are_one(state, a, b) end
  if state.adapter then state.adapter.rows = adapter.rows(state.adapter, state.entries, state.notes, are_one) end
  for _, each in ipairs(state.adapters or {}) do adapter.check_used(each) end
end

return adapters
