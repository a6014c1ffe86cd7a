-- rows.lua: lowers a region of rows: its fusions, a block at a time, by their leading operations.
-- These are products, norms, look-ups, rotations and other operations on rows.
local equation = require("passes.lower.equation")
local forms = require("data.storage")
local grouping = require("passes.common.grouping")
local maps = require("passes.lower.maps")
local operands = require("data.operands")
local ops = require("data.ops")
local types = require("data.types")
local words = require("common.words")

local rows = {}

-- Returns the origin of a region's tiles: block_first rows into the micro-batch, unit_first for the rows of a unit, and
-- the panel's column.
local function rows_origin(block) return { block_first = block.first, unit_first = block.first, column = 0 } end

-- Returns all columns of a block of rows as an area.
local function whole_rows(block, cols, origin)
  return { row = block.first, rows = block.count, column = 0, cols = cols, origin = origin }
end

-- Functions that lower a fusion, by its leading operation.
local leading = {}

-- Lowers Y[n][m] = X[n][k] Wᵀ, a panel of W at a time. The panel is A, X is B, and Y is C.
-- rows_at(column, body): calls body(place of X, first row, number of rows, their origin) for the panel from this column
-- of Y on; ldb: from a row of X to the next; first_choices: of experts, the place of the first choice of each.
local function product(self, fusion, origin, block, rows_at, ldb, first_choices)
  local weight = fusion.leading.operands.weight
  local first_column, first_at, first_panel = 0, 0, 1
  local result, sums, pairs_ = fusion.result, fusion.sums or fusion.result, fusion.leading.operands.pairs
  local storage = self.storage[(fusion.round or fusion).result.name]
  local is_even = not forms.packed(storage) and fusion.leading.op ~= "convolve"
  for i, loop in ipairs(fusion.panel_loops) do
    local planned, width = fusion.products[block.count][i], fusion.panels.widths[first_panel]
    local bytes = types.panel_bytes(planned.k, planned.lda, planned.types.a)
    self:panels(loop, is_even, function(number)
      local column = first_column + number * width
      self:unit()
      origin.column = column
      rows_at(column, function(inputs, first, count, at)
        local arguments = { a = { buffer = weight.name, class = "weight", offset = first_at + number * bytes,
          by_expert = planned.apart }, b = inputs, c = self:at(sums, first, column, at), first = first_choices }
        local strides = { ldb = ldb, ldc = self:ld(sums), pairs = pairs_ and self:ld(pairs_) }
        if pairs_ then
          arguments.pairs = self:at(pairs_, first // 2, 0, at)
          self:tile_of_pairs(planned, result.name .. "@sum", strides, arguments, width)
        else
          self:tile(planned, strides, arguments, width)
        end
        self:epilogue(fusion, { row = first, rows = count, column = column, cols = width, origin = at })
      end)
      if forms.packed(storage) then self:pack_tile(result, storage, origin, block, column, width) end
    end)
    first_column, first_at, first_panel = first_column + loop * width, first_at + loop * bytes, first_panel + loop
  end
end

function leading.linear(self, fusion, origin, block)
  local x = fusion.leading.operands.x
  product(self, fusion, origin, block, function(_, body)
    body(self:at(x, block.first, 0, origin), block.first, block.count, origin)
  end, self:ld(x))
end

-- Each panel has the rows of its group of columns in a tile, between rows of 0, so that a window is adjacent there: a
-- row with the numbers of `kernel` rows, which overlaps the row of the next window.
function leading.convolve(self, fusion, origin, block)
  local op = fusion.leading
  local x, lengths, kernel = op.operands.x, op.operands.lengths, op.attributes.kernel
  local type, each = self.storage[x.name].type, x.shape[3] // op.attributes.groups
  local of_group, all = fusion.result.shape[3] // op.attributes.groups, x.shape[2]
  local tile = self:in_arena(fusion.result.name .. "@windows", 0, type)
  self:scratch(tile.buffer, block.count + kernel - 1, each, type)
  product(self, fusion, origin, block, function(column, body)
    self:each_piece(all, origin, block.first, block.count, function(row, count, of_piece)
      local place = self:at(x, of_piece.position and 0 or row // all * all, column // of_group * each, of_piece)
      if of_piece.position then place.terms.position = -types.bytes(self:ld(x), type) end
      self:row(type == "f32" and "pad" or "pad_" .. type,
        { rows = count, cols = each, kernel = kernel, all = all, ldx = self:ld(x), ldy = each },
        { y = tile, x = place,
          first = of_piece.position and self:open_value("position", all - 1, 0, 0) or self:integer(row % all),
          valid = lengths and self:value(lengths, 0, origin) or self:integer(all) },
        of_piece.position and { all = "length" } or nil)
      body(tile, row, count, of_piece)
    end)
  end, each)
end

leading.linear_integers = leading.linear

-- Returns the place of a part of the order of choices: "place" and "order" of a row's choices, "first" of all experts.
local function of_groups(self, groups, part, row, origin)
  local s = self.storage[groups.name]
  local choices = s.tile_rows * s.width
  if part == "first" then return self:in_arena(groups.name, 2 * choices, "i32") end
  local place = self:at(groups, row, 0, origin)
  if part == "order" then place.offset = place.offset + types.bytes(choices, "i32") end
  return place
end

-- Returns the origin of a tensor's rows from the first row of a block on, in a chunk of the block's rows.
local function of_block(origin)
  if not origin.over then return origin end
  return { block_first = 0, unit_first = 0, over = { "whole_row" }, pooled = { "whole_row" },
    answer = origin.answer and { "whole_answer" } }
end

-- Emits a row operation that reads all rows of a block; `all` of its constants is their number.
local function row_of_all(self, fn, constants, arguments)
  self:row(fn, constants, arguments, self.open and { all = "all" } or nil)
end

-- Copies an area of a tensor in the order of experts, x with a leading dimension, to the place that the check reads, in
-- the order of rows. Among the steps of experts, the area's rows are choices; else it has all parts of rows.
function rows:trace_parts(tensor, x, ldx, area)
  local s, used = self.storage[tensor.name], ops.choices(tensor.groups)
  local order = of_groups(self, tensor.groups, "order", area.row, area.origin)
  local y, width = self:trace_at(tensor, self.block.first, area.column, area.origin), s.width // used
  if forms.is_widened(s) then
    local floats = self:in_arena(tensor.name .. "@parts", 0, "f32")
    floats.by_choice = types.bytes(area.cols, "f32")
    self:scratch(floats.buffer, area.rows, area.cols)
    local function widen(cols, to, from)
      self:row("widen_" .. s.type, { rows = area.rows, cols = cols, ldx = ldx, ldy = area.cols }, { y = to, x = from })
    end
    if self.choices or s.leading_dimension == s.width then
      widen(area.cols, floats, x)
    else
      for part = 0, used - 1 do -- there is room between them
        widen(width, operands.moved(floats, types.bytes(part * width, "f32")),
          operands.moved(x, types.bytes(part * (ldx // used), s.type)))
      end
    end
    x, ldx = floats, area.cols
  end
  if self.choices then
    return self:row("scatter_choices", { rows = area.rows, cols = area.cols, ldx = ldx, ldy = width },
      { y = y, x = x, order = order })
  end
  row_of_all(self, "scatter_parts",
    { rows = area.rows, cols = width, used = used, all = self.block.count, ldx = ldx // used },
    { y = y, x = x, order = order })
end

function leading.group_rows(self, fusion, origin, block)
  local op, chosen = fusion.leading, fusion.leading.operands.chosen
  local used, bounds = chosen.shape[#chosen.shape], op.attributes.experts + 1
  local function place(part) return of_groups(self, op.result, part, block.first, origin) end
  self:row("group_rows", { rows = block.count, used = used, bounds = bounds, ldx = self:ld(chosen) },
    { place = place "place", order = place "order", first = place "first",
      chosen = self:at(chosen, block.first, 0, origin) })
  if self.variant ~= "trace" then return end
  self:row("experts_of_groups", { rows = block.count, used = used, bounds = bounds },
    { y = self:trace_at(op.result, block.first, 0, origin), order = place "order", first = place "first" })
end

function leading.spread(self, fusion, origin, block)
  local op = fusion.leading
  local x, groups = op.operands.x, op.operands.groups
  local type, y = self.storage[x.name].type, self:at(op.result, block.first, 0, origin)
  row_of_all(self, type == "f32" and "spread" or "spread_" .. type,
    { rows = block.count, cols = x.shape[#x.shape], used = groups.shape[#groups.shape], all = self.block.count,
      ldx = self:ld(x), ldy = self:ld(op.result) // groups.shape[#groups.shape] },
    { y = y, x = self:at(x, self.block.first, 0, of_block(origin)),
      order = of_groups(self, groups, "order", block.first, origin) })
  self:trace_copy(op.result, y, self:ld(op.result), whole_rows(block, self.storage[op.result.name].width, origin))
end

-- The steps are for one expert, whose choices are `n` rows. A loop over experts is around each panel loop.
function leading.linear_experts(self, fusion, origin, block)
  local o = fusion.leading.operands
  local first = of_groups(self, o.groups, "first", block.first, origin)
  self.choices = ops.choices(o.groups)
  self:with_open({ rows = "n" }, function()
    product(self, fusion, origin, block, function(_, body)
      body(self:at(o.x, block.first, 0, origin), block.first, block.count * self.choices, origin)
    end, self:ld(o.x), first)
  end)
  self.choices = nil
end

leading.linear_experts_integers = leading.linear_experts

function leading.combine(self, fusion, origin, block)
  local op, o = fusion.leading, fusion.leading.operands
  local cols, used = op.result.shape[#op.result.shape], o.weights.shape[#o.weights.shape]
  row_of_all(self, "combine",
    { rows = block.count, cols = cols, used = used, all = self.block.count,
      ldw = self:ld(o.weights), ldy = self:ld(fusion.result), factor = op.attributes.factor },
    { y = self:at(fusion.result, block.first, 0, origin), x = self:at(o.x, self.block.first, 0, of_block(origin)),
      weights = self:at(o.weights, block.first, 0, origin),
      place = of_groups(self, o.groups, "place", block.first, origin) })
  self:epilogue(fusion, whole_rows(block, cols, origin))
end

function leading.row_scale(self, fusion, origin, block)
  local x = fusion.leading.operands.x
  self:quantise(fusion, x, whole_rows(block, x.shape[#x.shape], origin))
end

-- Looks rows up in a table, wherever the layout has them: in rows, or in the panels of a product that shares it.
function leading.embed(self, fusion, origin, block)
  local tbl = fusion.leading.operands.table
  local cols, layout = tbl.shape[2], self.layouts[tbl.name]
  local in_panels, type, tails = layout.format == "panels", layout.type, layout.tails or {}
  local bytes = in_panels and types.panel_bytes(cols, 1, type) or types.row_bytes(cols, type)
  local area = whole_rows(block, cols, origin)
  self:row_of((in_panels and "embed_panels" or "embed") .. (type == "f32" and "" or "_" .. type), fusion.leading,
    setmetatable({ result = fusion.result }, { __index = area }), { groups = types.elements(bytes, "f32"),
      panel = layout.panel, count = layout.count, tail = tails[1] or 0, rest = tails[2] or 0 })
  self:epilogue(fusion, area)
end

-- Operations whose step is one row operation: a function of the operation and of the columns of x, which returns the
-- constants and operands that do not follow (declared.lua), and the row operation's name, if it is another.
local single = {}

-- Adds some of them.
local function add_single(names, of) for _, name in ipairs(names) do single[name] = of end end

add_single({ "argmax", "copy", "own_ids", "quantise_blocks", "quantise_blocks_finely", "row_length", "sparsify",
  "topk_indices", "topk_values" }, function() end)

-- Each part of a row by itself, where a norm has heads.
add_single({ "layer_norm", "log_softmax", "normalise", "rms_norm", "share", "softmax_rows" }, function(op, cols)
  local heads = op.attributes.heads
  return heads and { head_dim = cols // heads }, op.op .. (op.attributes.each and "_each" or heads and "_heads" or "")
end)

function single.position_gates(op, cols) return { head_dim = cols // op.attributes.heads } end

function single.hadamard(op, cols)
  return { width = cols // op.attributes.heads, factor = 1 / math.sqrt(op.attributes.block) }
end

-- Results of some columns of x, or of x's on all ranks. The name is that of the constant with x's columns.
for op_name, name in pairs { gather_columns = "inputs", gather_ranks = "own", own_columns = "all" } do
  single[op_name] = function(op, cols) return { [name] = cols, cols = op.result.shape[#op.result.shape] } end
end

function single.embed_boxes(op)
  local count, width = table.unpack(op.operands.table.shape)
  local is_joined = op.operands.sizes ~= nil
  return { cols = op.result.shape[3], places = count // (is_joined and 2 or 4), width = width },
    is_joined and "join_boxes"
end

function single.pick(op, _, self, origin)
  local x, chosen = op.operands.x, op.operands.chosen
  local is_shared = #x.shape == 1
  return { used = chosen.shape[#chosen.shape], ldc = self:ld(chosen), ldx = is_shared and 0 or nil,
    x = is_shared and self:at(x, 0, 0, origin) or nil }
end

-- Their results are not in a trace, and nothing follows them in their fusion.
local untraced = words.set { "argmax", "copy", "own_ids" }

for name, of in pairs(single) do
  leading[name] = function(self, fusion, origin, block)
    local op = fusion.leading
    local x, area = op.operands.x, whole_rows(block, op.result.shape[#op.result.shape], origin)
    local cols = x and x.shape[#x.shape]
    local more, fn = of(op, cols, self, origin)
    self:row_of(fn or name, op, setmetatable({ cols = cols, result = fusion.result }, { __index = area }), more)
    if not untraced[name] then self:epilogue(fusion, area) end
  end
end

-- Lowers what adapters add to a product: rows of one sequence at a time, or rows that are each of another sequence.
function leading.adapt(self, fusion, origin, block)
  local op, o = fusion.leading, fusion.leading.operands
  local cols = op.result.shape[#op.result.shape]
  local all = self.storage[op.result.name].rows_per_sequence
  self:each_piece(all > 1 and all or nil, origin, block.first, block.count, function(row, count, of_piece)
    local sequence = all == 1 and row or of_piece.position and 0 or row // all
    self:row_of("adapt", op,
      { row = row, rows = count, column = 0, cols = cols, origin = of_piece, result = fusion.result },
      { ["in"] = o.inputs.shape[2], ranks = o.inputs.shape[1], ldr = self:ld(o.rows), lda = all == 1 and 1 or 0,
        r = self:at(o.rows, row, 0, of_piece), adapters = self:at(o.adapters, sequence, 0, of_piece) })
  end)
  self:epilogue(fusion, whole_rows(block, cols, origin))
end

-- Lowers an elementwise op without a product; the first of its operations loads its rows.
local function elementwise(self, fusion, origin, block)
  local op = fusion.leading
  local x = op.operands.x or op.operands.a
  local cols = x.shape[#x.shape]
  local own = maps.operation_of(op)
  if self.variant ~= "trace" then
    local operations = maps.operations_of(fusion)
    table.insert(operations, 1, own)
    return self:pass(fusion, operations, whole_rows(block, cols, origin), x)
  end
  self:map({ own }, fusion.result, whole_rows(block, cols, origin), x)
  self:epilogue(fusion, whole_rows(block, cols, origin))
end

for _, op in ipairs { "activate", "add", "clamp", "gate_rows", "logarithm", "multiply", "round", "scale", "softcap" } do
  leading[op] = elementwise
end

-- Lowers rotations. The tables of angles begin again with each sequence, or one row of them is for all.
function leading.rotate(self, fusion, origin, block)
  local op = fusion.leading
  local x, cosines = op.operands.x, op.operands.cosines
  local period, half = table.unpack(cosines.shape)
  local of_all = op.attributes.row
  local function angles(table_, row, of_piece)
    if of_all then return self:at(table_, of_all, 0, origin) end
    return self:at_position(table_, row % period, 0, of_piece)
  end
  self:each_piece(not of_all and period or nil, origin, block.first, block.count, function(row, count, of_piece)
    self:row("rotate", { rows = count, heads = op.attributes.heads, head_dim = x.shape[3] // op.attributes.heads,
      dimension = 2 * half, pairs = op.attributes.pairs and 1 or 0, ldx = self:ld(x), ldy = self:ld(fusion.result),
      ldr = of_all and 0 or half, cols = x.shape[3] },
      { y = self:at(fusion.result, row, 0, of_piece), x = self:at(x, row, 0, of_piece),
        cosines = angles(cosines, row, of_piece), sines = angles(op.operands.sines, row, of_piece) })
  end)
  self:epilogue(fusion, whole_rows(block, x.shape[3], origin))
end

-- True if a region of several blocks begins a sum with each.
local function begins_sums(region)
  return region.sum and (region.loop and region.loop.count or #region.blocks) > 1
end

-- Lowers the sum of all ranks' rows, or of the rows whose ids are each rank's own. The sum of a block of a region that
-- makes its rows only begins.
function leading.sum_ranks(self, fusion, origin, block)
  local op = fusion.leading
  local x, is_begun = op.operands.x, begins_sums(self.region)
  self:row_of(is_begun and "begin_sum" or op.operands.ids and "sum_own_rows" or "sum_ranks", op,
    whole_rows(block, x.shape[#x.shape], origin))
end

-- Ends the sums of a region's blocks. count: its rows in all.
local function end_sums(self, region, origin, count)
  local op = region.sum
  self:unit()
  self:row("end_sums", { rows = count, cols = op.result.shape[#op.result.shape], ldy = self:ld(op.result) },
    { y = self:at(op.result, 0, 0, origin) })
end

-- Lowers what one stage gives and another takes: all rows of a tensor.
local function cross(name, tensor_of)
  return function(self, fusion, origin, block)
    local tensor = tensor_of(fusion.leading)
    self:row(tensor.type == "i32" and name:gsub("output$", "integers") or name,
      { rows = block.count, cols = (grouping.row_shape(tensor)), ldy = self:ld(tensor) },
      { y = self:at(tensor, block.first, 0, origin) })
  end
end

for _, name in ipairs { "pass_on", "give_output" } do
  leading[name] = cross(name, function(op) return op.operands.x end)
end
for _, name in ipairs { "take_on", "take_output" } do
  leading[name] = cross(name, function(op) return op.result end)
end

-- True if a fusion is one unit whatever the rows of its block are.
local function is_whole(fusion) return fusion.panels ~= nil or fusion.leading.op == "group_rows" end

local function open_fusion(self, region, number, origin)
  local fusion, block = region.fusions[number], region.blocks[1]
  self.op_index, self.task = self.index_of[fusion.leading], number
  self.block = block
  self:note(equation(fusion, block))
  self:unit()
  origin.column = 0
  self:with_open({ rows = "rows" }, function() leading[fusion.leading.op](self, fusion, origin, block) end)
end

-- Lowers a region of rows whose number a call knows: a loop over blocks of these. Where workers divide a call, that
-- loop is around the phases; chunks are panels of a product, or rows of another operation.
local function open_region(self, region)
  local answer = region.loop.form == "wanted" and { "answer" } or nil
  local function origin()
    return { block_first = 0, unit_first = 0, over = { "row" }, pooled = { "row" }, answer = answer }
  end
  if not self.divided then
    self:loop(region.loop.form, region.loop, function()
      for number in ipairs(region.fusions) do open_fusion(self, region, number, origin()) end
    end)
    if not begins_sums(region) then return end
    local most = self.state.spec.call_rows
    return self:loop(region.loop.form, { form = region.loop.form, step = most, count = 1 }, function()
      self:with_open({ rows = "rows" }, function() end_sums(self, region, origin(), most) end)
    end)
  end
  for number, fusion in ipairs(region.fusions) do
    self.task = number
    local fields = { piece = self.state.plan.parameters.row_block, count = region.loop.count }
    local of_fusion = origin()
    if not is_whole(fusion) then of_fusion.within = { "slice" } end
    self:loop(is_whole(fusion) and "block" or "slices", fields, function()
      open_fusion(self, region, number, of_fusion)
    end)
  end
end

function rows:rows_region(region)
  if region.loop then return open_region(self, region) end
  for i, block in ipairs(region.blocks) do
    local origin = rows_origin(block)
    self.block_index = i
    for number, fusion in ipairs(region.fusions) do
      self.op_index, self.task = self.index_of[fusion.leading], (i - 1) * #region.fusions + number
      self:note(equation(fusion, block, region.rows))
      self.block = block
      for _, part in ipairs((is_whole(fusion) or fusion.leading == region.sum) and { block } or block.row_blocks) do
        self:unit()
        origin.unit_first, origin.column = part.first, 0
        leading[fusion.leading.op](self, fusion, origin, part)
      end
    end
  end
  self.block_index = nil
  if begins_sums(region) then end_sums(self, region, rows_origin(region.blocks[1]), region.rows) end
end

return rows
