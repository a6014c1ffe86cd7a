-- tile.lua: lists the kernel calls of one tile of a product, in order, and the weights that each prefetches.
--
-- The tile's loops, the outermost first, are K panels (k_panel inputs), strips of rows (call_rows) and K blocks. A K
-- panel stays in the second-level cache while all strips pass over it; a strip and a K block of the panel stay in the
-- first-level cache. A call that needs weights from memory at once has to wait for them. So each call prefetches its
-- share of a later K panel: few enough lines for the core's fill buffers (10 to 16) to hold them while it works.
local divide = require("passes.common.divide")
local kernel_tiles = require("kernels.tiles")
local types = require("data.types")

local tile = {}

--- Returns the K blocks of each K panel, in order: { first, blocks, size } for each call on a strip; inputs of all.
function tile.k_panels(k, parameters)
  local blocks = k.count + (k.tail > 0 and 1 or 0)
  local k_panels = {}
  for i, share in ipairs(divide.blocks(blocks, math.max(1, parameters.k_panel // k.size))) do
    local last = share.first + share.count
    local whole = math.min(last, k.count)
    local k_panel = { first = share.first * k.size }
    if parameters.k_order == "reduce" and whole > share.first then
      k_panel[1] = { first = k_panel.first, size = k.size, blocks = whole - share.first }
    else
      for block = share.first, whole - 1 do
        k_panel[#k_panel + 1] = { first = block * k.size, size = k.size, blocks = 1 }
      end
    end
    if last > k.count then k_panel[#k_panel + 1] = { first = k.count * k.size, size = k.tail, blocks = 1 } end
    k_panel.inputs = (whole - share.first) * k.size + (last > k.count and k.tail or 0)
    k_panels[i] = k_panel
  end
  return k_panels
end

--- Returns the calls of a tile of `rows` rows and of a panel with leading dimension `ld` (elements, whole cache
--- lines): { row, rows, first, size, blocks, beta, fetch }: rows from `row` on, inputs from `first` on in `blocks`
--- blocks of `size`; beta is 0 if a call begins the sum; fetch = { from, lines }: bytes after the panel's first,
--- cache lines; or nil.
--- k: of divide.k_blocks; parameters: k_order, call_rows, k_panel, fetch; type: of the panel's elements
function tile.calls(rows, ld, k, parameters, type)
  local list, strips = {}, divide.blocks(rows, parameters.call_rows)
  local k_panels = tile.k_panels(k, parameters)
  local ahead = types.bytes(parameters.fetch * k_panels[1].inputs * ld, type)
  for _, k_panel in ipairs(k_panels) do
    local number, done, calls = 0, 0, #strips * #k_panel
    local lines = types.bytes(k_panel.inputs * ld, type) // types.LINE
    for _, strip in ipairs(strips) do
      for _, block in ipairs(k_panel) do
        local call = { row = strip.first, rows = strip.count, first = block.first, size = block.size,
          blocks = block.blocks, beta = block.first == 0 and 0 or 1 }
        number = number + 1
        local upto = lines * number // calls
        if ahead > 0 and upto > done then
          call.fetch = { from = types.bytes(k_panel.first * ld, type) + ahead + types.LINE * done, lines = upto - done }
          done = upto
        end
        list[#list + 1] = call
      end
    end
  end
  return list
end

--- Returns how a kernel in C prefetches weights while it works, or false: { from, each: bytes after A where the first
--- strip begins to prefetch, and from strip to strip; every, lines: `lines` cache lines every `every` inputs }. Its
--- strips together prefetch a panel, the `fetch`-th after this one. A single strip reads the weights once, and
--- prefetches `stream` bytes ahead of itself. Tiles prefetch before each product of tiles.
--- shape: lda, k, types; strips: of registers.strips; lanes: floats of a vector
function tile.ahead(shape, strips, parameters, lanes)
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

return tile
