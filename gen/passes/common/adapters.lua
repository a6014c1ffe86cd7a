-- adapters.lua: finds the adapters that a description names. The key `adapter` has a LoRA adapter that is merged into
-- the weights, or the language of a folder that has an adapter for each. `adapters` has LoRA adapters that are kept
-- next to the weights. state.linked: the files that are linked in, whose tensors are among the checkpoint's, with NAME/
-- before their names.
local adapter = require("checkpoints.adapter")
local faults = require("common.faults")
local files = require("common.files")
local hash = require("common.hash")
local json = require("common.json")
local language = require("checkpoints.language")
local lfs = require("lfs")
local names = require("checkpoints.names")
local same_numbers = require("passes.common.same_numbers")
local words = require("common.words")

local adapters = {}

-- Returns the path of a key's folder. An override's path is looked for in the working directory first.
local function path_of(state, key, path)
  local is_asked = words.any(state.overrides, function(override) return override:find("^" .. key .. "[.=]") end)
  if path:sub(1, 1) == "/" or is_asked and lfs.attributes(path, "mode") then return path end
  return (state.folder .. "/" .. path):gsub("/%.$", "")
end

local function link(state, list)
  local tensors = {}
  for _, each in ipairs(list) do
    for name, tensor in pairs(each.tensors) do tensors[each.name .. "/" .. name] = tensor end
  end
  state.linked = list
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

-- Sets the scheme of an adapter's targets if it is another one than the model's, and state.adapter_schemes.
local function set_scheme(state, each)
  local of_model, of_file = state.spec.names, each.scheme
  local own = names.scheme_of(of_model)
  if of_file and of_file ~= own and not names.goes_to_files(own, of_file) then
    faults.raise("usage", "%s: metadata \"general.architecture\": %s, but the model is of another architecture, with "
      .. "names of %s", each.path, of_file:gsub("^gguf%-", ""), own)
  end
  if of_file == own then
    each.scheme = nil
  elseif not of_file then
    each.scheme = names.of_model(of_model)
  end
  state.adapter_schemes = state.adapter_schemes or {}
  if each.scheme then state.adapter_schemes[each.scheme] = true end
end

--- Reads the adapter: sets state.adapter (checkpoints/adapter.lua), or state.linked. A folder that has adapters for
--- tasks, such as jina-embeddings-v3, takes the name of a task. Faults: io, format, usage.
function adapters.gather(state)
  local spec = state.spec
  local of_language = not spec.adapters and spec.adapter and language.read(state.folder, spec.adapter)
  if of_language then return link(state, { of_language }) end
  if spec.adapters then
    gather_beside(state)
  elseif spec.adapter and adapter.has_tasks(state.checkpoint) then
    local config = json.decode(files.read(state.folder .. "/config.json") or "", json.null) or {}
    state.adapter = adapter.of_task(state.folder, state.checkpoint, config, spec.adapter)
  elseif spec.adapter then
    state.adapter = adapter.read(path_of(state, "adapter", spec.adapter), state.notes)
  end
  for _, each in ipairs(state.adapters or { state.adapter }) do set_scheme(state, each) end
end

--- Finds the weights that they change, once the graphs are made: sets the rows of the merged one, and the hash. Faults:
--- usage, format.
function adapters.conclude(state)
  local function are_one(a, b) return same_numbers.are_one(state, a, b) end
  local merged, hashes = state.adapter, {}
  if merged then
    merged.rows = adapter.rows(merged, state.entries, state.notes, are_one)
    merged.hash = adapter.identity(merged)
  end
  for _, each in ipairs(state.adapters or {}) do adapter.check_used(each, state.entries, state.checkpoint) end
  for i, each in ipairs(state.linked or {}) do hashes[i] = each.name .. " " .. adapter.identity(each) end
  if state.linked then state.linked.hash = hash.text(table.concat(hashes, "\0")) end
end

return adapters
