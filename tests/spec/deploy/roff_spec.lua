-- roff_spec: what stands in a page of the manual is the text that was put in, whatever its characters.
local helper = require("tests.spec.helper")
local roff = require("deploy.roff")

-- As a terminal shows it, without spaces, which roff may add and take away.
local function shown(page)
  local path = helper.file(page:text(), "page.1")
  local text = helper.succeeds("groff -man -ww -K utf8 -Tutf8 -P-c -P-b -P-u " .. helper.shell(path))
  return (text:gsub("%s+", ""))
end

local function page_of(fill)
  local page = roff.page { name = "page", section = 1, date = "2026-01-02", version = "page 1" }
  page:section("NAME")
  page:add("page \\- a page")
  page:section("DESCRIPTION")
  fill(page)
  return page
end

local HOSTILE = [[.SH none 'br "quotes" 'single' `back` a-b --dash ^hat ~tilde \fBno\fR \n(.x \\ · é %s $(x) . ' .]]

describe("a page of the manual", function()
  after_each(helper.clean)

  it("shows any text as it stands there, in each place", function()
    local wanted = HOSTILE:gsub("%s+", "")
    for _, put in ipairs {
      function(page) page:paragraph(roff.escape(HOSTILE)) end,
      function(page) page:paragraph(roff.escape(("word "):rep(12) .. HOSTILE)) end,
      function(page) page:term(roff.bold(HOSTILE), roff.escape("meaning")) end,
      function(page) page:term("tag", roff.italic(HOSTILE)) end,
      function(page) page:example("first\n" .. HOSTILE) end,
      function(page) page:usage("command", roff.escape(HOSTILE)) end,
      function(page) page:subsection(HOSTILE) end,
    } do
      local text = shown(page_of(put))
      assert.truthy(text:find(wanted, 1, true), text)
    end
  end)

  it("shows words between backquotes in bold, and a single one as it is", function()
    assert.equal("a \\fBb\\-c\\fR d \\fBe\\fR", roff.marked("a `b-c` d `e`"))
    assert.equal("a \\(gab", roff.marked("a `b"))
  end)

  it("has no line that begins with a request of the text's", function()
    local page = page_of(function(page) page:paragraph(roff.escape((".so /etc/passwd "):rep(30))) end)
    for line in page:text():gmatch("[^\n]+") do assert.is_nil(line:match("^[.']so")) end
  end)
end)
