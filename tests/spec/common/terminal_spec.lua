-- terminal_spec: what of a user's text may reach a terminal.
local helper = require("tests.spec.helper")
local faults = require("common.faults")
local terminal = require("common.terminal")

describe("text for a terminal", function()
  it("stays as it is where it is plain", function()
    for _, text in ipairs { "", "models/small.lua: seq: 0", "Grüße, 注意, שלום, 🙂", "a\u{301}" } do
      assert.equal(text, terminal.safe(text))
    end
  end)

  it("loses what ends a line or moves a cursor", function()
    assert.equal("a?[31mb?c?d?e", terminal.safe("a\27[31mb\nc\rd\0e"))
    assert.equal("a?b?c", terminal.safe("a\u{9B}b\u{85}c"))
    assert.equal("?", terminal.safe("\127"))
  end)

  it("loses what turns the direction, and what is not to be seen", function()
    for _, code in ipairs { 0xAD, 0x61C, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202E, 0x2066, 0x2069, 0xFEFF,
      0xFFF9, 0xE0041 } do
      assert.equal("a?b", terminal.safe("a" .. utf8.char(code) .. "b"), ("%x"):format(code))
    end
  end)

  it("loses each byte that is no UTF-8", function()
    assert.equal("a?b", terminal.safe("a\255b"))
    assert.equal("a??", terminal.safe("a\195\195"))
    assert.equal("ü?ü", terminal.safe("ü\188ü"))
    assert.equal("???", terminal.safe("\237\160\128")) -- half of a pair
    assert.equal("??", terminal.safe("\192\128")) -- too long a form
  end)

  it("is made in a time that grows with its length", function()
    local started = os.clock()
    assert.equal(1 << 20, #terminal.safe(("\255"):rep(1 << 20)))
    assert.is_true(os.clock() - started < 5)
  end)

  it("is cut where it is long", function()
    assert.equal("abcdefg", terminal.short("abcdefg", 7))
    assert.equal("abcd...", terminal.short("abcdefgh", 7))
    assert.equal("abc?...", terminal.short("abcüdefgh", 7))
  end)

  it("may have lines", function()
    assert.equal("a?b\n\n?c\n", terminal.lines("a\tb\n\n\rc\n"))
  end)

  it("is what a fault has", function()
    local fault = helper.fault(faults.raise, "usage", { "a\27b", "c\u{202E}d" })
    assert.same({ "a?b", "c?d" }, fault.lines)
    assert.equal('"a?ü"', faults.quote("a\1ü"))
  end)
end)
