-- python.lua: joins the files of runtime/python, which tests and checkers of types take one by one, into the one module
-- that the Python modules of all models of this version share.
local files = require("common.files")
local version = require("common.version")
local words = require("common.words")

local emit_python = {}

-- The files, each after those that it imports.
local names = { "values", "calls", "masks", "library", "sequences", "pictures", "sounds", "text", "spans",
  "pages", "generate", "generate_text", "chat", "tasks", "speech", "ranks" }
local is_own = words.set(names)

--- The module's name. It has the version, so that models of two versions can be used in one program.
emit_python.name = "attn2c_" .. version.generator:gsub("%.", "_")

--- Returns the module's text. The files' imports of each other are dropped.
function emit_python.join(root)
  local parts = { ("# %s.py - what the Python modules of models made by attn2c %s share.\n")
    :format(emit_python.name, version.generator) .. "from __future__ import annotations\n" }
  for i, name in ipairs(names) do
    local path = ("runtime/python/%s.py"):format(name)
    local text = assert(files.read(root .. "/" .. path), path .. " is missing"):gsub("from __future__ [^\n]*\n", "")
    text = text:gsub("\nfrom ([%w_]+) import [^\n]*", function(module) return is_own[module] and "" or nil end)
    parts[i + 1] = ("# %s\n%s"):format(path, text:gsub("^#[^\n]*\n+", "", 1))
  end
  return table.concat(parts, "\n\n")
end

return emit_python
