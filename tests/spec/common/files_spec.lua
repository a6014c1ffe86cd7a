-- files_spec: writing sets of files: all or none, unchanged ones left alone.
local helper = require("tests.spec.helper")
local faults = require("common.faults")
local files = require("common.files")
local lfs = require("lfs")

local entries = helper.entries

describe("files", function()
  after_each(helper.clean)

  it("quotes a word for the shell", function()
    for _, word in ipairs { "a", "a b", "it's", "$HOME `x` \"y\"", "a\nb", "'", "" } do
      local handle = io.popen("printf %s " .. helper.shell(word))
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

  it("puts back what was under the names of a set", function()
    local folder = helper.folder()
    helper.write(folder .. "/a.c", "old")
    assert(lfs.link("a.c", folder .. "/b.c", true))
    local set = { { name = "a.c", text = "new" }, { name = "b.c", text = "new" }, { name = "c.c", text = "new" } }
    local put_back = files.keep(folder, set)
    files.write_all(folder, set)
    put_back()
    assert.same({ "a.c", "b.c" }, entries(folder))
    assert.equal("old", helper.read(folder .. "/a.c"))
    assert.equal("a.c", lfs.symlinkattributes(folder .. "/b.c", "target"))
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
    local uv = require("luv")
    local write, calls = uv.fs_write, 0
    finally(function() uv.fs_write = write end)
    uv.fs_write = function(fd, text, at) -- half of the second file, then no more
      calls = calls + 1
      if calls == 3 then return nil, "ENOSPC: no space left on device" end
      return write(fd, calls == 2 and text:sub(1, #text // 2) or text, at)
    end
    local fault = helper.fault(files.write_all, folder, { { name = "b", text = "y" },
      { name = "a", text = ("x"):rep(100000) } })
    assert.equal(faults.code.io, fault.code)
    assert.equal(3, calls)
    assert.matches("No space left on device", fault.lines[1])
    assert.same({}, entries(folder))
  end)

  it("reports a folder that cannot be made, and leaves none of those above it", function()
    local path = helper.file("a file")
    local fault = helper.fault(files.write_all, path .. "/below", { { name = "a", text = "x" } })
    assert.equal(faults.code.io, fault.code)
    local folder = helper.folder()
    fault = helper.fault(files.make_folder, ("%s/a/b/%s"):format(folder, ("c"):rep(300)))
    assert.equal(faults.code.io, fault.code)
    assert.same({}, entries(folder))
  end)

  it("writes beside no file of another's", function()
    local folder, victim = helper.folder(), helper.file("kept")
    for _, name in ipairs { ".a.new", ".a" } do
      assert(lfs.link(victim, folder .. "/" .. name, true))
    end
    files.write_all(folder, { { name = "a", text = "x" } })
    assert.equal("kept", files.read(victim))
  end)

  it("reads regular files alone, and waits for no other", function()
    local folder = helper.folder()
    assert(os.execute(("mkfifo %s"):format(helper.shell(folder .. "/pipe"))))
    for name, what in pairs { pipe = "named pipe", ["."] = "directory" } do
      assert.is_nil(files.read(folder .. "/" .. name))
      assert.same({ nil, ("is a %s, and a regular file is expected"):format(what) },
        { files.read_some(folder .. "/" .. name, 9) })
    end
    assert.same({ nil, "No such file or directory" }, { files.open(folder .. "/none") })
    assert.is_nil(files.read(folder .. "/none"))
    assert(lfs.link(helper.file("text"), folder .. "/link", true))
    assert.equal("text", files.read(folder .. "/link"))
  end)

  it("replaces a link by the file, and makes links and programs", function()
    local folder, victim = helper.folder(), helper.file("same")
    assert(lfs.link(victim, folder .. "/a", true))
    files.write_all(folder, { { name = "a", text = "same" }, { name = "l", link = "p" },
      { name = "p", text = "#!/bin/sh\n", is_program = true } })
    assert.equal("file", lfs.symlinkattributes(folder .. "/a", "mode"))
    assert.equal("p", lfs.symlinkattributes(folder .. "/l", "target"))
    assert.matches("^rwx", lfs.attributes(folder .. "/p", "permissions"))
    files.write_all(folder, { { name = "l", link = "a" } })
    assert.equal("a", lfs.symlinkattributes(folder .. "/l", "target"))
  end)

  it("lists a folder's names, sorted, or says that it cannot be read", function()
    local folder = helper.folder()
    files.write_all(folder, { { name = "b", text = "" }, { name = ".a", text = "" } })
    assert.same({ ".a", "b" }, files.names(folder))
    local fault = helper.fault(files.names, folder .. "/none")
    assert.same({ ("cannot read the folder %s/none: No such file or directory"):format(folder) }, fault.lines)
    assert.equal(faults.code.io, fault.code)
  end)

  it("reads a file if it is there, and says that it cannot be read", function()
    local folder = helper.folder()
    assert.is_nil(files.read_if_there(folder .. "/none"))
    files.write_all(folder, { { name = "a", text = "x" } })
    assert.equal("x", files.read_if_there(folder .. "/a"))
    local fault = helper.fault(files.read_if_there, folder)
    assert.same({ folder .. ": cannot be read: is a directory, and a regular file is expected" }, fault.lines)
  end)

  it("sweeps what killed writers left, and nothing else", function()
    local folder = helper.folder()
    files.write_all(folder, { { name = ".a.c.7-1-0badcafe.new", text = "half" }, { name = "a.c", text = "whole" },
      { name = "b.new", text = "mine" } })
    files.sweep(folder)
    assert.same({ "a.c", "b.new" }, entries(folder))
  end)

  it("removes a folder, and follows no link in it", function()
    local folder, other = helper.folder(), helper.folder()
    files.write_all(other, { { name = "kept", text = "x" } })
    files.write_all(folder .. "/below/deep", { { name = "a", text = "x" }, { name = "l", link = other } })
    files.remove_folder(folder .. "/below")
    assert.same({}, entries(folder))
    assert.same({ "kept" }, entries(other))
  end)

  it("that the user has named goes over a regular file alone, through links", function()
    local folder = helper.folder()
    assert(os.execute(("mkfifo %s"):format(helper.shell(folder .. "/pipe"))))
    for name, what in pairs { pipe = "it is a named pipe, and a regular file is expected",
      ["."] = "it is a directory" } do
      local fault = helper.fault(files.write, folder .. "/" .. name, "x")
      assert.equal(faults.code.io, fault.code)
      assert.truthy(fault.lines[1]:find(what, 1, true), fault.lines[1])
    end
    assert.equal("named pipe", lfs.attributes(folder .. "/pipe", "mode"))
    assert(lfs.link("target", folder .. "/link", true))
    assert.equal(faults.code.io, helper.fault(files.write, folder .. "/link", "x").code) -- it leads nowhere
    files.write(folder .. "/target", "old")
    files.write(folder .. "/link", "new")
    assert.equal("new", files.read(folder .. "/target"))
    assert.equal("target", lfs.symlinkattributes(folder .. "/link", "target"))
  end)

  it("reports a name under which a folder stands", function()
    local folder = helper.folder()
    files.make_folder(folder .. "/a")
    local fault = helper.fault(files.write_all, folder, { { name = "a", text = "x" } })
    assert.equal(faults.code.io, fault.code)
    assert.same({ "a" }, entries(folder))
  end)
end)
