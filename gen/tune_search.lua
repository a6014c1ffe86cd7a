-- tune_search.lua: which tile parameters to try next, for all products at once: each
-- candidate moves every product one step along a list of its own. Rounds change tiles, strips,
-- K blocks, then token blocks, each from the best so far. It times nothing itself.
local plan = require("plan")

local search = {}

local LONGEST = 8192 -- a K block of this is all of K
local PANELS, K_BLOCKS = { 64, 32, 48, 96, 128, 16 }, { 64, 128, 256, 32, 48, 24, LONGEST }
local TOKEN_BLOCKS = { 64, 128, 256, 96, 192, 32 }
-- Rows that the registers hold of a panel, and inputs of a span with the spans ahead that are fetched.
local STRIPS, SPANS = { { 48, 9 }, { 32, 14 }, { 64, 6 }, { 32, 12 }, { 32, 6 } }, { { 768, 1 }, { 192, 3 }, { 96, 4 } }
local WHOLE = { call_rows = 4096, k_span = LONGEST, fetch = 0 }

search.rounds = { "tiles", "strips", "k_blocks", "token_blocks", "tiles", "strips", "k_blocks" }

--- What parameters come to for a product; two that come to the same are one.
function search.signature(product, choice)
  local panels = plan.panels(product.outputs, choice.panel)
  local k = plan.k_blocks(product.inputs, choice.k_block)
  local order = (k.count == 1 and k.tail == 0) and "whole" or choice.k_order
  local blocks = plan.blocks(product.rows, choice.token_block)
  local strip = math.min(choice.call_rows, blocks[1].count)
  local span = (strip == blocks[1].count and choice.fetch == 0) and "" or math.max(1, choice.k_span // k.size)
  return ("%s; %d %d %s; %d %d; %d %s %d"):format(table.concat(panels.widths, " "), k.size, k.tail, order, #blocks,
    blocks[1].count, strip, span, choice.fetch)
end

local function changed(choice, more)
  local copy = {}
  for name, value in pairs(choice) do copy[name] = value end
  for name, value in pairs(more) do copy[name] = value end
  return copy
end

local moves = {}

-- Tiles of whole calls. A panel of one vector keeps half of the machine's units waiting.
function moves.tiles(product, choice, list)
  for _, panel in ipairs(PANELS) do
    for _, order in ipairs { "outer", "reduce" } do
      if panel >= product.least_panel then
        list[#list + 1] = changed(changed(choice, WHOLE), { panel = panel, k_order = order })
      end
    end
  end
end

-- Tiles of strips, which fetch weights ahead.
function moves.strips(product, choice, list)
  for _, strip in ipairs(STRIPS) do
    for _, span in ipairs(SPANS) do
      if strip[1] >= product.least_panel then
        list[#list + 1] = changed(choice, { panel = strip[1], call_rows = strip[2], k_order = "outer", k_span = span[1],
          fetch = span[2] })
      end
    end
  end
end

function moves.k_blocks(_, choice, list)
  for _, size in ipairs(K_BLOCKS) do list[#list + 1] = changed(choice, { k_block = size }) end
end

-- The token block is its region's leader's to choose.
function moves.token_blocks(product, choice, list)
  if product.leader ~= product.key then return end
  for _, size in ipairs(TOKEN_BLOCKS) do
    list[#list + 1] = changed(choice, { token_block = size })
  end
end

--- The choices that a round will try for a product, from the best so far: those that come to something new. `fixed`:
--- parameters that the description decides; `seen`: signatures.
function search.moves(round, product, choice, fixed, seen)
  local all, list, found = {}, {}, {}
  moves[round](product, choice, all)
  for _, each in ipairs(all) do
    for name, value in pairs(fixed) do if each[name] then each[name] = value end end
    local signature = search.signature(product, each)
    if not seen[signature] and not found[signature] then
      found[signature] = true
      list[#list + 1] = each
    end
  end
  return list
end

--- A choice as its product's line of a table says it.
function search.text(product, choice)
  local k = plan.k_blocks(product.inputs, choice.k_block)
  local order = (k.count == 1 and k.tail == 0) and "" or " " .. choice.k_order
  local rows = plan.blocks(product.rows, choice.token_block)[1].count
  local strip = choice.call_rows < rows and (" by %d"):format(choice.call_rows) or ""
  local fetch = choice.fetch > 0 and (", %d ahead"):format(choice.fetch * choice.k_span) or ""
  return ("%d x %d%s, %d%s%s"):format(choice.panel, k.size, order, rows, strip, fetch)
end

--- Median and spread (deviation of a normal distribution with the same quartiles) of a list; nil of none.
function search.spread(list)
  if #list == 0 then return nil end
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  local function at(fraction)
    local place = 1 + fraction * (#sorted - 1)
    local low = sorted[math.floor(place)]
    return low + (sorted[math.ceil(place)] - low) * (place - math.floor(place))
  end
  return at(0.5), (at(0.75) - at(0.25)) / 1.349
end

return search
