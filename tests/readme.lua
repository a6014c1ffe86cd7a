#!/usr/bin/env lua5.4
-- readme.lua: writes the tables in README.md files (`make readme`), and prints what each file does (`make files`).
--
-- A README has these marks, and this program writes the lines between them:
--   <!-- families -->              a row for each family of checkpoints
--   <!-- architectures -->         the architectures of GGUF files, by what they are
--   <!-- sounds -->                a row for each field of the key `sound`
--   <!-- end -->                   the end of the lines
-- With --check it writes nothing, names the files that are out of date, and ends with status 1. With --files FOLDER ...
-- it prints each code file of the folders, with the first sentence of its opening comment.
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
local root = here .. "/.."
if not package.path:find(root .. "/gen/?.lua", 1, true) then package.path = root .. "/gen/?.lua;" .. package.path end
local architectures = require("checkpoints.architectures")
local families = require("checkpoints.families")
local files = require("common.files")
local lfs = require("lfs")
local sounds = require("data.sounds")
local words = require("common.words")

local readme = {}

--- Paths of the README files, from the top of the repository.
readme.list = { "README.md", "gen/README.md", "gen/checkpoints/README.md", "gen/commands/README.md",
  "models/README.md", "models/examples/README.md", "runtime/README.md", "runtime/generate/README.md",
  "runtime/grammar/README.md", "runtime/picture/README.md", "runtime/sound/README.md", "runtime/text/README.md",
  "tests/README.md", "tests/bench/README.md" }

-- Returns the text of a file's opening comment, as one line, without the line of an interpreter (#!).
local function comment_of(text)
  text = text:gsub("^#![^\n]*\n", "")
  local block = text:match("^/%*%s*(.-)%s*%*/") or text:match('^"""(.-)"""')
  if block then return (block:gsub("%s*\n[ *]*", " ")) end
  local lines = {}
  for line in text:gmatch("([^\n]*)\n") do
    local row = line:match("^%-%-%-?%s?(.*)$") or line:match("^#%s?(.*)$") or line:match("^//%s?(.*)$")
    if not row or row:match("^%s*$") then break end
    lines[#lines + 1] = row
  end
  return table.concat(lines, " ")
end

--- Returns the first sentence of a file's opening comment, without the file's name in front of it; "" if there is none.
function readme.sentence(text)
  local comment = comment_of(text):gsub("^[%w_.]+: ", "", 1):gsub("^[%w_.]+ %- ", "", 1)
  local from = 1
  while true do
    local at = comment:find("[.?!]%s+[^%s%l%d]", from)
    if not at then return (comment:gsub("%s+", " "):gsub(":$", ".")) end
    local word = comment:sub(1, at):match("(%S+)%.$") or ""
    if not (word == "al" or word == "e.g" or word == "i.e") then return (comment:sub(1, at):gsub("%s+", " ")) end
    from = at + 1
  end
end

local function escaped(text)
  local out, code = {}, false
  for part, tick in (text .. "\0"):gmatch("([^`%z]*)([`%z])") do
    if not code then part = part:gsub("[]*<[]", { ["*"] = "\\*", ["["] = "\\[", ["]"] = "\\]", ["<"] = "&lt;" }) end
    out[#out + 1] = part:gsub("|", "\\|") .. (tick == "`" and "`" or "")
    if tick == "`" then code = not code end
  end
  return table.concat(out)
end

-- Returns the names of the code files of a folder and of the folders in it, sorted.
local function code_files(folder, prefix, list)
  for name in lfs.dir(folder) do
    local path, mode = folder .. "/" .. name, lfs.attributes(folder .. "/" .. name, "mode")
    if mode == "file" and (name:match("%.lua$") or name:match("%.[ch]$") or name:match("%.sh$") or name:match("%.py$"))
    then
      list[#list + 1] = prefix .. name
    elseif mode == "directory" and not name:match("^%.") and name ~= "__pycache__" then
      code_files(path, prefix .. name .. "/", list)
    end
  end
  table.sort(list)
  return list
end

--- Returns a row for each code file below a folder: its path, and the first sentence of its opening comment. A header
--- and its source are one row, which has the header's sentence.
function readme.files(folder)
  local names = code_files(root .. "/" .. folder, "", {})
  local known, rows = words.set(names), {}
  for _, name in ipairs(names) do
    local stem = name:match("^(.*)%.c$")
    if not (stem and known[stem .. ".h"]) then
      local pair = name:match("^(.*)%.h$")
      rows[#rows + 1] = { path = folder .. "/" .. (pair and known[pair .. ".c"] and pair .. ".h, .c" or name),
        sentence = readme.sentence(assert(files.read(root .. "/" .. folder .. "/" .. name))) }
    end
  end
  return rows
end

-- Returns the names of the families that folders may have, sorted.
local function family_names()
  local list = {}
  for name, family in pairs(families.by_name) do if family.known then list[#list + 1] = name end end
  table.sort(list)
  return list
end

-- Returns a table with a row for each family.
local function table_of_families()
  local rows = { "| family | models that people know | `model_type` |", "|---|---|---|" }
  for _, name in ipairs(family_names()) do
    local family, types = families.by_name[name], {}
    for model_type in pairs(family.model_types or {}) do types[#types + 1] = "`" .. model_type .. "`" end
    table.sort(types)
    rows[#rows + 1] = ("| %s | %s | %s |"):format(name, escaped(family.known), table.concat(types, ", "))
  end
  return table.concat(rows, "\n")
end

-- Returns a table of the architectures of GGUF files, by their classes.
local function table_of_architectures()
  local kinds = { { "decoders", {} }, { "encoders", {} }, { "encoders with decoders", {} } }
  for _, name in ipairs(words.sorted_keys(architectures)) do
    local class = architectures[name].class
    local kind = class:find("ConditionalGeneration$") and 3 or (class:find("CausalLM$") or class:find("LMHead")) and 1
      or 2
    table.insert(kinds[kind][2], ("`%s`"):format(name))
  end
  local rows = { "| architectures | |", "|---|---|" }
  for _, kind in ipairs(kinds) do rows[#rows + 1] = ("| %s | %s |"):format(kind[1], table.concat(kind[2], ", ")) end
  return table.concat(rows, "\n")
end

-- Returns a table with a row for each field of the key `sound`.
local function table_of_sounds()
  local rows = { "| field | default | meaning |", "|---|---|---|" }
  for _, fields in ipairs { sounds.fields, sounds.of_mels, sounds.of_convolutions } do
    local names = {}
    for name in pairs(fields) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
      local field = fields[name]
      rows[#rows + 1] = ("| `%s` | %s | %s |"):format(name, field.default == nil and (field.required and "must be given"
        or "") or tostring(field.default), escaped(field.meaning .. (field.words and " (" .. table.concat(field.words,
        ", ") .. ")" or "")))
    end
  end
  return table.concat(rows, "\n")
end

--- Returns the anchor that GitHub gives a heading.
function readme.anchor(heading)
  return (heading:lower():gsub("`", ""):gsub("[^%w%s_-]", ""):gsub("%s", "-"))
end

local tables = { architectures = table_of_architectures, families = table_of_families, sounds = table_of_sounds }

--- Returns the text of a README with the right lines between its marks.
function readme.render(name, text)
  return (text:gsub("<!%-%- (%l+)[^\n]- %-%->\n.-<!%-%- end %-%->", function(kind)
    local table_of = tables[kind] or error(name .. ": unknown mark " .. kind)
    return ("<!-- %s, made by `make readme` -->\n\n%s\n\n<!-- end -->"):format(kind, table_of())
  end))
end

--- Returns the names of README files that are out of date.
function readme.stale()
  local list = {}
  for _, name in ipairs(readme.list) do
    local text = assert(files.read(root .. "/" .. name))
    if readme.render(name, text) ~= text then list[#list + 1] = name end
  end
  return list
end

if not (arg and arg[0]:match("readme%.lua$")) then return readme end

if arg[1] == "--files" then
  for _, folder in ipairs { table.unpack(arg, 2) } do
    for _, row in ipairs(readme.files(folder)) do print(("%-44s  %s"):format(row.path, row.sentence)) end
  end
  os.exit(0)
end

local stale, check = readme.stale(), arg[1] == "--check"
for _, name in ipairs(stale) do
  if check then
    print(name .. ": out of date; make readme")
  else
    files.write(root .. "/" .. name, readme.render(name, files.read(root .. "/" .. name)))
    print(name)
  end
end
os.exit(check and #stale > 0 and 1 or 0)
