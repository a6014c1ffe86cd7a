-- python.lua: joins files of runtime/python, which stand alone for tests and checkers of types, into a part of one
-- module. Their imports of each other are dropped; their other imports are written once.
local files = require("common.files")
local words = require("common.words")

local emit_python = {}

local WIDTH = 120

-- Modules that are not Python's own. Their imports follow those of Python's.
local packages = { numpy = true }

-- Returns "from MODULE import NAMES", in lines that are not too wide.
local function import_line(module, names)
  local list = words.sorted_keys(names)
  local line = ("from %s import %s"):format(module, table.concat(list, ", "))
  if #line <= WIDTH then return line end
  local lines = { ("from %s import ("):format(module), "   " }
  for _, name in ipairs(list) do
    if #lines[#lines] + 2 + #name > WIDTH then lines[#lines + 1] = "   " end
    lines[#lines] = lines[#lines] .. " " .. name .. ","
  end
  lines[#lines + 1] = ")"
  return table.concat(lines, "\n")
end

-- Returns a text's imports, as a list of { module, names = text or nil }, and the text after them. Imports are lines at
-- its beginning.
local function parts_of(text, name)
  local imports, at = {}, 1
  for line, after in text:gmatch("([^\n]*)\n()") do
    local from, names = line:match("^from (%S+) import (.+)$")
    local module = from or line:match("^import (.+)$")
    if not module and line ~= "" and line:sub(1, 1) ~= "#" then break end
    assert(not (names or module or ""):find("[()\\]") and not (names or module or ""):find(" as ", 1, true)
      or module == "numpy as np", name .. ": an import has one line and no other name")
    if module then imports[#imports + 1] = { module = module, names = names } end
    at = after
  end
  return imports, text:sub(at):gsub("%s+$", "")
end

-- Returns the lines of imports: `from __future__`, those of Python's own modules, those of packages.
local function import_lines(imports)
  local plain, from = {}, {}
  for _, each in ipairs(imports) do
    if each.names then
      from[each.module] = from[each.module] or {}
      for word in each.names:gmatch("[%w_]+") do from[each.module][word] = true end
    else
      plain[each.module] = true
    end
  end
  local lists = { [false] = {}, [true] = {} }
  local function add(module, line) table.insert(lists[packages[module:match("^[%w_]+")] or false], line) end
  for _, module in ipairs(words.sorted_keys(plain)) do add(module, "import " .. module) end
  for _, module in ipairs(words.sorted_keys(from)) do add(module, import_line(module, from[module])) end
  return table.concat({ "from __future__ import annotations", table.concat(lists[false], "\n"),
    table.concat(lists[true], "\n") }, "\n\n")
end

--- Joins the files called `names`, such as "calls". more: lines of further imports. Returns the lines of imports, and
--- the text of the code.
function emit_python.join(root, names, more)
  local own, code = { __future__ = true }, {}
  for _, name in ipairs(names) do own[name] = true end
  local imports = parts_of(more, "imports")
  for i, name in ipairs(names) do
    local path = ("runtime/python/%s.py"):format(name)
    local found, text = parts_of(assert(files.read(root .. "/" .. path), path .. " is missing"), path)
    for _, each in ipairs(found) do if not own[each.module] then imports[#imports + 1] = each end end
    code[i] = ("# %s\n\n%s\n"):format(path, text)
  end
  return import_lines(imports), table.concat(code, "\n\n")
end

return emit_python
