-- work.lua: counts the work of each operation in a call: arithmetic, bytes, and its parts of the bound.
-- The counts come from an entry's graph and scheduled steps, and the bound from runtime/measure/bound.h. The roofline
-- and the bars of the bound read them.
local activations = require("data.activations")
local all_regions = require("passes.common.regions")
local ops = require("data.ops")
local programs = require("passes.common.programs")
local types = require("data.types")
local words = require("common.words")

local work = {}

local function elements(tensor) return words.elements(tensor.shape) end

--- Returns the bytes of a tensor's elements in its number type.
function work.bytes(tensor) return types.number_bytes(elements(tensor), tensor.type) end

-- Poolings that take one row of a sequence and read no other.
local taken = { first = true, second = true, last = true }

-- Returns the number of an operation's poolings that read all rows of a sequence.
local function ways_over_all(op)
  return #words.without(words.list(op.attributes["function"]), taken)
end

-- Returns the arithmetic of an operation. emitted: the fraction of the result that is computed.
local function arithmetic_of(op, emitted)
  if op.flops > 0 then return op.flops end
  if op.op == "pool" then return ways_over_all(op) * elements(op.operands.x) end
  local declared, activation = ops.table[op.op], activations.by_name[op.attributes["function"]]
  return (activation and activation.arithmetic or declared.arithmetic or 1)
    * elements(op.operands[declared.arithmetic_of] or op.result) * emitted
end

--- Returns "product", "attention" or "row operation".
function work.kind(op)
  local class = ops.class(op)
  if class.product then return "product" end
  return class.role and class.role ~= "" and "attention" or "row operation"
end

--- Returns the number type in which an operation multiplies, which chooses its roof.
function work.number_type(op)
  if work.kind(op) == "row operation" then return "f32" end
  for _, tensor in pairs(op.operands) do
    local type = types.all[tensor.type]
    if type.rows and type.word then return type.word end
  end
  return "f32"
end

-- Returns the name of a step in bench --bound (passes/emit/bound.lua), or nil for steps of products, found by key.
local function part_of(step)
  local k = step.form == "product" and step.kernel
  if not k then return step.function_name end
  if step.region.kind ~= "attention" then return nil end
  return ("attention %d x %d x %d"):format(k.m, k.n, k.k)
end

-- Returns the fraction of each attention's scores that is emitted, by tensor. Others are neither read nor written.
local function emitted_parts(entry)
  local part_of_tensor = {}
  for region in all_regions(entry.plan.segments) do
    if region.kind == "attention" then
      local shape, emitted = region.scores.result.shape, 0
      for _, block in ipairs(region.blocks) do emitted = emitted + block.count * block.keys end
      for i = 1, #region.ops - 1 do part_of_tensor[region.ops[i].result] = emitted / (shape[3] * shape[4]) end
    end
  end
  return part_of_tensor
end

-- Returns the number of elements that an operation reads of an operand: those that are looked up in a table and its
-- scales, the row that is taken from a sequence, or all.
local function elements_read(op, name, tensor)
  if op.op == "embed" and name == "table" then return elements(op.result) end
  if op.op == "embed_boxes" and name == "table" then
    return op.operands.sizes and elements(op.operands.boxes) * tensor.shape[2] or 6 * elements(op.result)
  end
  if op.op == "embed_boxes" and name == "sizes" then return elements(op.operands.boxes) // 2 * tensor.shape[2] end
  if op.op == "embed" and name == "scale" then return elements(op.operands.ids) end
  if op.op == "pool" and name == "x" and ways_over_all(op) == 0 then return elements(op.result) end
  return elements(tensor)
end

-- Adds the bytes that an operation and those done on its tile must move: each tensor that they read, once, and the
-- results that leave the tile.
local function add_bytes(list, parts)
  local groups, readers = {}, {}
  for _, each in ipairs(list) do
    for _, tensor in pairs(each.op.operands) do words.add(readers, tensor, each.fused or each.op) end
  end
  -- True if a group's result leaves its tile: the last one does, and those that others read or the caller gets.
  local function leaves(group, tensor)
    if tensor == group.last or tensor.kind ~= "scratch" then return true end
    return words.any(readers[tensor] or {}, function(reader) return reader ~= group.of.op end)
  end
  for _, each in ipairs(list) do
    local group = each.fused and groups[each.fused] or { of = each, reads = {}, made = {} }
    groups[each.op] = group
    if not each.fused then groups[#groups + 1] = group end
    group.made[each.op.result] = true
    group.last = each.op.result
    for name, tensor in pairs(each.op.operands) do
      group.reads[tensor] = types.number_bytes(elements_read(each.op, name, tensor), tensor.type)
    end
  end
  for _, group in ipairs(groups) do
    local sum = 0
    for tensor in pairs(group.made) do
      if leaves(group, tensor) then sum = sum + work.bytes(tensor) * (parts[tensor] or 1) end
    end
    for tensor, bytes in pairs(group.reads) do
      if not group.made[tensor] then sum = sum + bytes * (parts[tensor] or 1) end
    end
    group.of.bytes = math.floor(sum)
  end
end

-- Adds the parts of the bound to each operation: { name = calls }.
local function add_parts(list, entry)
  programs.each_call(entry.programs[1], function(step, times)
    local name = part_of(step)
    if name then
      local parts = list[step.op].parts
      parts[name] = (parts[name] or 0) + times
    end
  end)
  for region, segment in all_regions(entry.plan.segments) do
    for _, fusion in ipairs(region.fusions or {}) do
      if fusion.key then
        for _, each in ipairs(list) do
          if each.op == fusion.leading then each.parts[fusion.key] = (each.parts[fusion.key] or 0) + segment.repeats end
        end
      end
    end
  end
end

--- Returns the layer of a section, counted from 0, or nil, and the name of its stack.
function work.layer(section)
  local stack, layer = section:match("^(.-)layer (%d+)$")
  return math.tointeger(tonumber(layer)), stack
end

--- Returns an operation's role, its name without the layer: "attn.q" for "l0.attn.q".
function work.role(name) return (name:gsub("l%d+%.", "", 1)) end

-- Returns a map from each operation that is done on the tile, or after the rows, of another to that other operation.
local function fused_of(entry)
  local fused, makes = {}, {}
  for _, op in ipairs(entry.graph.entry.ops) do makes[op.result] = op end
  for region in all_regions(entry.plan.segments) do
    if region.round then fused[region.round] = region.context end
    for _, fusion in ipairs(region.fusions or {}) do
      for _, op in ipairs(fusion.epilogue) do fused[op] = fusion.leading end
      if fusion.round then fused[fusion.round] = fusion.leading end
      if fusion.quantise then
        fused[fusion.quantise] = fusion.leading
        fused[makes[fusion.quantise.operands.scale]] = fusion.leading
      end
    end
  end
  return fused
end

--- Returns the operations of an entry in order: { op, name, role, kind, section, type (work.number_type), arithmetic,
--- bytes, parts, fused = the operation on whose tile it is done }.
function work.of(entry)
  local list, fused = {}, fused_of(entry)
  local parts = emitted_parts(entry)
  for i, op in ipairs(entry.graph.entry.ops) do
    list[i] = { op = op, name = op.result.name, role = work.role(op.result.name), kind = work.kind(op),
      section = op.section, type = work.number_type(op), arithmetic = arithmetic_of(op, parts[op.result] or 1),
      bytes = 0, parts = {},
      fused = fused[op] }
  end
  add_bytes(list, parts)
  add_parts(list, entry)
  return list
end

--- Returns the bound of each operation in ms, or nil if it has none. list: from work.of; printed: the `bound` of
--- bench's output; workers: the number of workers that share the work.
function work.bound(list, printed, workers)
  if not printed or #printed == 0 then return nil end
  local us = {}
  for _, part in ipairs(printed) do us[part.name] = part.us end
  return words.map(list, function(each)
    local sum = 0
    for name, calls in pairs(each.parts) do sum = sum + calls * (us[name] or 0) / 1000 / workers end
    return sum
  end)
end

--- Joins operations with the same role: { role, kind, type, members }, in order of appearance.
function work.by_role(list)
  local rows, at = {}, {}
  for i, each in ipairs(list) do
    if not at[each.role] then
      at[each.role] = { role = each.role, kind = each.kind, type = each.type, members = {} }
      rows[#rows + 1] = at[each.role]
    end
    table.insert(at[each.role].members, i)
  end
  return rows
end

--- The kinds of operations, in the order of their colours.
work.kinds = { "product", "attention", "row operation" }
work.colour = { product = 1, attention = 2, ["row operation"] = 3 }

return work
