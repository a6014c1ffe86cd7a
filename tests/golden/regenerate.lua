-- regenerate.lua: writes the goldens anew: the dump of every stage, and the emitted steps and
-- row operations, of three small models that together use most of the compiler; of `post`, which
-- is plain, all emitted C; of other models the dumps of the passes that decide, and of models of any
-- length the steps. Run it from the top of the repository (make golden), and read the difference before
-- it is committed.
local golden = {}

local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
golden.folder = here
golden.root = here .. "/../.."
package.path = golden.root .. "/gen/?.lua;" .. package.path

golden.stages = { "graph", "layout", "plan", "lower", "schedule", "memory", "kernels" }
golden.deciding = { "layout", "plan", "kernels" }

--- Each model: its description and its overrides; targets are pinned, so that every machine makes the same.
golden.models = { "post", "causal", "window", "bf16", "int8", "any_bf16", "any_int8", "kept_int4" }

--- Models of which only the dumps of deciding passes are kept.
golden.decided = { bf16 = true, int8 = true }

--- Models of any length, of which the steps as C are kept in addition to those.
golden.open = { any_bf16 = true, any_int8 = true, kept_int4 = true }

--- Emitted files that are kept, by what stands after the model's name; of the plain model more.
golden.emitted = { ".c", "_ops.c" }
golden.plain_emitted = { ".c", "_ops.c", ".h", "_ops.h", "_kernels.c", "_model.c", "_program.c" }

-- The text of an emitted file, the part of its name after the model's.
local function emitted(state, suffix)
  for _, file in ipairs(state.files) do
    if file.name == state.spec.name .. suffix then return file.text end
  end
  error("no file " .. suffix)
end

--- The goldens of a model as they are now: a list of { name, text }.
function golden.make(model)
  local pipeline = require("pipeline")
  local is_decided, is_open = golden.decided[model], golden.open[model]
  local state = pipeline.run(golden.root, golden.folder .. "/" .. model .. ".lua", {}, is_decided and "kernels" or nil)
  local list = {}
  for _, stage in ipairs((is_decided or is_open) and golden.deciding or golden.stages) do
    list[#list + 1] = { name = ("%s_%s.txt"):format(model, stage), text = pipeline.dump(state, stage) }
  end
  if is_decided then return list end
  local suffixes = model == "post" and golden.plain_emitted or is_open and { ".c" } or golden.emitted
  for _, suffix in ipairs(suffixes) do
    local name = (suffix == ".c" and "_steps.c" or suffix):gsub("%.", "_")
    list[#list + 1] = { name = model .. name .. ".txt", text = emitted(state, suffix) }
  end
  return list
end

-- Run as a program, not required by the spec.
if arg and arg[0] and arg[0]:match("regenerate%.lua$") then
  for _, model in ipairs(golden.models) do
    require("common.files").write_all(golden.folder, golden.make(model))
  end
end

return golden
