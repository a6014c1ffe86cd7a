-- paths.lua: tells which paths are checkpoints, and what people call them. It reads no more of a file than its first
-- bytes, and loads nothing that reads checkpoints: most descriptions are Lua files.
local gguf = require("common.gguf")
local lfs = require("lfs")

local paths = {}

--- True if a path is a folder, or a GGUF file.
function paths.is_checkpoint(path) return lfs.attributes(path, "mode") == "directory" or gguf.is(path) end

--- True if a path is a GGUF file.
paths.is_file = gguf.is

--- Returns the last part of a folder's path, which people call it by; the title of a GGUF file.
function paths.title(path)
  if gguf.is(path) then return require("checkpoints.gguf").title(path) end
  local title = path:gsub("/+$", ""):match("[^/]*$")
  if title == "" or title == "." or title == ".." then
    title = (lfs.currentdir() .. "/" .. path):gsub("/%.$", ""):match("([^/]+)/?$") or "model"
  end
  return title
end

return paths
