-- products.lua: decides how each product is made: its strips of registers, and what it prefetches.
-- A product is of a fusion's panel and a block of rows; of an attention's scores or context; or of a table of relative
-- positions. Lowering finds a product of a fusion by its rows and panel, any other by its shape.
--
-- A product is { what, m: outputs, n: rows, k: inputs, types, a_room: whether a row of A has room for a whole vector,
-- strips (registers.lua), fetch (ahead.lua), which is nil if it prefetches nothing, by_libxsmm: whether libxsmm makes
-- it, at run time, parts: the products that it is made of, if it is one of windows in pairs }.
local ahead = require("passes.plan.ahead")
local alike = require("common.alike")
local all_regions = require("passes.common.regions")
local disentangled = require("passes.common.disentangled")
local forms = require("data.storage")
local kernel_tiles = require("kernels.tiles")
local libxsmm = require("kernels.libxsmm")
local distances = require("passes.common.distances")
local ops = require("data.ops")
local registers = require("passes.plan.registers")
local targets = require("data.targets")
local types = require("data.types")

local products = {}

--- Returns the inputs of an attention's scores: the width of a head.
function products.depth(region) return region.scores.operands.q.shape[3] // region.scores.attributes.heads end

local function target_of(state) return targets.by_name[state.spec.target] end

-- Sets the strips of a product. p: its tile parameters.
local function cut(state, product, p)
  local target = target_of(state)
  product.a_room = product.a_room or product.m % target.vector == 0
  product.strips = state.plan.memoise("strips", registers.strips, product.m, product.n, product.k, target,
    p.call_rows, not product.a_room, product.types)
end

-- True if libxsmm makes a product. key: that of its fusion, nil: it has none.
local function is_by_libxsmm(state, product, key)
  return state.parameters.provider(key) == "libxsmm" and libxsmm.fits(product, target_of(state))
end

-- Returns a fusion's product for the rows that a call has, at most `rows` at a time, and panel i.
local function open_panel(state, fusion, rows, i)
  local p, target = fusion.parameters, target_of(state)
  local product = { m = fusion.outputs[i], n = rows, k = fusion.leading.operands.weight.shape[2], open = "n",
    lda = types.whole_lines(fusion.panels.widths[i], "f32"), types = fusion.types, a_room = true }
  product.strips = state.plan.memoise("open panel", registers.open_panel, product.m, product.k, target, p.call_rows,
    product.types)
  local function by_strips() return ahead.by_strips(product, p, target.vector, p.stream_rows) or false end
  product.fetch = state.plan.memoise("open ahead", by_strips, product.m, rows, product.k, product.lda, p.fetch,
    p.stream, product.types) or nil
  return product
end

-- Returns a fusion's product of experts for a block of `rows` rows and panel i: each expert has any number of the rows'
-- choices, and takes them in equal pieces. A piece stays in the second-level cache while all panels multiply it.
local function panel_of_experts(state, fusion, rows, i)
  local all = rows * ops.choices(fusion.leading.operands.groups)
  local piece = math.min(all, fusion.parameters.token_block)
  local product, bytes = open_panel(state, fusion, piece, i), 0
  product.n, product.piece = all, piece
  for _, width in ipairs(fusion.panels.widths) do
    bytes = bytes + types.panel_bytes(product.k, types.whole_lines(width, "f32"), product.types.a)
  end
  product.experts, product.apart = fusion.experts, bytes
  return product
end

-- Returns a fusion's product for a block of `rows` rows and panel i.
local function of_panel(state, region, fusion, rows, i)
  if fusion.experts then return panel_of_experts(state, fusion, rows, i) end
  if region.loop then return open_panel(state, fusion, rows, i) end
  local p, target = fusion.parameters, target_of(state)
  local product = { m = fusion.outputs[i], n = rows, k = fusion.leading.operands.weight.shape[2],
    lda = types.whole_lines(fusion.panels.widths[i], "f32"), types = fusion.types, a_room = true }
  cut(state, product, p)
  local function of() return ahead.of(product, product.strips, p, target.vector, p.stream_rows) end
  product.fetch = state.plan.memoise("ahead", of, product.m, rows, product.k, product.lda, p.call_rows, p.fetch,
    p.stream, product.types) or nil
  return product
end

-- Gives a product of windows that is made in pairs its parts: the first of each two windows, and the second, by two
-- thirds of the inputs, after what both have of the last third. The second part prefetches for all of them.
local function add_parts(state, fusion, product)
  local p, target, third = fusion.parameters, target_of(state), product.k // 3
  local function part(n, k, panel_inputs)
    local made = { m = product.m, n = n, k = k, lda = product.lda, types = product.types, a_room = true,
      panel_inputs = panel_inputs }
    cut(state, made, p)
    local function of() return ahead.of(made, made.strips, p, target.vector, p.stream_rows) end
    made.fetch = panel_inputs and state.plan.memoise("ahead of pairs", of, made.m, n, k, made.lda, p.call_rows, p.fetch,
      p.stream, made.types) or nil
    return made
  end
  local firsts, seconds = (product.n + 1) // 2, product.n // 2
  product.parts = { part(firsts, third), part(firsts, 2 * third, product.k), part(seconds, 2 * third) }
end

-- Returns the numbers of consecutive panels that are alike.
local function runs_of(widths, outputs)
  local list = {}
  for i, width in ipairs(widths) do
    local continues = width == widths[i - 1] and outputs[i] == outputs[i - 1]
    if continues then list[#list] = list[#list] + 1 else list[#list + 1] = 1 end
  end
  return list
end

-- Returns the product of the run of panels that begins with panel i.
local function of_run(state, region, fusion, rows, i)
  local product = of_panel(state, region, fusion, rows, i)
  -- libxsmm takes no rows that overlap, as a convolution's do, and no number of rows that a call computes.
  local overlap = fusion.experts or ops.class(fusion.leading).windows
    or state.plan.storage[fusion.leading.operands.x.name].form == "windows"
  product.by_libxsmm = not overlap and is_by_libxsmm(state, product, fusion.key)
  if fusion.leading.operands.pairs then add_parts(state, fusion, product) end
  return product
end

-- Sets fusion.panel_loops, the numbers of consecutive panels that are alike, and fusion.products[rows][i], for the rows
-- of a block and the number of such a run.
local function of_fusion(state, region, fusion)
  fusion.products = {}
  fusion.panel_loops = state.plan.memoise("panel loops", runs_of, fusion.panels.widths, fusion.outputs)
  for _, block in ipairs(region.blocks) do
    local list, first = {}, 1
    for i, count in ipairs(fusion.products[block.count] and {} or fusion.panel_loops) do
      list[i] = of_run(state, region, fusion, block.count, first)
      first = first + count
    end
    fusion.products[block.count] = fusion.products[block.count] or list
  end
end

-- Calls visit(what, m, n, k, types, a_room) for each product of scores and context of a block. Pages of integers have
-- none.
local function each_of_block(region, block, visit)
  if forms.bits(region.keys) then return end
  local scores, context = region.scores, region.context
  local v, heads = context.operands.v, context.attributes.kv_heads or context.attributes.heads
  local of = types.product(v.type)
  local of_scores = types.product(scores.operands.k.type)
  for _, range in ipairs(block.ranges) do
    for _, key_block in ipairs(ops.class(scores).dots and range.key_blocks or {}) do
      visit("scores", key_block.outputs, block.count, products.depth(region), of_scores,
        key_block.first % region.key_block % types.per_line("f32") == 0)
    end
    visit("context", v.shape[3] // heads, block.count, range.keys, of, false)
  end
end

-- Calls visit, as above, for the products of the heads that are computed together for one query.
local function each_together(region, visit)
  local count = region.open and region.open.together
  if not count then return end
  each_of_block(region, setmetatable({ count = count }, { __index = region.blocks[1] }), visit)
end

-- Calls visit, as above, for each product of a block with tables of relative positions; the last argument has the open
-- sizes of products with projected distances.
local function each_with_tables(state, region, block, visit)
  for _, op in ipairs(region.chain) do
    local packed = op.operands[ops.class(op).packed]
    local is_projected = op.attributes.table_heads ~= nil
    if is_projected then
      disentangled.each_product(op, region, block, function(m, n, open)
        visit("distances", m, n, products.depth(region), types.f32_product, false, open)
      end)
    end
    for _, key_block in ipairs(packed and not is_projected and block.ranges[1].key_blocks or {}) do
      for _, piece in ipairs(distances.pieces(op, state.weights.layouts[packed.name], block, key_block)) do
        visit(packed.name, piece.count, op.attributes.keys and key_block.count or block.count, products.depth(region),
          types.f32_product, false)
      end
    end
  end
end

-- The open sizes of the products of an attention of any length.
local open_of = { scores = "n m", context = "n k" }

-- True if the products of an attention of any length may be in tiles. A tile sums the inputs of a step together, so a
-- query's keys begin with a whole step, whatever block of queries it is in.
local function takes_tiles(region)
  return region.open.panel % kernel_tiles.open_step(region.context.operands.v.type) == 0
end

-- Sets the strips of an open product of an attention. Its scores are whole vectors.
local function cut_open(state, region, product)
  local target = target_of(state)
  product.a_room = product.a_room or product.m % target.vector == 0
  local memoise, m, k, of = state.plan.memoise, product.m, product.k, product.types
  product.strips = takes_tiles(region) and memoise("open tiles", registers.open_tiles, m, k, target, of, product.open)
    or memoise("open strips", registers.open_strips, m, k, target, product.n, not product.a_room, of,
      product.open == "n m")
end

-- Sets region.products, the distinct products of an attention in order of first use, and region.product_of(shape),
-- which returns the one of a shape { m, n, k, types, a_room }.
local function of_attention(state, region)
  local p, vector = state.plan.parameters, target_of(state).vector
  region.products, region.product_of = {}, alike.first_of { "m", "n", "k", "types", "a_room", "open" }
  local is_together = false
  local function visit(what, m, n, k, of, a_room, open)
    local product = { what = what, m = m, n = n, k = k, types = of, a_room = a_room,
      open = region.open and (open or open_of[what]) or nil }
    if region.product_of(product) ~= product then return end
    region.products[#region.products + 1] = product
    product.by_libxsmm = is_by_libxsmm(state, product)
    if region.open then
      cut_open(state, region, product)
      -- With several rows, such as queries of one source, each strip reads only its own part of the keys or values.
      local outputs = is_together and m or region.open.by_source and product.strips.groups[1].size * vector
      product.fetch = outputs and not product.strips.step and ahead.near(of.a, outputs, p.near) or nil
      return
    end
    cut(state, product, p)
  end
  for _, block in ipairs(region.blocks) do
    for _, each in ipairs(block.chunks or { block }) do
      each_of_block(region, each, visit)
      each_with_tables(state, region, each, visit)
    end
  end
  is_together = true
  each_together(region, visit)
end

--- Decides all products of a plan's segments.
function products.decide(state, segments)
  for region in all_regions(segments) do
    for _, fusion in ipairs(region.fusions) do
      if fusion.panels then of_fusion(state, region, fusion) end
    end
    if region.kind == "attention" then of_attention(state, region) end
  end
end

return products
