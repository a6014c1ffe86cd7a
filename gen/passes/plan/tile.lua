-- tile.lua: the kernel calls of one tile of a product, in order: which rows, which inputs,
-- and which lines of the weights behind them a call fetches ahead of their use.
--
-- The tile's loops, the outermost first: spans of inputs (k_span), strips of rows (call_rows), K blocks. A span of the
-- panel stays in the second-level cache while all strips pass over it; a strip and a K block of the panel stay in the
-- first-level cache. Weights that come from memory are late wherever a call needs them at once; so each call fetches
-- its share of the span behind: so few lines that the core's fill buffers (10 to 16) hold them while it works.
local divide = require("passes.plan.divide")

local tile = {}

--- The K blocks of each span of inputs, in order: { first, blocks, size } for each call on a strip; inputs of all.
function tile.spans(k, parameters)
  local blocks = k.count + (k.tail > 0 and 1 or 0)
  local spans = {}
  for i, part in ipairs(divide.blocks(blocks, math.max(1, parameters.k_span // k.size))) do
    local last = part.first + part.count
    local whole = math.min(last, k.count)
    local span = { first = part.first * k.size }
    if parameters.k_order == "reduce" and whole > part.first then
      span[1] = { first = span.first, size = k.size, blocks = whole - part.first }
    else
      for block = part.first, whole - 1 do
        span[#span + 1] = { first = block * k.size, size = k.size, blocks = 1 }
      end
    end
    if last > k.count then span[#span + 1] = { first = k.count * k.size, size = k.tail, blocks = 1 } end
    span.inputs = (whole - part.first) * k.size + (last > k.count and k.tail or 0)
    spans[i] = span
  end
  return spans
end

--- The calls of a tile of so many rows and of a panel with leading dimension `ld` (floats, whole cache lines): { row,
--- rows, first, size, blocks, beta, fetch }: rows from `row` on, inputs from `first` on in `blocks` blocks of `size`;
--- beta is 0 where a call begins the sum; fetch = { from, lines }: floats behind the panel's first, lines; or nil.
--- k: of divide.k_blocks; parameters: k_order, call_rows, k_span, fetch.
function tile.calls(rows, ld, k, parameters)
  local list, strips = {}, divide.blocks(rows, parameters.call_rows)
  local spans = tile.spans(k, parameters)
  local ahead = parameters.fetch * spans[1].inputs * ld
  for _, span in ipairs(spans) do
    local number, done, calls = 0, 0, #strips * #span
    local lines = span.inputs * ld // 16
    for _, strip in ipairs(strips) do
      for _, block in ipairs(span) do
        local call = { row = strip.first, rows = strip.count, first = block.first, size = block.size,
          blocks = block.blocks, beta = block.first == 0 and 0 or 1 }
        number = number + 1
        local upto = lines * number // calls
        if ahead > 0 and upto > done then
          call.fetch = { from = span.first * ld + ahead + 16 * done, lines = upto - done }
          done = upto
        end
        list[#list + 1] = call
      end
    end
  end
  return list
end

return tile
