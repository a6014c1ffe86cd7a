-- svg.lua: draws pictures as SVG: scales, axes, text that is escaped and fits, labels that do not overlap.
-- A picture has no colours, only classes. The page gives classes colours for its light and its dark setting.
local terminal = require("common.terminal")
local words = require("common.words")

local svg = {}

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

--- Returns a user's text made safe for HTML or SVG, in an element or within quotes. It has no markup, no controls and
--- no direction marks.
function svg.escape(text) return (terminal.safe(text):gsub("[&<>\"']", entities)) end

-- Widths of characters as fractions of the font's size, a little above common fonts' widths.
local narrow = words.set(words.list(" .,:;'|!ijlI[]()tfr-/", "."))
local wide = words.set(words.list("mwMW@%—", utf8.charpattern))

local function width_of_character(c)
  if narrow[c] then return 0.42 end
  if wide[c] then return 1.0 end
  if #c >= 3 then return 1.05 end
  return c:match("%u") and 0.74 or 0.645
end

--- Returns the approximate width of a text at a font's size.
function svg.text_width(text, size)
  local sum = 0
  for c in text:gmatch(utf8.charpattern) do sum = sum + width_of_character(c) end
  return sum * size
end

--- Returns a user's text cut to a width, with three dots if it is cut, or "" if not even two characters fit.
function svg.fit(text, width, size)
  text = terminal.safe(text)
  if svg.text_width(text, size) <= width then return text end
  local room, parts = width - svg.text_width("…", size), {}
  for c in text:gmatch(utf8.charpattern) do
    room = room - width_of_character(c) * size
    if room < 0 then break end
    parts[#parts + 1] = c
  end
  return #parts >= 2 and table.concat(parts) .. "…" or ""
end

local Scale = {}
Scale.__index = Scale

function Scale:at(value)
  local t = self.forward and self.forward(value) or value
  return self.r0 + (t - self.d0) / (self.d1 - self.d0) * (self.r1 - self.r0)
end

-- Returns 1, 2 or 5 times a power of ten, near `rough`.
local function nice_step(rough)
  local power = 10.0 ^ math.floor(math.log(rough, 10))
  for _, factor in ipairs { 1, 2, 5 } do
    if power * factor >= rough * 0.999 then return power * factor end
  end
  return power * 10
end

--- Returns a linear scale from values d0 to d1 to places r0 to r1, with about `count` ticks.
function svg.linear(d0, d1, r0, r1, count)
  if d1 <= d0 then d1 = d0 + 1 end
  local scale = setmetatable({ d0 = d0, d1 = d1, r0 = r0, r1 = r1 }, Scale)
  local step = nice_step((d1 - d0) / (count or 5))
  scale.ticks = {}
  for i = math.ceil(d0 / step - 1e-9), math.floor(d1 / step + 1e-9) do scale.ticks[#scale.ticks + 1] = i * step end
  return scale
end

local function log10(x) return math.log(x, 10) end

--- Returns a logarithmic scale, where 0 < d0 < d1. Its ticks are at most about `count` powers of ten. A short scale
--- also has ticks at 2 and 5 times these.
function svg.log(d0, d1, r0, r1, count)
  if d1 <= d0 then d1 = d0 * 10 end
  local scale = setmetatable({ d0 = log10(d0), d1 = log10(d1), r0 = r0, r1 = r1, forward = log10, is_log = true },
    Scale)
  local first, last = math.floor(scale.d0), math.floor(scale.d1 + 1e-9)
  local step = math.max(1, math.ceil((last - first + 1) / (count or 6)))
  local factors = scale.d1 - scale.d0 < 3 and { 1, 2, 5 } or { 1 }
  scale.ticks = {}
  for e = first, last, step do
    for _, factor in ipairs(factors) do
      local tick = factor * 10.0 ^ e
      if tick >= d0 * 0.999 and tick <= d1 * 1.001 then scale.ticks[#scale.ticks + 1] = tick end
    end
  end
  return scale
end

local Picture = {}
Picture.__index = Picture

--- Returns an empty picture. Width and height are in units, which are pixels if the page is wide enough. A height of 0
--- is set later. If its `tab` is set to "0", the tabulator key reaches its elements with tips.
function svg.picture(width, height)
  return setmetatable({ width = width, height = height, parts = {}, boxes = {}, kept = {} }, Picture)
end

-- Returns a coordinate with at most one decimal.
local function place(x)
  local text = ("%.1f"):format(x)
  return (text:gsub("%.0$", ""))
end

function Picture:add(text) self.parts[#self.parts + 1] = text end

local function attributes_of(class, tip, tab)
  local text = class and (' class="%s"'):format(class) or ""
  if tip then text = text .. (' tabindex="%s"'):format(tab or "-1") end
  if tip and tab then text = text .. ' role="img"' end
  return text
end

-- Adds an element. The page shows its tip if the reader points at it, taps it or reaches it by keys.
function Picture:element(name, attributes, class, tip)
  attributes = attributes .. attributes_of(class, tip, self.tab)
  if tip then
    self:add(("<%s%s><title>%s</title></%s>"):format(name, attributes, svg.escape(tip), name))
  else
    self:add(("<%s%s/>"):format(name, attributes))
  end
end

--- Adds a rectangle. corners: more attributes, or nil.
function Picture:rect(x, y, width, height, class, tip, corners)
  self:element("rect", (' x="%s" y="%s" width="%s" height="%s"%s'):format(place(x), place(y), place(math.max(0, width)),
    place(math.max(0, height)), corners or ""), class, tip)
end

--- Adds a rectangle with round corners.
function Picture:box(x, y, width, height, class, tip) self:rect(x, y, width, height, class, tip, ' rx="4"') end

function Picture:circle(x, y, radius, class, tip)
  self:element("circle", (' cx="%s" cy="%s" r="%s"'):format(place(x), place(y), place(radius)), class, tip)
end

--- Adds a square that stands on its corner.
function Picture:diamond(x, y, radius, class, tip)
  self:element("path", (' d="M%s %sl%s %sl%s %sl%s %sz"'):format(place(x), place(y - radius), place(radius),
    place(radius),
    place(-radius), place(radius), place(-radius), place(-radius)), class, tip)
end

function Picture:square(x, y, radius, class, tip)
  self:rect(x - radius * 0.88, y - radius * 0.88, radius * 1.76, radius * 1.76, class, tip)
end

function Picture:line(x1, y1, x2, y2, class)
  self:add(('<line x1="%s" y1="%s" x2="%s" y2="%s"%s/>'):format(place(x1), place(y1), place(x2), place(y2),
    attributes_of(class)))
end

--- Adds a line through points { { x, y } }, or an area if `closed`.
function Picture:path(points, class, closed, tip)
  local list = words.map(points, function(point) return place(point[1]) .. " " .. place(point[2]) end)
  self:element("path", (' d="M%s%s"'):format(table.concat(list, "L"), closed and "z" or ""), class, tip)
end

-- Returns the box of a text with its anchor at x and its baseline at y.
local function box_of(x, y, text, size, anchor)
  local width = svg.text_width(text, size)
  local left = anchor == "end" and x - width or anchor == "middle" and x - width / 2 or x
  return { left, y - size, left + width, y + size * 0.3 }
end

local function overlap(a, b) return a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4] end

--- Keeps labels (but no other texts) off the square around a point.
function Picture:keep(x, y, radius) self.kept[#self.kept + 1] = { x - radius, y - radius, x + radius, y + radius } end

function Picture:is_free(box)
  if box[1] < 0 or box[2] < 0 or box[3] > self.width or self.height > 0 and box[4] > self.height then return false end
  return words.all(self.boxes, function(other) return not overlap(box, other) end)
end

--- Adds a text, which may be a user's, with its anchor ("start", "middle", "end") at x and its baseline at y. options:
--- size (11), anchor, class, width (to which it is cut), optional (left out if it would overlap another text). Returns
--- true if it was added.
function Picture:text(x, y, text, options)
  options = options or {}
  local size, anchor = options.size or 11, options.anchor or "start"
  text = options.width and svg.fit(text, options.width, size) or terminal.safe(text)
  if text == "" then return false end
  local box = box_of(x, y, text, size, anchor)
  if options.optional and not self:is_free(box) then return false end
  self.boxes[#self.boxes + 1] = box
  self:add(('<text x="%s" y="%s"%s%s%s>%s</text>'):format(place(x), place(y),
    size ~= 11 and (' font-size="%s"'):format(place(size)) or "",
    anchor ~= "start" and (' text-anchor="%s"'):format(anchor) or "", attributes_of(options.class), svg.escape(text)))
  return true
end

--- Adds a text next to a point where it overlaps no other text. Without such a place it is left out.
function Picture:label(x, y, radius, text, options)
  options = options or {}
  local gap, size = radius + 4, options.size or 11
  local above, below = -gap - 4, gap + size + 1
  for _, try in ipairs { { gap, 4, "start" }, { -gap, 4, "end" }, { 0, above, "middle" }, { 0, below, "middle" },
    { gap, above, "start" }, { gap, below, "start" }, { -gap, above, "end" }, { -gap, below, "end" } } do
    local box = box_of(x + try[1], y + try[2], text, size, try[3])
    local free = self:is_free(box)
    for _, other in ipairs(free and self.kept or {}) do free = free and not overlap(box, other) end
    if free then
      return self:text(x + try[1], y + try[2], text, { size = size, anchor = try[3],
        class = options.class and options.class .. " halo" or "halo" })
    end
  end
  return false
end

-- Adds a line of the grid, which is behind everything else.
function Picture:grid_line(x1, y1, x2, y2)
  self:line(x1, y1, x2, y2, "grid")
  table.insert(self.parts, 1, table.remove(self.parts))
end

--- Adds a horizontal axis at y with ticks, their numbers below them and the title below the numbers. grid: the y up to
--- which grid lines go.
function Picture:axis_x(scale, y, title, format, grid)
  self:line(scale.r0, y, scale.r1, y, "axis")
  for _, tick in ipairs(scale.ticks) do
    local x = scale:at(tick)
    if grid then self:grid_line(x, y, x, grid) end
    self:line(x, y, x, y + 4, "axis")
    self:text(x, y + 16, format(tick), { anchor = "middle", class = "soft", optional = true })
  end
  if title then
    local middle = (scale.r0 + scale.r1) / 2
    self:text(middle, y + 32, title, { anchor = "middle", class = "soft",
      width = 2 * math.min(middle, self.width - middle) - 4 })
  end
end

--- Adds a vertical axis at x, with its numbers left of it and the title above it. grid: the x to which grid lines go.
function Picture:axis_y(scale, x, title, format, grid)
  self:line(x, scale.r0, x, scale.r1, "axis")
  for _, tick in ipairs(scale.ticks) do
    local y = scale:at(tick)
    if grid then self:grid_line(x, y, grid, y) end
    self:line(x - 4, y, x, y, "axis")
    self:text(x - 7, y + 4, format(tick), { anchor = "end", class = "soft", optional = true })
  end
  if title then self:text(4, math.min(scale.r0, scale.r1) - 10, title, { class = "soft", width = self.width - 8 }) end
end

--- Adds a legend: items { { class, text, shape } } in rows from x, y on. Returns the y below them.
function Picture:legend(x, y, items)
  local at, row = x, y
  for _, item in ipairs(items) do
    local text = svg.fit(item.text, self.width - x - 20, 11)
    local width = 16 + svg.text_width(text, 11) + 14
    if at > x and at + width - 14 > self.width then at, row = x, row + 18 end
    if item.shape == "line" then
      self:line(at, row - 4, at + 11, row - 4, item.class)
    else
      self[item.shape or "square"](self, at + 6, row - 4, 5, item.class)
    end
    self:text(at + 16, row, text, {})
    at = at + width
  end
  return row + 12
end

--- Returns the picture as an element. title: its name for screen readers. It is one image to a screen reader, or, if
--- keys reach its elements, a group of them.
function Picture:render(title)
  return ('<svg viewBox="0 0 %s %s" width="%s" height="%s" role="%s" aria-label="%s">%s</svg>'):format(
    place(self.width), place(self.height), place(self.width), place(self.height), self.tab and "group" or "img",
    svg.escape(title), table.concat(self.parts, "\n"))
end

return svg
