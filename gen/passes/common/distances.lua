-- distances.lua: finds the rows of a table of relative positions that blocks of queries and keys need.
-- Row i + offset - j + max_position - 1 of the table is for query i and key j. The table is packed in panels.
local distances = {}

--- Returns the rows of an add_relative's table for a block of queries and a block of keys, in pieces that are each
--- within one panel of its layout: { row, count, before: the rows of the pieces before it }.
function distances.pieces(op, layout, block, key_block)
  local most = (op.operands.table.shape[1] - 1) // 2
  local row = block.first + (op.attributes.offset or 0) - (key_block.first + key_block.count - 1) + most
  local stop = row + block.count + key_block.count - 1
  local list, panel, before = {}, 0, 0
  for _, width in ipairs(layout.widths) do
    panel = panel + width
    local count = math.min(panel, stop) - row
    if count > 0 then
      list[#list + 1] = { row = row, count = count, before = before }
      row, before = row + count, before + count
    end
  end
  assert(row == stop, op.result.name)
  return list
end

return distances
