-- grouping.lua: groups an entry's operations into segments and sections, and finds the epilogue of each operation.
-- The groups decide the key of a product, by which layout and plan ask for its tile parameters.
local ops = require("data.ops")

local grouping = {}

--- Returns how often each tensor is read, and which op reads it last.
function grouping.readers(entry)
  local count, last = {}, {}
  for _, op in ipairs(entry.ops) do
    for _, tensor in pairs(op.operands) do
      count[tensor.name] = (count[tensor.name] or 0) + 1
      last[tensor.name] = op
    end
  end
  return count, last
end

--- Returns the epilogue of list[at]: the elementwise ops after it that are done on its tile while it is in the cache.
--- Each is the only reader of the one before. The second result, `ends`, is the ops after those that store the result
--- in another type, whoever else reads it: one that rounds it; or, if the op makes whole rows at a time, their scales
--- and the op that quantises.
--- uses: of grouping.readers
function grouping.epilogue(list, at, uses)
  local epilogue = {}
  local result = list[at].result
  if list[at].op == "row_scale" then return epilogue, { list[at + 1] } end
  if not ops.class(list[at]).takes_epilogue then return epilogue, {} end
  for i = at + 1, #list do
    local op = list[i]
    local chained = op.operands.x == result or op.operands.a == result
    local are_rows = not ops.class(list[at]).product
    if op.op == "row_scale" and chained and are_rows then return epilogue, { op, list[i + 1] } end
    local is_alone = uses[result.name] == 1 and result.kind == "scratch"
    local is_over = is_alone and op.result.type == result.type -- whether the result may be written over it
    if ops.class(op).ends_epilogue and chained and not is_over then return epilogue, { op } end
    if not (ops.class(op).epilogue and chained and is_alone) then break end
    if op.operands.b == result then break end
    epilogue[#epilogue + 1] = op
    result = op.result
  end
  return epilogue, {}
end

--- Returns a row's width, and the rows of one sequence (of an unbatched tensor, all rows), for a shape [batch, ...,
--- width]. Integers (ids, lengths, labels) are rows of one element.
function grouping.row_shape(tensor)
  local width = (tensor.type ~= "i32" or tensor.wide) and tensor.shape[#tensor.shape] or 1
  local rows = 1
  for i = tensor.unbatched and 1 or 2, #tensor.shape do rows = rows * tensor.shape[i] end
  return width, (#tensor.shape > 1 or tensor.unbatched) and rows // width or 1
end

--- Returns the keys before and after its own that a query sees under a static mask; -1: all.
function grouping.band(attributes)
  local left, right = attributes.left, attributes.right
  if attributes.causal then right = 0 end
  return left, right
end

--- Returns a tensor's shape in the largest call, which may have fewer rows than the longest sequence.
function grouping.shape_of_call(tensor, spec)
  local shape, growth = {}, spec.call_rows and tensor.growth or {}
  for axis, size in ipairs(tensor.shape) do shape[axis] = growth[axis] == 1 and spec.call_rows or size end
  return shape
end

--- Returns the rows of a row-wise op's region: the rows of all sequences that its segment takes together.
function grouping.rows(op, segment)
  local _, each = grouping.row_shape(op.result)
  return segment.micro_batch * each
end

-- Returns the number of sequences that are taken together to fill a token block; a product of few rows wastes the
-- loading of its weights.
-- The rows of windows are apart by less than the rows of sequences, so sequences with windows are taken one by one.
local function micro_batch_size(spec, entry, p)
  for _, op in ipairs(entry.ops) do if ops.class(op).windows then return 1 end end
  return math.max(1, math.min(spec.batch, p.group_tokens // spec.seq))
end

--- True if a tensor of a model of any length has a row for each head of one query of a sequence.
function grouping.is_of_one_query(tensor)
  return tensor.growth ~= nil and #tensor.shape == 4 and tensor.growth[3] == 0
end

--- Returns an entry's ops as segments: { name, micro_batch, rows, repeats, sections = { { name, ops } } }. Ops after
--- pools are one section, on all sequences at once, as are those that take what is made there (op.pooled).
--- p: the parameters of all products alike
function grouping.segments(spec, entry, p)
  local micro_batch = micro_batch_size(spec, entry, p)
  local segments = {
    { name = "sequences", micro_batch = micro_batch, rows = micro_batch * spec.seq,
      repeats = (spec.batch + micro_batch - 1) // micro_batch, sections = {} },
    { name = "pooled", micro_batch = spec.batch, rows = spec.batch, repeats = 1, sections = {} },
  }
  local at, by_name, is_after_pool = segments[1], {}, false
  for _, op in ipairs(entry.ops) do
    local pools = ops.class(op).pools and #op.result.shape == 2
    if at == segments[1] and (op.pooled or is_after_pool and not pools) then at, by_name = segments[2], {} end
    is_after_pool = is_after_pool or pools
    local name = at == segments[1] and op.section or "pooled"
    if not by_name[name] then
      by_name[name] = { name = name, ops = {} }
      table.insert(at.sections, by_name[name])
    end
    table.insert(by_name[name].ops, op)
  end
  if #segments[2].sections == 0 then segments[2] = nil end
  if #segments[1].sections == 0 then table.remove(segments, 1) end
  return segments
end

return grouping
