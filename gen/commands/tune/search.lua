-- search.lua: chooses the tile parameters that `tune` tries next, for all products at once. Each candidate moves every
-- product one place along its own list (candidates.lua). Rounds change kernels in C, then libxsmm's, then token
-- blocks, each from the best choice so far. This file times nothing.
local candidates = require("passes.plan.candidates")
local divide = require("passes.common.divide")
local words = require("common.words")

local search = {}

search.rounds = { "in_c", "libxsmm", "token_blocks", "in_c", "libxsmm" }

search.signature = candidates.signature

-- Returns the distance of two sizes. A factor of two is the same distance up and down.
local function apart(x, y) return math.abs(math.log(x / y)) end

-- The rounds. alike: the parameters that a round varies. Among candidates with the same values of these, it tries the
-- one whose other sizes are nearest to the best choice's. fits: true for candidates that a round may try.
local FORM = { "kernels", "stream", "panel", "call_rows", "fetch" }
local moves = {
  in_c = { alike = FORM, fits = function(_, _, choice) return choice.kernels == "c" end },
  -- A panel of one vector leaves half of the machine's multipliers idle.
  libxsmm = { alike = FORM, fits = function(product, _, choice)
    return choice.kernels == "libxsmm" and choice.panel >= product.least_panel
  end },
  -- The token block is chosen by its region's main product.
  token_blocks = { alike = { "token_block" }, fits = function(product, best, choice)
    return product.main == product.key and words.all(FORM, function(name) return best[name] == choice[name] end)
  end },
}

-- Returns all candidates of a product, except the candidates of a provider that may not be chosen.
local function all_of(product, kernels)
  local list = kernels ~= "libxsmm" and candidates.of(product, "c") or {}
  local of_libxsmm = kernels ~= "c" and candidates.of(product, "libxsmm") or {}
  return words.append(list, of_libxsmm)
end

-- Returns the candidates of a round in order. Among those with the same values of the parameters that the round varies,
-- only the nearest to the best choice is in the list.
local function nearest(round, product, best, kernels)
  local move, order, of_key = moves[round], {}, {}
  for _, choice in ipairs(all_of(product, kernels)) do
    if move.fits(product, best, choice) then
      local parts = words.map(move.alike, function(name) return tostring(choice[name]) end)
      local key = table.concat(parts, " ")
      if not of_key[key] then order[#order + 1] = key end
      if not of_key[key] or apart(best.token_block, choice.token_block)
        < apart(best.token_block, of_key[key].token_block) then of_key[key] = choice end
    end
  end
  return words.map(order, function(key) return of_key[key] end)
end

--- Returns the choices that a round will try for a product, from the best so far, without those that make the same
--- calls as an earlier one. `fixed`: parameters that may not change; `seen`: signatures of earlier choices.
function search.moves(round, product, best, fixed, seen)
  local list, found = {}, {}
  for _, choice in ipairs(nearest(round, product, best, fixed.kernels)) do
    local each = {}
    for name, value in pairs(choice) do each[name] = fixed[name] or value end
    if round ~= "token_blocks" then each.token_block = best.token_block end -- the token block belongs to its region
    local signature = search.signature(product, each)
    if not seen[signature] and not found[signature] then
      found[signature] = true
      list[#list + 1] = each
    end
  end
  return list
end

--- Returns the number of candidates of all rounds, each counted once from these choices. A repeated round tries fewer.
--- Products that take hardly any time of a call (is_small) vary with the others. Token blocks are compared with the
--- regions of the choices so far, which are timed as one more candidate.
function search.count(order, choices, seen)
  local sum, counted = 0, {}
  for _, name in ipairs(search.rounds) do
    local most = 0
    for _, product in ipairs(counted[name] and {} or order) do
      local list = search.moves(name, product, choices[product.key], product.fixed, seen[product.key])
      if not product.is_small then most = math.max(most, #list) end
    end
    counted[name] = true
    sum = sum + most + (name == "token_blocks" and most > 0 and 1 or 0)
  end
  return sum
end

function search.text(product, choice)
  local stream = candidates.stream(product, choice)
  return ("%s: %d, %d%s%s"):format(choice.kernels == "c" and "C" or choice.kernels, choice.panel,
    divide.blocks(product.rows, choice.token_block)[1].count, choice.fetch > 0 and ", ahead" or "",
    stream > 0 and (", stream %d"):format(stream) or "")
end

--- Returns the GFLOP/s of a product with `flops` operations in the least of some times in ms, or 0 without times.
function search.rate(flops, times)
  local least = math.min(math.huge, table.unpack(times))
  return #times > 0 and least > 0 and 1e-6 * flops / least or 0
end

--- Returns the median and spread of a list, or nil if it is empty. The spread is the deviation of a normal distribution
--- with the same quartiles.
function search.spread(list)
  if #list == 0 then return nil end
  local sorted = words.append({}, list)
  table.sort(sorted)
  local function at(fraction)
    local position = 1 + fraction * (#sorted - 1)
    local low = sorted[math.floor(position)]
    return low + (sorted[math.ceil(position)] - low) * (position - math.floor(position))
  end
  return at(0.5), (at(0.75) - at(0.25)) / 1.349
end

return search
