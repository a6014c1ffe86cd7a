-- masks.lua: which key each query of an attention sees, as a small picture: the blocks of scores that are emitted, what
-- a static mask leaves of them, and what is never computed.
local attention = require("passes.plan.attention")
local all_regions = require("passes.plan.regions")
local numbers = require("report.numbers")
local ops = require("data.ops")
local svg = require("report.svg")

local masks = {}

--- The attentions of an entry that differ, in order: { region, name, queries, keys, blocks, emitted, visible, at_run_time,
--- layers = how many attentions are like it }. emitted and visible are counts of scores.
function masks.of(entry)
  local list, at = {}, {}
  for region in all_regions(entry.plan.segments) do
    if region.kind == "attention" then
      local a, shape = region.scores.attributes, region.scores.result.shape
      local left, right = attention.band(a)
      local inputs = {}
      for _, op in ipairs(region.ops) do
        for _, tensor in pairs(op.operands) do
          if tensor.kind == "input" then inputs[tensor.member] = true end
        end
      end
      local names = {}
      for name in pairs(inputs) do names[#names + 1] = name end
      table.sort(names)
      local key = table.concat({ shape[3], shape[4], left, right, a.prefix or 0, a.offset or 0, a.extra or 0,
        table.concat(names, " ") }, ",")
      if at[key] then
        at[key].layers = at[key].layers + 1
      else
        local one = { region = region, name = region.scores.result.name, queries = shape[3], keys = shape[4],
          left = left, right = right, prefix = math.min(a.prefix or 0, shape[4]), offset = a.offset or 0,
          extra = a.extra or 0, at_run_time = names, blocks = {}, emitted = 0, layers = 1,
          visible = ops.visible_pairs(a, shape[3], shape[4]) }
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

--- The keys [first, last) that a query sees of its own keys.
function masks.seen(one, query)
  local own, position = one.keys - one.extra, query + one.offset
  local first = one.left >= 0 and math.max(0, position - one.left) or 0
  local last = one.right >= 0 and math.min(own, position + one.right + 1) or own
  last = math.max(last, math.min(one.prefix, own))
  if one.prefix > 0 then first = 0 end
  return math.min(first, own), math.max(0, last)
end

local MOST_ROWS = 160 -- of the outline of what is seen

-- The outline of what queries see, as a staircase of points.
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

--- Draws the picture of a mask with its corner at x, y: never wider or higher than `side`, what it says included in a
--- tip. Returns its width and height.
function masks.draw(picture, one, x, y, side)
  local largest = math.max(one.queries, one.keys)
  local width = math.max(24, side * one.keys / largest)
  local height = math.max(24, side * one.queries / largest)
  picture:rect(x, y, width, height, "hidden",
    ("not emitted: %s of %s scores"):format(numbers.whole(one.queries * one.keys - one.emitted),
      numbers.whole(one.queries * one.keys)))
  for _, block in ipairs(one.blocks) do
    picture:rect(x + block.key / one.keys * width, y + block.query / one.queries * height,
      block.keys / one.keys * width, block.queries / one.queries * height, "t2",
      ("emitted: queries %d to %d, keys %d to %d"):format(block.query, block.query + block.queries - 1, block.key,
        block.key + block.keys - 1))
  end
  picture:path(outline(one, x, y, width, height), "k2 seen", true)
  if one.extra > 0 then
    local from = (one.keys - one.extra) / one.keys * width
    picture:rect(x + from, y, width - from, height, "k2 seen")
  end
  return width, height
end

--- The figure's parts: a picture of all masks, side by side, for one width.
function masks.picture(list, width)
  local side = width > 500 and 200 or 150
  local columns = math.max(1, math.floor((width - 10) / (side + 30)))
  local rows = math.ceil(#list / columns)
  local each = side + 64
  local picture = svg.picture(width, rows * each + 26)
  picture:legend(6, 14, { { class = "k2 seen", text = "seen" }, { class = "t2", text = "emitted, then masked" },
    { class = "hidden", text = "not emitted" } })
  for i, one in ipairs(list) do
    local x = 22 + (i - 1) % columns * (side + 30)
    local y = 44 + (i - 1) // columns * each
    picture:text(x, y - 5, "keys →", { size = 10, class = "soft" })
    masks.draw(picture, one, x, y, side)
    picture:add(('<text transform="translate(%d %d) rotate(-90)" text-anchor="end" font-size="10" class="soft">'
      .. "← queries</text>"):format(x - 7, y))
    local below = y + math.max(24, side * one.queries / math.max(one.queries, one.keys)) + 15
    picture:text(x, below, ("%d × %d%s"):format(one.queries, one.keys,
      one.layers > 1 and (", %d layers"):format(one.layers) or ""), { width = side + 8 })
    if #one.at_run_time > 0 then
      picture:text(x, below + 14, "at run time: " .. table.concat(one.at_run_time, ", "),
        { width = side + 8, class = "soft", size = 10 })
    end
  end
  return picture
end

--- The rows of its table.
function masks.rows(list)
  local rows = {}
  for i, one in ipairs(list) do
    local all = one.queries * one.keys
    rows[i] = { one.name, tostring(one.layers), numbers.whole(one.queries), numbers.whole(one.keys),
      numbers.whole(all), numbers.whole(one.emitted), numbers.percent(one.emitted / all), numbers.whole(one.visible),
      tostring(#one.blocks), #one.at_run_time > 0 and table.concat(one.at_run_time, ", ") or "none" }
  end
  return rows
end

masks.columns = { { "first such", words = true }, { "attentions" }, { "queries" }, { "keys" }, { "scores a head" },
  { "emitted" }, { "of all" }, { "seen" }, { "blocks" }, { "masks at run time", words = true } }

return masks
