-- storage.lua: checks the storage of a plan: that no reader misses rows, and that nothing is overwritten too early.
local all_regions = require("passes.common.regions")
local each_op = require("passes.common.region_ops")
local expect = require("passes.checks.expect")
local forms = require("data.storage")
local types = require("data.types")
local words = require("common.words")

local function regions_of_ops(state)
  local region_of = {}
  for region in all_regions(state.plan.segments) do each_op(region, function(op) region_of[op] = region end) end
  return region_of
end

-- Checks the form of a tensor, and that its rows have capacity for its width.
local function check_form(tensor, s)
  local form, name = s and forms.forms[s.form], tensor.name
  expect(form, "plan", "%s has no storage", name)
  expect(s.type == tensor.type, "plan", "%s is stored as %s", name, s.type)
  local is_of_caller = tensor.kind == "input" or tensor.kind == "output"
  expect(is_of_caller == (form.class == "caller"), "plan", "%s is stored in the wrong memory", name)
  if form.rows and form.rows.sequence and not s.of then
    expect(s.leading_dimension >= s.width, "plan", "the rows of %s are too short", name)
  end
end

-- Checks that an op that overwrites a tensor reads it last, and that the rows fit. readers: its readers, in order.
local function check_over(op, storage, readers)
  local to = storage[op.result.name]
  if not to.over then return end
  local from, name = storage[to.over], op.result.name
  expect(from and from.form == to.form and forms.forms[to.form].may_be_over, "plan",
    "%s is stored over %s in another form", name, to.over)
  expect(from.whole_batch == to.whole_batch, "plan", "%s is stored over %s, of another number of sequences", name,
    to.over)
  expect(types.bytes(to.leading_dimension, to.type) == types.bytes(from.leading_dimension, from.type), "plan",
    "%s has rows of another length than %s, over which it is stored", name, to.over)
  expect(readers[#readers] == op, "plan", "%s is stored over %s, which is read later", name, to.over)
end

local of_name = words.set { "buffer", "name" }

-- Checks that packed keys or values of a sequence of any length move by equal distances from panel to panel, as
-- lower/address.lua adds them, whatever the column. seen: a set of those that were checked, which differ in more than
-- names.
local function check_panels(region, s, seen)
  local text = s and ("%d %s"):format(region.open.panel, words.plain_members(s, of_name))
  if not s or seen[text] then return end
  seen[text] = true
  local place, panel = forms.packed(s), region.open.panel
  expect(s.key_block == panel and (place.from_open_rows or place.added) and panel % place.together == 0, "plan",
    "%s has panels of other keys than its attention", s.buffer)
  for _, column in ipairs { 0, s.width // 2, s.width - 1 } do
    for key = 0, s.rows_per_sequence - 1, panel do
      expect(place.where(s, key, column) == place.where(s, 0, column) + key * place.each_key(s), "plan",
        "the keys of %s from %d on are not at equal distances", s.buffer, key)
    end
  end
end

--- Checks that every input and result has a storage of its type in the right memory; that only the region that writes a
--- tensor reads it, if only some rows are stored; and that only the last reader of a tensor overwrites it.
return function(state)
  local storage, entry, readers, region_of = state.plan.storage, state.graph.entry, {}, regions_of_ops(state)
  local seen = {}
  for _, name in ipairs(entry.inputs) do check_form(state.graph.tensors[name], storage[name]) end
  for region in all_regions(state.plan.segments) do
    if region.open then
      check_panels(region, region.keys, seen)
      check_panels(region, region.values, seen)
    end
  end
  local written = {}
  for _, op in ipairs(entry.ops) do
    check_form(op.result, storage[op.result.name])
    written[op.result.name] = region_of[op]
    for _, tensor in pairs(op.operands) do
      local s = storage[tensor.name]
      local form = s and forms.forms[s.form]
      if form and not form.packed and not s.of and (not form.rows or form.rows.private) then
        expect(written[tensor.name] == region_of[op], "plan", "%s reads %s, which has only the rows of another region",
          op.result.name, tensor.name)
      end
      readers[tensor.name] = readers[tensor.name] or {}
      table.insert(readers[tensor.name], op)
    end
  end
  for _, op in ipairs(entry.ops) do check_over(op, storage, readers[storage[op.result.name].over] or {}) end
end
