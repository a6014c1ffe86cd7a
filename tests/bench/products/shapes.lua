-- shapes.lua: lists the products that are measured, and their candidates.
local ahead = require("passes.plan.ahead").of
local divide = require("passes.common.divide")
local registers = require("passes.plan.registers")
local targets = require("data.targets")
local tuning = require("passes.common.tuning")
local types = require("data.types")

local shapes = {}

--- Rows of the longest call of an open product, which decide its parameters.
shapes.LONGEST = 512

--- Version of f32's strips. It is raised when their loops change so much that older times say little; fit.lua then
--- leaves the rows of f32 in older tables out. 2: loops of four steps as copies, with a prefetch each.
shapes.STRIPS = 2

-- Outputs, inputs and rows. The widths are those of models from 256 to 1,024 with their feed-forward layers; the rows
-- are numbers next to those at which strips and blocks change. Each weight has some of the rows, so that all come.
local LIST = {
  { 384, 384, { 1, 4, 9, 12, 16, 24, 33, 64, 128, 256 } },
  { 1536, 384, { 2, 8, 13, 17, 32, 65, 96, 192, 512 } },
  { 384, 1536, { 1, 8, 12, 16, 24, 48, 129, 384 } },
  { 768, 768, { 1, 9, 16, 32, 64, 128, 384 } },
  { 3072, 768, { 4, 13, 24, 65, 128, 192 } },
  { 768, 3072, { 1, 8, 12, 17, 33, 96, 256 } },
  { 576, 576, { 2, 12, 48, 129 } },
  { 896, 896, { 9, 16, 33, 192 } },
  { 256, 256, { 1, 12, 32, 128 } },
  { 1024, 256, { 8, 17, 64 } },
  { 3072, 1024, { 4, 24, 128 } },
}

-- Parameters of the candidates, all of kernels in C. The rule's choice comes in addition.
local TOKEN_BLOCKS = { 64, 128, 256 }
local PANELS, STREAMS = { 16, 32, 48, 64, 80 }, { 0, 3072, 8192, 16384 }

--- Returns the products: { outputs, inputs, rows }.
function shapes.list()
  local list = {}
  for _, weight in ipairs(LIST) do
    for _, rows in ipairs(weight[3]) do list[#list + 1] = { outputs = weight[1], inputs = weight[2], rows = rows } end
  end
  return list
end

--- Returns the types of a product whose weights have a number type, named by its word, on a target.
function shapes.types(target, word) return types.product(types.of_word[word], targets.rows(target, word)) end

--- Returns the rule's choice { panel, token_block, fetch, stream } for a product. is_open: whether only a call knows
--- its rows; the rule is then asked for those of the longest call.
function shapes.rule(target, word, shape, is_open)
  local rows = is_open and shapes.LONGEST or shape.rows
  local parameters = tuning.parameters { spec = { target = target, plan = {}, kernels = "c", any = is_open } }
  return parameters.of((" n %d "):format(rows), { shape = { shape.outputs, shape.inputs }, type = types.of_word[word] })
end

-- Returns how a block of rows is computed: the product of kernels/product.lua for a panel of `width`, with its
-- prefetch. is_open: whether only a call knows the rows.
local function product_of(target, of, shape, width, m, rows, choice, ldb, ldc, is_open)
  local lanes = targets.by_name[target].vector
  local p = { m = m, n = rows, k = shape.inputs, lda = types.whole_lines(width, "f32"), ldb = ldb, ldc = ldc,
    types = of, a_room = true, beta = 0, open = is_open and "n" or nil }
  if not is_open then
    p.strips = registers.strips(m, rows, p.k, targets.by_name[target], choice.call_rows or 4096, false, of)
    p.fetch = ahead(p, p.strips, choice, lanes) or nil
    return p
  end
  p.strips = registers.open_tiles(m, p.k, targets.by_name[target], of)
    or registers.open_strips(m, p.k, targets.by_name[target], choice.call_rows or 4096, false, of, false)
  local most, list, lines = p.strips.usual or p.strips.strips[1].size, {}, 0
  for i = 1, (choice.token_block + most - 1) // most do
    list[i] = ahead(p, { groups = p.strips.groups, strips = { { count = i, size = most } },
      step = p.strips.step }, choice, lanes)
    lines = math.max(lines, list[i] and list[i].lines or 0)
  end
  p.fetch = lines > 0 and { by_strips = list, lines = lines } or nil
  return p
end

--- Returns the calls of a product with some parameters: { panels = { { product = rows -> product, at, column } },
--- blocks, signature }. `at` is in elements of A, `column` in C. Equal signatures are equal calls.
function shapes.calls(target, word, shape, choice, is_open)
  local of = shapes.types(target, word)
  local divided = divide.panels(shape.outputs, choice.panel, of.a)
  local ldc = divide.leading_dimension(shape.outputs, targets.by_name[target].rule, of.c)
  local ldb = divide.leading_dimension(shape.inputs, targets.by_name[target].rule, of.b)
  local outputs = divide.padded(divided.widths, ldc, targets.by_name[target].rule.pad)
  local blocks = divide.blocks(shape.rows, choice.token_block)
  local calls = { panels = {}, blocks = blocks, ldb = ldb, ldc = ldc, types = of }
  local at, column, parts, made = 0, 0, {}, {} -- panels of the same width share their products
  for i, width in ipairs(divided.widths) do
    local shared = width * 8192 + outputs[i]
    made[shared] = made[shared] or {}
    local panel = { at = at, column = column, product = made[shared] }
    for _, block in ipairs(blocks) do
      local key = is_open and 0 or block.count
      panel.product[key] = panel.product[key]
        or product_of(target, of, shape, width, outputs[i], is_open and choice.token_block or block.count, choice, ldb,
          ldc, is_open)
      local p = panel.product[key]
      local strips = p.strips.usual or p.strips.strips[1].size
      local fetch = p.fetch and p.fetch.by_strips and p.fetch.by_strips[(block.count + strips - 1) // strips]
        or not (p.fetch and p.fetch.by_strips) and p.fetch
      parts[#parts + 1] = ("%d %d %s"):format(width, block.count,
        fetch and ("%d %d %d %d"):format(fetch.from, fetch.each, fetch.pace or fetch.every, fetch.lines) or "")
    end
    calls.panels[i] = panel
    at = at + types.elements(types.panel_bytes(shape.inputs, types.whole_lines(width, "f32"), of.a), of.a)
    column = column + width
  end
  calls.elements, calls.signature = at, table.concat(parts, "; ")
  return calls
end

--- Returns the name of a choice: panel, "f" and the panels ahead, "s" and the KB ahead, "t" and the token block.
function shapes.name(choice)
  return ("%df%ds%dt%d"):format(choice.panel, choice.fetch, choice.stream // 1024, choice.token_block)
end

--- Returns the distinct candidates of a product: { name, choice, calls }; the first is the rule's.
function shapes.candidates(target, word, shape, is_open)
  local rule = shapes.rule(target, word, shape, is_open)
  local list, seen = {}, {}
  local function add(choice)
    local calls = shapes.calls(target, word, shape, choice, is_open)
    if seen[calls.signature] then return end
    seen[calls.signature] = true
    list[#list + 1] = { name = shapes.name(choice), choice = choice, calls = calls }
  end
  add(rule)
  for _, panel in ipairs(PANELS) do
    for _, token_block in ipairs(TOKEN_BLOCKS) do
      for fetch = 0, 1 do
        for _, stream in ipairs(STREAMS) do
          add { panel = panel, fetch = fetch, stream = stream, token_block = token_block,
            call_rows = rule.call_rows }
        end
      end
    end
  end
  return list
end

return shapes
