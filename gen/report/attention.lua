-- attention.lua: draws the attention weights of one input: a small picture of each head, and one of them enlarged.
-- Queries go down and keys across. The enlarged picture has the tokens as labels. The cells of a map are in the page
-- once, and pictures refer to them by number.
local numbers = require("report.numbers")
local page = require("report.page")
local svg = require("report.svg")

local attention = {}

local MOST_CELLS, LEAST_SIDE, MOST_SIDE, LEVELS = 60000, 12, 64, 8

-- Returns the largest weight of each square of a head's map, if the map has more than `side` rows or columns.
local function pooled(head, queries, keys, side)
  local step = math.max(1, math.ceil(math.max(queries, keys) / side))
  local rows = {}
  for q = 1, queries do
    local y = (q - 1) // step + 1
    rows[y] = rows[y] or {}
    for k = 1, keys do
      local x = (k - 1) // step + 1
      local weight = head.rows[q][k]
      if weight == weight then rows[y][x] = math.max(rows[y][x] or 0, weight) end
    end
  end
  return rows, math.ceil(keys / step), math.ceil(queries / step), step
end

-- Returns the cells of a map as one path per level. Adjacent equal cells of a row are one piece.
local function cells(rows, columns)
  local most, paths = 0, {}
  for _, row in ipairs(rows) do for x = 1, columns do most = math.max(most, row[x] or 0) end end
  for y, row in ipairs(rows) do
    local x = 1
    while x <= columns do
      local level = most > 0 and math.floor((row[x] or 0) / most * LEVELS + 0.5) or 0
      local run = 1
      while x + run <= columns and math.floor((row[x + run] or 0) / most * LEVELS + 0.5) == level do run = run + 1 end
      if level > 0 then
        paths[level] = paths[level] or {}
        table.insert(paths[level], ("M%d %dh%dv1h-%dz"):format(x - 1, y - 1, run, run))
      end
      x = x + run
    end
  end
  local parts = {}
  for level = 1, LEVELS do
    if paths[level] then
      parts[#parts + 1] = ('<path class="k1" fill-opacity="%.3f" d="%s"/>'):format(level / LEVELS,
        table.concat(paths[level]))
    end
  end
  return table.concat(parts)
end

-- Returns the mean entropy of a head's rows in bits, its largest weight, and the weight's row and column.
local function facts(head)
  local entropy, rows, most, at_q, at_k = 0, 0, -1, 1, 1
  for q, row in ipairs(head.rows) do
    rows = rows + 1
    for k, weight in ipairs(row) do
      if weight > 0 then entropy = entropy - weight * math.log(weight, 2) end
      if weight > most then most, at_q, at_k = weight, q, k end
    end
  end
  return entropy / math.max(1, rows), most, at_q, at_k
end

-- Returns what a row or a column of a map stands for: a token, the seconds of a sound, or a number.
local function token(maps, index)
  local sound = maps.sound
  if sound and sound.is_query then return ("%.2f s"):format((index - 1) * sound.seconds) end
  return maps.tokens and maps.tokens[index] or tostring(index - 1)
end

-- Returns a picture of all heads, with one or more rows of small pictures for each layer.
local function small(maps, list, width)
  local side = width > 500 and 84 or 73
  local columns = math.max(1, math.floor((width - 6) / (side + 10)))
  local picture, y = svg.picture(width, 0), 6
  picture.tab = "0"
  for _, layer in ipairs(list) do
    picture:text(4, y + 12, ("layer %s"):format(layer.layer), { class = "strong" })
    y = y + 20
    for h, head in ipairs(layer.heads) do
      local column = (h - 1) % columns
      if h > 1 and column == 0 then y = y + side + 24 end
      local x = 4 + column * (side + 10)
      local high = math.max(8, side * maps.queries / math.max(maps.queries, maps.keys))
      local wide = math.max(8, side * maps.keys / math.max(maps.queries, maps.keys))
      picture:add(('<g class="map" tabindex="0" role="button" data-map="%s"><title>%s</title><rect class="hidden" '
        .. 'x="%d" y="%d" width="%.1f" height="%.1f"/><use href="#%s" x="%d" y="%d" width="%.1f" height="%.1f"/></g>')
        :format(head.id, svg.escape(head.says), x, y, wide, high, head.id, x, y, wide, high))
      picture:text(x, y + high + 13, ("head %d"):format(h - 1), { size = 10, class = "soft" })
    end
    y = y + side + 30
  end
  picture.height = y
  return picture
end

-- Returns the picture of one head enlarged, with labels where they fit.
local function large(maps, head, width)
  local left, top = 92, 82
  local room = math.min(width - left - 10, 520)
  local longest = math.max(maps.queries, maps.keys)
  local wide, high = room * maps.keys / longest, math.max(20, room * maps.queries / longest)
  local picture = svg.picture(width, top + high + 10)
  picture:rect(left, top, wide, high, "hidden")
  picture:text(left - 10, top - 24, "keys →", { anchor = "end", class = "soft" })
  picture:text(left - 10, top - 8, "queries ↓", { anchor = "end", class = "soft" })
  picture:add(('<use class="large" href="#%s" x="%d" y="%d" width="%.1f" height="%.1f"/>'):format(head.id, left, top,
    wide,
    high))
  local cell = room / longest
  local every = math.max(1, math.ceil(14 / cell))
  for q = 1, maps.queries, every do
    picture:text(left - 5, top + (q - 0.5) * cell + 4, token(maps, q), { anchor = "end", width = left - 10, size = 11 })
  end
  for k = 1, maps.keys, every do
    local text = svg.fit(token(maps, k), top - 12, 11)
    picture:add(('<text transform="translate(%.1f %.1f) rotate(-90)">%s</text>'):format(left + (k - 0.5) * cell + 4,
      top - 5, svg.escape(text)))
  end
  return picture
end

local MOST_QUERIES, LEAST_QUERIES = 64, 4 -- queries of a table
local MOST_ROWS = 6000                    -- rows of all tables of a page

-- Returns a head's table, a row for each of the first queries: the query and the keys with the largest weights.
local function looks(maps, head, most)
  local rows = {}
  for q = 1, math.min(#head.rows, most) do
    local row, first, second = head.rows[q], nil, nil
    for k, weight in ipairs(row) do
      if weight == weight then
        if not first or weight > row[first] then first, second = k, first
        elseif not second or weight > row[second] then second = k end
      end
    end
    local function said(k) return k and ("%s %s"):format(token(maps, k), numbers.percent(row[k])) or "" end
    rows[q] = { token(maps, q), said(first), said(second) }
  end
  return rows
end

local look_columns = { { "the query", words = true }, { "looks most at", words = true }, { "then at", words = true } }

-- Returns the tables of all `count` heads. The page shows only the enlarged head's table.
local function tables_of(maps, count)
  local parts = {}
  local room = MOST_ROWS // (count * (maps.variants or 1))
  local shown = math.min(maps.queries, math.max(LEAST_QUERIES, math.min(MOST_QUERIES, room)))
  for _, layer in ipairs(maps.layers) do
    for h, head in ipairs(layer.heads) do
      local caption = ("layer %s, head %d%s"):format(layer.layer, h - 1, shown < maps.queries
        and (": the first %d of %d queries"):format(shown, maps.queries) or "")
      parts[#parts + 1] = ('<div class="looks" data-map="%s"%s>%s</div>'):format(head.id,
        #parts > 0 and " hidden" or "", page.table(look_columns, looks(maps, head, shown), caption))
    end
  end
  return table.concat(parts)
end

local MOST_COLUMNS, MOST_LINES = 200, 64 -- of a spectrogram

-- Returns the features of a sound as lines of cells, the highest band first: the means of their numbers, less the
-- least one. Also returns the columns, and the least and the largest number.
local function lines_of(sound, variants)
  local rows, width = sound.rows, #sound.rows[1]
  local across, down = math.ceil(#rows * variants / MOST_COLUMNS), math.ceil(width / MOST_LINES)
  local least, most, sums, counts = math.huge, -math.huge, {}, {}
  for y = 1, math.ceil(width / down) do sums[y], counts[y] = {}, {} end
  for i, row in ipairs(rows) do
    local x = (i - 1) // across + 1
    for band, value in ipairs(row) do
      local y = #sums - (band - 1) // down
      sums[y][x], counts[y][x] = (sums[y][x] or 0) + value, (counts[y][x] or 0) + 1
      if value < least then least = value end
      if value > most then most = value end
    end
  end
  for y, line in ipairs(sums) do
    for x, sum in ipairs(line) do line[x] = sum / counts[y][x] - least end
  end
  return sums, #sums[1], least, most
end

-- Returns the table of a spectrogram: the strongest band at up to 40 times.
local function bands_of(sound, what)
  local list, every = {}, math.ceil(#sound.rows / 40)
  for i = 1, #sound.rows, every do
    local row, best = sound.rows[i], 1
    for band, value in ipairs(row) do if value > row[best] then best = band end end
    list[#list + 1] = { ("%.2f"):format((i - 1) * sound.seconds), tostring(best), numbers.short(row[best]) }
  end
  return page.table({ { "seconds" }, { "strongest " .. what }, { "its number" } }, list)
end

-- Returns the figure of what a sound becomes: time goes to the right, and bands go up.
local function spectrogram(maps)
  local sound = maps.sound
  if not sound then return "" end
  local lines, columns, least, most = lines_of(sound, maps.variants or 1)
  local id, bands = ("sound_%s"):format(maps.number or 1), #sound.rows[1]
  local symbol = ('<svg class="store" width="0" height="0" aria-hidden="true"><symbol id="%s" viewBox="0 0 %d %d" '
    .. 'preserveAspectRatio="none" shape-rendering="crispEdges">%s</symbol></svg>'):format(id, columns, #lines,
    cells(lines, columns))
  local what = sound.mels and "filter" or "channel"
  local caption = ("The sound becomes %d rows, %s seconds apart, of %d %ss, of which the first is at the bottom. "
    .. "A stronger colour is a larger number, from %s to %s.%s"):format(#sound.rows, numbers.short(sound.seconds),
    bands, what, numbers.short(least), numbers.short(most), sound.is_query and " A row is a query, and a key." or "")
  return symbol .. page.figure(sound.mels and "Spectrogram" or "Features", function(width)
    local left, high = 34, 150
    local picture = svg.picture(width, high + 50)
    local scale = svg.linear(0, #sound.rows * sound.seconds, left, width - 10, 8)
    picture:rect(left, 6, width - 10 - left, high, "hidden")
    local shape = '<use href="#%s" x="%d" y="6" width="%.1f" height="%d"/>'
    picture:add(shape:format(id, left, width - 10 - left, high))
    picture:text(left - 6, 6 + 10, tostring(bands), { anchor = "end", class = "soft" })
    picture:text(left - 6, 6 + high, "1", { anchor = "end", class = "soft" })
    picture:axis_x(scale, 6 + high, "seconds", numbers.tick)
    return picture
  end, svg.escape(caption), bands_of(sound, what))
end

--- Returns the section of a page for a subject that has maps.
function attention.part(subject)
  local maps = subject.maps
  if not maps then return nil end
  local count = 0
  for _, layer in ipairs(maps.layers) do count = count + #layer.heads end
  local cells_each = MOST_CELLS / count / (maps.variants or 1)
  local side = math.floor(math.max(LEAST_SIDE, math.min(MOST_SIDE, math.sqrt(cells_each))))
  local symbols, rows, first, step = {}, {}, nil, 1
  for _, layer in ipairs(maps.layers) do
    for h, head in ipairs(layer.heads) do
      local pool, columns, lines
      pool, columns, lines, step = pooled(head, maps.queries, maps.keys, side)
      head.id = ("map_%s_%s_%d"):format(maps.number or 1, layer.layer, h - 1)
      local entropy, most, q, k = facts(head)
      head.says = ("layer %s, head %d: largest weight %s, where %s looks at %s; %s bits on average"):format(layer.layer,
        h - 1, numbers.short(most), token(maps, q), token(maps, k), numbers.short(entropy))
      rows[#rows + 1] = { ("layer %s, head %d"):format(layer.layer, h - 1), numbers.short(entropy), numbers.short(most),
        token(maps, q), token(maps, k) }
      symbols[#symbols + 1] = ('<symbol id="%s" viewBox="0 0 %d %d" preserveAspectRatio="none" '
        .. 'shape-rendering="crispEdges">'
        .. "%s</symbol>"):format(head.id, columns, lines, cells(pool, columns))
      first = first or head
    end
  end
  local what = maps.text and ("“%s”"):format(maps.text) or maps.sound and "the sound" or "the given input"
  local caption = ("Attention weights of %s. A row is a query, a column is a key. A stronger colour is a larger "
    .. "weight, relative to the largest of its head. Tap a head to enlarge it.%s"):format(what, step > 1
      and (" A cell is the largest of %d × %d weights."):format(step, step) or "")
  return spectrogram(maps) .. '<svg class="store" width="0" height="0" aria-hidden="true">' .. table.concat(symbols)
    .. "</svg>" .. page.figure("Attention of all heads", function(width) return small(maps, maps.layers, width) end,
      svg.escape(caption), page.table({ { "head", words = true }, { "bits a query" }, { "largest weight" },
        { "of the query", words = true }, { "at the key", words = true } }, rows))
    .. page.figure("One head enlarged", function(width) return large(maps, first, width) end,
      '<span class="which">' .. svg.escape(first.says) .. "</span>", tables_of(maps, count))
end

return attention
