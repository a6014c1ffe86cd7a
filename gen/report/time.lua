-- time.lua: draws a call's time: by layer, within one layer, percentiles of calls, threads, and bounds.
local bars = require("report.bars")
local numbers = require("report.numbers")
local svg = require("report.svg")
local words = require("common.words")
local work = require("report.work")

local time = {}

-- The parts of bars: kinds of operations with their colours. Attention's softmax and what is around it are one kind.
local parts = { { name = "product", colour = 1 }, { name = "scores and context", colour = 2 },
  { name = "softmax", colour = 5 }, { name = "norm", colour = 3 }, { name = "other", colour = 4 } }
local colour = {}
for _, part in ipairs(parts) do colour[part.name] = part.colour end

local function part_of(each)
  if each.kind == "product" then return "product" end
  if each.op.flops > 0 and each.kind == "attention" then return "scores and context" end
  if each.kind == "attention" then return "softmax" end
  return each.op.op:find("norm", 1, true) and "norm" or "other"
end

--- Returns the sections in order with their times: { name, ms, parts = part -> ms, list = { work, ms } }.
function time.sections(subject)
  local list, at, results = {}, {}, subject.bench.profile.results
  for i, each in ipairs(subject.work) do
    local section = at[each.section]
    if not section then
      section = { name = each.section, ms = 0, parts = {}, list = {} }
      at[each.section], list[#list + 1] = section, section
    end
    local ms, part = results[i].ms, part_of(each)
    section.ms = section.ms + ms
    section.parts[part] = (section.parts[part] or 0) + ms
    section.list[#section.list + 1] = { work = each, ms = ms, part = part }
  end
  return list
end

function time.bars(sections, width)
  local most = words.most(sections, function(section) return section.ms end)
  return bars.picture(sections, { parts = parts, left = 84, unit = numbers.time_unit(most), text = numbers.time },
    width)
end

--- Returns the layer that takes longest, or the longest section if there are no layers.
function time.longest(sections)
  local best
  for _, section in ipairs(sections) do
    local layer = work.layer(section.name) ~= nil
    if not best or (layer and not best.layer) or (layer == best.layer and section.ms > best.section.ms) then
      best = { section = section, layer = layer }
    end
  end
  return best.section
end

--- Draws one section in order of execution: a bar whose pieces are as wide as their times. A name that does not fit in
--- its piece is below.
function time.strip(section, width)
  local picture = svg.picture(width, 0)
  local left, right, y = 6, width - 6, 30
  picture:text(left, 14, ("%s, %s in all"):format(section.name, numbers.time(section.ms)), { class = "strong" })
  local x, below = left, {}
  for _, each in ipairs(section.list) do
    if each.ms > 0 then
      local w = each.ms / section.ms * (right - left)
      picture:rect(x, y, w, 40, "t" .. colour[each.part], ("%s: %s, %s of %s"):format(each.work.name,
        numbers.time(each.ms), numbers.percent(each.ms / section.ms), section.name))
      local name = each.work.role
      if svg.text_width(name, 11) + 6 <= w then
        picture:text(x + w / 2, y + 18, name, { anchor = "middle" })
        local takes = numbers.time(each.ms)
        if svg.text_width(takes, 10) + 4 <= w then
          picture:text(x + w / 2, y + 32, takes, { anchor = "middle", size = 10, class = "soft" })
        end
      else
        below[#below + 1] = { x = x + w / 2, text = ("%s %s"):format(name, numbers.time(each.ms)), part = each.ms }
      end
      x = x + w
    end
  end
  -- Names that do not fit are below, each in the first row with enough space.
  local rows = {}
  for i = #below, 1, -1 do
    local each = below[i]
    local w = svg.text_width(each.text, 10)
    local from = math.max(left, math.min(right - w, each.x - 4))
    local row = 1
    while rows[row] and rows[row] < from + w + 8 do row = row + 1 end
    rows[row] = from
    local base = y + 56 + (row - 1) * 15
    picture:line(each.x, y + 40, each.x, base - 10, "lead")
    each.from, each.base = from, base
  end
  for _, each in ipairs(below) do picture:text(each.from, each.base, each.text, { size = 10 }) end
  picture.height = y + 48 + #rows * 15
  return picture
end

--- Upper limit of the percentile plot, in medians. Slower calls are clamped to it.
time.MOST_OF_MEDIAN = 3

--- Draws the percentiles of calls: per cent across, ms up.
function time.percentiles(bench, width)
  local list = bench.ms_percentiles
  local height = 240
  local picture = svg.picture(width, height)
  local left, right, bottom, top = 52, width - 16, height - 44, 30
  local most, least = list[#list], list[1]
  local cut = math.min(most, bench.ms_median * time.MOST_OF_MEDIAN) * 1.08
  local unit = numbers.time_unit(cut)
  local x = svg.linear(0, 100, left, right, 5)
  local y = svg.linear(least * 0.9 * unit.scale, cut * unit.scale, bottom, top, 5)
  local function place(ms) return y:at(math.min(ms, cut) * unit.scale) end
  picture:axis_x(x, bottom, "per cent of calls that take no longer", numbers.tick, top)
  picture:axis_y(y, left, unit.title .. " per call", numbers.tick, right)
  local points = words.map(list, function(ms, i) return { x:at((i - 1) / (#list - 1) * 100), place(ms) } end)
  picture:path(points, "s1")
  for i, point in ipairs(points) do -- labels keep off the line
    local next_one = points[i + 1] or point
    for part = 0, 3 do
      picture:keep(point[1] + (next_one[1] - point[1]) * part / 4, point[2] + (next_one[2] - point[2]) * part / 4, 3)
    end
  end
  for _, mark in ipairs { { 50, bench.ms_median, "median" }, { 95, bench.ms_p95, "p95" } } do
    local at = place(mark[2])
    picture:circle(x:at(mark[1]), at, 4, "k1", ("%s: %s"):format(mark[3], numbers.time(mark[2])))
    picture:label(x:at(mark[1]), at, 5, ("%s %s"):format(mark[3], numbers.time(mark[2])))
  end
  return picture
end

--- Returns the threads of a call, `count` or more, with microseconds: { thread, busy, waiting, parts }. Also returns
--- the number of phases.
function time.threads(profile, count)
  local list, phases = {}, 0
  local function thread_of(number)
    for n = #list, number do list[n + 1] = { thread = n, busy = 0, parts = {} } end
    return list[number + 1]
  end
  thread_of(count - 1)
  for _, part in ipairs(profile.parts or {}) do
    local thread = thread_of(part.thread)
    thread.busy = thread.busy + part.end_us - part.begin_us
    thread.parts[#thread.parts + 1] = part
    phases = math.max(phases, part.phase + 1)
  end
  for _, thread in ipairs(list) do
    thread.waiting = profile.call_us - thread.busy
    table.sort(thread.parts, function(x, y) return x.begin_us < y.begin_us end)
  end
  return list, phases
end

--- Draws threads side by side: when each worked and when it waited.
function time.thread_lanes(profile, count, width)
  local unit = numbers.time_unit(profile.call_us / 1000)
  local function scaled(us) return us / 1000 * unit.scale end
  return bars.rows(time.threads(profile, count), { left = 60, right = 14, step = 34,
    legend = { { class = "t1", text = "works (even phase)" }, { class = "t3", text = "works (odd phase)" },
      { class = "wait", text = "waits" } },
    title = unit.title .. " from the beginning of the call",
    scale = function(left, right) return svg.linear(0, scaled(profile.call_us), left, right, 5) end,
    name = function(thread) return thread.thread == 0 and "caller" or ("thread %d"):format(thread.thread) end,
    draw = function(picture, thread, x, y)
      picture:rect(x.r0, y, x.r1 - x.r0, 26, "wait", ("waits %s in all"):format(numbers.time(thread.waiting / 1000)))
      for _, part in ipairs(thread.parts) do
        local from, upto = x:at(scaled(part.begin_us)), x:at(scaled(part.end_us))
        picture:rect(from, y, math.max(0.4, upto - from), 26,
          part.phase % 2 == 0 and "t1" or "t3", ("phase %d, part %d: %s"):format(part.phase, part.part,
            numbers.time((part.end_us - part.begin_us) / 1000)))
      end
    end }, width)
end

--- Returns measured and bound ms by role, the longest first: { role, kind, ms, bound, count }.
function time.against_bound(subject)
  local bench, rows = subject.bench, {}
  local bound = work.bound(subject.work, bench.bound, bench.threads)
  if not bound or not bench.profile then return rows end
  for _, row in ipairs(work.by_role(subject.work)) do
    local each = { role = row.role, kind = row.kind, ms = 0, bound = 0, count = #row.members }
    for _, i in ipairs(row.members) do
      each.ms = each.ms + bench.profile.results[i].ms
      each.bound = each.bound + bound[i]
    end
    if each.ms > 0 then rows[#rows + 1] = each end
  end
  table.sort(rows, function(a, b) return a.ms > b.ms end)
  return rows
end

local MOST_ROWS = 16

--- Draws two bars per role: the measured time and its bound.
function time.bound_bars(rows, width)
  local most = words.most(rows, function(row) return math.max(row.ms, row.bound) end)
  local unit = numbers.time_unit(most)
  return bars.rows(rows, { left = width > 500 and 150 or 104, right = 60, title = unit.title, step = 23,
    most = MOST_ROWS, legend = { { class = "t1", text = "measured" }, { class = "k6", text = "bound" } },
    scale = function(left, right) return svg.linear(0, most * unit.scale, left, right, 5) end,
    name = function(row) return row.role end,
    draw = function(picture, row, x, y)
      local each = (x.r1 - x.r0) / most
      local tip = ("%s: %s measured, bound %s"):format(row.role, numbers.time(row.ms), numbers.time(row.bound))
      picture:rect(x.r0, y, row.ms * each, 10, "t1", tip)
      picture:rect(x.r0, y + 10, row.bound * each, 6, "k6", tip)
      picture:text(x.r0 + math.max(row.ms, row.bound) * each + 5, y + 12,
        row.bound < 10 * row.ms and numbers.percent(row.bound / row.ms) or ">999%", { class = "soft" })
    end }, width)
end

return time
