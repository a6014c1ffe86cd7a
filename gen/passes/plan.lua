-- plan.lua: decides how a graph is computed: fusion, tiles, mask blocks and storage.
-- Fusion means which ops are another's epilogue; tiles have panels, K blocks and token blocks; products have
-- strips and prefetch. Addresses are decided later.
--
-- Before: state.spec, state.graph, state.parameters, state.weights.layouts. After: state.plan =
--   parameters   the tile parameters of all products alike
--   storage      tensor -> { form, type (of its elements), leading_dimension, rows_per_sequence, whole_batch,
--                unbatched }
--                form: external (the caller's memory), full, tile (one block of it at a time), transposed (keys, in
--                  panels of key_block), key_pairs (the same in bf16), value_pairs (values in bf16, rows in pairs),
--                  unit (f32 that is stored rounded: the rows that one unit of work produces), fused (never stored),
--                  by_head (keys or values of `of`, an input [batch][heads][rows][head_dim], read in place)
--   segments     { { name, micro_batch, repeats, sections = { { name, regions } } } }
--                regions: { kind, fusions, blocks } of rows, with blocks of row_block rows for row operations; the
--                  regions of attention.lua; or { kind, op, row_blocks }. A fusion that is a product has panels,
--                  outputs (of each panel's kernel), k_blocks and products (products.lua); so has an attention
local alike = require("common.alike")
local budget = require("passes.common.budget")
local divide = require("passes.common.divide")
local grouping = require("passes.common.grouping")
local ops = require("data.ops")
local products = require("passes.plan.products")
local tuning = require("passes.common.tuning")
local types = require("data.types")
local words = require("common.words")
local attention = require("passes.plan.attention")
local all_regions = require("passes.common.regions")

local plan = {}

-- Returns a fusion; its field `round` or `quantise` is the op of that name which ends it, if one does.
local function fusion_of(state, leading, epilogue, ends, rows)
  local fusion = { leading = leading, epilogue = epilogue, ends = ends,
    result = #epilogue > 0 and epilogue[#epilogue].result or leading.result }
  local last = ends[#ends]
  if last then fusion[last.op] = last end
  if ops.class(leading).product then
    local weight = leading.operands.weight
    fusion.types = types.product(weight.type, leading.operands.x.type)
    fusion.sums = fusion.types.c ~= "f32" and leading.result or nil
    fusion.key = tuning.key(leading, epilogue, rows)
    local own = state.parameters.of(fusion.key, weight)
    fusion.panels = state.weights.layouts[weight.name]
    own.panel = fusion.panels.panel
    fusion.k_blocks = divide.k_blocks(weight.shape[2], own.k_block)
    fusion.parameters = own
  end
  return fusion
end

--- Returns the fusion whose token block its region takes: the first of the largest products; nil if there is none.
function plan.main_product(region)
  local main, most = nil, 0
  for _, fusion in ipairs(region.fusions) do
    local shape = fusion.key and fusion.leading.operands.weight.shape
    if shape and shape[1] * shape[2] > most then main, most = fusion, shape[1] * shape[2] end
  end
  return main
end

-- Adds the ops of an attention, from its scores to its context, to a region: scores, chain (the ops on scores: the
-- softmax and others before and after it), last_scores (the softmax's operand), weights (the last of the chain),
-- context.
local function attention_region(state, region, list, at, uses)
  region.scores, region.chain, region.ops = list[at], {}, { list[at] }
  local i = at + 1
  while ops.class(list[i]).role ~= "reads_weights" do
    local class = ops.class(list[i])
    region.chain[#region.chain + 1] = list[i]
    if class.role == "scores_to_weights" then region.last_scores = list[i - 1] end
    region.ops[#region.ops + 1] = list[i]
    i = i + 1
  end
  region.weights, region.context = list[i - 1], list[i]
  region.exact = region.weights.op == "round_weights" and list[i - 2] or region.weights -- before they are rounded
  region.ops[#region.ops + 1] = list[i]
  local next_op = list[i + 1]
  if next_op and ops.class(next_op).ends_epilogue and next_op.operands.x == region.context.result then
    i, region.round = i + 1, next_op
  end
  local shape, a = region.scores.result.shape, region.scores.attributes
  local in_chunks = attention.may_come_in_chunks(region, uses)
  local function make() return attention.blocks(region.scores, state.plan.parameters, in_chunks) end
  local blocks = state.plan.memoise("blocks", make, shape[3], shape[4], a.causal, a.left, a.right, a.prefix, a.offset,
    a.extra, in_chunks, region.scores.operands.q.type)
  for key, value in pairs(blocks) do region[key] = value end
  local v, heads = region.context.operands.v, region.context.attributes.kv_heads or region.context.attributes.heads
  region.chunk_ld = types.whole_lines(v.shape[3] // heads, v.type) -- row length of a chunk's context
  return i
end

-- Returns one section's ops as regions: runs of row-wise fusions over equally many rows, attention, and
-- whole-sequence ops.
local function regions_of(state, list, uses, segment)
  local regions = {}
  local function region(kind, rows)
    local last = regions[#regions]
    if kind == "rows" and last and last.kind == "rows" and last.rows == rows then return last end
    regions[#regions + 1] = { kind = kind, fusions = {}, rows = rows }
    return regions[#regions]
  end
  local i = 1
  while i <= #list do
    local op = list[i]
    local kind = ops.class(op).region or "sequence"
    if kind == "rows" then
      local epilogue, ends = grouping.epilogue(list, i, uses)
      local rows = grouping.rows(op, segment)
      local r = region("rows", rows)
      r.fusions[#r.fusions + 1] = fusion_of(state, op, epilogue, ends, rows)
      i = i + 1 + #epilogue + #ends
    elseif kind == "attention" then
      i = attention_region(state, region("attention"), list, i, uses) + 1
    else
      local r = region("sequence")
      r.op, r.ops = op, { op }
      r.row_blocks = ops.class(op).in_row_blocks
        and divide.row_blocks(0, op.result.shape[2], state.plan.parameters.row_block)
      i = i + 1
    end
  end
  for _, r in ipairs(regions) do
    local main = r.kind == "rows" and plan.main_product(r)
    if r.kind == "rows" then
      r.blocks = divide.blocks(r.rows, main and main.parameters.token_block or state.plan.parameters.token_block)
      for _, block in ipairs(r.blocks) do
        block.row_blocks = divide.row_blocks(block.first, block.count, state.plan.parameters.row_block)
      end
    end
  end
  return regions
end

local function segments_of(state, entry, uses)
  local spec, segments = state.spec, grouping.segments(state.spec, entry, state.plan.parameters)
  for _, segment in ipairs(segments) do
    local calls = 0
    for number, section in ipairs(segment.sections) do
      section.regions = regions_of(state, section.ops, uses, segment)
      calls = calls + budget.calls(section.regions)
      if calls > spec.max_lines then budget.hold(state, calls * #segment.sections // number) end -- layers are alike
    end
  end
  return segments
end

-- Returns the region that writes each tensor, and the regions that read it, in order.
local function region_uses(segments)
  local writer, readers = {}, {}
  local function visit(region, op, segment)
    for _, tensor in pairs(op.operands) do
      readers[tensor.name] = readers[tensor.name] or {}
      table.insert(readers[tensor.name], { region = region, segment = segment })
    end
    writer[op.result.name] = { region = region, segment = segment }
  end
  for region, segment in all_regions(segments) do
    for _, fusion in ipairs(region.fusions) do
      visit(region, fusion.leading, segment)
      for _, op in ipairs(fusion.epilogue) do visit(region, op, segment) end
      for _, op in ipairs(fusion.ends) do visit(region, op, segment) end
    end
    for _, op in ipairs(region.ops or {}) do visit(region, op, segment) end
    if region.round then visit(region, region.round, segment) end
  end
  return writer, readers
end

-- Returns the storage of a tensor that only its rounding op reads: the rows that one unit of work produces.
local function unit_storage(state, region, fusion, x)
  local p = state.plan.parameters
  local rows, width = region.most_rows, 0
  if fusion and fusion.panels then
    rows = region.blocks[1].count
    for _, each in ipairs(fusion.panels.widths) do width = math.max(width, each) end
  elseif fusion then
    rows, width = math.min(p.row_block, region.blocks[1].count), x.shape[#x.shape]
  else
    width = x.shape[3] // region.scores.attributes.heads
  end
  local whole, rows_each = grouping.row_shape(x)
  return { form = "unit", type = x.type, width = whole, leading_dimension = types.whole_lines(width, x.type),
    rows_per_sequence = rows_each, tile_rows = rows, whole_batch = false }
end

local function store(state, entry, segments, uses)
  local storage, tensors = state.plan.storage, state.graph.tensors
  local writer, readers = region_uses(segments)
  local fused, of_units = {}, {}
  local function round(op, region, fusion, readers_here)
    local x = op and op.operands.x
    if x and uses[x.name] == readers_here and x.kind == "scratch" then
      of_units[x.name] = unit_storage(state, region, fusion, x)
    end
  end
  for region in all_regions(segments) do
    for _, fusion in ipairs(region.fusions) do
      if #fusion.epilogue > 0 then fused[fusion.leading.result.name] = true end
      for i = 1, #fusion.epilogue - 1 do fused[fusion.epilogue[i].result.name] = true end
      round(fusion.round, region, fusion, 1)
      if fusion.leading.op ~= "row_scale" then round(fusion.quantise, region, fusion, 2) end
      if fusion.sums then of_units[fusion.sums.name] = unit_storage(state, region, fusion, fusion.sums) end
    end
    if region.kind == "attention" then
      round(region.round, region, nil, 1)
      for i = 1, #region.ops - 1 do
        local name = region.ops[i].result.name
        fused[name] = region.ops[i] ~= region.weights and region.ops[i] ~= region.exact or uses[name] == 1
      end
    end
  end
  local function external(name)
    local width, rows = grouping.row_shape(tensors[name])
    storage[name] = { form = "external", type = tensors[name].type, width = width, leading_dimension = width,
      rows_per_sequence = rows, whole_batch = true, unbatched = tensors[name].unbatched }
  end
  for _, name in ipairs(entry.inputs) do external(name) end
  for _, op in ipairs(entry.ops) do
    local tensor = op.result
    local name = tensor.name
    if tensor.kind == "output" then
      external(name)
    elseif of_units[name] then
      storage[name] = of_units[name]
    else
      local written = writer[name]
      local here, crossing = readers[name] ~= nil, false -- a tensor without readers is stored whole
      for _, reader in ipairs(readers[name] or {}) do
        if reader.region ~= written.region then here = false end
        if reader.segment ~= written.segment then crossing = true end
      end
      local form = fused[name] and "fused" or "full"
      if form == "full" and here and written.region.kind == "rows" and #written.region.blocks > 1 then form = "tile" end
      local width, rows = grouping.row_shape(tensor)
      storage[name] = { form = form, type = tensor.type, width = width,
        leading_dimension = divide.leading_dimension(width, state.plan.parameters, tensor.type),
        rows_per_sequence = rows, whole_batch = crossing, unbatched = tensor.unbatched,
        tile_rows = form == "tile" and written.region.blocks[1].count or nil }
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

-- Returns the widest panel and the most rows of a product's tiles.
local function tile_of(made)
  local widest, most = 0, 0
  for _, width in ipairs(made.fusion.panels.widths) do widest = math.max(widest, width) end
  for _, block in ipairs(made.region.blocks) do most = math.max(most, block.count) end
  return widest, most
end

-- True if no pair of rows of a sequence is divided between two blocks.
local function keeps_pairs(region, rows_per_sequence)
  for _, block in ipairs(region.blocks) do if block.first % rows_per_sequence % 2 > 0 then return false end end
  return true
end

-- Plans the transposed keys that an attention reads, in panels of key_block. If it alone reads a product's result,
-- the product's tile is transposed while it is in the cache, and never stored as rows; else (separate) before the
-- scores. In bf16 both keys and values are read in pairs, which are made in the same way.
local function transpose_keys(state, segments, uses)
  local storage, p = state.plan.storage, state.plan.parameters
  local made_by = {}
  for region in all_regions(segments) do
    for _, fusion in ipairs(region.fusions) do
      local made = fusion.panels and { fusion = fusion, region = region }
      local is_of_units = fusion.round and storage[fusion.result.name].form == "unit"
      if made and is_of_units then made_by[fusion.round.result.name] = made end
      if made and not fusion.round then made_by[fusion.result.name] = made end
    end
    local k = region.kind == "attention" and region.scores.operands.k
    if k then
      local made = uses[k.name] == 1 and k.kind == "scratch" and made_by[k.name]
      local s = storage[k.name]
      region.keys = { buffer = region.scores.result.name .. "@keys", separate = true, type = k.type,
        key_block = p.key_block, width = s.width, rows_per_sequence = s.rows_per_sequence }
      if made then
        local widest, most = tile_of(made)
        s = { form = k.type == "bf16" and "key_pairs" or "transposed", type = k.type,
          buffer = k.name .. "@transposed", width = s.width,
          rows_per_sequence = s.rows_per_sequence, whole_batch = false, key_block = p.key_block,
          leading_dimension = types.whole_lines(widest, k.type), tile_rows = most }
        storage[k.name], region.keys = s, s
      end
    end
    local v = region.kind == "attention" and region.context.operands.v
    if v and v.type == "bf16" then
      local s = storage[v.name]
      local made = uses[v.name] == 1 and v.kind == "scratch" and made_by[v.name]
      local ld = types.whole_lines(s.width, "f32")
      region.values = { buffer = region.scores.result.name .. "@values", separate = true, type = v.type, ld = ld,
        width = s.width, rows_per_sequence = s.rows_per_sequence }
      if made and keeps_pairs(made.region, s.rows_per_sequence) then
        local widest, most = tile_of(made)
        s = { form = "value_pairs", type = v.type, buffer = v.name .. "@pairs", width = s.width, ld = ld,
          rows_per_sequence = s.rows_per_sequence, whole_batch = false,
          leading_dimension = types.whole_lines(widest, v.type), tile_rows = most }
        storage[v.name], region.values = s, s
      end
    end
  end
end

-- Sets the outputs that each panel's kernel makes. The caller's rows have no capacity for more; a tile of keys has
-- one panel.
local function pad_products(state, segments)
  for region in all_regions(segments) do
    for _, fusion in ipairs(region.fusions) do
      local storage = state.plan.storage[(fusion.sums or fusion.result).name]
      local pad, widths = storage.form == "external" and 1 or state.plan.parameters.pad, fusion.panels
        and fusion.panels.widths
      if widths and (storage.form == "transposed" or storage.form == "unit") then
        fusion.outputs = {}
        for i, width in ipairs(widths) do fusion.outputs[i] = words.round_up(width, pad) end
      elseif widths then
        fusion.outputs = divide.padded(widths, storage.leading_dimension, pad)
      end
    end
  end
end

-- Lets an op write over its operand if its class allows it, nobody reads that again, and both are stored alike.
local function in_place(state, entry)
  local storage = state.plan.storage
  local uses = grouping.readers(entry)
  for _, op in ipairs(entry.ops) do
    local x = op.operands.x
    if ops.class(op).in_place and x.kind == "scratch" and op.result.kind == "scratch" and uses[x.name] == 1 then
      local from, to = storage[x.name], storage[op.result.name]
      local stored = from.form ~= "fused" and from.form ~= "unit"
      if from.form == to.form and stored and from.type == to.type and from.whole_batch == to.whole_batch then
        to.over = x.name
      end
    elseif ops.class(op).in_place_of_floats and x.kind == "scratch" and uses[x.name] == 2 then -- and its scales'
      local from, to = storage[x.name], storage[op.result.name]
      if from.form == "tile" and to.form == "tile" then -- else the floats, no longer needed, would live on
        to.over = x.name
        to.leading_dimension = types.elements(types.bytes(from.leading_dimension, "f32"), to.type)
      end
    end
  end
end

-- True if n equal shares keep `threads` workers busy nine tenths of the time.
local function divides(n, threads)
  return n / (threads * ((n + threads - 1) // threads)) >= 0.9
end

-- True if no two workers share a sequence when each takes a run of micro-batches. The last micro-batch ends with the
-- batch, and so may begin within the one before.
local function apart(segment, threads, batch)
  local last = segment.repeats - (threads - 1) * segment.repeats // threads -- micro-batches of the last worker
  return batch % segment.micro_batch == 0 or last >= 2
end

-- Sets the axis that workers divide, for each number of them: micro-batches, with a barrier only at the end; in a
-- region of rows the blocks; else the panels of each product (heads and query blocks of an attention), with a barrier
-- after each.
local function partition(state, segments)
  local numbers = { 2, table.unpack(state.spec.workers) } -- 2: every model is told whether a second worker helps
  for _, segment in ipairs(segments) do
    segment.partition = {}
    for _, threads in ipairs(numbers) do
      segment.partition[threads] = segment.repeats > 1 and divides(segment.repeats, threads)
        and apart(segment, threads, state.spec.batch) and "micro_batches" or "phases"
    end
    for _, section in ipairs(segment.sections) do
      for _, region in ipairs(section.regions) do
        region.partition = {}
        for _, threads in ipairs(numbers) do
          region.partition[threads] = region.kind == "rows" and divides(#region.blocks, threads) and "blocks"
            or "panels"
        end
      end
    end
  end
end

function plan.run(state)
  state.plan = { storage = {}, parameters = state.parameters.common, memoise = alike.memoiser() }
  local entry = state.graph.entry
  local uses = grouping.readers(entry)
  local segments = segments_of(state, entry, uses)
  store(state, entry, segments, uses)
  read_by_head(state, entry)
  transpose_keys(state, segments, uses)
  pad_products(state, segments)
  products.decide(state, segments)
  in_place(state, entry)
  partition(state, segments)
  state.plan.segments = segments
end

local function fusion_text(fusion)
  local parts = { fusion.leading.op }
  for _, op in ipairs(fusion.epilogue) do parts[#parts + 1] = op.op end
  for _, op in ipairs { fusion.round or fusion.quantise } do parts[#parts + 1] = op.op end
  local text = ("%s = %s"):format((fusion.round or fusion.quantise or fusion).result.name, table.concat(parts, " + "))
  if fusion.panels then
    local k, p = fusion.k_blocks, fusion.parameters
    if fusion.types ~= types.f32_product then text = ("%s of %s"):format(text, fusion.types.a) end
    if p.kernels == "c" then
      return ("%s   panels %s, in C%s"):format(text, table.concat(fusion.panels.widths, " "),
        p.fetch > 0 and (", %d panel%s ahead"):format(p.fetch, p.fetch == 1 and "" or "s") or "")
    end
    text = text .. ("   panels %s, K %d x %d%s, %s"):format(table.concat(fusion.panels.widths, " "), k.count, k.size,
      k.tail > 0 and " + " .. k.tail or "", p.k_order)
    if p.fetch > 0 then
      text = text .. (", %d rows a call, %d K panels of %d inputs ahead"):format(p.call_rows, p.fetch, p.k_panel)
    end
  end
  return text
end

local function blocks_text(blocks)
  local sizes = {}
  for i, block in ipairs(blocks) do sizes[i] = block.count end
  return table.concat(sizes, " ")
end

--- Returns parameters, storage, then segments, sections, regions and fusions as text.
function plan.dump(state)
  local lines = {}
  local p = state.plan
  for _, name in ipairs(words.sorted_keys(p.parameters)) do
    lines[#lines + 1] = ("parameter %s = %s"):format(name, p.parameters[name])
  end
  for _, name in ipairs(state.graph.order) do
    local s = p.storage[name]
    if s then
      local type = (s.type == "f32" or s.type == "i32") and "" or s.type .. " "
      lines[#lines + 1] = ("storage %s: %s%s%s%s%s"):format(name, type, s.form,
        s.form ~= "fused" and (" leading dimension %d"):format(s.leading_dimension) or "",
        s.whole_batch and s.form ~= "external" and " whole batch" or "", s.over and " over " .. s.over or "")
    end
  end
  lines[#lines + 1] = "entry " .. state.graph.entry.name
  for _, segment in ipairs(p.segments) do
    lines[#lines + 1] = ("  segment %s: %d x %d sequences"):format(segment.name, segment.repeats, segment.micro_batch)
    for _, section in ipairs(segment.sections) do
      lines[#lines + 1] = "    section " .. section.name
      for _, region in ipairs(section.regions) do
        if region.kind == "rows" then
          lines[#lines + 1] = "      rows in blocks of " .. blocks_text(region.blocks)
          for _, fusion in ipairs(region.fusions) do lines[#lines + 1] = "        " .. fusion_text(fusion) end
        elseif region.kind == "attention" then
          lines[#lines + 1] = "      attention " .. region.context.result.name
          attention.dump(region, lines)
        else
          lines[#lines + 1] = ("      sequence %s = %s"):format(region.op.result.name, region.op.op)
        end
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return plan
