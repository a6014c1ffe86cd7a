-- ahead.lua: decides what a product prefetches while it works: a later panel of weights, or its own.
local kernel_tiles = require("kernels.tiles")
local types = require("data.types")

--- Returns how a product prefetches weights while it works, or false: { from, each: bytes after A where the first
--- strip begins to prefetch, and from strip to strip; every, lines: `lines` cache lines every `every` inputs }. Its
--- strips together prefetch a panel, the `fetch`-th after this one. A single strip reads the weights once, and
--- prefetches `stream` bytes ahead of itself. Tiles prefetch before each product of tiles.
--- shape: lda, k, types; strips: of registers.strips; lanes: floats of a vector
return function(shape, strips, parameters, lanes)
  local calls, groups, widest = 0, 0, 0
  for _, group in ipairs(strips.groups) do groups, widest = groups + group.count, math.max(widest, group.size) end
  for _, rows in ipairs(strips.strips) do calls = calls + rows.count * groups end
  local type = shape.types.a
  local inputs = types.group(type) -- inputs of a step
  local steps = (shape.k + inputs - 1) // inputs
  local row, panel = types.bytes(shape.lda * inputs, type), types.panel_bytes(shape.k, shape.lda, type)
  local ahead = calls > 1 and parameters.fetch * panel or parameters.stream
  if ahead == 0 then return false end
  local share = (panel // types.LINE + calls - 1) // calls
  if strips.step then
    local each = (strips.strips[1].size > kernel_tiles.SIDE and 2 or 1) * widest
    local every = math.max(1, strips.step // each) -- products of a step are made one after the other
    local products = math.max(1, shape.k // strips.step) * each
    return { from = ahead, each = share * types.LINE, every = every, lines = (share + products - 1) // products }
  end
  local wide = calls == 1 and row or types.bytes(widest * lanes * inputs, type)
  local lines = math.max(1, wide // types.LINE)
  local every = math.max(1, math.min(steps, steps * lines // share))
  local times = (math.max(1, shape.k // inputs) + every - 1) // every -- a last step that is not whole prefetches none
  return { from = ahead, each = share * types.LINE, every = every * inputs, lines = (share + times - 1) // times }
end
