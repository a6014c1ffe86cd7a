-- additions_spec.lua: an addition touches the number of files that CONTRIBUTING.md says.
local helper = require("tests.spec.helper")
local lfs = require("lfs")
local types = require("data.types")

-- Returns a function that is true for code that names an example. A type of weights is named by its word and by its
-- name, in C in capital letters too; not by C's int8_t, nor by Lua's formats of packed numbers ("<i8").
local function finder(example)
  local word, name = "%f[%w]" .. example .. "%f[%W]", types.of_word[example]
  if not name then return function(code) return code:find(word) ~= nil end end
  local text = '"' .. name .. '"'
  local in_lua = { "[%w_]%s*[=~]?=%s*" .. text, "[%w_]%(" .. text, "[{,]%s*" .. name .. "%s*=" }
  return function(code)
    local small = code:lower():gsub(types.c(name), "")
    if small:find(word) or small:find("_" .. name .. "%f[%W]") then return true end
    for _, pattern in ipairs(in_lua) do if code:find(pattern) then return true end end
    return false
  end
end

-- Folders and files whose code names the types of files that other programs write.
local formats = { ["runtime/formats"] = true, ["gen/common/gguf.lua"] = true, ["gen/text/gguf.lua"] = true }

-- Returns a file's text without comments.
local function code_of(path, text)
  if path:match("%.lua$") then return (text:gsub("%-%-[^\n]*", "")) end
  return (text:gsub("/%*.-%*/", ""))
end

-- Calls visit(path, code) for each file of Lua and C in a folder, but not for the header that `make headers` writes.
local function each_code(folder, visit)
  for name in lfs.dir(helper.root .. "/" .. folder) do
    local path = folder .. "/" .. name
    if formats[path] then goto next end
    if name:sub(1, 1) ~= "."
      and lfs.attributes(helper.root .. "/" .. path, "mode") == "directory" then
      each_code(path, visit)
    elseif name:match("%.lua$") or name:match("%.[ch]$") then
      local text = helper.read(helper.root .. "/" .. path)
      if not text:find("`make headers` writes this file", 1, true) then visit(path, code_of(path, text)) end
    end
    ::next::
  end
end

describe("an addition", function()
  local said, found, finds = {}, {}, {}
  local text = helper.read(helper.root .. "/.github/CONTRIBUTING.md")
  for example, count, files in text:gmatch("\n| [^|]+ | `([%w_]+)` | (%d+)([^\n]*) |") do
    local list = {}
    for path in files:gmatch("`([^`]+)`") do list[#list + 1] = path end
    table.sort(list)
    said[example], found[example], finds[example] = { count = tonumber(count), files = list }, {}, finder(example)
  end
  for _, folder in ipairs { "gen", "runtime" } do
    each_code(folder, function(path, code)
      for example, list in pairs(found) do
        if finds[example](code) then list[#list + 1] = path end
      end
    end)
  end

  it("touches the files that CONTRIBUTING.md lists for its kind", function()
    local rows = 0
    for example, list in pairs(found) do
      table.sort(list)
      rows = rows + 1
      local count, files = said[example].count, said[example].files
      assert.equal(count, #list, ("%s: %s"):format(example, table.concat(list, " ")))
      assert.same(files, list)
    end
    assert.equal(7, rows)
  end)
end)
