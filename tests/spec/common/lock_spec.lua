-- lock_spec: one process at a time in a folder.
local helper = require("tests.spec.helper")
local lfs = require("lfs")
local lock = require("common.lock")
local process = require("common.process")

local function silent(line) error("said: " .. line) end

describe("a lock", function()
  after_each(helper.clean)

  it("gives what the work gives, and ends with a fault", function()
    local folder = helper.folder()
    assert.same({ 1, nil, 3 }, { lock.hold(folder, silent, function() return 1, nil, 3 end) })
    assert.equal("x", select(2, pcall(lock.hold, folder, silent, function() error("x", 0) end)))
    assert.equal(2, lock.hold(folder, silent, function() return 2 end))
  end)

  it("is waited for, with one line, and ends with who has it", function()
    local folder = helper.folder()
    local script = helper.file(([[
package.path = %q .. "/gen/?.lua;" .. package.path
require("common.lock").hold(%q, print, function()
  io.open(%q, "w"):close()
  require("common.process").sleep(60000)
end)
]]):format(helper.absolute_root(), folder, folder .. "/held"), "hold.lua")
    local other = process.start { words = { "lua5.4", script }, gather = "all" }
    process.wait(function() return lfs.attributes(folder .. "/held", "mode") ~= nil end)
    local lines = {}
    local function say(line)
      lines[#lines + 1] = line
      require("luv").kill(other.pid, "sigkill")
    end
    assert.equal("mine", lock.hold(folder, say, function() return "mine" end))
    assert.same({ ("another build is at work in %s: waiting for its end"):format(folder) }, lines)
  end)

  it("is refused where its file is another thing", function()
    local folder = helper.folder()
    assert(lfs.link("/dev/null", folder .. "/.lock", true))
    assert.equal(4, helper.fault(lock.hold, folder, silent, function() end).code)
    assert.equal(4, helper.fault(lock.hold, folder .. "/none", silent, function() end).code)
  end)
end)
