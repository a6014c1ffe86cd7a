-- headers_spec.lua: the headers that repeat tables of the compiler are up to date.
local helper = require("tests.spec.helper")
local headers = require("data.headers")

local function read(path) return helper.read(helper.root .. "/" .. path) end

describe("headers of the runtime", function()
  it("are as the tables of the compiler: make headers writes them", function()
    local paths = {}
    for i, each in ipairs(headers.stale(read)) do paths[i] = each.path end
    assert.same({}, paths)
  end)

  it("are found out of date if one number differs", function()
    local changed = "runtime/base/number_types.h"
    local stale = headers.stale(function(path)
      local text = read(path)
      return path == changed and text:gsub("%d", "x", 1) or text
    end)
    assert.same({ changed }, { stale[1] and stale[1].path, stale[2] and stale[2].path })
  end)
end)
