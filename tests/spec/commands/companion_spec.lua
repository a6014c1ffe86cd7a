-- companion_spec: where the files of `tune` and `calibrate` are: next to a description in Lua, never next to a
-- checkpoint or in a folder that cannot be written; and which of them a command finds by itself.
local helper = require("tests.spec.helper")
local companion = require("commands.companion")
local files = require("common.files")
local uv = require("common.libuv")

describe("the files of a model", function()
  local folder
  before_each(function() folder = helper.folder() end)
  after_each(helper.clean)

  -- A folder of a checkpoint, a GGUF file and a description, as a package of Python might have them.
  local function installed()
    files.write_all(folder .. "/site-packages/model", { { name = "config.json", text = "{}" },
      { name = "model.gguf", text = "GGUF\3\0\0\0" }, { name = "model.lua", text = "return {}" } })
    return folder .. "/site-packages/model"
  end

  it("are next to a description in Lua, and found there", function()
    local path = installed() .. "/model.lua"
    local wanted = path:gsub("lua$", "factors")
    assert.equal(wanted, companion.place(nil, path, "other", "factors"))
    assert.same({ file = wanted, asked = false }, companion.find(nil, path, "factors"))
    assert.same({ file = "x", asked = true }, companion.find("x", path, "factors"))
    assert.is_nil(companion.find("none", path, "factors"))
  end)

  it("are in the working folder, and found by an option alone, where the model is a checkpoint", function()
    for _, path in ipairs { installed(), installed() .. "/model.gguf" } do
      for _, ending in ipairs { "tune", "factors" } do
        assert.equal("other." .. ending, companion.place(nil, path, "other", ending))
        files.write(path .. "." .. ending, companion.first[ending] .. "2\n") -- as another user might have made it
        assert.is_nil(companion.find(nil, path, ending))
        assert.same({ file = "x", asked = true }, companion.find("x", path, ending))
      end
    end
  end)

  it("are in the working folder where that of the description cannot be written", function()
    local path, access = installed() .. "/model.lua", uv.fs_access
    finally(function() uv.fs_access = access end)
    uv.fs_access = function(at) return at == "." end -- root may write everywhere
    assert.equal("other.tune", companion.place(nil, path, "other", "tune"))
    for place, reason in pairs { [path .. "/x"] = "Not a directory", ["/proc/none/x"] = "No such file or directory" } do
      local fault = helper.fault(companion.place, place, path, "other", "tune")
      assert.same({ 4, ("cannot write %s: %s; -o FILE names another file"):format(place, reason) },
        { fault.code, fault.lines[1] })
    end
    local new = folder .. "/new/er/x"
    assert.equal(new, companion.place(new, path, "other", "tune"))
    assert.is_nil(require("lfs").attributes(folder .. "/new"))
  end)

  it("take the place of their kind alone", function()
    local path = folder .. "/weights"
    files.write(path, "attn2c tuning 5 avx2 X\n")
    assert.equal(path, companion.place(path, "a.lua", "a", "tune"))
    local fault = helper.fault(companion.place, path, "a.lua", "a", "factors")
    assert.equal(2, fault.code)
    assert.matches("weights: exists and does not begin with \"attn2c factors \"; it would be lost$", fault.lines[1])
    assert.equal(4, helper.fault(companion.place, folder, "a.lua", "a", "factors").code)
  end)

  it("are named by the command that comes next, as a shell reads it", function()
    assert.matches("^next: %S+ build 'a b%.gguf' weights=int4 %-%-factors=b%.factors$",
      companion.next({ description = "a b.gguf", overrides = { "weights=int4" } }, "factors", "b.factors"))
  end)
end)
