-- ahead.lua: decides what a product prefetches while it works: a later panel of weights, or its own; and later keys or
-- values of a sequence's state.
-- Tiles multiply so fast that one stretch of weights after the other comes too slowly. Their strips read a panel at
-- several places at a time: twice the bytes a second of one place, measured on a Xeon with AMX.
local types = require("data.types")

local ahead = {}

-- The most places at which tiles prefetch in a step.
local PLACES = 16

-- Bytes of a page, at whose border the hardware's own prefetching ends.
local PAGE = 4096

-- Bytes of keys or values from those in use to those that are prefetched.
local NEAR = 4096

-- Returns how the strips of a product in tiles prefetch, as below.
local function in_tiles(shape, strips, calls, from)
  local panel = types.panel_bytes(shape.k, shape.lda, shape.types.a) // types.LINE
  local steps = math.max(1, shape.k // strips.step)
  local asked = (panel + calls * steps - 1) // (calls * steps)
  local places = math.min(asked, PLACES)
  local run, apart = (asked + places - 1) // places, (panel + places - 1) // places
  return { from = from, each = steps * run * types.LINE, every = strips.step, lines = places, run = run,
    apart = apart * types.LINE }
end

--- Returns how a product of one query prefetches keys or values, which are read once: { near: groups of inputs from
--- those in use to those prefetched }. product: { m, types }.
function ahead.near(product)
  local type = product.types.a
  return { near = math.max(1, NEAR // types.bytes(product.m * types.group(type), type)) }
end

--- Returns how a product prefetches weights while it works, or false: { from, each: bytes after A where the first
--- strip begins to prefetch, and from strip to strip; every, lines: `lines` cache lines every `every` inputs; far }.
--- Its strips together prefetch a panel, the `fetch`-th after this one. A single strip reads the weights once, and
--- prefetches `stream` bytes ahead of itself. If these are less than a page, strips of open rows prefetch as far again
--- into the second-level cache (far). In tiles, one strip prefetches as several do. A step prefetches `run` lines at
--- each of `lines` places that are `apart` bytes apart, and the next step those after them.
--- shape: lda, k, types; strips: of registers.strips; lanes: floats of a vector
function ahead.of(shape, strips, parameters, lanes)
  local calls, groups, widest = 0, 0, 0
  for _, group in ipairs(strips.groups) do groups, widest = groups + group.count, math.max(widest, group.size) end
  for _, rows in ipairs(strips.strips) do calls = calls + rows.count * groups end
  local type = shape.types.a
  local inputs = types.group(type) -- inputs of a step
  local steps = (shape.k + inputs - 1) // inputs
  local row, panel = types.bytes(shape.lda * inputs, type), types.panel_bytes(shape.k, shape.lda, type)
  local from = (calls > 1 or strips.step) and parameters.fetch * panel or parameters.stream
  if from == 0 then return false end
  if strips.step then return in_tiles(shape, strips, calls, from) end
  local share = (panel // types.LINE + calls - 1) // calls
  local wide = calls == 1 and row or types.bytes(widest * lanes * inputs, type)
  local lines = math.max(1, wide // types.LINE)
  local every = math.max(1, math.min(steps, steps * lines // share))
  local times = (math.max(1, shape.k // inputs) + every - 1) // every -- a last step that is not whole prefetches none
  return { from = from, each = share * types.LINE, every = every * inputs, lines = (share + times - 1) // times,
    far = parameters.stream < PAGE and parameters.stream or nil }
end

return ahead
