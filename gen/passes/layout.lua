-- layout.lua: decides what all entries of a build share: the packed format of each weight and its place in the packed
-- block, and the state that a caller's context keeps of a sequence (layout/state_parts.lua).
-- Entries share one packed copy. The largest entry that reads a weight decides how wide its panels are. Each weight is
-- placed after the weights of larger entries, unless one of these entries has the same weight.
-- Operations share one, too: a table of embeddings that is also a product's weight, with the same numbers in the same
-- type, is in that product's panels, from which rows are looked up. Tables with the same numbers are one table.
--
-- Before: the graphs of a build's entries. After: build.parameters = the tile parameters of products
-- (tuning.parameters); for each entry, state.weights =
--   layouts    weight -> { format, type }: "rows", unchanged, or "panels" with panel, count, tails, widths, and `each`,
--              the same for one of a weight's experts
--   chosen_by  weight -> the name of the entry whose product decided its panels
--   home       table, or its scales -> the weight of the same entry, or its scales, whose place it has
--   offsets    weight -> bytes from the beginning of the packed block
--   of_contents   for an entry that others come after: what a weight is -> the names of those that are it
--   bytes      the bytes of the packed block
-- and build.kept = the parts of the state
local divide = require("passes.common.divide")
local dump = require("common.dump")
local grouping = require("passes.common.grouping")
local ops = require("data.ops")
local packed = require("passes.common.packed")
local same_numbers = require("passes.common.same_numbers")
local state_parts = require("passes.layout.state_parts")
local tuning = require("passes.common.tuning")
local types = require("data.types")
local words = require("common.words")

local contents_of = same_numbers.contents

local layout = {}

-- Width of the panels that a table of relative positions is packed in.
local TABLE_PANEL = 64

-- Returns the width of a table's panels: that of TABLE_PANEL, or the rows of a head if each head has a table.
local function table_panel(op, tbl)
  local heads = op.attributes.table_heads
  return heads and tbl.shape[1] // heads or TABLE_PANEL
end

-- Returns a function that makes panels; equal ones of the same number of experts are one table. The panels of
-- experts have one width, the widest that divides the outputs of each. `each`: the panels of one expert.
local function panel_maker()
  local made = {}
  local function panels(outputs, panel, type, experts)
    local key = ("%d %d %s %d"):format(outputs, panel, type, experts)
    made[key] = made[key] or divide.panels(outputs, panel, type)
    return made[key]
  end
  return function(weight, panel)
    local experts = weight.experts or 1
    local outputs = weight.shape[1] // experts
    while weight.experts and outputs % panel ~= 0 do panel = panel - 1 end
    local all = panels(weight.shape[1], panel, weight.type, experts)
    all.each = panels(outputs, panel, weight.type, 1)
    return all
  end
end

-- Puts the layouts that larger entries have decided for this entry's weights into its own.
local function inherit(state, larger)
  local own = state.weights
  for _, name in ipairs(state.graph.weights) do
    for _, other in ipairs(larger) do
      local theirs = other.graph.tensors[name]
      if theirs and words.shape(state.graph.tensors[name].shape) == words.shape(theirs.shape) then
        own.layouts[name], own.chosen_by[name] = other.weights.layouts[name], other.weights.chosen_by[name]
        break
      end
    end
  end
end

-- Decides the layouts of an entry's weights that have none. All products are asked for their parameters, so that a
-- tuning file with a line for any of them counts as used.
local function decide(state, panels)
  local own, uses = state.weights, grouping.readers(state.graph.entry)
  for _, segment in ipairs(grouping.segments(state.spec, state.graph.entry, state.parameters.common)) do
    for _, section in ipairs(segment.sections) do
      for i, op in ipairs(section.ops) do
        local class = ops.class(op)
        local weight = class.product and op.operands.weight
        local tbl = class.packed and op.operands[class.packed]
        if weight then
          local key = tuning.key(op, grouping.epilogue(section.ops, i, uses), grouping.rows(op, segment))
          local panel = state.parameters.of(key, weight).panel
          if not own.layouts[weight.name] then
            own.layouts[weight.name], own.chosen_by[weight.name] = panels(weight, panel), state.name
          end
        elseif tbl then
          own.layouts[tbl.name] = own.layouts[tbl.name] or panels(tbl, table_panel(op, tbl))
        end
      end
    end
  end
end

-- Returns the weights that products multiply by, then the tables that rows are looked up in, of all entries: { { state,
-- weight, scale = the scales of a table, or nil } }; then the number of products.
local function weights_and_tables(build)
  local list, tables = {}, {}
  for _, state in ipairs(build.entries) do
    for _, op in ipairs(state.graph.entry.ops) do
      local class = ops.class(op)
      local weight, tbl = class.product and op.operands.weight, op.operands[class.looks_up or ""]
      if weight then list[#list + 1] = { state = state, weight = weight } end
      if tbl then tables[#tables + 1] = { state = state, weight = tbl, scale = op.operands.scale } end
    end
  end
  local products = #list
  return words.append(list, tables), products
end

-- Gives tables the layouts, and in one entry the places, of the first weights with the same numbers. Other weights that
-- no product reads stay rows.
local function share_tables(build)
  local list, products = weights_and_tables(build)
  for i = products + 1, #list do
    local tbl, own = list[i], list[i].state.weights
    local name = tbl.weight.name
    for j = 1, i - 1 do
      local other, theirs = list[j], list[j].state.weights
      if tbl.weight ~= other.weight and same_numbers.when_packed(build, tbl.weight, other.weight) then
        own.layouts[name] = own.layouts[name] or theirs.layouts[other.weight.name]
        own.chosen_by[name] = own.chosen_by[name] or theirs.chosen_by[other.weight.name]
        if tbl.state == other.state and not own.home[name] then
          own.home[name] = other.weight.name
          if tbl.scale then own.home[tbl.scale.name] = other.weight.name .. ".scales" end
        end
      end
    end
  end
  for _, state in ipairs(build.entries) do
    for _, name in ipairs(state.graph.weights) do
      state.weights.layouts[name] = state.weights.layouts[name]
        or { format = "rows", type = state.graph.tensors[name].type }
    end
  end
end

local function same_source(state, a, b)
  return a.kind == b.kind and a.part == b.part
    and (a.formula == b.formula or contents_of(state, a) == contents_of(state, b))
    and dump.table(a.source or {}) == dump.table(b.source or {})
    and dump.table(a.factors or {}) == dump.table(b.factors or {})
end

-- True if an entry's weight equals another entry's or, for tables kept as rows, is the first rows of it. Two
-- constants are the same if their formulas are.
local function is_shared(state, name, other, their_name)
  local mine, theirs = state.graph.tensors[name], other.graph.tensors[their_name]
  if not (theirs and other.weights.offsets[their_name] and same_source(state, mine, theirs)) then return false end
  local own, their_own = state.weights.layouts[name], other.weights.layouts[their_name]
  if words.shape(mine.shape) == words.shape(theirs.shape) then
    return own == their_own or dump.table(own) == dump.table(their_own)
  end
  return #mine.shape == 2 and #theirs.shape == 2 and own.format == "rows" and their_own.format == "rows"
    and mine.shape[2] == theirs.shape[2] and mine.shape[1] < theirs.shape[1] or false
end

-- Lists an entry's weights by their contents, for the entries after it.
local function note_contents(state)
  local of = {}
  for _, name in ipairs(state.graph.weights) do
    local contents = contents_of(state, state.graph.tensors[name])
    if contents then words.add(of, contents, name) end
  end
  state.weights.of_contents = of
end

-- Returns the names of a larger entry's weights that may have the contents of an entry's weight. A weight of the same
-- name comes first; the entry has no weight with the names of others.
local function alike_in(state, name, other)
  local mine = state.graph.tensors[name]
  local list = { other.weights.offsets[name] and name }
  local is_table = mine.formula and not mine.scales_of and not mine.order_of -- it may be the first rows of another
  local of_contents = other.weights.of_contents[contents_of(state, mine) or ""]
  for _, theirs in ipairs(is_table and other.graph.weights or of_contents or {}) do
    if not state.graph.tensors[theirs] then list[#list + 1] = theirs end
  end
  return list
end

-- Returns the offset of an entry's weight that a larger entry has placed, or nil.
local function shared_offset(state, name, larger)
  for _, other in ipairs(larger) do
    for _, theirs in ipairs(alike_in(state, name, other)) do
      if is_shared(state, name, other, theirs) then return other.weights.offsets[theirs] end
    end
  end
  return nil
end

-- Returns the names of an entry's weights in the order of their places: those that several sections read come first, so
-- that alike layers have theirs at equal distances.
local function in_order(state)
  local section_of, common, list = {}, {}, {}
  for _, op in ipairs(state.graph.entry.ops) do
    for _, tensor in pairs(op.operands) do
      local name = tensor.name
      section_of[name] = section_of[name] or op.section
      common[name] = common[name] or section_of[name] ~= op.section
    end
  end
  for _, is_common in ipairs { true, false } do
    for _, name in ipairs(state.graph.weights) do
      if (common[name] or false) == is_common then list[#list + 1] = name end
    end
  end
  return list
end

-- Places an entry's weights that no larger entry has from `bytes` on; returns the bytes of the block so far. A table of
-- another weight is where that is, in the order of products.
local function place(state, larger, bytes)
  local own = state.weights
  for _, name in ipairs(in_order(state)) do
    local shared = shared_offset(state, name, larger)
    if not own.home[name] then own.offsets[name] = shared or bytes end
    if not (own.home[name] or shared) then
      bytes = bytes + types.line_bytes(packed.bytes(state.graph.tensors[name], own.layouts[name]))
    end
  end
  for name, home in pairs(own.home) do own.offsets[name] = own.offsets[home] end
  return bytes
end

function layout.run(build)
  build.parameters = tuning.parameters(build)
  local larger, panels, bytes = {}, panel_maker(), 0
  for i = #build.entries, 1, -1 do
    local state = build.entries[i]
    state.weights = { layouts = {}, chosen_by = {}, home = {}, offsets = {} }
    inherit(state, larger)
    decide(state, panels)
    larger[#larger + 1] = state
  end
  share_tables(build)
  for i, state in ipairs(larger) do
    bytes = place(state, table.move(larger, 1, i - 1, 1, {}), bytes)
    if i < #larger then note_contents(state) end
  end
  for _, state in ipairs(larger) do state.weights.bytes = bytes end
  state_parts.decide(build)
  tuning.conclude(build)
end

--- Returns the bytes of the packed block; then, for each entry, the place and the format of each weight; last, the
--- parts of the state.
function layout.dump(build)
  local lines = { ("packed weights: %d bytes"):format(build.primary.weights.bytes) }
  for _, state in ipairs(build.entries) do
    local own = state.weights
    lines[#lines + 1] = "entry " .. state.name
    for _, name in ipairs(state.graph.weights) do
      local of = own.layouts[name]
      local text = of.type == "f32" and "" or " of " .. of.type
      if of.format == "panels" then text = ("%s in panels of %s"):format(text, table.concat(of.widths, " ")) end
      if own.chosen_by[name] and #build.entries > 1 then text = text .. ", chosen by " .. own.chosen_by[name] end
      if own.home[name] then text = text .. ", at the place of " .. own.home[name] end
      lines[#lines + 1] = ("  %10d %s %s%s"):format(own.offsets[name], name,
        words.shape(state.graph.tensors[name].shape), text)
    end
  end
  state_parts.dump(build, lines)
  return table.concat(lines, "\n") .. "\n"
end

return layout
