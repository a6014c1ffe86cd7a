-- scratch_spec: folders of one process: who else's are removed, and when.
local helper = require("tests.spec.helper")
local faults = require("common.faults")
local files = require("common.files")
local lfs = require("lfs")
local process = require("common.process")
local scratch = require("common.scratch")

local entries = helper.entries

describe("scratch folders", function()
  after_each(helper.clean)

  it("are those of nobody else, and are removed, also on a fault", function()
    local folder = helper.folder() .. "/made"
    local fault = helper.fault(function()
      local one <close> = scratch.make(folder, "work")
      local other <close> = scratch.make(folder, "work")
      assert.are_not.equal(one.path, other.path)
      assert.matches("^work%-%w%w%w%w%w%w$", one.path:match("[^/]*$"))
      helper.write(one.path .. "/a", "x")
      assert.equal(2, #entries(folder))
      faults.raise("io", "full")
    end)
    assert.equal("full", fault.lines[1])
    assert.same({}, entries(folder))
  end)

  it("stay while their process works, and are removed by the next when it was killed", function()
    local folder, other = helper.folder(), helper.folder()
    local script = helper.file(([[
package.path = %q .. "/gen/?.lua;" .. package.path
local folder <close> = require("common.scratch").make(%q, "work")
io.open(folder.path .. "/array", "w"):close()
io.open(%q, "w"):close()
require("common.process").sleep(60000)
]]):format(helper.absolute_root(), folder, other .. "/begun"), "work.lua")
    local worker = process.start { words = { "lua5.4", script }, gather = "all" }
    process.wait(function() return lfs.attributes(other .. "/begun", "mode") ~= nil end)
    local theirs = entries(folder)
    assert.equal(1, #theirs)
    for _ = 1, 2 do
      local mine <close> = scratch.make(folder, "work")
      assert.equal(2, #entries(folder))
      assert.equal("file", lfs.attributes(folder .. "/" .. theirs[1] .. "/array", "mode"))
      assert.equal("directory", lfs.attributes(mine.path, "mode"))
    end
    require("luv").kill(worker.pid, "sigkill")
    process.wait(function() return worker.code ~= nil end)
    local mine <close> = scratch.make(folder, "work")
    assert.same({ mine.path:match("[^/]*$") }, entries(folder))
  end)

  it("keep their name no longer once their removal has begun", function()
    local folder = helper.folder()
    files.write_all(folder .. "/work-abcdef", { { name = ".lock", text = "" }, { name = "array", text = "x" } })
    local rmdir, written = lfs.rmdir, nil
    lfs.rmdir = function(path) -- a compiler outlives its command, and still writes
      written = io.open(folder .. "/work-abcdef/late", "w")
      return rmdir(path)
    end
    local made <close> = scratch.make(folder, "work")
    lfs.rmdir = rmdir
    assert.is_falsy(written)
    assert.same({ made.path:match("[^/]*$") }, entries(folder))
  end)

  it("are removed by none where they are no such folders", function()
    local folder = helper.folder()
    files.write_all(folder .. "/work-abcdef", { { name = "kept", text = "mine" } })
    files.write_all(folder .. "/work-1", { { name = ".lock", text = "" } })
    files.write_all(folder .. "/play-abcdef", { { name = ".lock", text = "" } })
    helper.write(folder .. "/work-012345", "a file")
    assert(lfs.link(folder .. "/play-abcdef", folder .. "/work-linked", true))
    files.make_folder(folder .. "/.work-making")
    local before = entries(folder)
    do local made <close> = scratch.make(folder, "work") assert.is_truthy(made) end
    assert.same(before, entries(folder))
    lfs.touch(folder .. "/.work-making", os.time() - 7200)
    do local made <close> = scratch.make(folder, "work") assert.is_truthy(made) end
    assert.is_nil(lfs.attributes(folder .. "/.work-making", "mode"))
    assert.equal(#before - 1, #entries(folder))
  end)

  it("are refused with a line where none can be made", function()
    local place = helper.file("a file")
    assert.equal(faults.code.io, helper.fault(scratch.make, place, "work").code)
  end)
end)
