-- adapters.lua: finds the LoRA adapter that a description names with the key `adapter`.
local adapter = require("checkpoints.adapter")
local files = require("common.files")
local json = require("common.json")
local lfs = require("lfs")
local words = require("common.words")

local adapters = {}

-- Returns the path of the adapter's folder. An override's path is looked for in the working directory first.
local function path_of(state)
  local path = state.spec.adapter
  local is_asked = words.any(state.overrides, function(override) return override:find("^adapter=") end)
  if path:sub(1, 1) == "/" or is_asked and lfs.attributes(path, "mode") then return path end
  return (state.folder .. "/" .. path):gsub("/%.$", "")
end

--- Reads the adapter: sets state.adapter (checkpoints/adapter.lua). A folder that has adapters for tasks, such as
--- jina-embeddings-v3, takes the name of a task. Faults: io, format, usage.
function adapters.gather(state)
  if adapter.has_tasks(state.checkpoint) then
    local config = json.decode(files.read(state.folder .. "/config.json") or "", json.null) or {}
    state.adapter = adapter.of_task(state.folder, state.checkpoint, config, state.spec.adapter)
  else
    state.adapter = adapter.read(path_of(state), state.notes)
  end
end

--- Finds the weights that it changes, once the graphs are made: sets its rows. Faults: usage, format.
function adapters.conclude(state) state.adapter.rows = adapter.rows(state.adapter, state.entries, state.notes) end

return adapters
