-- masks.lua: draws the keys that each query of an attention sees.
-- The picture shows the blocks of scores that are emitted, the scores of them that a static mask leaves, and the scores
-- that are never computed.
local all_regions = require("passes.common.regions")
local grouping = require("passes.common.grouping")
local numbers = require("report.numbers")
local svg = require("report.svg")
local visible = require("data.visible")
local words = require("common.words")

local masks = {}

--- Returns the different attentions of an entry, in order: { region, name, queries, keys, blocks, emitted, visible,
--- at_run_time, layers = the number of equal attentions }. emitted and visible are counts of scores.
function masks.of(entry)
  local list, at = {}, {}
  for region in all_regions(entry.plan.segments) do
    if region.kind == "attention" then
      local a, shape = region.scores.attributes, region.scores.result.shape
      local left, right = grouping.band(a)
      local inputs = {}
      for _, op in ipairs(region.ops) do
        for _, tensor in pairs(op.operands) do
          if tensor.kind == "input" then inputs[tensor.member] = true end
        end
      end
      local names = words.sorted_keys(inputs)
      local key = table.concat({ shape[3], shape[4], left, right, a.prefix or 0, a.offset or 0, a.extra or 0,
        table.concat(names, " ") }, ",")
      if at[key] then
        at[key].layers = at[key].layers + 1
      else
        local one = { region = region, name = region.scores.result.name, queries = shape[3], keys = shape[4],
          left = left, right = right, prefix = math.min(a.prefix or 0, shape[4]), offset = a.offset or 0,
          extra = a.extra or 0, at_run_time = names, blocks = {}, emitted = 0, layers = 1,
          visible = visible.pairs(a, shape[3], shape[4]) }
        for _, block in ipairs(region.blocks) do
          for _, range in ipairs(block.ranges) do
            one.blocks[#one.blocks + 1] = { query = block.first, queries = block.count, key = range.first_key,
              keys = range.keys }
            one.emitted = one.emitted + block.count * range.keys
          end
        end
        at[key] = one
        list[#list + 1] = one
      end
    end
  end
  return list
end

--- Returns the members of a list in which some query does not see some key, or some score is not emitted.
function masks.with_something_to_see(list)
  return words.filter(list, function(one) return one.visible < one.queries * one.keys end)
end

--- Returns the range [first, last) of its own keys that a query sees.
function masks.seen(one, query)
  local own, position = one.keys - one.extra, query + one.offset
  local first = one.left >= 0 and math.max(0, position - one.left) or 0
  local last = one.right >= 0 and math.min(own, position + one.right + 1) or own
  last = math.max(last, math.min(one.prefix, own))
  if one.prefix > 0 then first = 0 end
  return math.min(first, own), math.max(0, last)
end

local MOST_ROWS = 160 -- rows of the outline of seen scores

-- Returns the outline of the scores that queries see, as a staircase of points.
local function outline(one, x, y, side_x, side_y)
  local down, up = {}, {}
  local step = math.max(1, one.queries / MOST_ROWS)
  local query = 0
  while query < one.queries do
    local stop = math.min(one.queries, query + step)
    local first, last = masks.seen(one, math.floor(query))
    local top, bottom = y + query / one.queries * side_y, y + stop / one.queries * side_y
    down[#down + 1], down[#down + 2] = { x + last / one.keys * side_x, top }, { x + last / one.keys * side_x, bottom }
    up[#up + 1], up[#up + 2] = { x + first / one.keys * side_x, top }, { x + first / one.keys * side_x, bottom }
    query = stop
  end
  for i = #up, 1, -1 do down[#down + 1] = up[i] end
  return down
end

--- Draws a mask with its corner at x, y, at most `side` wide and high, and with tips. Returns its width and height.
function masks.draw(picture, one, x, y, side)
  local largest = math.max(one.queries, one.keys)
  local width = math.max(24, side * one.keys / largest)
  local height = math.max(24, side * one.queries / largest)
  local from_query, from_key = one.from_query or 0, one.from_key or 0
  picture:rect(x, y, width, height, "hidden",
    ("not emitted: %s of %s scores"):format(numbers.whole(one.queries * one.keys - one.emitted),
      numbers.whole(one.queries * one.keys)))
  for _, block in ipairs(one.blocks) do
    picture:rect(x + block.key / one.keys * width, y + block.query / one.queries * height,
      block.keys / one.keys * width, block.queries / one.queries * height, "t2",
      ("emitted: queries %d to %d, keys %d to %d"):format(from_query + block.query,
        from_query + block.query + block.queries - 1, from_key + block.key, from_key + block.key + block.keys - 1))
  end
  picture:path(outline(one, x, y, width, height), "k2 seen", true)
  if one.extra > 0 then
    local from = (one.keys - one.extra) / one.keys * width
    picture:rect(x + from, y, width - from, height, "k2 seen")
  end
  return width, height
end

-- Returns a section in the middle of a mask whose blocks are too small to see. Returns nil for other masks.
local function middle_of(one)
  local blocks = one.blocks
  if #blocks < 24 or one.emitted > 0.2 * one.queries * one.keys then return nil end
  local first = blocks[#blocks // 2]
  local last = blocks[math.min(#blocks, #blocks // 2 + 5)]
  local query, upto = first.query, last.query + last.queries
  local key, stop = math.min(first.key, last.key), math.max(first.key + first.keys, last.key + last.keys)
  local middle = { queries = upto - query, keys = stop - key, left = one.left, right = one.right, prefix = 0, extra = 0,
    offset = one.offset + query - key, emitted = 0, blocks = {}, from_query = query, from_key = key }
  for _, block in ipairs(blocks) do
    if block.query >= query and block.query < upto and block.key >= key then
      middle.blocks[#middle.blocks + 1] = { query = block.query - query, queries = block.queries, key = block.key - key,
        keys = math.min(block.keys, stop - block.key) }
      middle.emitted = middle.emitted + block.queries * block.keys
    end
  end
  return middle
end

--- Returns the figure's picture for one width: all masks, side by side. A mask with many small blocks is followed by
--- some of them enlarged.
function masks.picture(list, width)
  local panels = {}
  for _, one in ipairs(list) do
    panels[#panels + 1] = { mask = one, title = ("%d × %d%s"):format(one.queries, one.keys,
      one.layers > 1 and (", %d layers"):format(one.layers) or ""),
      note = #one.at_run_time > 0 and "at run time: " .. table.concat(one.at_run_time, ", ") or nil }
    local middle = middle_of(one)
    if middle then
      panels[#panels + 1] = { mask = middle, title = ("queries %d to %d,"):format(middle.from_query,
        middle.from_query + middle.queries - 1), note = ("keys %d to %d"):format(middle.from_key,
        middle.from_key + middle.keys - 1) }
    end
  end
  local side = width > 500 and 190 or 140
  local columns = math.max(1, math.floor((width - 10) / (side + 24)))
  local each = side + 64
  local picture, below = svg.picture(width, math.ceil(#panels / columns) * each + 26), 0
  picture:legend(6, 14, { { class = "k2 seen", text = "seen" }, { class = "t2", text = "emitted, then masked" },
    { class = "hidden", text = "not emitted" } })
  for i, panel in ipairs(panels) do
    local x = 22 + (i - 1) % columns * (side + 24)
    local y = 44 + (i - 1) // columns * each
    picture:text(x, y - 5, "keys →", { size = 10, class = "soft" })
    local _, height = masks.draw(picture, panel.mask, x, y, side)
    picture:add(('<text transform="translate(%d %d) rotate(-90)" text-anchor="end" font-size="10" class="soft">'
      .. "← queries</text>"):format(x - 7, y))
    picture:text(x, y + height + 15, panel.title, { width = side + 8 })
    if panel.note then picture:text(x, y + height + 29, panel.note, { width = side + 8, class = "soft", size = 10 }) end
    below = math.max(below, y + height + (panel.note and 36 or 22))
  end
  picture.height = below
  return picture
end

--- Returns the rows of the figure's table.
function masks.rows(list)
  return words.map(list, function(one)
    local all = one.queries * one.keys
    return { one.name, tostring(one.layers), numbers.whole(one.queries), numbers.whole(one.keys),
      numbers.whole(all), numbers.whole(one.emitted), numbers.percent(one.emitted / all), numbers.whole(one.visible),
      tostring(#one.blocks), #one.at_run_time > 0 and table.concat(one.at_run_time, ", ") or "none" }
  end)
end

masks.columns = { { "first of its kind", words = true }, { "attentions" }, { "queries" }, { "keys" },
  { "scores per head" },
  { "emitted" }, { "of all" }, { "seen" }, { "blocks" }, { "masks at run time", words = true } }

return masks
