-- storage.lua: decides how each tensor is stored: its form, row length, and whether it is written over another.
local all_regions = require("passes.common.regions")
local divide = require("passes.common.divide")
local each_op = require("passes.common.region_ops")
local forms = require("data.storage")
local grouping = require("passes.common.grouping")
local ops = require("data.ops")
local types = require("data.types")
local words = require("common.words")

local storage = {}

-- Returns the region that writes each tensor, and the regions that read it, in order.
local function region_uses(segments)
  local writer, readers = {}, {}
  for region, segment in all_regions(segments) do
    each_op(region, function(op)
      for _, tensor in pairs(op.operands) do
        readers[tensor.name] = readers[tensor.name] or {}
        -- all rows are kept until all ranks have met
        local reader = not ops.class(op).meeting and region or "a meeting"
        table.insert(readers[tensor.name], { region = reader, segment = segment })
      end
      writer[op.result.name] = { region = region, segment = segment }
    end)
  end
  return writer, readers
end

-- Returns the width of a tensor's rows and their number, of a sequence of one call. A tensor of a model that continues
-- has an axis of its own for the rows of a call, which are fewer than a sequence's.
local function rows_of_call(state, tensor)
  return grouping.row_shape(setmetatable({ shape = grouping.shape_of_call(tensor, state.spec) }, { __index = tensor }))
end

-- Returns the storage of a tensor that only its rounding op reads: the rows that one unit of work produces.
local function unit_storage(state, region, fusion, x)
  local p = state.plan.parameters
  local rows, width = region.most_rows, 0
  if fusion and fusion.panels then
    rows = region.blocks[1].count * (fusion.experts and ops.choices(x.groups) or 1)
    for _, each in ipairs(fusion.panels.widths) do width = math.max(width, each) end
  elseif fusion then
    rows, width = region.loop and region.blocks[1].count or math.min(p.row_block, region.blocks[1].count),
      x.shape[#x.shape]
  else
    width = x.shape[3] // region.scores.attributes.heads
  end
  local whole, rows_each = rows_of_call(state, x)
  return { form = "unit", type = x.type, width = whole, leading_dimension = types.whole_lines(width, x.type),
    rows_per_sequence = rows_each, tile_rows = rows, whole_batch = false }
end

-- Returns the tensors that are never stored, and tensors of which a unit of work stores its rows, with their storage:
-- only the op that rounds or quantises them reads these.
local function fused_and_of_units(state, segments, uses)
  local fused, of_units = {}, {}
  local function round(op, region, fusion, readers_here)
    local x = op and op.operands.x
    if x and not x.groups and uses[x.name] == readers_here and x.kind == "scratch" then
      of_units[x.name] = unit_storage(state, region, fusion, x)
    end
  end
  for region in all_regions(segments) do
    for _, fusion in ipairs(region.fusions) do
      if ops.class(fusion.leading).sends then fused[fusion.result.name] = true end
      if #fusion.epilogue > 0 then fused[fusion.leading.result.name] = true end
      for i = 1, #fusion.epilogue - 1 do fused[fusion.epilogue[i].result.name] = true end
      round(fusion.round, region, fusion, 1)
      if fusion.leading.op ~= "row_scale" then round(fusion.quantise, region, fusion, 2) end
      if fusion.sums then of_units[fusion.sums.name] = unit_storage(state, region, fusion, fusion.sums) end
    end
    if region.kind == "attention" then
      round(region.round, region, nil, 1)
      local own = grouping.readers(region)
      for i = 1, #region.ops - 1 do
        local name = region.ops[i].result.name
        fused[name] = region.ops[i] ~= region.weights and region.ops[i] ~= region.exact or uses[name] == own[name]
      end
    end
  end
  return fused, of_units
end

-- Returns the storage of a tensor that a unit of work does not keep for itself. is_adjacent: whether its rows are.
local function storage_of(state, tensor, is_fused, written, readers, is_adjacent)
  local here, crossing = readers ~= nil, false -- a tensor without readers is stored whole
  for _, reader in ipairs(readers or {}) do
    if reader.region ~= written.region then here = false end
    if reader.segment ~= written.segment then crossing = true end
  end
  local in_blocks = here and written.region.kind == "rows" and (written.region.loop or #written.region.blocks > 1)
  local form = is_fused and "fused" or in_blocks and "tile" or "full"
  local width, rows = rows_of_call(state, tensor)
  return { form = form, type = tensor.type, width = width,
    leading_dimension = is_adjacent and width
      or divide.leading_dimension(width, state.plan.parameters, tensor.type),
    rows_per_sequence = rows, whole_batch = crossing, unbatched = tensor.unbatched,
    tile_rows = form == "tile" and written.region.blocks[1].count or nil }
end

-- Returns the storage of an op's result in the order of experts: its rows' parts are adjacent, but those that only
-- products read are an odd number of lines apart. Rows of 4,096 bytes share few lines of a first-level cache.
local function grouped(state, op, region)
  local tensor = op.result
  local width, rows = rows_of_call(state, tensor)
  local used = ops.choices(tensor.groups)
  local part = width // used
  local is_whole = op.op == "spread" and part == types.whole_lines(part, tensor.type)
  local apart = is_whole and divide.leading_dimension(part, state.plan.parameters, tensor.type) or part
  return { form = "grouped", type = tensor.type, width = width, leading_dimension = used * apart,
    rows_per_sequence = rows, whole_batch = false, tile_rows = region.blocks[1].count }
end

-- Returns the storage of the order of choices.
local function groups(state, op, region)
  local width, rows = rows_of_call(state, op.result)
  return { form = "groups", type = "i32", width = width, leading_dimension = width, rows_per_sequence = rows,
    whole_batch = false, tile_rows = region.blocks[1].count, bounds = op.attributes.experts + 1 }
end

-- Plans where every tensor of the caller and every result is.
local function store(state, entry, segments, uses)
  local stored, tensors = state.plan.storage, state.graph.tensors
  local writer, readers = region_uses(segments)
  local fused, of_units = fused_and_of_units(state, segments, uses)
  local function external(name)
    local width, rows = rows_of_call(state, tensors[name])
    stored[name] = { form = "external", type = tensors[name].type, width = width, leading_dimension = width,
      rows_per_sequence = rows, whole_batch = true, unbatched = tensors[name].unbatched }
  end
  for _, name in ipairs(entry.inputs) do external(name) end
  for _, op in ipairs(entry.ops) do
    local name = op.result.name
    if op.result.kind == "output" then
      external(name)
    elseif op.op == "group_rows" then
      stored[name] = groups(state, op, writer[name].region)
    elseif op.result.groups and not fused[name] and not of_units[name] then
      stored[name] = grouped(state, op, writer[name].region)
    else
      stored[name] = ops.class(op).keeps and state.kept.of[name] or of_units[name]
        or storage_of(state, op.result, fused[name], writer[name], readers[name], ops.class(op).adjacent)
    end
  end
end

-- True if only attentions read a tensor, as their keys or values, a head at a time.
local function is_read_by_head(entry, tensor)
  for _, op in ipairs(entry.ops) do
    for name, operand in pairs(op.operands) do
      local role = ops.class(op).role
      local is_fitting = name == "k" and role == "makes_scores" or name == "v" and role == "reads_weights"
      if operand == tensor and not is_fitting then return false end
    end
  end
  return true
end

-- Lets attentions read keys and values in place that come in by head and become rows only by a change of order.
local function read_by_head(state, entry)
  for _, op in ipairs(entry.ops) do
    local a, result = op.operands.a, op.result
    if op.op == "join" and #a.shape == 4 and not op.operands.b and op.attributes.zeros == 0
      and is_read_by_head(entry, result) then
      state.plan.storage[result.name] = { form = "by_head", of = a, type = a.type, width = result.shape[3],
        leading_dimension = a.shape[4], rows_per_sequence = a.shape[3], whole_batch = true }
    end
  end
end

-- Lets products read windows in place, in the rows of another tensor, which then have no room at their ends.
local function read_windows(state, entry)
  local stored = state.plan.storage
  for _, op in ipairs(entry.ops) do
    local x, result = op.operands.x, op.result
    if op.op == "windows" then
      stored[x.name].leading_dimension = stored[x.name].width
      if state.spec.batch == 1 and result.kind == "scratch" then
        stored[result.name] = { form = "windows", of = x, type = x.type, width = result.shape[3],
          leading_dimension = op.attributes.stride * x.shape[3], rows_per_sequence = result.shape[2],
          whole_batch = true }
      end
    end
  end
end

-- Returns the widest panel and the most rows of a product's tiles.
local function tile_of(made)
  local widest, most = 0, 0
  for _, width in ipairs(made.fusion.panels.widths) do widest = math.max(widest, width) end
  for _, block in ipairs(made.region.blocks) do most = math.max(most, block.count) end
  return widest, most
end

-- True if no block divides rows of a sequence that must be packed together.
local function keeps_together(region, rows_per_sequence, together)
  return words.all(region.blocks, function(block) return block.first % rows_per_sequence % together == 0 end)
end

-- Returns the keys or values, in the form that the scores or the context of a region read; nil: as rows. If the region
-- alone reads a product's result, the product's tile is packed while it is in the cache, and never stored as rows;
-- else (separate) stored rows are packed before the scores.
local function packed_for(state, region, role, tensor, made, head_dim)
  local part = tensor.kept and state.kept.of[tensor.name]
  if part then
    region.open.window = part.window
    return part
  end
  local form, s = forms.read_as[role][tensor.type], state.plan.storage[tensor.name]
  if not form then return nil end
  local place = forms.forms[form].packed
  local packed = { form = form, type = tensor.type, width = s.width, rows_per_sequence = s.rows_per_sequence,
    key_block = state.plan.parameters.key_block, whole_batch = false }
  packed.head_dim = place.run and head_dim
  packed.scale = place.scales and region.scores.operands.k_scale
  local is_fitting = made and place.from_tile and keeps_together(made.region, s.rows_per_sequence, place.together)
  if region.open or not is_fitting then
    packed.buffer, packed.separate = region.scores.result.name .. place.separate, true
    return packed
  end
  local widest, most = tile_of(made)
  packed.buffer = tensor.name .. place.suffix
  packed.leading_dimension, packed.tile_rows = types.whole_lines(widest, tensor.type), most
  state.plan.storage[tensor.name] = packed
  return packed
end

-- Plans the keys and values that each attention reads.
local function pack_keys(state, segments, uses)
  local made_by, is_added = {}, {}
  local function packed(region, role, tensor, heads)
    local is_alone = uses[tensor.name] == 1 and tensor.kind == "scratch"
    return packed_for(state, region, role, tensor, is_alone and made_by[tensor.name], tensor.shape[3] // heads)
  end
  for region in all_regions(segments) do
    for _, fusion in ipairs(region.fusions) do
      local made = fusion.panels and { fusion = fusion, region = region }
      local is_of_unit = fusion.round and forms.is_of_unit(state.plan.storage[fusion.result.name])
      if made and is_of_unit then made_by[fusion.round.result.name] = made end
      if made and not fusion.round then made_by[fusion.result.name] = made end
    end
    if region.kind == "attention" then
      local a = region.context.attributes
      region.keys = packed(region, "keys", region.scores.operands.k, a.kv_heads or a.heads)
      region.values = packed(region, "values", region.context.operands.v, a.kv_heads or a.heads)
      if region.open and region.open.continues and not region.open.of_source then
        region.open.adds, is_added[region.keys] = not is_added[region.keys], true
      end
    end
  end
end

-- Sets the outputs that each panel's kernel makes. Rows of the caller and parts of rows have no capacity for more. Each
-- panel of a unit's rows has a tile of its own.
local function pad_products(state, segments)
  for region in all_regions(segments) do
    for _, fusion in ipairs(region.fusions) do
      local s, widths = state.plan.storage[(fusion.sums or fusion.result).name], fusion.panels and fusion.panels.widths
      local has_room = forms.forms[s.form].class ~= "caller" and s.form ~= "grouped"
      local pad = has_room and state.plan.parameters.pad or 1
      if widths and forms.is_of_unit(s) then
        fusion.outputs = words.map(widths, function(width) return words.round_up(width, pad) end)
      elseif widths then
        fusion.outputs = state.plan.memoise("outputs", divide.padded, widths, s.leading_dimension, pad)
      end
    end
  end
end

-- Lets an op write over its operand if its class allows it, nobody reads that again, and both are stored alike.
local function in_place(state, entry, uses)
  for _, op in ipairs(entry.ops) do
    local x = op.operands.x
    local from, to = x and state.plan.storage[x.name], state.plan.storage[op.result.name]
    local are_alike = from and from.form == to.form and forms.forms[to.form].may_be_over
    if ops.class(op).in_place and x.kind == "scratch" and op.result.kind == "scratch" and uses[x.name] == 1 then
      if are_alike and from.type == to.type and from.whole_batch == to.whole_batch
        and from.leading_dimension == to.leading_dimension then
        to.over = x.name
      end
    elseif ops.class(op).in_place_of_floats and x.kind == "scratch" and uses[x.name] == 2 then -- and its scales'
      if are_alike and forms.rows(to).private then -- else the floats, no longer needed, would live on
        to.over = x.name
        to.leading_dimension = types.elements(types.bytes(from.leading_dimension, "f32"), to.type)
      end
    end
  end
end

--- Fills state.plan.storage, and the packed keys and values of attentions and the outputs of products with it.
--- uses: of grouping.readers
function storage.decide(state, entry, segments, uses)
  store(state, entry, segments, uses)
  read_by_head(state, entry)
  read_windows(state, entry)
  pack_keys(state, segments, uses)
  pad_products(state, segments)
  in_place(state, entry, uses)
end

return storage
