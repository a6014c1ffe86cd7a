-- divide.lua: decides how each tensor of a graph is divided among ranks.
-- The decision begins with the products that data/divisions.lua names, and follows the operations that read them. An
-- operation without a rule needs whole tensors, and so does every output.
--
-- A tensor's division is { axis, first = of data/divisions.lua }, or { sum = true } if each rank has a term of it;
-- with ids = the tensor of ids, terms are rows that only their rank has. nil: every rank has all of it. The last axis
-- of a tensor in the order of experts has a part for each expert of a row; `first` then divides each part.
local divisions = require("data.divisions")
local faults = require("common.faults")
local grouping = require("passes.common.grouping")
local ops = require("data.ops")
local scale_blocks = require("data.scale_blocks")
local types = require("data.types")
local words = require("common.words")

-- Returns the greatest common divisor.
local function common(a, b) return b == 0 and a or common(b, a % b) end

local Divider = {}
Divider.__index = Divider

-- Returns the spec of the stack and that of the layer to which a path belongs.
function Divider:specs(path)
  local encoder = path:match("^encoder%.(.*)")
  local spec = encoder and self.spec.memory.encoder or self.spec
  local layer = math.tointeger(tonumber((encoder or path):match("^l(%d+)%.")))
  return spec, layer and spec.each and spec.each[layer + 1] or spec
end

-- Returns the heads of queries and of keys of a layer whose products have these columns: heads that a constant removes
-- are not among them. Where all layers share a table with a row for each head, all are divided alike, in the same
-- number of heads of keys as all have.
local function heads_of(stack, own, width)
  local is_plain = own.kv_heads == own.heads
  local units = is_plain and width // own.head_dim or own.kv_heads
  local heads = is_plain and units or own.heads
  for _, each in ipairs(stack.distances and stack.each or {}) do units = common(units, each.kv_heads) end
  return heads, units
end

-- Returns the division of columns of queries (what = "q"), or of keys or values, of an attention.
function Divider:heads(path, what, width)
  local stack, own = self:specs(path)
  local heads, units = heads_of(stack, own, width)
  local queries, keys = divisions.heads(heads, units, self.ranks)
  if not queries or (self.ranks > units and stack.distances) then
    faults.raise("usage", "%s: ranks: %d, but %s has %d heads of keys; give at most that number", self.file, self.ranks,
      path:match("^(.*)%.[^.]*$"), units)
  end
  local of = what == "q" and queries or keys
  return divisions.times(of, width // of[#of])
end

local widths = {}

function widths.heads(self, op)
  local path, width = op.result.name, op.result.shape[#op.result.shape]
  return self:heads(path, path:match("[qkv]$") == "q" and "q" or "k", width)
end

-- Returns the columns of an inner width that stay together. Rows of experts are whole pairs of blocks, or groups of
-- each number type.
local function unit_of(self, width, experts)
  local unit = self.spec.weights and scale_blocks.together(self.spec.weights) or divisions.unit(width, self.ranks)
  return experts and math.max(unit, self.spec.weights and types.SCALE_PAIR or types.EXPERT_UNIT) or unit
end

function widths.inner(self, op)
  local experts = op.operands.weight.experts
  local width = op.operands.weight.shape[1] // (experts or 1)
  if width < self.ranks then
    faults.raise("usage", "%s: ranks: %d, but %s has %d columns; give at most that number", self.file, self.ranks,
      op.result.name, width)
  end
  local unit = unit_of(self, width, experts)
  local units = (width + unit - 1) // unit
  if units < self.ranks then
    faults.raise("usage", "%s: ranks: %d, but the %d columns of %s are in blocks of %d, which stay whole; give at "
      .. "most %d", self.file, self.ranks, width, op.result.name, unit, units)
  end
  return divisions.even(width, self.ranks, unit)
end

-- Divides rows of a table, or outputs that are rows of one.
local function rows_of(self, count)
  if count < self.ranks then
    faults.raise("usage", "%s: ranks: %d, but the vocabulary has %d tokens; give at most that number", self.file,
      self.ranks, count)
  end
  return divisions.even(count, self.ranks, divisions.unit(count, self.ranks))
end

function widths.vocabulary(self, op) return rows_of(self, op.result.shape[#op.result.shape]) end

-- Notes that an operand, a weight or constant, is cut along an axis.
function Divider:cut(op, operand, axis, first)
  local tensor = op.operands[operand]
  if not tensor then return end
  self.cuts[tensor.name] = { axis = axis, first = first }
end

-- Returns the division of an operand's last axis, or nil.
local function by_columns(self, tensor)
  local of = tensor and self.made[tensor.name]
  return of and not of.sum and of.axis == #tensor.shape and of or nil
end

local function columns(op, first) return { axis = #op.result.shape, first = first } end

-- Returns the division of keys or values of a source that another entry makes, or of their scales, one a head.
function Divider:kept(tensor)
  local path, of = tensor.name:match("^(.*%.[kv])%.([^.]*)$")
  local _, own = self:specs(path)
  local axis, width = #tensor.shape, of == "scale" and own.head_dim or 1
  local first = self:heads(path, "k", tensor.shape[axis] * width)
  return { axis = axis, first = divisions.in_heads(first, width) }
end

-- Functions by operation: each returns the division of the result, the set of operands that it takes divided, a table
-- of the attributes that count heads (heads = their division), and whether it makes all of the result, of which each
-- rank takes its part. No result: the operation takes whole tensors, and makes one.
local rules = {}

function rules.linear(self, op)
  local x, what = by_columns(self, op.operands.x), divisions.of_product(op.result.name)
  if x then
    self:cut(op, "weight", 2, x.first)
    if op.operands.bias then self.of_first[op.operands.bias.name] = true end
    return { sum = true }, { x = true }
  end
  if not what then return nil end
  local first = widths[what](self, op)
  self:cut(op, "weight", 1, first)
  self:cut(op, "bias", 1, first)
  return columns(op, first), {}
end
rules.linear_experts = rules.linear

-- Roles in an attention of operations that keep the heads of their first operand.
local keeps_heads = words.set { "scores_to_scores", "scores_to_weights", "weights_to_weights" }

-- An operation without a rule of its own that works on each element, or each row of scores, by itself.
local function by_class(self, op)
  local class, names = ops.class(op), ops.table[op.op].operands
  if not (keeps_heads[class.role] or class.epilogue and #names == 1) then return nil end
  for i = 2, #names do
    local other = op.operands[names[i]]
    if other and other.kind ~= "input" then return nil end
  end
  local of = self.made[op.operands[names[1]].name]
  if not of or of.sum then return nil end
  return { axis = of.axis, first = of.first }, { [names[1]] = true }
end

-- Numbers that share a scale are on one rank.
function rules.quantise_blocks(self, op)
  local x, unit = by_columns(self, op.operands.x), scale_blocks.together(self.spec.weights)
  if not x then return nil end
  for i = 2, #x.first - 1 do
    if x.first[i] % unit ~= 0 then
      faults.raise("usage", "%s: ranks: %d divide %s after %d columns, but weights in blocks need multiples of %d",
        self.file, self.ranks, op.operands.x.name, x.first[i], unit)
    end
  end
  return columns(op, x.first), { x = true }
end
rules.quantise_blocks_finely = rules.quantise_blocks

-- Each rank takes its part of the new columns from all columns.
function rules.gather_columns(self, op)
  local width = op.result.shape[#op.result.shape]
  local unit = scale_blocks.together(self.spec.weights)
  if not by_columns(self, op.operands.x) or width // unit < self.ranks then return nil end
  local first = divisions.even(width, self.ranks, unit)
  self:cut(op, "order", 1, first)
  return columns(op, first), {}
end

-- True if only an addition reads two terms, so that one meeting sums both. An output is whole, and the check adds what
-- it has: with it, the order of the sum is the order of the outputs.
local function are_terms(self, op, a, b)
  local names = { op.operands.a.name, op.operands.b.name }
  if op.operands.a.kind == "output" or op.operands.b.kind == "output" then return false end
  return op.op == "add" and a.sum and b.sum and not (a.ids or b.ids) and names[1] ~= names[2]
    and self.uses[names[1]] == 1 and self.uses[names[2]] == 1
end

-- Both operands are divided alike, or both are terms.
local function of_both(self, op)
  local a, b = self.made[op.operands.a.name], self.made[op.operands.b.name]
  if not (a and b) then return nil end
  if are_terms(self, op, a, b) then return { sum = true }, { a = true, b = true } end
  if a.sum or b.sum then return nil end
  if divisions.text(a.first) ~= divisions.text(b.first) then return nil end
  return { axis = a.axis, first = a.first }, { a = true, b = true }
end

rules.add, rules.multiply = of_both, of_both

-- The term of a sum that whole numbers multiply: of an operand that nothing else reads.
local function of_term(name)
  return function(self, op)
    local x = op.operands[name]
    local of = self.made[x.name]
    if not (of and of.sum) or of.ids or x.kind == "output" or self.uses[x.name] ~= 1 then return nil end
    return { sum = true }, { [name] = true }
  end
end

rules.combine, rules.gate_rows = of_term("x"), of_term("a")

-- An operation on each head of a row.
local function by_head(self, op)
  local x, heads = by_columns(self, op.operands.x), op.attributes.heads
  if not x or not heads then return nil end
  local own = divisions.in_heads(x.first, op.operands.x.shape[3] // heads)
  if op.attributes.each then self:cut(op, "gain", 1, own) end
  return columns(op, x.first), { x = true }, { heads = own }
end

rules.rotate, rules.hadamard = by_head, by_head

function rules.keep(self, op)
  local x = by_columns(self, op.operands.x)
  if not x then return nil end
  return columns(op, x.first), { x = true, scale = true }
end

-- A norm of all heads together reads them whole. So it is repeated on each rank, which takes its heads of the result.
local function norm(self, op)
  local x = by_columns(self, op.operands.x)
  if not x or op.attributes.heads then return by_head(self, op) end
  return columns(op, x.first), {}, {}, true
end

rules.rms_norm, rules.layer_norm = norm, norm

-- A scale for each head of a row, and the integers.
function rules.row_scale(self, op)
  local x, heads = by_columns(self, op.operands.x), op.attributes.heads
  if not x or not heads then return nil end
  local first = divisions.in_heads(x.first, op.operands.x.shape[3] // heads)
  return columns(op, first), { x = true, guard = true }, { heads = first }
end

function rules.quantise(self, op)
  local of, takes, counts = by_head(self, op)
  if of then takes.scale = true end
  return of, takes, counts
end

function rules.scores(self, op)
  local q, k = by_columns(self, op.operands.q), by_columns(self, op.operands.k)
  if not (q and k) then return nil end
  local heads = divisions.in_heads(q.first, op.operands.q.shape[3] // op.attributes.heads)
  return { axis = 2, first = heads }, { q = true, k = true, k_scale = true }, { heads = heads }
end

function rules.additive_scores(self, op)
  local of, takes, counts = rules.scores(self, op)
  if of then self:cut(op, "score", 1, of.first) end
  return of, takes, counts
end

function rules.add_relative(self, op)
  local scores, x = self.made[op.operands.scores.name], by_columns(self, op.operands.x)
  if not (scores and x) then return nil end
  return { axis = 2, first = scores.first }, { scores = true, x = true }, { heads = scores.first }
end

function rules.bucket_table(self, op)
  local spec = self:specs(op.result.name)
  local first = self:heads(op.result.name:match("^(.-)positions") .. "l0.attn.q", "q", spec.heads * spec.head_dim)
  first = divisions.in_heads(first, spec.head_dim)
  self:cut(op, "table", 2, first)
  return { axis = 1, first = first }, {}
end

function rules.add_distance(self, op)
  local scores, tbl = self.made[op.operands.scores.name], op.operands.table
  if not scores then return nil end
  if tbl.kind == "constant" then self:cut(op, "table", 1, scores.first) end
  return { axis = 2, first = scores.first }, { scores = true, table = true }
end

function rules.softmax(self, op)
  local scores = self.made[op.operands.scores.name]
  if not scores then return nil end
  self:cut(op, "sinks", 1, scores.first)
  return { axis = 2, first = scores.first }, { scores = true }
end

function rules.head_scale(self, op)
  local weights = self.made[op.operands.weights.name]
  if not weights then return nil end
  self:cut(op, "factors", 2, weights.first)
  return { axis = 2, first = weights.first }, { weights = true }
end

function rules.context(self, op)
  local weights, v = self.made[op.operands.weights.name], by_columns(self, op.operands.v)
  if not (weights and v) then return nil end
  local a, width = op.attributes, op.result.shape[3] // op.attributes.heads
  return columns(op, divisions.times(weights.first, width)), { weights = true, v = true, v_scale = true },
    { heads = weights.first, kv_heads = a.kv_heads and divisions.in_heads(v.first, width) or nil }
end

-- Rows of the vocabulary's table; other tables are small.
function rules.embed(self, op)
  if not op.result.name:find("input%.embedded$") then return nil end
  local first = rows_of(self, op.operands.table.shape[1])
  self:cut(op, "table", 1, first)
  self:cut(op, "scale", 1, first)
  return { sum = true, ids = op.operands.ids, first = first }, {}
end

-- Returns the tensors that are needed whole: outputs, and operands that an operation does not take divided.
local function find_whole(self, entry)
  local whole = {}
  for _, name in ipairs(entry.outputs) do whole[name] = self.made[name] and true end
  for _, op in ipairs(entry.ops) do
    local how = self.how[op]
    for operand, tensor in pairs(op.operands) do
      if self.made[tensor.name] and not (how and how.takes[operand]) then whole[tensor.name] = true end
    end
  end
  return whole
end

-- Returns the distinct lists of a division, in an order that depends on nothing but the graph.
local function lists_of(self, graph)
  local lists, seen = {}, {}
  for _, name in ipairs(graph.order) do
    for _, of in ipairs { self.made[name] or {}, self.cuts[name] or {} } do
      local text = of.first and divisions.text(of.first)
      if text and not seen[text] then lists[#lists + 1], seen[text] = of.first, true end
    end
  end
  return lists
end

--- Returns the divisions of a graph:
---   made      tensor -> its division when an operation has made it
---   whole     a set of the divided tensors that a meeting makes whole
---   cuts      weight -> its division
---   of_first  a set of the weights that only the first rank adds; the others have zeros
---   how       op -> { takes = the operands that it takes divided, counts = attribute -> division, makes_all = whether
---             ranks take their parts of its whole result }, if its result is divided
---   lists     every list of elements that a division has
--- Faults: usage.
return function(graph, given, file)
  local spec = given.decoder or given
  local self = setmetatable({ spec = spec, ranks = spec.ranks, file = file, made = {}, cuts = {}, of_first = {},
    how = {}, uses = grouping.readers(graph.entry) }, Divider)
  for name, tensor in pairs(graph.tensors) do
    if tensor.kind == "state" then self.made[name] = self:kept(tensor) end
  end
  for _, op in ipairs(graph.entry.ops) do
    local of, takes, counts, makes_all = (rules[op.op] or by_class)(self, op)
    if of then
      self.made[op.result.name] = of
      self.how[op] = { takes = takes, counts = counts or {}, makes_all = makes_all }
    end
    assert(not ops.class(op).of_ranks, op.op)
  end
  self.whole = find_whole(self, graph.entry)
  self.lists = lists_of(self, graph)
  return self
end
