-- plan.lua: decides how a graph is computed: fusion, tiles, mask blocks, storage and partition.
-- Fusion means which ops are another's epilogue; tiles have panels and token blocks; products have strips and
-- prefetch. Addresses are decided later.
--
-- Before: state.spec, state.graph, state.parameters, state.weights.layouts. After: state.plan =
--   parameters   the tile parameters of all products alike
--   state        of a sequence in a caller's context: order = names of its buffers, offsets = name -> bytes; bytes;
--                windows = { { left, keys } }: of which only the last keys are kept
--   storage      tensor -> { form, type, leading_dimension, ... }: how it is stored (data/storage.lua)
--   segments     { { name, micro_batch, repeats, sections = { { name, regions } } } }
--                regions: { kind, fusions, blocks } of rows, with blocks of row_block rows for row operations; the
--                  regions of attention.lua; or { kind, op, row_blocks, kept: the part of the state that it reads }. A
--                  fusion that is a product has panels, outputs (of each panel's kernel) and products (products.lua);
--                  so has an attention
--                segments and regions have their partition (partition.lua)
local all_regions = require("passes.common.regions")
local alike = require("common.alike")
local bound = require("passes.plan.bound")
local budget = require("passes.common.budget")
local divide = require("passes.common.divide")
local each_op = require("passes.common.region_ops")
local forms = require("data.storage")
local grouping = require("passes.common.grouping")
local fused_kernels = require("passes.plan.fused_kernels")
local kernel_text = require("passes.common.kernel_text")
local kinds = require("passes.plan.kinds")
local ops = require("data.ops")
local partition = require("passes.plan.partition")
local products = require("passes.plan.products")
local roof = require("passes.plan.roof")
local scaled = require("kernels.scaled")
local targets = require("data.targets")
local tuning = require("passes.common.tuning")
local types = require("data.types")
local words = require("common.words")
local attention = require("passes.plan.attention")
local storage = require("passes.plan.storage")

local plan = {}

-- The most rows whose choices are sorted by expert together. More rows give each expert's weights more work, and take
-- more memory.
local EXPERT_ROWS = 512

-- Returns a fusion; its field `round` is the op that ends it and rounds each element, or `quantise` the one that turns
-- rows into integers, if there is one.
local function fusion_of(state, leading, epilogue, ends, rows)
  local fusion = { leading = leading, epilogue = epilogue, ends = ends,
    result = #epilogue > 0 and epilogue[#epilogue].result or leading.result }
  local last = ends[#ends]
  local rounds = last and ops.class(last).ends_epilogue
  fusion.round, fusion.quantise = rounds and last or nil, not rounds and last or nil
  if ops.class(leading).product then
    local weight = leading.operands.weight
    fusion.types = types.product(weight.type, leading.operands.x.type)
    fusion.sums = fusion.types.c ~= "f32" and leading.result or nil
    fusion.key = tuning.key(leading, epilogue, rows)
    local own = state.parameters.of(fusion.key, weight)
    fusion.panels = state.plan.memoise("panels", scaled.panels, state.weights.layouts[weight.name].each,
      targets.by_name[state.spec.target])
    fusion.experts = weight.experts
    own.panel = fusion.panels.panel
    fusion.parameters = own
  end
  return fusion
end

--- Returns the fusion whose token block its region takes: the first of the largest products; nil if there is none.
function plan.main_product(region)
  local main, most = nil, 0
  for _, fusion in ipairs(region.fusions) do
    local shape = fusion.key and fusion.leading.operands.weight.shape
    local size = shape and ops.outputs(fusion.leading) * shape[2] or 0
    if size > most then main, most = fusion, size end
  end
  return main
end

-- Sets the row length of a chunk's context.
local function chunk_rows(region)
  local v, heads = region.context.operands.v, region.context.attributes.kv_heads or region.context.attributes.heads
  region.chunk_ld = types.whole_lines(v.shape[3] // heads, v.type)
end

-- Ops that round an attention's weights.
local rounds_weights = words.set { "round_weights", "round_to_bytes" }

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
  local last = i - 1
  if list[last].op == "weight_scale" then region.weight_scale, last = list[last], last - 1 end
  region.weights, region.context = list[last], list[i]
  region.exact = rounds_weights[region.weights.op] and list[last - 1] or region.weights -- before they are rounded
  region.ops[#region.ops + 1] = list[i]
  local next_op = list[i + 1]
  if next_op and ops.class(next_op).ends_epilogue and next_op.operands.x == region.context.result then
    i, region.round = i + 1, next_op
  end
  local p = attention.parameters(region, state.plan.parameters, state.spec.symbols.rows.is_open)
  if state.spec.symbols.rows.is_open then
    region.open = attention.open_blocks(region, p, state.spec)
    attention.set_positions_ld(region, p)
    return i
  end
  local shape, a = region.scores.result.shape, region.scores.attributes
  local in_chunks = attention.may_come_in_chunks(region, uses)
  local function make() return attention.blocks(region.scores, p, in_chunks) end
  local blocks = state.plan.memoise("blocks", make, shape[3], shape[4], a.causal, a.left, a.right, a.prefix, a.offset,
    a.extra, in_chunks, region.scores.operands.q.type, p.query_block)
  for key, value in pairs(blocks) do region[key] = value end
  region.is_loop, region.least_key_loop = attention.is_loop(region, state.spec), attention.least_key_loop(state.spec)
  attention.set_positions_ld(region, p)
  chunk_rows(region)
  return i
end

-- Gives a region of rows one block, which a loop repeats: over the rows of a call, or over its sequences where there
-- is a row for each. A meeting takes all rows of a call.
local function open_blocks(state, region, main)
  local most, parameters = state.spec.call_rows, main and main.parameters or state.plan.parameters
  local block = region.of_experts and EXPERT_ROWS or parameters.token_block
  local count, is_of_rows = math.min(most, block), region.rows == state.spec.seq
  if region.is_meeting then count = most end
  assert(is_of_rows or region.rows == 1, "rows that are neither of tokens nor of sequences")
  region.loop = { form = is_of_rows and "rows" or "pooled", step = count, count = (most + count - 1) // count,
    multiple = state.plan.parameters.row_block }
  region.blocks = { { first = 0, count = count, row_blocks = { { first = 0, count = count } } } }
end

-- Returns the last region if it makes the terms that an op sums over all ranks. Then the sum of a block of rows begins
-- when the block is made, and goes on while others are made; all sums end with the region. Else nil.
local function ends_with_sum(last, op, rows)
  local is_sum = ops.class(op).meeting and op.op == "sum_ranks" and not op.operands.ids
  local is_open = last and last.kind == "rows" and last.rows == rows and not last.is_meeting and not last.sum
  if not (is_sum and is_open) then return nil end
  if last.fusions[#last.fusions].result ~= op.operands.x then return nil end
  last.sum = op
  return last
end

-- Returns one section's ops as regions: runs of row-wise fusions over equally many rows, attention, and
-- whole-sequence ops.
local function regions_of(state, list, uses, segment)
  local regions = {}
  local function region(kind, rows, is_meeting, begins)
    local last = regions[#regions]
    local is_alone = is_meeting or begins or last and (last.is_meeting or last.sum or last.is_ended)
    if kind == "rows" and last and last.kind == "rows" and last.rows == rows and not is_alone then return last end
    regions[#regions + 1] = { kind = kind, fusions = {}, rows = rows, is_meeting = is_meeting }
    return regions[#regions]
  end
  local i = 1
  while i <= #list do
    local op = list[i]
    local kind = ops.class(op).region or "sequence"
    if kind == "rows" then
      local epilogue, ends = grouping.epilogue(list, i, uses)
      local rows = grouping.rows(op, segment)
      local r = ends_with_sum(regions[#regions], op, rows) or region("rows", rows, ops.class(op).meeting,
        ops.class(op).windows or op.op == "group_rows")
      r.fusions[#r.fusions + 1] = fusion_of(state, op, epilogue, ends, rows)
      r.of_experts = r.of_experts or op.op == "group_rows"
      r.is_ended = op.op == "combine"
      i = i + 1 + #epilogue + #ends
    elseif kind == "attention" then
      i = attention_region(state, region("attention"), list, i, uses) + 1
    else
      local r = region("sequence")
      r.op, r.ops = op, { op }
      r.kept = ops.class(op).reads_before and state.kept.of[op.operands.x.name] or nil
      r.row_blocks = not state.spec.symbols.rows.is_open and ops.class(op).in_row_blocks
        and divide.row_blocks(0, op.result.shape[2], state.plan.parameters.row_block)
      i = i + 1
    end
  end
  for _, r in ipairs(regions) do
    local main = r.kind == "rows" and plan.main_product(r)
    if r.kind == "rows" and state.spec.symbols.rows.is_open then
      open_blocks(state, r, main)
    elseif r.kind == "rows" then
      local most = r.of_experts and EXPERT_ROWS or main and main.parameters.token_block
        or state.plan.parameters.token_block
      local each = main and main.leading.operands.pairs and 2 or 1 -- of pairs
      r.blocks = divide.blocks(r.rows, r.is_meeting and r.rows or most * each, each)
      for _, block in ipairs(r.blocks) do
        block.row_blocks = divide.row_blocks(block.first, block.count,
          r.is_meeting and r.rows or state.plan.parameters.row_block)
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

-- Marks the regions of rows after the last attention or convolution of a model that continues. They only compute rows
-- whose outputs a call asks for. A stage before the last passes all rows on.
local function answer_wanted(state, segments)
  if not state.spec.symbols.past.is_open then return end
  local after = {}
  for region in all_regions(segments) do
    local first = region.fusions[1]
    local is_before = region.kind ~= "rows" or first.leading.op == "pass_on"
    if is_before then after = {} else after[#after + 1] = region end
  end
  for _, region in ipairs(after) do region.loop.form = "wanted" end
end

-- Marks the storage of what such regions make: outputs among it have a call's first wanted row first.
local function mark_answers(storages, segments)
  for region in all_regions(segments) do
    if region.loop and region.loop.form == "wanted" then
      each_op(region, function(op) storages[op.result.name].is_answer = true end)
    end
  end
end

-- Returns the panels of a fusion as text, "4 x 48, 32": 4 panels of 48 outputs are a panel loop.
local function panels_text(fusion)
  local parts, first = {}, 1
  for i, count in ipairs(fusion.panel_loops) do
    parts[i] = (count > 1 and count .. " x " or "") .. fusion.panels.widths[first]
    first = first + count
  end
  return table.concat(parts, ", ")
end

local function fusion_text(fusion)
  local parts = { fusion.leading.op }
  for _, op in ipairs(fusion.epilogue) do parts[#parts + 1] = op.op end
  for _, op in ipairs { fusion.round or fusion.quantise } do parts[#parts + 1] = op.op end
  local text = ("%s = %s"):format((fusion.round or fusion.quantise or fusion).result.name, table.concat(parts, " + "))
  if fusion.panels then
    local fetch = fusion.parameters.fetch
    if fusion.types ~= types.f32_product then text = ("%s of %s"):format(text, fusion.types.a) end
    return ("%s   panels %s%s"):format(text, panels_text(fusion),
      fetch > 0 and (", %d panel%s ahead"):format(fetch, fetch == 1 and "" or "s") or "")
  end
  return text
end

local function blocks_text(blocks)
  return table.concat(words.map(blocks, function(block) return block.count end), " ")
end

-- Appends a line for each distinct product of a fusion.
local function products_text(region, fusion, lines)
  local seen = {}
  for _, block in ipairs(fusion.products and region.blocks or {}) do
    for _, product in ipairs(fusion.products[block.count]) do
      for _, part in ipairs(not seen[product] and (product.parts or { product }) or {}) do
        local text = "          " .. kernel_text.of(part)
        if not seen[text] then lines[#lines + 1] = text end
        seen[text] = true
      end
      seen[product] = true
    end
  end
end

local calls_for = { rows = "has rows", wanted = "asks for", pooled = "has sequences" }

-- Returns how many rows a region's loop has, as text; "": it has none.
local function rows_text(loop) return loop and (", the number that a call %s"):format(calls_for[loop.form]) or "" end

local function region_text(region, lines)
  if region.kind == "rows" then
    local loop = region.loop
    local sizes = ("in blocks of %s"):format(blocks_text(region.blocks))
    if loop and loop.count > 1 then
      sizes = ("in equal blocks, multiples of %d up to %d"):format(loop.multiple, loop.step)
    end
    lines[#lines + 1] = ("      rows %s%s"):format(sizes, rows_text(loop))
    for _, fusion in ipairs(region.fusions) do
      lines[#lines + 1] = "        " .. fusion_text(fusion)
      products_text(region, fusion, lines)
    end
  elseif region.kind == "attention" then
    lines[#lines + 1] = "      attention " .. region.context.result.name
    attention.dump(region, lines)
    for _, product in ipairs(region.products) do lines[#lines + 1] = "        " .. kernel_text.of(product) end
  else
    lines[#lines + 1] = ("      sequence %s = %s"):format(region.op.result.name, region.op.op)
  end
  partition.dump(region, "        ", lines)
end

local function has_experts(segments)
  for region in all_regions(segments) do if region.of_experts then return true end end
  return false
end

function plan.run(state)
  state.plan = { storage = {}, parameters = state.parameters.common, memoise = alike.memoiser() }
  local entry = state.graph.entry
  local uses = grouping.readers(entry)
  local segments = segments_of(state, entry, uses)
  answer_wanted(state, segments)
  storage.decide(state, entry, segments, uses)
  mark_answers(state.plan.storage, segments)
  products.decide(state, segments)
  fused_kernels.decide(state, segments)
  state.plan.depends_on_call = state.primary.spec.symbols.rows.is_open or has_experts(segments)
  state.plan.bound = state.plan.depends_on_call and {} or bound.of(state, segments)
  state.plan.roof = roof.of(state.spec)
  partition.decide(state, segments)
  kinds.decide(state, segments, function(region)
    local lines = {}
    region_text(setmetatable({ loop = false }, { __index = region }), lines)
    return table.concat(lines, "\n")
  end)
  state.plan.segments = segments
end

--- Returns parameters, storage, then segments, sections, regions and fusions with their products as text; last,
--- the products of the roof, and the bound's with the number of their candidates.
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
        forms.rows(s) and (" leading dimension %d"):format(s.leading_dimension) or "",
        s.whole_batch and forms.forms[s.form].class ~= "caller" and " whole batch" or "",
        s.over and " over " .. s.over or "")
    end
  end
  lines[#lines + 1] = "entry " .. state.graph.entry.name
  for _, segment in ipairs(p.segments) do
    lines[#lines + 1] = ("  segment %s: %d x %d sequences"):format(segment.name, segment.repeats, segment.micro_batch)
    partition.dump(segment, "    ", lines)
    for _, section in ipairs(segment.sections) do
      lines[#lines + 1] = ("    section %s%s"):format(section.name, section.like and ": like " .. section.like or "")
      for i, region in ipairs(section.like and {} or section.regions) do
        local like = region.like
        if like and (like.section ~= section.name or like.region ~= i) then
          lines[#lines + 1] = ("      like region %d of %s%s"):format(like.region, like.section, rows_text(region.loop))
        else
          region_text(region, lines)
        end
      end
    end
  end
  for _, product in ipairs(p.roof) do lines[#lines + 1] = kernel_text.of(product) end
  for _, product in ipairs(p.bound) do
    lines[#lines + 1] = ("bound %s: %d calls, %d candidates"):format(product.name, product.calls,
      product.candidates and #product.candidates or 0)
  end
  return table.concat(lines, "\n") .. "\n"
end

return plan
