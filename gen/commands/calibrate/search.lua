-- search.lua: searches the factors of a group of products, with the least error that rounding to int8 should make.
-- It compares the factors of several strengths by the expected error of the products' results.
--
-- SmoothQuant (Xiao et al. 2022) has factors of strength a: s[j] = max |x[j]|^a / max |w[j]|^(1 - a). Here s[j] is the
-- nearest power of two, relative to the median of all, because rows and outputs have their own scales. A number that
-- is rounded in steps of d has a mean square error of d^2 / 12. Rows x / s have the step dx = max |x / s| / 127,
-- outputs w s the step dw = max |w s| / 127, and so
--   E (error of x . W^T)^2 = sum over j of s[j]^2 |w[j]|^2 dx^2 / 12 + (sum over outputs of dw^2) x[j]^2 / s[j]^2 / 12
local search = {}

search.STRENGTHS = { 0.3, 0.4, 0.5, 0.6, 0.7, 0.8 }

local MOST_POWER = 15
local LARGEST = 127

-- Returns the powers of a strength. They are 0 for channels that are 0 everywhere, and for all channels if a is nil.
local function powers_of(largest_x, largest_w, a)
  local powers, sorted = {}, {}
  for j = 1, #largest_x do
    powers[j] = 0
    if a and largest_x[j] > 0 and largest_w[j] > 0 then
      powers[j] = math.log(largest_x[j], 2) * a - math.log(largest_w[j], 2) * (1 - a)
      sorted[#sorted + 1] = powers[j]
    end
  end
  if #sorted == 0 then return powers end
  table.sort(sorted)
  local median = sorted[(#sorted + 1) // 2]
  for j = 1, #powers do
    if largest_x[j] > 0 and largest_w[j] > 0 then
      powers[j] = math.max(-MOST_POWER, math.min(MOST_POWER, math.floor(powers[j] - median + 0.5)))
    end
  end
  return powers
end

-- Returns the mean over rows of (max |x / s|)^2.
local function row_steps(rows, inverse)
  local sum = 0
  for _, row in ipairs(rows) do
    local largest = 0
    for j = 1, #row do
      local size = row[j] * inverse[j]
      if size < 0 then size = -size end
      if size > largest then largest = size end
    end
    sum = sum + largest * largest
  end
  return sum / #rows
end

-- Returns the sum over outputs of (max |w s|)^2. weights: functions that visit blocks (calibrate/weights.lua).
local function output_steps(weights, factors)
  local sum = 0
  for _, visit in ipairs(weights) do
    visit(function(inputs)
      local largest = {}
      for o = 1, #inputs[1] do largest[o] = 0 end
      for j, outputs in ipairs(inputs) do
        local s = factors[j]
        for o = 1, #outputs do
          local size = outputs[o] * s
          if size < 0 then size = -size end
          if size > largest[o] then largest[o] = size end
        end
      end
      for o = 1, #largest do sum = sum + largest[o] * largest[o] end
    end)
  end
  return sum
end

-- Returns the largest magnitude and the sum of squares of each input channel.
local function of_channels(weights, width)
  local largest, squares = {}, {}
  for j = 1, width do largest[j], squares[j] = 0, 0.0 end
  for _, visit in ipairs(weights) do
    visit(function(inputs)
      for j, outputs in ipairs(inputs) do
        local most, sum = largest[j], squares[j]
        for o = 1, #outputs do
          local w = outputs[o]
          sum = sum + w * w
          if w < 0 then w = -w end
          if w > most then most = w end
        end
        largest[j], squares[j] = most, sum
      end
    end)
  end
  return largest, squares
end

--- Returns the best factors: { powers, strength (nil: none), error = the expected error divided by that without factors
--- }. activations: { largest and squares = the largest magnitude and the mean square of each channel, rows = some rows
--- }; weights: one function per product.
function search.best(activations, weights)
  local width = #activations.largest
  local largest_w, squares_w = of_channels(weights, width)
  local function expected(powers)
    local factors, inverse, of_rows, of_weights = {}, {}, 0.0, 0.0
    for j = 1, width do
      factors[j], inverse[j] = 2.0 ^ powers[j], 2.0 ^ -powers[j]
      of_rows = of_rows + factors[j] ^ 2 * squares_w[j]
      of_weights = of_weights + inverse[j] ^ 2 * activations.squares[j]
    end
    return (of_rows * row_steps(activations.rows, inverse) + of_weights * output_steps(weights, factors))
      / (12 * LARGEST * LARGEST)
  end
  local none = powers_of(activations.largest, largest_w)
  local without = expected(none)
  local best = { powers = none, error = 1 }
  for _, a in ipairs(search.STRENGTHS) do
    local powers = powers_of(activations.largest, largest_w, a)
    local share = without > 0 and math.sqrt(expected(powers) / without) or 1
    if share < best.error then best = { powers = powers, strength = a, error = share } end
  end
  return best
end

return search
