-- divisions.lua: lists what ranks divide: which products, by the end of their paths, and along which axis.
-- A division is { 0, ..., n }: rank r has the elements from number r + 1 of the list to the one before number r + 2.
-- With `copies`, that many ranks in a row have the same part, which is in the list once.
local divisions = {}

--- The products whose outputs ranks divide, by the end of the path: heads (of queries, keys and values: the heads of
--- one rank go together), the inner width of a feed-forward or of each expert, or rows of the vocabulary.
divisions.outputs = {
  { ends = "%.attn%.[qkv]$", what = "heads" },
  { ends = "%.cross%.[qkv]$", what = "heads" },
  { ends = "%.ff%.up$", what = "inner" },
  { ends = "%.ff%.gate$", what = "inner" },
  { ends = "%.ff%.shared%.up$", what = "inner" },
  { ends = "%.ff%.shared%.gate$", what = "inner" },
  { ends = "%.ff%.experts%.up$", what = "inner" },
  { ends = "%.ff%.experts%.gate$", what = "inner" },
  { ends = "%.vocabulary$", what = "vocabulary" },
}

--- Operations that every stage repeats which reads their result, so that stages pass on the tensor before them.
divisions.conversions = { round = true, row_scale = true, quantise = true, quantise_blocks = true,
  quantise_blocks_finely = true }

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

--- Returns a division whose every number is that of `of(number)`.
local function map(first, of)
  local list = { copies = first.copies }
  for i, each in ipairs(first) do list[i] = of(each) end
  return list
end

--- Returns a division of `units` with each of its elements `times` as wide.
function divisions.times(first, times) return map(first, function(each) return each * times end) end

function divisions.in_heads(first, width) return map(first, function(each) return each // width end) end

--- Divides heads of queries among ranks, and heads of keys, each of which is read by equally many heads of queries that
--- follow each other. Ranks have whole heads of keys; more ranks than these, in a multiple, have copies of them, and
--- some of the queries' heads. Returns both divisions, or nil if that is not possible.
function divisions.heads(heads, kv_heads, ranks)
  local readers = heads // kv_heads
  if ranks <= kv_heads then
    local keys = divisions.even(kv_heads, ranks, 1)
    return divisions.times(keys, readers), keys
  end
  local copies = ranks // kv_heads
  if ranks % kv_heads ~= 0 or copies > readers then return nil end
  local queries, keys = { 0 }, { 0, copies = copies }
  for head = 1, kv_heads do
    local part = divisions.even(readers, copies, 1)
    for i = 2, #part do queries[#queries + 1] = (head - 1) * readers + part[i] end
    keys[head + 1] = head
  end
  return queries, keys
end

--- Returns the number of elements of a rank, and its first.
function divisions.range(first, rank)
  local i = rank // (first.copies or 1) + 1
  return first[i + 1] - first[i], first[i]
end

--- Returns { 0, ..., n } with one part for each rank, for meetings: the first rank with a part gives it, and those with
--- copies of it nothing.
function divisions.of_ranks(first)
  if not first.copies then return first end
  local list = { 0 }
  for i = 2, #first do for _ = 1, first.copies do list[#list + 1] = first[i] end end
  return list
end

--- Returns a text that differs between divisions.
function divisions.text(first) return table.concat(first, " ") .. (first.copies and " x" .. first.copies or "") end

return divisions
