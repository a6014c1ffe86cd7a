-- kernel_text.lua: writes how a product is made as text, for the dumps of plan and kernels, and for comments in C.
local words = require("common.words")

local kernel_text = {}

local function shares(list) return words.shares(list, ", ") end

-- Returns the steps and K blocks of strips in tiles as text.
local function steps(strips)
  return strips.step and (", %d inputs a step, %d a K block%s"):format(strips.step, strips.block,
    strips.once and ", rows read once" or "") or ""
end

--- Returns strips (plan/registers.lua) as text.
function kernel_text.strips(strips)
  if strips.is_open then
    local tall = strips.tall
    return ("strips of at most %d rows by %s vectors, %s%s%s%s%s"):format(strips.strips[1].size, shares(strips.groups),
      strips.form, strips.half and ", half of the last vector" or "", steps(strips),
      tall and (tall.upto and (", of %d to %d rows by %s vectors"):format(tall.above + 1, tall.upto,
        shares(tall.groups)) or (", from %d rows on %s"):format(tall.above + 1, kernel_text.strips(tall))) or "",
      strips.many and (", from %d rows on %s"):format(strips.many_rows, strips.many) or "")
  end
  return ("strips of %s rows by %s vectors, %s%s%s%s"):format(shares(strips.strips), shares(strips.groups), strips.form,
    strips.rows_held and ", rows in registers" or "", strips.half and ", half of the last vector" or "",
    steps(strips))
end

--- Returns what a product prefetches (plan/ahead.lua) as text.
function kernel_text.ahead(fetch)
  if fetch.near then return ("each prefetches A %d steps ahead"):format(fetch.near) end
  if fetch.by_strips then
    local parts = words.map(fetch.by_strips, function(each)
      return each and (each.apart and ("%d at %d places %d apart"):format(each.from, each.lines, each.apart)
        or ("%d +%d every %d"):format(each.from, each.each, each.every)) or "none"
    end)
    if fetch.few then
      table.insert(parts, 1, ("up to %d rows half of them, %d every %d"):format(fetch.few_rows, fetch.few.from,
        fetch.few.every))
    end
    local tall = fetch.tall and fetch.tall[#fetch.tall]
    if tall then
      table.insert(parts, 1, ("tall ones %d +%d every %d"):format(tall.from, tall.each, tall.every))
    end
    return ("each%s prefetches %d lines, by the number of strips: %s"):format(
      fetch.least and fetch.least > 1 and (" of %d rows or more"):format(fetch.least) or "", fetch.lines,
      table.concat(parts, ", "))
  end
  if fetch.apart then
    return ("each step prefetches %d at %d places %d bytes apart, %d bytes ahead"):format(fetch.run, fetch.lines,
      fetch.apart, fetch.from)
  end
  return ("each prefetches %d bytes, %s%s every %d inputs, %d bytes ahead%s"):format(fetch.each,
    fetch.nth > 1 and "half of " or "", words.count(fetch.lines, "line"), fetch.every, fetch.from,
    fetch.far and (fetch.far < 0 and ", into the first-level cache" or (", and %d further"):format(fetch.far)) or "")
end

-- Places of the sums of a product that is fused with the map after it.
local places = { stack = "on the stack", place = "in place" }

--- Returns a product of plan/products.lua as text, or a kernel with its strips.
function kernel_text.of(product)
  local sizes = {}
  for i, name in ipairs { "n", "m", "k" } do
    local is_open = (" " .. (product.open or "") .. " "):find(" " .. name .. " ", 1, true)
    sizes[i] = (is_open and "up to " or "") .. product[name]
  end
  return ("%s%s rows x %s outputs of %s inputs: %s%s"):format(product.what and product.what .. " " or "", sizes[1],
    sizes[2], sizes[3], kernel_text.strips(product.strips),
    product.fetch and "; " .. kernel_text.ahead(product.fetch) or "")
    .. (product.by_libxsmm and "; by libxsmm" or "")
    .. (product.fused_sums and "; with its map, sums " .. places[product.fused_sums] or "")
end

return kernel_text
