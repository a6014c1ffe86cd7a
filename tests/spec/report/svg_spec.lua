-- svg_spec: scales, axes, labels, and that no text of a user becomes markup.
require("tests.spec.helper")
local svg = require("report.svg")

local function texts(picture)
  local list = {}
  for text in picture:render("t"):gmatch("<text[^>]*>([^<]*)</text>") do list[#list + 1] = text end
  return list
end

describe("a scale", function()
  it("is linear between its ends, with round ticks", function()
    local scale = svg.linear(0, 7.3, 100, 200, 5)
    assert.equal(100, scale:at(0))
    assert.equal(200, scale:at(7.3))
    assert.same({ 0, 2, 4, 6 }, scale.ticks)
  end)

  it("is logarithmic, with powers of ten as ticks", function()
    local scale = svg.log(1e-8, 1e-2, 0, 60, 6)
    assert.near(10, scale:at(1e-7), 1e-9)
    assert.equal(7, #svg.log(1e-8, 1e-2, 0, 60, 8).ticks)
    assert.equal(4, #scale.ticks)
    local short = svg.log(1, 30, 0, 1).ticks
    assert.same({ 1, 2, 5, 10, 20 }, short)
  end)

  it("has a length where all values are one", function()
    for _, scale in ipairs { svg.linear(3, 3, 0, 10), svg.log(3, 3, 0, 10) } do
      assert.equal(0, scale:at(3))
      assert.is_true(#scale.ticks > 0)
    end
  end)
end)

describe("text", function()
  it("is escaped, without controls and marks of direction", function()
    assert.equal("&lt;script&gt;&amp;&quot;&#39;", svg.escape("<script>&\"'"))
    assert.equal("a?b?c", svg.escape("a\u{202E}b\u{200F}c"))
    assert.equal("x??y", svg.escape("x\r\ny"))
    assert.equal("?", svg.escape("\xff"))
    assert.equal("данные é", svg.escape("данные é"))
  end)

  it("is escaped wherever a picture takes it", function()
    local picture, evil = svg.picture(400, 100), '"><script>alert(1)</script>'
    picture:text(10, 20, evil)
    picture:rect(0, 0, 10, 10, "k1", evil)
    picture:circle(0, 0, 1, "k1", evil)
    picture:path({ { 0, 0 }, { 1, 1 } }, "k1", true, evil)
    picture:box(0, 0, 1, 1, "k1", evil)
    picture:label(100, 50, 3, evil)
    picture:legend(0, 80, { { class = "k1", text = evil } })
    local text = picture:render(evil)
    assert.is_nil(text:find("<script", 1, true))
    assert.is_nil(text:find('"">', 1, true))
    assert.truthy(text:find("&lt;script&gt;", 1, true))
  end)

  it("is cut to a width, between characters", function()
    assert.equal("short", svg.fit("short", 200, 11))
    local cut = svg.fit("ein sehr langer Name mit ÄÖÜ äöü ßßß", 90, 11)
    assert.truthy(utf8.len(cut))
    assert.equal("…", cut:sub(-3))
    assert.is_true(svg.text_width(cut, 11) <= 90)
    assert.equal("", svg.fit("wide", 5, 11))
  end)
end)

describe("a picture", function()
  it("is one image to a screen reader, or a group of those that keys reach", function()
    local picture = svg.picture(100, 100)
    picture:rect(0, 0, 9, 9, "k1", "tip")
    assert.truthy(picture:render("t"):find('role="img" aria-label="t"', 1, true))
    assert.truthy(picture:render("t"):find('tabindex="-1"><title>tip', 1, true))
    picture.tab = "0"
    picture:rect(0, 0, 9, 9, "k1", "tip")
    assert.truthy(picture:render("t"):find('role="group" aria-label="t"', 1, true))
    assert.truthy(picture:render("t"):find('tabindex="0" role="img"><title>tip', 1, true))
  end)
end)

describe("labels", function()
  it("keep off each other and off points, or are left out", function()
    local picture = svg.picture(400, 120)
    for i = 1, 30 do picture:label(200, 60, 3, "label " .. i) end
    local count = #texts(picture)
    assert.is_true(count >= 3 and count < 12, count .. " labels")
    for i, a in ipairs(picture.boxes) do
      for j = i + 1, #picture.boxes do
        local b = picture.boxes[j]
        assert.is_false(a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4])
      end
    end
  end)

  it("stay within the picture", function()
    local picture = svg.picture(100, 40)
    assert.is_true(picture:label(95, 20, 3, "left of it"))
    assert.is_false(picture:label(50, 20, 3, ("no room for this "):rep(5)))
  end)
end)

describe("an axis", function()
  it("has its ticks' numbers and its title, and leaves out numbers that would touch", function()
    local picture = svg.picture(200, 80)
    picture:axis_x(svg.linear(0, 10, 20, 180, 5), 40, "ms", tostring, 10)
    assert.same({ "0.0", "2.0", "4.0", "6.0", "8.0", "10.0", "ms" }, texts(picture))
    local narrow = svg.picture(60, 80)
    narrow:axis_x(svg.linear(0, 100000, 5, 55, 10), 40, nil, function(v) return ("%d"):format(v // 1) end)
    assert.is_true(#texts(narrow) < 5)
  end)
end)
