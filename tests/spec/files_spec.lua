-- files_spec: writing sets of files: all or none, unchanged ones left alone.
local helper = require("tests.spec.helper")
local faults = require("faults")
local files = require("files")
local lfs = require("lfs")

local function entries(folder)
  local list = {}
  for name in lfs.dir(folder) do if name ~= "." and name ~= ".." then list[#list + 1] = name end end
  table.sort(list)
  return list
end

describe("files", function()
  after_each(helper.clean)

  it("quotes a word for the shell", function()
    for _, word in ipairs { "a", "a b", "it's", "$HOME `x` \"y\"", "a\nb", "'", "" } do
      local handle = io.popen("printf %s " .. files.shell(word))
      assert.equal(word, handle:read("a"))
      handle:close()
    end
  end)

  it("reads a whole file, or gives nil", function()
    assert.equal("a\0b\r\n", files.read(helper.file("a\0b\r\n")))
    assert.is_nil(files.read(helper.folder() .. "/none"))
  end)

  it("makes folders, also those above, and takes those that are there", function()
    local folder = helper.folder()
    files.make_folder(folder .. "/a/b//c")
    assert.equal("directory", lfs.attributes(folder .. "/a/b/c", "mode"))
    files.make_folder(folder .. "/a/b/c")
  end)

  it("writes a set of files and leaves nothing beside them", function()
    local folder = helper.folder() .. "/new"
    files.write_all(folder, { { name = "a.c", text = "int a;\n" }, { name = "b.h", text = "" } })
    assert.same({ "a.c", "b.h" }, entries(folder))
    assert.equal("int a;\n", files.read(folder .. "/a.c"))
  end)

  it("leaves a file alone that would not change", function()
    local folder = helper.folder()
    files.write_all(folder, { { name = "a", text = "same" }, { name = "b", text = "old" } })
    lfs.touch(folder .. "/a", 1000000, 1000000)
    lfs.touch(folder .. "/b", 1000000, 1000000)
    files.write_all(folder, { { name = "a", text = "same" }, { name = "b", text = "new" } })
    assert.equal(1000000, lfs.attributes(folder .. "/a", "modification"))
    assert.is_true(lfs.attributes(folder .. "/b", "modification") > 1000000)
    assert.equal("new", files.read(folder .. "/b"))
  end)

  it("writes none where one cannot be written", function()
    local folder = helper.folder()
    files.write_all(folder, { { name = "a", text = "old" } })
    local fault = helper.fault(files.write_all, folder, { { name = "a", text = "new" }, { name = "no/b", text = "x" } })
    assert.equal(faults.code.io, fault.code)
    assert.matches("^cannot write ", fault.lines[1])
    assert.same({ "a" }, entries(folder))
    assert.equal("old", files.read(folder .. "/a"))
  end)

  it("reports a full disk and leaves no half-written file", function()
    local folder = helper.folder()
    -- A file beside its place that is a link to a device which is always full.
    os.execute("ln -s /dev/full " .. files.shell(folder .. "/.a.new"))
    local fault = helper.fault(files.write_all, folder, { { name = "a", text = ("x"):rep(100000) } })
    assert.equal(faults.code.io, fault.code)
    assert.matches("No space left on device", fault.lines[1])
    assert.same({}, entries(folder))
  end)

  it("reports a folder that cannot be made", function()
    local path = helper.file("a file")
    local fault = helper.fault(files.write_all, path .. "/below", { { name = "a", text = "x" } })
    assert.equal(faults.code.io, fault.code)
  end)

  it("reports a name under which a folder stands", function()
    local folder = helper.folder()
    files.make_folder(folder .. "/a")
    local fault = helper.fault(files.write_all, folder, { { name = "a", text = "x" } })
    assert.equal(faults.code.io, fault.code)
    assert.same({ "a" }, entries(folder))
  end)
end)
