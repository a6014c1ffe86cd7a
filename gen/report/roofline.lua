-- roofline.lua: draws operations as points below the machine's measured roofs.
-- Arithmetic per byte goes across, GFLOP/s up. Several subjects (lengths, precisions, variants) differ by colour, kinds
-- of operations by shape.
local numbers = require("report.numbers")
local svg = require("report.svg")
local work = require("report.work")

local roofline = {}

-- Returns the radius of a point, from its share of the time.
local function radius_of(point) return math.max(3.5, 26 * math.sqrt(point.share)) end

local shapes = { product = "circle", attention = "diamond", ["row operation"] = "square" }

--- Returns the points of a subject: { name, kind, type, intensity, gflops, share, ms, arithmetic, bytes, count }. The
--- same operation of several layers is one point. Without a profile there are none.
function roofline.points(subject)
  local points, profile = {}, subject.bench and subject.bench.profile
  if not profile or not subject.work then return points end
  for _, row in ipairs(work.by_role(subject.work)) do
    local ms, flops, bytes = 0, 0, 0
    for _, i in ipairs(row.members) do
      local each = subject.work[i]
      ms, bytes = ms + profile.results[i].ms, bytes + each.bytes
      flops = flops + each.arithmetic
    end
    if ms > 0 and flops > 0 and bytes > 0 then
      points[#points + 1] = { name = row.role, kind = row.kind, type = row.type, intensity = flops / bytes,
        gflops = flops / ms / 1e6, share = ms / profile.profiled_ms, ms = ms, arithmetic = flops, bytes = bytes,
        count = #row.members }
    end
  end
  return points
end

-- Returns the least and largest flops per byte and GFLOP/s of a picture that shows all points.
local function extent(all, least_roof, most_roof)
  local least_x, most_x, least_y, most_y = math.huge, 0, least_roof, most_roof
  for _, subject in ipairs(all) do
    for _, point in ipairs(subject.points) do
      least_x, most_x = math.min(least_x, point.intensity), math.max(most_x, point.intensity)
      least_y, most_y = math.min(least_y, point.gflops), math.max(most_y, point.gflops)
    end
  end
  return least_x / 1.7, most_x * 1.9, least_y / 1.8, most_y * 1.6
end

-- True if two roofs are so close that nobody can tell their lines apart.
local function alike(a, b) return math.abs(a / b - 1) < 0.08 end

--- Returns the number type of a subject's roof: the type of most of its products, as in bench.
function roofline.type_of(subject) return subject.spec.precision.all end

--- Returns the roofs of subjects { bench, type }, the highest first: { gflops, peak (0 if unknown), types }. Each
--- number type has its own roof: the best that was measured for subjects of that type.
function roofline.roofs(all)
  local list, of = {}, {}
  for _, subject in ipairs(all) do
    local bench = subject.bench
    local roof = of[subject.type]
    if not roof then
      roof = { gflops = 0, peak = 0, types = { subject.type } }
      of[subject.type], list[#list + 1] = roof, roof
    end
    roof.gflops = math.max(roof.gflops, bench.roof_gflops)
    roof.peak = math.max(roof.peak, bench.peak_gflops or 0)
  end
  table.sort(list, function(a, b)
    if a.gflops ~= b.gflops then return a.gflops > b.gflops end
    return a.types[1] < b.types[1]
  end)
  local merged = {}
  for _, roof in ipairs(list) do
    local last = merged[#merged]
    if last and alike(last.gflops, roof.gflops) then
      table.insert(last.types, roof.types[1])
      last.peak = math.max(last.peak, roof.peak)
    else
      merged[#merged + 1] = roof
    end
  end
  return merged
end

--- Returns a point's rate as a fraction of the roof of its number type, or nil if none was measured. The roof is the
--- subject's, or another subject's if the subject's has another type.
function roofline.fraction(point, subject, roofs)
  if point.type == subject.type then return point.gflops / subject.bench.roof_gflops end
  for _, roof in ipairs(roofs) do
    for _, name in ipairs(roof.types) do if name == point.type then return point.gflops / roof.gflops end end
  end
  return nil
end

-- Draws the points of a subject, the largest first, so that small ones are on top. Labels are drawn where they fit.
local function draw_points(picture, subject, x, y, colour_of, several)
  local list = table.move(subject.points, 1, #subject.points, 1, {})
  table.sort(list, function(a, b) return a.share > b.share end)
  for _, point in ipairs(list) do
    local radius = radius_of(point)
    picture:keep(x:at(point.intensity), y:at(point.gflops), radius)
    picture[shapes[point.kind]](picture, x:at(point.intensity), y:at(point.gflops), radius, "t" .. colour_of(point),
      ("%s%s: %s GFLOP/s, %s flops per byte, %s of the time (%s)"):format(several and subject.label .. ": " or "",
        point.name, numbers.short(point.gflops), numbers.short(point.intensity), numbers.percent(point.share),
        numbers.time(point.ms)))
  end
  return list
end

local MOST_LABELS, MOST_DRAWN = 9, 6 -- labels of the first subject; subjects, as each has a colour

--- Returns the subjects that fit in a picture: all, or some of them at equal distances from the first to the last.
function roofline.drawn(all)
  if #all <= MOST_DRAWN then return all end
  local list = {}
  for i = 1, MOST_DRAWN do list[i] = all[1 + (i - 1) * (#all - 1) // (MOST_DRAWN - 1)] end
  return list
end

-- Keeps labels off a straight line.
local function keep_line(picture, x1, y1, x2, y2)
  local count = math.ceil(math.max(math.abs(x2 - x1), math.abs(y2 - y1)) / 6)
  for i = 0, count do picture:keep(x1 + (x2 - x1) * i / count, y1 + (y2 - y1) * i / count, 3) end
end

--- Draws subjects { label, points, bench, type } for one width.
function roofline.picture(all, width)
  local height = width > 500 and 400 or 360
  local bench, roofs = all[1].bench, roofline.roofs(all)
  local roof, peak = roofs[1].gflops, 0
  for _, each in ipairs(roofs) do peak = math.max(peak, each.peak) end
  local memory = bench.profile.memory_gb_per_s
  local x0, x1, y0, y1 = extent(all, roofs[#roofs].gflops, math.max(roof, peak))
  local picture = svg.picture(width, height)
  local left, right, bottom, top = 46, width - 14, height - 46, 74
  local x, y = svg.log(x0, x1, left, right, width > 500 and 6 or 4), svg.log(y0, y1, bottom,
    top)
  local items = {}
  for _, kind in ipairs(work.kinds) do
    items[#items + 1] = { class = #all == 1 and "t" .. work.colour[kind] or "exact", text = kind, shape = shapes[kind] }
  end
  if #all > 1 then
    for i, subject in ipairs(all) do items[#items + 1] = { class = "t" .. i, text = subject.label } end
  end
  local below = picture:legend(6, 14, items)
  if below > 44 then -- the legend has more lines, and the plot begins below them
    picture.height = height + below - 44
    y.r0, y.r1 = y.r0 + below - 44, y.r1 + below - 44
    bottom, top = bottom + below - 44, top + below - 44
  end
  picture:axis_x(x, bottom, width > 500 and "arithmetic for each byte that must be moved (flop/B)"
    or "flops for each byte moved", numbers.tick, top)
  picture:axis_y(y, left, "GFLOP/s", numbers.tick, right)
  local knee = memory and roof / memory or x0
  for _, each in ipairs(roofs) do
    local from = memory and each.gflops / memory or x0
    local begin, level = math.max(left, x:at(math.max(x0, math.min(x1, from)))), y:at(each.gflops)
    picture:line(begin, level, right, level, "roof")
    keep_line(picture, begin, level, right, level)
  end
  if memory and x0 < knee then
    local from = math.max(x0, y0 / memory)
    local upto = math.min(knee, x1)
    picture:path({ { x:at(from), y:at(from * memory) }, { x:at(upto), y:at(upto * memory) } }, "roof")
    keep_line(picture, x:at(from), y:at(from * memory), x:at(upto), y:at(upto * memory))
    local at = math.sqrt(from * upto)
    picture:label(x:at(at), y:at(at * memory), 4, ("memory %s GB/s"):format(numbers.short(memory)), { class = "soft" })
  end
  local highest = ("%s kernels %s GFLOP/s%s"):format(table.concat(roofs[1].types, ", "), numbers.short(roof),
    peak > 0 and (", multipliers %s"):format(numbers.short(peak)) or "")
  picture:text(left + 6, y:at(math.max(roof, peak)) - 6, highest, { class = "soft halo", optional = true })
  if peak > 0 then
    picture:line(left, y:at(peak), right, y:at(peak), "dash")
    keep_line(picture, left, y:at(peak), right, y:at(peak))
  end
  local function colour_of(i)
    return function(point) return #all > 1 and i or work.colour[point.kind] end
  end
  local labelled = {}
  for i, subject in ipairs(all) do
    for _, point in ipairs(draw_points(picture, subject, x, y, colour_of(i), #all > 1)) do
      if i == 1 then labelled[#labelled + 1] = point end
    end
  end
  for i = 2, #roofs do
    picture:label(left + 4, y:at(roofs[i].gflops), 0, ("%s kernels %s GFLOP/s"):format(
      table.concat(roofs[i].types, ", "), numbers.short(roofs[i].gflops)), { class = "soft" })
  end
  for rank = 1, math.min(#labelled, MOST_LABELS) do
    local point = labelled[rank]
    picture:label(x:at(point.intensity), y:at(point.gflops), radius_of(point), point.name)
  end
  return picture
end

roofline.columns = { { "operation", words = true }, { "kind", words = true }, { "type", words = true }, { "times" },
  { "ms" }, { "share" }, { "Mflop" }, { "MB moved" }, { "flop/B" }, { "GFLOP/s" }, { "of the peak" } }

--- Returns the rows of the picture's table. With several subjects, each row begins with its subject's label.
function roofline.rows(all)
  local rows, roofs = {}, roofline.roofs(all)
  for _, subject in ipairs(all) do
    for _, point in ipairs(subject.points) do
      local fraction = roofline.fraction(point, subject, roofs)
      local row = { point.name, point.kind, point.type, tostring(point.count), numbers.short(point.ms),
        numbers.percent(point.share), numbers.short(point.arithmetic / 1e6), numbers.short(point.bytes / 1e6),
        numbers.short(point.intensity), numbers.short(point.gflops), fraction and numbers.short(fraction, 2) or "–" }
      if #all > 1 then table.insert(row, 1, subject.label) end
      rows[#rows + 1] = row
    end
  end
  return rows
end

return roofline
