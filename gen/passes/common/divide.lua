-- divide.lua: divides sizes into panels, token and row blocks, and computes leading dimensions.
-- The plan, tiles and the search of `tune` use these functions.
local types = require("data.types")
local words = require("common.words")

local divide = {}

--- Returns `outputs` divided into panels of `panel` and up to two tails. type: of the weights. A remainder of at most
--- one vector runs badly (most of a strip's registers stay idle), so the last full panel gives it 16 outputs.
function divide.panels(outputs, panel, type)
  local count, rest = outputs // panel, outputs % panel
  local tails = {}
  if rest > 0 and rest <= 16 and count > 0 and panel > 32 then
    count = count - 1
    tails = { panel - 16, rest + 16 }
  elseif rest > 0 then
    tails = { rest }
  end
  local widths = {}
  for _ = 1, count do widths[#widths + 1] = panel end
  for _, tail in ipairs(tails) do widths[#widths + 1] = tail end
  return { format = "panels", type = type, panel = panel, count = count, tails = tails, widths = widths }
end

--- Returns n rows in blocks of at most `most`, of sizes as equal as possible: { first, count }. each: a number of which
--- all sizes but the last are multiples, by default 1.
function divide.blocks(n, most, each)
  each = each or 1
  local units = (n + each - 1) // each
  local number = (units + most // each - 1) // (most // each)
  local list, first = {}, 0
  for i = 1, number do
    local count = math.min((units // number + (i <= units % number and 1 or 0)) * each, n - first)
    list[i] = { first = first, count = count }
    first = first + count
  end
  return list
end

--- Returns the leading dimension of a stored tensor: whole cache lines or blocks. Long rows get an odd number of these
--- (the parameter odd_lines), because the rows of a tile would else share a few sets of the first-level cache.
function divide.leading_dimension(width, p, type)
  local ld, line = types.whole_lines(width, type), types.step(type)
  if types.bytes(ld, type) >= types.bytes(p.odd_lines, "f32") and ld // line % 2 == 0 then ld = ld + line end
  return ld
end

--- Returns the number of outputs that the kernel of each panel makes, for adjacent panels in rows `ld` apart. The
--- last panel's are rounded up to `pad` if the rows have capacity; nobody reads the extra outputs.
function divide.padded(widths, ld, pad)
  local list, last = table.move(widths, 1, #widths, 1, {}), widths[#widths]
  local m = words.round_up(last, pad)
  if words.sum(widths) - last + m <= ld then list[#list] = m end
  return list
end

--- True if n equal shares keep `threads` workers busy nine tenths of the time.
function divide.keeps_busy(n, threads) return n / (threads * ((n + threads - 1) // threads)) >= 0.9 end

--- Returns rows [first, first + count) in blocks of at most `most`, the last perhaps shorter: { first, count }.
function divide.row_blocks(first, count, most)
  local list = {}
  for row = first, first + count - 1, most do
    list[#list + 1] = { first = row, count = math.min(most, first + count - row) }
  end
  return list
end

return divide
