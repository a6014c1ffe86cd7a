-- neighbours.lua: compares two arrays of embeddings as a search would: by nearest rows and by similarities.
local neighbours = {}

local MOST_ROWS = 200 -- rows that are compared; the work grows with their square
local MOST_NEAR = 10

-- Returns the first MOST_ROWS rows of an array [rows][width] as unit vectors, or nil if a row has no direction.
local function unit_rows(array)
  local width, rows = array.shape[2], {}
  for r = 0, math.min(array.shape[1], MOST_ROWS) - 1 do
    local row, sum = {}, 0.0
    for c = 1, width do
      local value = array.values[r * width + c]
      row[c], sum = value, sum + value * value
    end
    if not (sum > 0 and sum < math.huge) then return nil end
    local scale = 1 / math.sqrt(sum)
    for c = 1, width do row[c] = row[c] * scale end
    rows[r + 1] = row
  end
  return rows
end

-- Returns the cosines of all pairs of different rows, as a symmetric table.
local function cosines(rows)
  local result = {}
  for i = 1, #rows do result[i] = {} end
  for i = 1, #rows do
    local a = rows[i]
    for j = i + 1, #rows do
      local b, sum = rows[j], 0.0
      for c = 1, #a do sum = sum + a[c] * b[c] end
      result[i][j], result[j][i] = sum, sum
    end
  end
  return result
end

-- Returns the numbers of the rows that are nearest to row i, the nearest first. Among equals the first comes first.
local function nearest(similar, i, count)
  local order = {}
  for j = 1, #similar do if j ~= i then order[#order + 1] = j end end
  local row = similar[i]
  table.sort(order, function(a, b)
    if row[a] ~= row[b] then return row[a] > row[b] end
    return a < b
  end)
  return table.move(order, 1, count, 1, {})
end

-- Returns Pearson's correlation of the similarities of all pairs, or nil if all similarities of one side are equal.
local function correlation(x, y)
  local n, sx, sy = 0, 0.0, 0.0
  for i = 1, #x do
    for j = i + 1, #x do n, sx, sy = n + 1, sx + x[i][j], sy + y[i][j] end
  end
  local mx, my, xx, yy, xy = sx / n, sy / n, 0.0, 0.0, 0.0
  for i = 1, #x do
    for j = i + 1, #x do
      local p, q = x[i][j] - mx, y[i][j] - my
      xx, yy, xy = xx + p * p, yy + q * q, xy + p * q
    end
  end
  return xx > 0 and yy > 0 and xy / math.sqrt(xx * yy) or nil
end

--- Compares two arrays of embeddings, { shape = { rows, width }, values }. Returns nil if there are fewer than three
--- rows, or if a row is zero, NaN or infinite.
---
---   rows          the number of rows that are compared
---   nearest       the share of rows whose nearest other row is the same
---   near          the number of nearest rows that count as the top, at most ten
---   kept          the share of the top that stays
---   correlation   that of the similarities of all pairs
function neighbours.compare(a, b)
  local p = a.shape[1] >= 3 and unit_rows(a)
  local q = p and unit_rows(b)
  if not q then return nil end
  local x, y, near = cosines(p), cosines(q), math.min(MOST_NEAR, math.max(1, (#p - 1) // 2))
  local same, kept = 0, 0
  for i = 1, #p do
    local mine, theirs, has = nearest(x, i, near), nearest(y, i, near), {}
    for _, j in ipairs(theirs) do has[j] = true end
    for _, j in ipairs(mine) do if has[j] then kept = kept + 1 end end
    if mine[1] == theirs[1] then same = same + 1 end
  end
  return { rows = #p, nearest = same / #p, near = near, kept = kept / (#p * near), correlation = correlation(x, y) }
end

return neighbours
