-- maps_spec: maps of attention as PNG files, which are written over none that others have made.
local helper = require("tests.spec.helper")
local faults = require("common.faults")
local files = require("common.files")
local uv = require("common.libuv")
local maps = require("commands.report.maps")

local folder = helper.absolute_root() .. "/out/spec/report_maps"
files.make_folder(folder)

-- Two heads, the second with a NaN.
local made = { queries = 2, keys = 2, layers = { { layer = "0", heads = { { rows = { { 1, 0 }, { 0.5, 0.5 } } },
  { rows = { { 0 / 0, 1 }, { 0, 1 } } } } } } }

local function write() return pcall(maps.write, helper.root, made, "maps", folder) end

local function path(head) return ("%s/maps_layer_0_head_%d.png"):format(folder, head) end

describe("maps of attention", function()
  before_each(function() for head = 0, 1 do os.remove(path(head)) end end)

  it("need weights where the model has any that are no constants", function()
    local function possible(more)
      local without = { d_ff = 0, projections = false, residual = false, norm = "none", target = "avx2" }
      for key, value in pairs(more) do without[key] = value end
      return pcall(maps.possible, { attention = "maps" }, { path = "model.lua" },
        helper.tiny(without, "graph"))
    end
    assert.same({ true, true }, { possible {} })
    assert.same({ true, true }, { possible { positions = "rope" } }) -- tables of constants
    assert.is_false((possible { projections = true }))
  end)

  it("are written, and written again over their own", function()
    for _ = 1, 2 do
      local ok, count = write()
      assert.is_true(ok, tostring(count))
      assert.equal(2, count)
      local text = files.read(path(0))
      local width, height = string.unpack(">I4I4", text, 17)
      assert.same({ 256, 256 }, { width, height })
      assert.truthy(text:find("tEXtSoftware\0attn2c report", 1, true))
    end
  end)

  it("are written by this machine, whatever processor the model is for", function()
    local before = uv.os_getenv("CROSS")
    uv.os_setenv("CROSS", "aarch64-linux-gnu-")
    local ok, count = write()
    if before then uv.os_setenv("CROSS", before) else uv.os_unsetenv("CROSS") end
    assert.same({ true, 2 }, { ok, count })
  end)

  it("are not written over another's picture, or anything else, and then none is", function()
    for _, text in ipairs { "\x89PNG\r\n\x1a\n\0\0\0\rIHDRanother's", "no picture\n" } do
      helper.write(path(1), text)
      local ok, fault = write()
      assert.is_false(ok)
      assert.is_true(faults.is(fault))
      assert.matches("^%-%-attention: .*maps_layer_0_head_1%.png exists and is not a picture of attn2c report",
        fault.lines[1])
      assert.equal(text, files.read(path(1)))
      assert.is_nil(files.read(path(0)))
    end
  end)
end)
