-- page.lua: writes one self-contained HTML page: head, style, sections, and figures with captions and tables.
-- Each picture is drawn twice, for wide and for narrow screens, and the style shows one of them.
local colours = require("report.colours")
local files = require("common.files")
local svg = require("report.svg")

local page = {}

--- The text that every page begins with, by which the command recognises its own pages.
page.BEGINS = '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
  .. '<meta name="generator" content="attn2c report">'

--- The widths that pictures are drawn for.
page.WIDE, page.NARROW = 760, 340

local LONG = 45 -- rows from which a table is not opened for printing

-- The folder of report.css, whose words in capitals are replaced, and of report.js, which shows an element's tip below
-- its figure, enlarges heads, follows the reader's choice, and opens tables for printing.
local FOLDER = (debug.getinfo(1, "S").source:match("^@(.*)/[^/]*/[^/]*$") or "..") .. "/../templates/"

local function style_text()
  local kinds = {}
  for k = 1, colours.kinds do
    kinds[k] = (".k%d{fill:var(--k%d)}.t%d{fill:var(--k%d);fill-opacity:.2;stroke:var(--k%d);stroke-width:1}"
      .. ".s%d{stroke:var(--k%d);stroke-width:2;fill:none}"):format(k, k, k, k, k, k, k)
  end
  local values = { LIGHT = colours.css(colours.light), DARK = colours.css(colours.dark), KINDS = table.concat(kinds) }
  return (assert(files.read(FOLDER .. "report.css")):gsub("%u%u%u%u%u?", values))
end

local escape = svg.escape

--- Returns a value in running text that a test can find, with its exact value as an attribute.
function page.value(key, value, text)
  return ('<data data-key="%s" value="%s">%s</data>'):format(escape(key), escape(value), escape(text or value))
end

--- Returns a table. columns: { { title, words = true for text } }; rows: lists of plain texts or { html = ... };
--- caption: plain text. A row with `differs` is marked.
function page.table(columns, rows, caption)
  local parts = { '<div class="scroll"><table>' }
  local function add(text) parts[#parts + 1] = text end
  if caption then add("<caption>" .. escape(caption) .. "</caption>") end
  add("<thead><tr>")
  for _, column in ipairs(columns) do
    add(('<th scope="col"%s>%s</th>'):format(column.words and ' class="words"' or "", escape(column[1])))
  end
  add("</tr></thead><tbody>")
  for _, row in ipairs(rows) do
    add(row.differs and '<tr class="differs">' or "<tr>")
    for i, cell in ipairs(row) do
      local class = columns[i] and columns[i].words and ' class="words"' or ""
      add(("<td%s>%s</td>"):format(class, type(cell) == "table" and cell.html or escape(cell)))
    end
    add("</tr>")
  end
  add("</tbody></table></div>")
  return table.concat(parts)
end

--- Returns a table of names and values: { { name, text or { html } } }.
function page.facts(rows)
  local parts = { '<table class="facts"><tbody>' }
  for _, row in ipairs(rows) do
    parts[#parts + 1] = ('<tr><th scope="row">%s</th><td>%s</td></tr>'):format(escape(row[1]),
      type(row[2]) == "table" and row[2].html or escape(row[2]))
  end
  parts[#parts + 1] = "</tbody></table>"
  return table.concat(parts)
end

--- Returns a figure. draw(width) returns a finished picture (svg.lua); title: its name for screen readers; caption:
--- HTML that explains it; numbers: the HTML of a table of the same numbers, which is printed unless it is long.
function page.figure(title, draw, caption, numbers)
  local table_html = ""
  if numbers then
    local _, rows = numbers:gsub("<tr", "")
    table_html = ("<details%s><summary>The numbers as a table</summary>%s</details>"):format(
      rows > LONG and ' class="long"' or "", numbers)
  end
  return ('<figure><div class="wide">%s</div><div class="narrow">%s</div><div class="tip" aria-live="polite"></div>'
    .. "<figcaption><b>%s.</b> %s</figcaption>%s</figure>"):format(draw(page.WIDE):render(title),
    draw(page.NARROW):render(title), escape(title), caption, table_html)
end

--- Returns HTML that is visible if `choice` is chosen in a group. is_default: true if it is chosen at first.
function page.choice(group, choice, is_default, html)
  local hidden = is_default and "" or " hidden"
  return ('<div data-group="%d" data-choice="%d"%s>%s</div>'):format(group, choice, hidden, html)
end

--- Returns the control of a group's choices: { { choice, label } }. `text` is the control's label.
function page.chooser(group, text, options, default)
  local parts = {}
  for i, each in ipairs(options) do
    parts[i] = ('<option value="%d"%s>%s</option>'):format(each.choice, each.choice == default and " selected" or "",
      escape(each.label))
  end
  return ('<p><label>%s<select data-group="%d" autocomplete="off">%s</select></label></p>'):format(escape(text), group,
    table.concat(parts))
end

--- Returns a page of sections { id, title, html }, with `title` and `lead` (HTML) above them and `foot` below.
function page.document(title, lead, sections, foot)
  local links, bodies = {}, {}
  for i, section in ipairs(sections) do
    links[i] = ('<a href="#%s">%s</a>'):format(escape(section.id), escape(section.title))
    bodies[i] = ('<section id="%s"><h2>%s</h2>\n%s</section>'):format(escape(section.id), escape(section.title),
      section.html)
  end
  return table.concat({ page.BEGINS,
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'; '
      .. 'script-src \'unsafe-inline\'; img-src data:">',
    "<title>" .. escape(title) .. "</title>", '<link rel="icon" href="data:,">', "<style>" .. style_text()
      .. "</style></head><body>",
    "<header><h1>" .. escape(title) .. "</h1>", lead, "<nav>" .. table.concat(links, " ") .. "</nav></header><main>",
    table.concat(bodies, "\n"), "</main><footer>" .. foot .. "</footer>", "<script>"
      .. assert(files.read(FOLDER .. "report.js")) .. "</script></body></html>" }, "\n") .. "\n"
end

return page
