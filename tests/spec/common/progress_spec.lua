-- progress_spec: when a bar is shown, what it says, and that it goes.
require("tests.spec.helper")
local progress = require("common.progress")

local function new(terminal)
  local self = { now = 100, text = "" }
  self.bar = progress.start { terminal = terminal, clock = function() return self.now end,
    write = function(text) self.text = self.text .. text end }
  return self
end

describe("a bar", function()
  it("is shown after two seconds, ten times a second, and erased", function()
    local at = new(true)
    at.bar:show(0.1, "x")
    at.now = 101.9
    at.bar:show(0.5, "x")
    assert.equal("", at.text)
    at.now = 104
    at.bar:show(0.25, "compiling: 1 of 4")
    assert.equal("\r[" .. ("#"):rep(7) .. ("."):rep(23) .. "] 4 s, 12 s left  compiling: 1 of 4\27[K", at.text)
    at.now = 104.05
    at.text = ""
    at.bar:show(0.5, "x")
    assert.equal("", at.text)
    at.bar:hide()
    assert.equal("\r\27[K", at.text)
    at.bar:hide()
    assert.equal("\r\27[K", at.text)
  end)

  it("is not shown where stderr is no terminal", function()
    local at = new(false)
    at.now = 200
    at.bar:show(0.5, "x")
    at.bar:hide()
    assert.equal("", at.text)
  end)

  it("is erased where its scope ends with an error", function()
    local at = new(true)
    pcall(function()
      local bar <close> = at.bar
      at.now = 110
      bar:show(2, "x")
      at.text = ""
      error("x")
    end)
    assert.equal("\r\27[K", at.text)
  end)

  it("has no control characters of a user's", function()
    local at = new(true)
    at.now = 200
    at.bar:show(0.5, "a\27[31m\n\xC2\x9Bb\x9B")
    assert.truthy(at.text:find("  a?[31m??b?\27[K", 1, true), at.text)
  end)
end)
