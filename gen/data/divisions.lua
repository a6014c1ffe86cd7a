-- divisions.lua: lists what ranks divide: which products, by the end of their paths, and along which axis.
-- A division is { 0, ..., n }: rank r has the elements from number r + 1 of the list to the one before number r + 2.
local divisions = {}

--- The products whose outputs ranks divide, by the end of the path: heads (of queries, keys and values: those of one
--- rank go together), the inner width of a feed-forward, or rows of the vocabulary.
divisions.outputs = {
  { ends = "%.attn%.[qkv]$", what = "heads" },
  { ends = "%.cross%.[qkv]$", what = "heads" },
  { ends = "%.ff%.up$", what = "inner" },
  { ends = "%.ff%.gate$", what = "inner" },
  { ends = "%.vocabulary$", what = "vocabulary" },
}

--- Returns what divides the outputs of the product with this path, or nil.
function divisions.of_product(path)
  for _, each in ipairs(divisions.outputs) do
    if path:find(each.ends) then return each.what end
  end
  return nil
end

--- Returns the numbers that stay together where n are divided among ranks: whole lines of a cache, or fewer if that
--- would make the parts unequal by more than an eighth.
function divisions.unit(n, ranks)
  local unit = 32
  while unit > 1 and n // ranks < 8 * unit do unit = unit // 2 end
  return unit
end

--- Divides n elements among ranks as evenly as whole units allow. The last unit may be smaller.
function divisions.even(n, ranks, unit)
  local first = { 0 }
  for rank = 1, ranks - 1 do first[rank + 1] = (2 * rank * n + ranks * unit) // (2 * ranks * unit) * unit end
  first[ranks + 1] = n
  return first
end

--- Returns a division of `units` with each of its elements `times` as wide.
function divisions.times(first, times)
  local list = {}
  for i, each in ipairs(first) do list[i] = each * times end
  return list
end

return divisions
