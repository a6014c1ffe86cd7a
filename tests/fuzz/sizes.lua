-- sizes.lua: random numbers as the draws want them: sizes lie where tiles and vectors end,
-- around multiples of 16, primes, ones.
local sizes = {}

local random = math.random

--- The norm of a narrow row whose values are nearly equal multiplies any rounding, and no two computations of such a
--- model agree: below this width eps is large.
sizes.NARROW = 8

function sizes.pick(list) return list[random(#list)] end

function sizes.chance(percent) return random(100) <= percent end

local primes = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 53, 61, 67, 83, 97, 101, 127, 131, 191, 193, 251, 257 }

--- An integer from 1 to `most`: a small one, a prime, one around a multiple of 16, or any.
function sizes.size(most)
  local way = random(5)
  local n
  if way == 1 then n = random(8)
  elseif way == 2 then n = sizes.pick(primes)
  elseif way <= 4 then n = 16 * random(math.max(1, most // 16)) + random(-1, 1)
  else n = random(most) end
  return math.max(1, math.min(most, n))
end

return sizes
