-- page_spec: a page that needs nothing beside itself, and tables and figures whose texts are no markup.
require("tests.spec.helper")
local colours = require("report.colours")
local numbers = require("report.numbers")
local page = require("report.page")
local svg = require("report.svg")

local evil = '<script>alert("1")</script>\u{202E}'

describe("a page", function()
  local text = page.document(evil, "<p>lead</p>", { { id = "a", title = evil, html = "<p>x</p>" } }, "foot")

  it("loads nothing", function()
    assert.is_nil(text:find("http", 1, true) and text:find("https?://", 1))
    assert.is_nil(text:find("%ssrc="))
    assert.is_nil(text:find("@import", 1, true))
    assert.is_nil(text:find("url%("))
    assert.truthy(text:find("default-src 'none'", 1, true))
  end)

  it("escapes its titles", function()
    local _, scripts = text:gsub("<script", "")
    assert.equal(1, scripts) -- its own
    assert.is_nil(text:find("\u{202E}", 1, true))
    assert.truthy(text:find("<title>&lt;script&gt;", 1, true))
  end)

  it("has a dark and a light setting, and the light one on paper", function()
    assert.truthy(text:find("--paper:" .. colours.light.paper, 1, true))
    assert.truthy(text:find("prefers-color-scheme:dark){:root{--paper:" .. colours.dark.paper, 1, true))
    assert.truthy(text:find("@media print{:root{color-scheme:light;--paper:" .. colours.light.paper, 1, true))
  end)
end)

describe("a table", function()
  it("escapes cells, heads and its caption, and marks rows", function()
    local text = page.table({ { evil, words = true }, { "n" } }, { { evil, "1", differs = true }, {
      { html = "<b>2</b>" }, "2" } },
      evil)
    assert.is_nil(text:find("<script", 1, true))
    assert.truthy(text:find('<tr class="differs"><td class="words">&lt;script', 1, true))
    assert.truthy(text:find("<td class=\"words\"><b>2</b></td>", 1, true))
    assert.is_nil(page.facts({ { evil, evil } }):find("<script", 1, true))
    assert.is_nil(page.value(evil, evil):find("<script", 1, true))
  end)
end)

describe("a figure", function()
  it("is drawn for wide and narrow screens, with a caption and a table", function()
    local widths = {}
    local text = page.figure(evil, function(width)
      widths[#widths + 1] = width
      return svg.picture(width, 10)
    end, "what to see", "<table></table>")
    assert.same({ page.WIDE, page.NARROW }, widths)
    assert.is_nil(text:find("<script", 1, true))
    assert.truthy(text:find("</b> what to see</figcaption>", 1, true))
    assert.truthy(text:find("<details><summary>The numbers as a table</summary><table>", 1, true))
    local rows = {}
    for i = 1, 60 do rows[i] = { tostring(i) } end
    local long = page.figure("t", function(width) return svg.picture(width, 10) end, "c",
      page.table({ { "n" } }, rows))
    assert.truthy(long:find('<details class="long"><summary>', 1, true)) -- not opened to be printed
  end)
end)

describe("numbers", function()
  it("have three digits", function()
    for value, text in pairs { [0] = "0", [0.012345] = "0.0123", [1.236] = "1.24", [99.96] = "100.0", [123.4] = "123",
      [1234567] = "1,234,567", [1.2e-7] = "1.2e-07", [math.huge] = "infinite", [-2.5] = "-2.50" } do
      assert.equal(text, numbers.short(value))
    end
    assert.equal("NaN", numbers.short(0 / 0))
  end)

  it("have units", function()
    assert.equal("999 B", numbers.bytes(999))
    assert.equal("2.38 MB", numbers.bytes(2380000))
    assert.equal("743 Mflop", numbers.flops(742727680))
    assert.equal("78.6 µs", numbers.time(0.0786))
    assert.equal("140 ms", numbers.time(140.4))
    assert.equal("12.0 s", numbers.time(12000))
    assert.equal("0.4%", numbers.percent(0.004))
    assert.equal("98%", numbers.percent(0.981))
  end)
end)
