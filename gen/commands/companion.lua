-- companion.lua: decides where the files are that `tune` and `calibrate` write for a model: NAME.tune, NAME.factors,
-- NAME.parts.
-- They are next to a description in Lua, where later commands find them. A checkpoint's folder or GGUF file may be
-- anyone's, and so may a folder that cannot be written: their files are in the working folder, and an option names
-- them.
local faults = require("common.faults")
local files = require("common.files")
local lfs = require("lfs")
local paths = require("checkpoints.paths")
local uv = require("common.libuv")
local words = require("common.words")

local companion = {}

local BEGINNING = 64 -- bytes of a file that show its kind

--- Returns the path next to a description in Lua; nil for a checkpoint. ending: "tune", "factors" or "parts".
function companion.beside(description, ending)
  return not paths.is_checkpoint(description) and (description:gsub("%.lua$", "")) .. "." .. ending or nil
end

--- Returns the file that a command uses: { file, asked = true if an option names it }, or nil. asked: the option's.
function companion.find(asked, description, ending)
  local file = asked or companion.beside(description, ending)
  return asked ~= "none" and file and { file = file, asked = asked ~= nil } or nil
end

local function folder_of(path) return ((path:match("^(.*/)[^/]*$") or "."):gsub("(.)/$", "%1")) end

--- Returns the path to write. asked: that of -o, or nil; name: the model's. Faults: io, usage, before anything is
--- measured: a folder that cannot be written, and a file that begins unlike files of `ending`, which would be lost.
function companion.place(asked, description, name, ending)
  local path = asked or companion.beside(description, ending)
  if not asked and not (path and uv.fs_access(folder_of(path), "W")) then path = name .. "." .. ending end
  local mode = lfs.attributes(path, "mode")
  if mode and mode ~= "file" then
    faults.raise("io", "cannot write %s: it is a %s, and a regular file is expected", path, mode)
  end
  local begins, wanted = files.read_some(path, BEGINNING) or "", companion.first[ending]
  if begins ~= "" and begins:sub(1, #wanted) ~= wanted then
    faults.raise("usage", "%s: exists and does not begin with %s; it would be lost", path, faults.quote(wanted))
  end
  files.check_place(path)
  return path
end

--- The first words of a file, by its ending.
companion.first = { tune = "attn2c tuning ", factors = "attn2c factors ", parts = "attn2c parts " }

--- Returns a command line that builds a model with a file, for the end of a command. option: "tuning" or "factors".
function companion.next(arguments, option, path)
  local list = { arg and arg[0] or "attn2c", "build", arguments.description }
  words.append(list, arguments.overrides)
  list[#list + 1] = ("--%s=%s"):format(option, path)
  return "next: " .. table.concat(words.map(list, words.shell), " ")
end

return companion
