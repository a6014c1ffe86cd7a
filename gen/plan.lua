-- plan: graph -> planned graph. Fusion (which ops ride on which product), tiles (panels, K
-- blocks, token blocks), which mask blocks exist, the packed layout of weights, and how
-- each tensor is stored. No addresses and no call order are decided here.
--
-- Before: state.spec, state.graph.  After: state.plan =
--   parameters   the tile parameters of all products alike; parameters_of(key): those of one (tuning.lua)
--   layouts      weight -> { panel, count, tails, widths } or { rows = true }
--   storage      tensor -> { form, leading_dimension, rows_per_sequence, whole_batch, shared (no batch at all) }
--                form: external (the caller's memory), full, tile (one block of it at a time), transposed (keys, in
--                panels of key_block), fused (never stored)
--   entries      { name, segments = { { name, group, repeats, sections = { { name, regions } } } } }
local budget = require("budget")
local tuning = require("tuning")
local words = require("words")
local attention = require("plan_attention")

local plan = {}

--- Splits `outputs` into panels of `panel` and up to two tails. A remainder of at most one vector runs badly
--- (libxsmm leaves most of a register block idle), so the last full panel gives it 16 outputs.
function plan.panels(outputs, panel)
  local count, rest = outputs // panel, outputs % panel
  local tails = {}
  if rest > 0 and rest <= 16 and count > 0 and panel > 32 then
    count = count - 1
    tails = { panel - 16, rest + 16 }
  elseif rest > 0 then
    tails = { rest }
  end
  local widths = {}
  for _ = 1, count do widths[#widths + 1] = panel end
  for _, tail in ipairs(tails) do widths[#widths + 1] = tail end
  return { panel = panel, count = count, tails = tails, widths = widths }
end

--- Blocks of K: { size, count, tail }. A divisor of K near the wanted block avoids a tail of its own.
function plan.k_blocks(k, wanted)
  if k <= 2 * wanted then return { size = k, count = 1, tail = 0 } end
  local best
  for size = wanted // 2, wanted * 3 // 2 do
    if size > 0 and k % size == 0 and (not best or math.abs(size - wanted) < math.abs(best - wanted)) then
      best = size
    end
  end
  if best then return { size = best, count = k // best, tail = 0 } end
  return { size = wanted, count = k // wanted, tail = k % wanted }
end

--- n rows in blocks of at most `most`, of equal sizes as far as that goes: { first, count }.
function plan.blocks(n, most)
  local number = (n + most - 1) // most
  local list, first = {}, 0
  for i = 1, number do
    local count = n // number + (i <= n % number and 1 or 0)
    list[i] = { first = first, count = count }
    first = first + count
  end
  return list
end

--- The leading dimension of a stored tensor: rows on cache lines; an odd number of lines where rows are long (the
--- parameter odd_lines), for else the rows of a tile share a few sets of the first-level cache.
local function leading_dimension(width, p)
  local ld = words.round_up(width, 16)
  if ld >= p.odd_lines and ld // 16 % 2 == 0 then ld = ld + 16 end
  return ld
end

plan.leading_dimension = leading_dimension

local row_heads = words.set { "linear", "embed", "layer_norm", "rms_norm", "normalise", "rotate", "activate", "add",
  "multiply", "copy", "argmax" }
local rides = words.set { "activate", "add", "multiply" }
local carriers = words.set { "linear", "embed", "layer_norm", "rms_norm", "activate", "add", "multiply" }
local attention_heads = words.set { "scores", "additive_scores" }
local weightings = words.set { "softmax", "weigh" }

-- The width of the panels that a table of relative positions is packed in.
local TABLE_PANEL = 64

-- How often each tensor is read, and by which op last.
local function consumers(entry)
  local count, last = {}, {}
  for _, op in ipairs(entry.ops) do
    for _, tensor in pairs(op.operands) do
      count[tensor.name] = (count[tensor.name] or 0) + 1
      last[tensor.name] = op
    end
  end
  return count, last
end

-- The ops behind a head that ride on its tile while it is hot: elementwise, each the only reader of the one before.
local function epilogue(list, at, uses)
  local riders = {}
  local result = list[at].result
  if not carriers[list[at].op] then return riders end
  for i = at + 1, #list do
    local op = list[i]
    local chained = op.operands.x == result or op.operands.a == result
    if not (rides[op.op] and chained and uses[result.name] == 1 and result.kind == "scratch") then break end
    if op.operands.b == result then break end
    riders[#riders + 1] = op
    result = op.result
  end
  return riders
end

local function group_of(state, head, riders, rows)
  local group = { head = head, riders = riders, result = #riders > 0 and riders[#riders].result or head.result }
  if head.op == "linear" then
    local weight, layouts = head.operands.weight, state.plan.layouts
    group.key = tuning.key(head, riders, rows)
    local own = state.plan.parameters_of(group.key, weight)
    layouts[weight.name] = layouts[weight.name] or state.plan.alike("panels", plan.panels, weight.shape[1], own.panel)
    group.panels = layouts[weight.name]
    group.k_blocks = plan.k_blocks(weight.shape[2], own.k_block)
    group.parameters = own
  end
  return group
end

--- The group whose token block its region takes: the largest product, the first of those; nil where there is none.
function plan.leader(region)
  local leader, most = nil, 0
  for _, group in ipairs(region.groups) do
    local shape = group.key and group.head.operands.weight.shape
    if shape and shape[1] * shape[2] > most then leader, most = group, shape[1] * shape[2] end
  end
  return leader
end

-- [batch, ..., width]: a row's width, and the rows that belong to one sequence (of a shared tensor, which has no batch,
-- all of them). Integers (ids, lengths, labels) are one a row.
local function row_shape(tensor)
  local width = tensor.type == "f32" and tensor.shape[#tensor.shape] or 1
  local rows = 1
  for i = tensor.shared and 1 or 2, #tensor.shape do rows = rows * tensor.shape[i] end
  return width, (#tensor.shape > 1 or tensor.shared) and rows // width or 1
end

-- The ops of an attention, from its scores to its context: scores, chain (what is done to them, the softmax and what
-- follows it), last_scores (what the softmax reads), weights (the last of the chain), context.
local function attention_region(state, region, list, at, uses)
  region.scores, region.chain, region.ops = list[at], {}, { list[at] }
  local i = at + 1
  while list[i].op ~= "context" do
    region.chain[#region.chain + 1] = list[i]
    if weightings[list[i].op] then region.last_scores = list[i - 1] end
    region.ops[#region.ops + 1] = list[i]
    local table_ = list[i].op == "add_relative" and list[i].operands.table
    if table_ then
      state.plan.layouts[table_.name] = state.plan.layouts[table_.name]
        or state.plan.alike("panels", plan.panels, table_.shape[1], TABLE_PANEL)
    end
    i = i + 1
  end
  region.weights, region.context = list[i - 1], list[i]
  region.ops[#region.ops + 1] = list[i]
  local shape, a = region.scores.result.shape, region.scores.attributes
  local in_pieces = attention.may_come_in_pieces(region, uses)
  local function make() return attention.blocks(region.scores, state.plan.parameters, in_pieces) end
  local blocks = state.plan.alike("blocks", make, shape[3], shape[4], a.causal, a.left, a.right, a.prefix, a.offset,
    a.extra, in_pieces)
  for key, value in pairs(blocks) do region[key] = value end
  return i
end

-- One section's ops as regions: runs of row-wise groups over as many rows, attention, and whole-sequence ops.
local function regions_of(state, list, uses, sequences)
  local regions = {}
  local function region(kind, rows)
    local last = regions[#regions]
    if kind == "rows" and last and last.kind == "rows" and last.rows == rows then return last end
    regions[#regions + 1] = { kind = kind, groups = {}, rows = rows }
    return regions[#regions]
  end
  local i = 1
  while i <= #list do
    local op = list[i]
    if row_heads[op.op] then
      local riders = epilogue(list, i, uses)
      local _, rows_each = row_shape(op.result)
      local rows = sequences * rows_each
      local r = region("rows", rows)
      r.groups[#r.groups + 1] = group_of(state, op, riders, rows)
      i = i + 1 + #riders
    elseif attention_heads[op.op] then
      i = attention_region(state, region("attention"), list, i, uses) + 1
    else
      local r = region("sequence")
      r.op, r.ops = op, { op }
      i = i + 1
    end
  end
  for _, r in ipairs(regions) do
    local leader = r.kind == "rows" and plan.leader(r)
    if r.kind == "rows" then
      r.blocks = plan.blocks(r.rows, leader and leader.parameters.token_block or state.plan.parameters.token_block)
    end
  end
  return regions
end

-- Sequences are taken together until they fill a token block: products of few rows waste a weight's journey.
local function group_size(spec, p)
  return math.max(1, math.min(spec.batch, p.group_tokens // spec.seq))
end

local function segments_of(state, entry)
  local spec, p = state.spec, state.plan.parameters
  local uses = consumers(entry)
  local group = group_size(spec, p)
  local segments = {
    { name = "sequences", group = group, rows = group * spec.seq, repeats = (spec.batch + group - 1) // group },
    { name = "pooled", group = spec.batch, rows = spec.batch, repeats = 1 },
  }
  local pooled = false
  local ops_of = { {}, {} }
  for _, op in ipairs(entry.ops) do
    local list = ops_of[pooled and 2 or 1]
    list[#list + 1] = op
    if op.op == "pool" then pooled = true end
  end
  local kept = {}
  for i, segment in ipairs(segments) do
    segment.sections = {}
    local sections = {}
    for _, op in ipairs(ops_of[i]) do
      local name = i == 1 and op.section or "pooled"
      if not sections[name] then
        sections[name] = { name = name, ops = {} }
        segment.sections[#segment.sections + 1] = sections[name]
      end
      table.insert(sections[name].ops, op)
    end
    local calls = 0
    for number, section in ipairs(segment.sections) do
      section.regions = regions_of(state, section.ops, uses, segment.group)
      calls = calls + budget.calls(section.regions)
      if calls > spec.max_lines then budget.hold(state, calls * #segment.sections // number) end -- layers are alike
    end
    if #segment.sections > 0 then kept[#kept + 1] = segment end
  end
  return kept
end

-- Which region writes and which regions read each tensor, in order.
local function region_uses(segments)
  local writer, readers = {}, {}
  local function visit(region, op, segment)
    for _, tensor in pairs(op.operands) do
      readers[tensor.name] = readers[tensor.name] or {}
      table.insert(readers[tensor.name], { region = region, segment = segment })
    end
    writer[op.result.name] = { region = region, segment = segment }
  end
  for _, segment in ipairs(segments) do
    for _, section in ipairs(segment.sections) do
      for _, region in ipairs(section.regions) do
        for _, group in ipairs(region.groups) do
          visit(region, group.head, segment)
          for _, rider in ipairs(group.riders) do visit(region, rider, segment) end
        end
        for _, op in ipairs(region.ops or {}) do visit(region, op, segment) end
      end
    end
  end
  return writer, readers
end

local function store(state, entry, segments, uses)
  local storage, tensors = state.plan.storage, state.graph.tensors
  local writer, readers = region_uses(segments)
  local fused = {}
  for _, segment in ipairs(segments) do
    for _, section in ipairs(segment.sections) do
      for _, region in ipairs(section.regions) do
        for _, group in ipairs(region.groups) do
          if #group.riders > 0 then fused[group.head.result.name] = true end
          for i = 1, #group.riders - 1 do fused[group.riders[i].result.name] = true end
        end
        if region.kind == "attention" then
          for i = 1, #region.ops - 1 do
            local name = region.ops[i].result.name
            fused[name] = region.ops[i] ~= region.weights or uses[name] == 1
          end
        end
      end
    end
  end
  local function external(name)
    local width, rows = row_shape(tensors[name])
    storage[name] = { form = "external", width = width, leading_dimension = width, rows_per_sequence = rows,
      whole_batch = true, shared = tensors[name].shared }
  end
  for _, name in ipairs(entry.inputs) do external(name) end
  for _, op in ipairs(entry.ops) do
    local tensor = op.result
    local name = tensor.name
    if tensor.kind == "output" then
      external(name)
    else
      local written = writer[name]
      local here, crossing = true, false
      for _, reader in ipairs(readers[name] or {}) do
        if reader.region ~= written.region then here = false end
        if reader.segment ~= written.segment then crossing = true end
      end
      local form = fused[name] and "fused" or "full"
      if form == "full" and here and written.region.kind == "rows" and #written.region.blocks > 1 then form = "tile" end
      local width, rows = row_shape(tensor)
      storage[name] = { form = form, width = width, leading_dimension = leading_dimension(width, state.plan.parameters),
        rows_per_sequence = rows, whole_batch = crossing, shared = tensor.shared,
        tile_rows = form == "tile" and written.region.blocks[1].count or nil }
    end
  end
end

-- An attention reads its keys transposed, in panels of key_block. Where it alone reads them, fresh from a product, they
-- are turned while the product's tile is hot, and never stored as rows; else it turns them first.
local function transpose_keys(state, segments, uses)
  local storage, p = state.plan.storage, state.plan.parameters
  local made_by = {}
  for _, segment in ipairs(segments) do
    for _, section in ipairs(segment.sections) do
      for _, region in ipairs(section.regions) do
        for _, group in ipairs(region.groups) do
          if group.panels then made_by[group.result.name] = { group = group, region = region } end
        end
        local k = region.kind == "attention" and region.scores.operands.k
        if k then
          local made = uses[k.name] == 1 and k.kind == "scratch" and made_by[k.name]
          local s = storage[k.name]
          region.keys = { buffer = region.scores.result.name .. "@keys", turned = true, key_block = p.key_block,
            width = s.width, rows_per_sequence = s.rows_per_sequence }
          if made then
            local widest, most = 0, 0
            for _, width in ipairs(made.group.panels.widths) do widest = math.max(widest, width) end
            for _, block in ipairs(made.region.blocks) do most = math.max(most, block.count) end
            s = { form = "transposed", buffer = k.name .. "@transposed", width = s.width,
              rows_per_sequence = s.rows_per_sequence, whole_batch = false, key_block = p.key_block,
              leading_dimension = words.round_up(widest, 16), tile_rows = most }
            storage[k.name], region.keys = s, s
          end
        end
      end
    end
  end
end

local over = words.set { "layer_norm", "rms_norm", "normalise", "rotate" }

-- A norm or a rotation may write over what it reads, where nobody reads that again and both are stored alike.
local function in_place(state, entry)
  local storage = state.plan.storage
  local uses = consumers(entry)
  for _, op in ipairs(entry.ops) do
    local x = op.operands.x
    if over[op.op] and x.kind == "scratch" and op.result.kind == "scratch" and uses[x.name] == 1 then
      local from, to = storage[x.name], storage[op.result.name]
      if from.form == to.form and from.form ~= "fused" and from.whole_batch == to.whole_batch then
        to.over = x.name
      end
    end
  end
end

-- Whether n like parts keep `threads` workers busy nine tenths of the time.
local function divides(n, threads)
  return n / (threads * ((n + threads - 1) // threads)) >= 0.9
end

-- The axis that workers divide, for each number of them: groups of sequences, which meet only at the end; in a region
-- of
-- rows the blocks; else the panels of each product (heads and query blocks of an attention), with a meeting behind
-- each.
local function partition(state, segments)
  for _, segment in ipairs(segments) do
    segment.partition = {}
    for _, threads in ipairs(state.spec.workers) do
      segment.partition[threads] = segment.repeats > 1 and divides(segment.repeats, threads) and "groups" or "phases"
    end
    for _, section in ipairs(segment.sections) do
      for _, region in ipairs(section.regions) do
        region.partition = {}
        for _, threads in ipairs(state.spec.workers) do
          region.partition[threads] = region.kind == "rows" and divides(#region.blocks, threads) and "blocks"
            or "panels"
        end
      end
    end
  end
end

-- Layers are alike: what is planned for one stands for all. Returns a function that calls make(...) once for each name
-- and list of arguments.
local function once_for_each()
  local made = {}
  return function(name, make, ...)
    local key = { name }
    for i = 1, select("#", ...) do key[i + 1] = tostring((select(i, ...))) end
    key = table.concat(key, " ")
    made[key] = made[key] or make(...)
    return made[key]
  end
end

function plan.run(state)
  state.plan = { storage = {}, layouts = {}, entries = {}, alike = once_for_each() }
  tuning.prepare(state)
  for i, entry in ipairs(state.graph.entries) do
    local segments = segments_of(state, entry)
    local uses = consumers(entry)
    store(state, entry, segments, uses)
    transpose_keys(state, segments, uses)
    in_place(state, entry)
    partition(state, segments)
    state.plan.entries[i] = { name = entry.name, segments = segments }
  end
  for _, name in ipairs(state.graph.weights) do -- those that no product reads stay as they are
    state.plan.layouts[name] = state.plan.layouts[name] or { rows = true }
  end
end

local function group_text(group)
  local parts = { group.head.op }
  for _, rider in ipairs(group.riders) do parts[#parts + 1] = rider.op end
  local text = ("%s = %s"):format(group.result.name, table.concat(parts, " + "))
  if group.panels then
    local k, p = group.k_blocks, group.parameters
    text = text .. ("   panels %s, K %d x %d%s, %s"):format(table.concat(group.panels.widths, " "), k.count, k.size,
      k.tail > 0 and " + " .. k.tail or "", p.k_order)
    if p.fetch > 0 then
      text = text .. (", %d rows a call, %d spans of %d inputs ahead"):format(p.call_rows, p.fetch, p.k_span)
    end
  end
  return text
end

local function blocks_text(blocks)
  local sizes = {}
  for i, block in ipairs(blocks) do sizes[i] = block.count end
  return table.concat(sizes, " ")
end

--- Parameters, storage, then segments, sections, regions and groups.
function plan.dump(state)
  local lines = {}
  local p = state.plan
  for _, name in ipairs(words.sorted_keys(p.parameters)) do
    lines[#lines + 1] = ("parameter %s = %s"):format(name, p.parameters[name])
  end
  for _, name in ipairs(state.graph.order) do
    local s = p.storage[name]
    if s then
      lines[#lines + 1] = ("storage %s: %s%s%s%s"):format(name, s.form,
        s.form ~= "fused" and (" leading dimension %d"):format(s.leading_dimension) or "",
        s.whole_batch and s.form ~= "external" and " whole batch" or "", s.over and " over " .. s.over or "")
    end
  end
  for _, entry in ipairs(p.entries) do
    lines[#lines + 1] = "entry " .. entry.name
    for _, segment in ipairs(entry.segments) do
      lines[#lines + 1] = ("  segment %s: %d x %d sequences"):format(segment.name, segment.repeats, segment.group)
      for _, section in ipairs(segment.sections) do
        lines[#lines + 1] = "    section " .. section.name
        for _, region in ipairs(section.regions) do
          if region.kind == "rows" then
            lines[#lines + 1] = "      rows in blocks of " .. blocks_text(region.blocks)
            for _, group in ipairs(region.groups) do lines[#lines + 1] = "        " .. group_text(group) end
          elseif region.kind == "attention" then
            lines[#lines + 1] = "      attention " .. region.context.result.name
            attention.dump(region, lines)
          else
            lines[#lines + 1] = ("      sequence %s = %s"):format(region.op.result.name, region.op.op)
          end
        end
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return plan
