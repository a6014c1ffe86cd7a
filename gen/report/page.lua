-- page.lua: writes one self-contained HTML page: head, style, sections, and figures with captions and tables.
-- Each picture is drawn twice, for wide and for narrow screens, and the style shows one of them.
local colours = require("report.colours")
local svg = require("report.svg")

local page = {}

--- The text that every page begins with, by which the command recognises its own pages.
page.BEGINS = '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
  .. '<meta name="generator" content="attn2c report">'

--- The widths that pictures are drawn for.
page.WIDE, page.NARROW = 760, 340

local style = [[
:root{color-scheme:light dark;LIGHT}
@media (prefers-color-scheme:dark){:root{DARK}}
@media print{:root{color-scheme:light;LIGHT}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,"DejaVu Sans",Verdana,sans-serif}
main,header,footer{max-width:800px;margin:0 auto;padding:0 20px}
h1{font-size:1.7rem;line-height:1.2;margin:1.6rem 0 .3rem;overflow-wrap:anywhere}
h2{font-size:1.25rem;margin:2.6rem 0 .4rem;border-top:1px solid var(--line);padding-top:1rem}
h3{font-size:1.05rem;margin:1.8rem 0 .3rem;overflow-wrap:anywhere}
p{margin:.4rem 0}
a{color:var(--link)}
nav a{margin-right:.9rem;white-space:nowrap;display:inline-block}
.verdict{font-size:1.15rem;border-left:5px solid var(--k3);background:var(--panel);padding:.6rem .9rem;margin:1rem 0}
.verdict.bad{border-color:var(--k2)}
.soft{color:var(--soft)}
code,p,dd,li{overflow-wrap:anywhere}
.option{white-space:nowrap}
code,pre{font:.88em/1.45 ui-monospace,"DejaVu Sans Mono",monospace}
pre{background:var(--panel);padding:.6rem .8rem;white-space:pre-wrap;overflow-wrap:anywhere;margin:.5rem 0}
figure{margin:1.2rem 0 1.6rem;break-inside:avoid}
figcaption{font-size:.94rem;margin-top:.35rem;max-width:46rem}
svg{display:block;max-width:100%;height:auto;font:11px system-ui,"DejaVu Sans",Verdana,sans-serif}
.narrow{display:none}
@media screen and (max-width:719px){.wide{display:none}.narrow{display:block}main,header,footer{padding:0 16px}
th,td{padding-right:.5rem}table{font-size:.8rem}}
select{font:inherit;max-width:100%}
.tip{min-height:1.5em;font-size:.88rem;color:var(--soft);overflow-wrap:anywhere}
.tip:not(:empty){position:sticky;bottom:0;background:var(--panel);padding:.3rem .5rem}
details{margin:.4rem 0;font-size:.9rem}
summary{cursor:pointer;color:var(--link)}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.86rem;margin:.4rem 0}
caption{text-align:left;color:var(--soft)}
th,td{padding:.16rem .6rem .16rem 0;text-align:right;vertical-align:top;border-bottom:1px solid var(--line)}
th{font-weight:600}
td:first-child,th:first-child,td.words,th.words{text-align:left}
td:first-child{min-width:5.6rem}
td{white-space:nowrap}td.words,table.facts td{white-space:normal}
table.facts td,table.facts th{text-align:left;overflow-wrap:anywhere}
table.facts th{white-space:nowrap;padding-right:1rem}
tr.differs td{font-weight:600}
svg text{fill:var(--ink)}svg .soft{fill:var(--soft)}svg .strong{font-weight:600}
svg .halo{paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}
.grid{stroke:var(--line);stroke-width:.7;fill:none}.axis{stroke:var(--soft);stroke-width:1;fill:none}
.edge{stroke:var(--soft);stroke-width:1.3;fill:none}.roof{stroke:var(--ink);stroke-width:1.8;fill:none}
.dash{stroke:var(--soft);stroke-width:1.2;stroke-dasharray:5 4;fill:none}
.lead{stroke:var(--soft);stroke-width:.6}.frame{fill:none;stroke:var(--soft);stroke-width:1;stroke-dasharray:2 3}
.plain{fill:var(--panel);stroke:var(--line)}.hidden{fill:var(--panel);stroke:var(--line);stroke-width:.7}
.exact{fill:var(--paper);stroke:var(--soft);stroke-width:1}
.wait{fill:var(--paper);stroke:var(--soft);stroke-width:.8;stroke-dasharray:2 2}
.mark{stroke:var(--ink);stroke-width:1.6;fill:none}
KINDS
.peak{fill-opacity:.5;stroke-width:1.8}
[tabindex]:focus{outline:none}svg [tabindex]:focus{stroke:var(--ink);stroke-width:2.2}
svg [tabindex]{cursor:pointer}
.store{position:absolute}
@media print{body{font-size:11pt}.tip,nav{display:none}h2,h3{break-after:avoid}
figure{break-inside:auto}svg,figcaption,tr{break-inside:avoid}svg,caption,thead{break-after:avoid}
svg{max-height:20cm;width:auto}details:not([open]){display:none}.scroll{overflow:visible}
main,header,footer{max-width:none;padding:0}a{color:inherit}}
]]

local LONG = 45 -- rows from which a table is not opened for printing

-- Shows an element's tip below its figure, enlarges heads, follows the reader's choice, and opens tables for printing.
local script = [[
function tell(e){var m=e.target.closest&&e.target.closest('svg [tabindex]');if(!m)return;
var t=m.querySelector('title'),o=m.closest('figure').querySelector('.tip');if(t&&o)o.textContent=t.textContent}
function enlarge(e){var g=e.target.closest&&e.target.closest('.map');if(!g)return;
var s=g.closest('figure').nextElementSibling;
s.querySelectorAll('.large').forEach(function(u){u.setAttribute('href','#'+g.dataset.map)});
s.querySelectorAll('.looks').forEach(function(l){l.hidden=l.dataset.map!==g.dataset.map});
s.querySelectorAll('.which').forEach(function(w){w.textContent=g.querySelector('title').textContent})}
function choose(e){var s=e.target.closest&&e.target.closest('select[data-group]');if(!s)return;
document.querySelectorAll('div[data-group="'+s.dataset.group+'"]').forEach(function(d){
d.hidden=d.dataset.choice!==s.value})}
document.addEventListener('change',choose);
['mouseover','focusin','click'].forEach(function(n){document.addEventListener(n,tell)});
['click','focusin'].forEach(function(n){document.addEventListener(n,enlarge)});
addEventListener('beforeprint',function(){
document.querySelectorAll('details:not(.long)').forEach(function(d){d.open=true})});
]]

local function style_text()
  local kinds = {}
  for k = 1, colours.kinds do
    kinds[k] = (".k%d{fill:var(--k%d)}.t%d{fill:var(--k%d);fill-opacity:.2;stroke:var(--k%d);stroke-width:1}"
      .. ".s%d{stroke:var(--k%d);stroke-width:2;fill:none}"):format(k, k, k, k, k, k, k)
  end
  local values = { LIGHT = colours.css(colours.light), DARK = colours.css(colours.dark), KINDS = table.concat(kinds) }
  return (style:gsub("%u%u%u%u%u?", values))
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
    table.concat(bodies, "\n"), "</main><footer>" .. foot .. "</footer>", "<script>" .. script
      .. "</script></body></html>" },
    "\n") .. "\n"
end

return page
