-- additions_spec.lua: an addition touches as many files as CONTRIBUTING.md says.
local helper = require("tests.spec.helper")
local lfs = require("lfs")

-- Returns a file's text without comments.
local function code_of(path, text)
  if path:match("%.lua$") then return (text:gsub("%-%-[^\n]*", "")) end
  return (text:gsub("/%*.-%*/", ""))
end

-- Calls visit(path, code) for each file of Lua and C in a folder, but not for headers that `make headers` writes.
local function each_code(folder, visit)
  for name in lfs.dir(helper.root .. "/" .. folder) do
    local path = folder .. "/" .. name
    if name:sub(1, 1) ~= "." and lfs.attributes(helper.root .. "/" .. path, "mode") == "directory" then
      each_code(path, visit)
    elseif name:match("%.lua$") or name:match("%.[ch]$") then
      local text = helper.read(helper.root .. "/" .. path)
      if not text:find("`make headers` writes this file", 1, true) then visit(path, code_of(path, text)) end
    end
  end
end

describe("an addition", function()
  local said, found = {}, {}
  local text = helper.read(helper.root .. "/.github/CONTRIBUTING.md")
  for example, count, files in text:gmatch("\n| [^|]+ | `([%w_]+)` | (%d+)([^\n]*) |") do
    local list = {}
    for path in files:gmatch("`([^`]+)`") do list[#list + 1] = path end
    table.sort(list)
    said[example], found[example] = { count = tonumber(count), files = list }, {}
  end
  for _, folder in ipairs { "gen", "runtime" } do
    each_code(folder, function(path, code)
      for example, list in pairs(found) do
        if code:find("%f[%w]" .. example .. "%f[%W]") then list[#list + 1] = path end
      end
    end)
  end

  it("touches the files that CONTRIBUTING.md lists for its kind", function()
    local rows = 0
    for example, list in pairs(found) do
      table.sort(list)
      rows = rows + 1
      local count, files = said[example].count, said[example].files
      assert.is_true(#list <= count, ("%s: %d files: %s"):format(example, #list, table.concat(list, " ")))
      if #files == count then assert.same(files, list) end
    end
    assert.equal(6, rows)
  end)
end)
