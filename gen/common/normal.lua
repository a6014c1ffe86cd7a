-- normal.lua: computes quantiles of the standard normal distribution.
local normal = {}

local function density(x) return math.exp(-x * x / 2) / math.sqrt(2 * math.pi) end

--- Returns the probability of a number below x, by the series x + x^3 / 3 + x^5 / (3 5) + ..., which has too many terms
--- beyond 30.
function normal.below(x)
  if math.abs(x) > 30 then return x > 0 and 1.0 or 0.0 end
  local sum, term = 0.0, x
  for odd = 3, 3000, 2 do
    sum = sum + term
    term = term * x * x / odd
  end
  return 0.5 + density(x) * sum
end

--- Returns the number below which numbers are with probability p, from 1e-6 to 1 - 1e-6. Newton's steps from 0 never go
--- too far, as the density falls on both sides.
function normal.quantile(p)
  local x = 0.0
  for _ = 1, 100 do x = x - (normal.below(x) - p) / density(x) end
  return x
end

return normal
