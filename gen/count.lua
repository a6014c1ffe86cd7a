-- count.lua: how many steps a planned graph will be lowered to, without making them: the
-- budget is checked before a model that is too large costs time and memory.
local count = {}

-- Calls of one product tile: its kernels, and the map that rides on it.
local function product_calls(group)
  local calls = group.k_order == "reduce" and 1 or group.k_blocks.count
  return calls + (group.k_blocks.tail > 0 and 1 or 0)
end

-- Maps on a tile: none without parts; one for each stretch of rows within which a table of positions does not begin
-- anew.
local function maps(group, block)
  local parts = #group.riders + (group.head.op == "linear" and group.head.operands.bias and 1 or 0)
  local own = group.head.op == "activate" or group.head.op == "add"
  if parts == 0 and not own then return 0 end
  local period
  local function look(op)
    local b = op.operands.b
    if op.op == "add" and (b.kind == "weight" or b.kind == "constant") and #b.shape > 1 then period = b.shape[1] end
  end
  if own then look(group.head) end
  for _, rider in ipairs(group.riders) do look(rider) end
  if not period then return 1 end
  return (block.first + block.count - 1) // period - block.first // period + 1
end

-- Turns of a tile of keys: one for each stretch of rows of one sequence and one panel of keys.
local function turns(storage, block)
  if storage.form ~= "transposed" then return 0 end
  local n, row, stop = 0, block.first, block.first + block.count
  while row < stop do
    local key = row % storage.rows_per_sequence
    row = row + math.min(stop - row, storage.rows_per_sequence - key, storage.key_block - key % storage.key_block)
    n = n + 1
  end
  return n
end

-- A block's rows as row operations take them.
local function parts(group, block, row_block)
  if group.head.op == "linear" then return { block } end
  local list = {}
  for first = block.first, block.first + block.count - 1, row_block do
    list[#list + 1] = { first = first, count = math.min(row_block, block.first + block.count - first) }
  end
  return list
end

local function rows_lines(region, storage, row_block)
  local n = 0
  for _, block in ipairs(region.blocks) do
    for _, group in ipairs(region.groups) do
      local tiles = group.panels and #group.panels.widths or 1
      local head = group.panels and product_calls(group)
        or (group.head.op == "activate" or group.head.op == "add") and 0 or 1
      for _, part in ipairs(parts(group, block, row_block)) do
        n = n + tiles * (head + maps(group, part) + turns(storage[group.result.name], part))
      end
    end
  end
  return n
end

local function attention_lines(region)
  local lengths = region.scores.operands.lengths
  local n = 0
  for _, block in ipairs(region.blocks) do
    local tail = block.keys > 2 * region.key_block and block.keys % region.key_block > 0
    n = n + #block.parts + (block.cut and 1 or 0) + (lengths and 1 or 0) + 1 + 1 + (tail and 1 or 0)
      + ((block.cut or lengths) and 1 or 0)
  end
  return n * region.scores.attributes.heads
end

--- The number of calls in the shipped program of a planned entry.
function count.lines(planned, storage, row_block)
  local n = 0
  for _, segment in ipairs(planned.segments) do
    for _, section in ipairs(segment.sections) do
      for _, region in ipairs(section.regions) do
        if region.kind == "rows" then n = n + rows_lines(region, storage, row_block)
        elseif region.kind == "attention" then n = n + attention_lines(region)
        else n = n + 1 end
      end
    end
  end
  return n
end

return count
