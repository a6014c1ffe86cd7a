-- process_spec: programs started without a shell: their words, statuses, output, ends.
local helper = require("tests.spec.helper")
local process = require("common.process")

-- True while a process runs; one that has ended, and that nobody has waited for, has no `exe`.
local function is_alive(pid) return require("lfs").attributes(("/proc/%d/exe"):format(pid), "mode") ~= nil end

describe("a process", function()
  after_each(helper.clean)

  it("gets its words as they are", function()
    local words = { "a b", "$(echo no)", "'\"`\\", "%s%n", "-x", "@file", "a\nb", "", "*", "ü" }
    local child = process.run { words = { "printf", "%s|", table.unpack(words) }, gather = "all" }
    assert.equal(table.concat(words, "|") .. "|", child.output)
  end)

  it("tells its status or signal, its output and its errors", function()
    local child = process.run { words = { "sh", "-c", "echo out; echo err >&2; exit 3" }, gather = "all" }
    assert.same({ 3, 0, "out\n", "err\n" }, { child.code, child.signal, child.output, child.errors })
    child = process.run { words = { "sh", "-c", "kill -9 $$" }, gather = "all" }
    assert.equal(9, child.signal)
    child = process.run { words = { "sh", "-c", "head -c 3000000 /dev/zero" }, gather = "output" }
    assert.equal(3000000, #child.output)
  end)

  it("runs in another folder", function()
    local folder = helper.folder()
    assert.equal(folder .. "\n", process.run({ words = { "pwd" }, folder = folder, gather = "all" }).output)
  end)

  it("that cannot be started is a failure of input or output", function()
    local fault = helper.fault(process.run, { words = { "/nonexistent/cc" } })
    assert.same({ "cannot start /nonexistent/cc: no such file or directory" }, fault.lines)
    assert.equal(4, fault.code)
  end)

  it("that cannot be started leaves nothing that fails at the end, whether its output is gathered or not", function()
    for _, gather in ipairs { "nil", '"output"', '"all"' } do
      local script = helper.file(([[
package.path = %q .. "/gen/?.lua;" .. package.path
local process = require("common.process")
io.write(tostring((process.start { words = { "/nonexistent/cc" }, gather = %s })), "\n")
]]):format(helper.absolute_root(), gather), "start.lua")
      local child = process.run { words = { "lua5.4", script }, gather = "all" }
      assert.same({ 0, 0, "nil\n" }, { child.code, child.signal, child.output }, gather)
    end
  end)

  it("can be started by the specs of several files that busted runs in one process", function()
    local folder = helper.folder()
    for _, name in ipairs { "a", "b", "c" } do
      helper.write(("%s/%s_spec.lua"):format(folder, name), ([[
local process = dofile(%q) and require("common.process")
it("runs", function()
  for _ = 1, 20 do process.run { words = { "true" }, gather = "all" } end
  collectgarbage()
end)
]]):format(helper.absolute_root() .. "/tests/spec/helper.lua"))
    end
    local child = process.run { words = { "lua5.4", "/usr/bin/busted", "-o", "TAP", folder .. "/a_spec.lua",
      folder .. "/b_spec.lua", folder .. "/c_spec.lua" }, gather = "all" }
    assert.same({ 0, 0, "" }, { child.code, child.signal, child.errors })
  end)

  it("is ended with its own children", function()
    local folder = helper.folder()
    local child = process.start { words = { "sh", "-c", "sleep 600 & echo $! >new; mv new own; wait" },
      folder = folder, gather = "all" }
    process.wait(function() return child.over or require("lfs").attributes(folder .. "/own", "mode") end)
    local own = tonumber(helper.read(folder .. "/own"))
    process.stop()
    assert.is_not.equal(0, child.signal)
    for _ = 1, 6000 do -- it has its signal, but nobody waits for it
      if not is_alive(own) then return end
      process.sleep(10)
    end
    require("luv").kill(own, "sigkill")
    error("a child's child is left")
  end)

  it("is ended, and the limit raised once, when the time that a command has given itself is over", function()
    local child = assert(process.start { words = { "sleep", "60" }, gather = "all" })
    process.limit(0.3)
    assert.same({ false, "late!" }, { pcall(process.wait, function() return child.over end) })
    assert.is_true(child.over)
    assert.is_not.equal(0, child.signal)
    assert.equal("again\n", process.run({ words = { "echo", "again" }, gather = "all" }).output)
    process.limit(-1)
    assert.same({ false, "late!" }, { pcall(process.poll) })
    process.poll()
    process.limit(-1)
    process.limit(nil)
    process.poll()
  end)

  it("is ended, and the interrupt raised, where an interrupt comes while it runs", function()
    local script = helper.file(([[
package.path = %q .. "/gen/?.lua;" .. package.path
local process = require("common.process")
local ok, said = pcall(process.run, { words = { "sleep", "60" }, gather = "all" })
io.write(tostring(ok), " ", said, "\n")
]]):format(helper.absolute_root()), "wait.lua")
    for signal, word in pairs { INT = "interrupted!", TERM = "terminated!" } do
      -- Once it has a child, however long that takes.
      local line = ("lua5.4 %s & p=$!; while ! grep -q . /proc/$p/task/$p/children; do sleep 0.05; done; "
        .. "kill -%s $p; wait $p"):format(script, signal)
      local child = process.run { words = { "sh", "-c", line }, gather = "all" }
      assert.equal("false " .. word .. "\n", child.output)
    end
  end)
end)
