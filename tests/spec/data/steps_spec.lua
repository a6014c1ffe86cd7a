-- steps_spec: every row operation and elementwise operation is declared in full, and its footprints agree with the
-- bodies of the runtime: what a body names is declared, and each footprint asks for constants that are there.
local helper = require("tests.spec.helper")
local footprint = require("data.footprint")
local operands = require("data.operands")
local steps = require("data.steps")

-- Constants of a row operation: each its own small number; integers that only a call knows have bounds.
local function constants_of(entry)
  local known = {}
  for i, name in ipairs(entry.constants or { "rows", "cols", "ld" }) do known[name] = 10 + i end
  if known.ranges then known.ranges = steps.ranges { { 0, 0, 4 }, { 4, 8, 2 } } end
  if known.fn then known.fn = "relu" end
  for _, declared in ipairs(entry.operands) do
    local name = declared[1]
    if not known[name] then known[name], known[name .. "_least"] = 9, 0 end
  end
  known.fn = known.fn or "gelu"
  return known
end

local function check(fn, entry)
  local known = constants_of(entry)
  assert.is_true(entry.cost(known) > 0, fn)
  assert.is_string(entry.equation, fn)
  for _, declared in ipairs(entry.operands) do
    assert.truthy(({ r = 1, w = 1, rw = 1, value = 1 })[declared[2]], fn)
    if declared[2] ~= "value" then
      local low, high = footprint.reach(declared[3](known))
      assert.is_true(high >= low, fn)
    end
  end
end

describe("steps", function()
  it("are declared in full", function()
    for fn, entry in pairs(steps.rows) do check(fn, entry) end
    for kind, entry in pairs(steps.elementwise) do check(kind, entry) end
  end)

  it("name in their body each constant and operand that they declare, and no other", function()
    for fn, entry in pairs(steps.rows) do
      local filled = steps.fill(entry.body, constants_of(entry))
      for _, declared in ipairs(entry.operands) do
        assert.truthy(filled:find("%f[%w_]" .. declared[1] .. "%f[^%w_]"), fn .. " " .. declared[1])
      end
    end
  end)

  it("call bodies that the runtime has, with as many arguments", function()
    local text = ""
    for _, name in ipairs { "softmax", "softmax_rows", "online", "norm", "mask", "ranges", "positions", "additive",
      "transpose", "gather", "topk", "round", "quantise", "pairs", "quads", "scaled", "kept", "meet",
      "experts", "adapt", "table", "recurrent", "match", "hadamard" } do
      text = text .. helper.read(helper.root .. "/runtime/ops/" .. name .. ".h")
    end
    for fn, entry in pairs(steps.rows) do
      local body = entry.body:gsub("%(int%)sizeof %*%w", "size")
      body = body:gsub("(attn2c_table_%w+)(%b())", function(maker, list)
        local _, given = list:gsub(",", "")
        local _, wanted = text:match("%f[%w_]" .. maker .. "(%b())"):gsub(",", "")
        assert.equal(wanted, given, fn)
        return "of"
      end)
      local name, list = body:gsub("%(const [%w_]+%[%][%[%]3]*%)%b{}", "ranges"):match("^([%w_]+)(%b())")
      local declared = text:match("%f[%w_]" .. name .. "(%b())")
      assert.is_string(declared, fn)
      local _, given = list:gsub(",", "")
      local _, wanted = declared:gsub("%(%*ranges%)%[3%]", ""):gsub(",", "")
      assert.equal(wanted, given, fn)
    end
  end)

  it("give the elements that their bodies touch", function()
    local function of(fn, name, known)
      for _, declared in ipairs(steps.rows[fn].operands) do
        if declared[1] == name then return footprint.boxes(declared[3](known)) end
      end
    end
    assert.same({ { first = 0, rows = 3, cols = 5, ld = 16 } },
      of("transpose", "y", { rows = 5, cols = 3, ldx = 8, ldy = 16 }))
    assert.same({ { first = 20, rows = 1, cols = 10, ld = 0 } }, of("softmax_add", "state", { rows = 10 }))
    assert.same({ { first = 0, rows = 10, cols = 4, ld = 6 } }, of("context_repair_nonzero", "v",
      { ldv = 6, head_dim = 4, ranges = { { 0, 1, 2 }, { 2, 7, 3 } } }))
    assert.same({ { first = 32, rows = 2, cols = 7, ld = 16 } },
      of("pool_row", "x", { row = 3, row_least = 2, ldx = 16, cols = 7 }))
    -- Ids up to 4 of a table in rows; in panels of 16 outputs, one of 3 and one of 2, up to the last id's panel.
    assert.same({ { first = 0, rows = 5, cols = 6, ld = 8 } },
      of("embed_bf16", "table", { ids = 4, ids_least = 0, groups = 4, cols = 6 }))
    for id, panels in pairs { [15] = 1, [16] = 2, [31] = 2, [32] = 3, [34] = 3, [35] = 4, [36] = 4 } do
      local known = { ids = id, ids_least = 0, groups = 5, cols = 12, panel = 16, count = 2, tail = 3, rest = 2 }
      local boxes = of("embed_panels_i8", "table", known)
      assert.same({ { first = 0, rows = 1, cols = panels * 16 * 5 * 4, ld = 0 } }, boxes)
    end
  end)

  it("are read in the order of their call, what is left out apart", function()
    local step = { form = "row", fn = "layer_norm", constants = {}, arguments = { x = { buffer = "x" },
      y = { buffer = "y" }, gain = { buffer = "g" }, bias = false } }
    local order, absent = {}, {}
    operands.each(step, function(operand, access) order[#order + 1] = operand.buffer .. access end,
      function(declared) absent[#absent + 1] = declared[1] end)
    assert.same({ "yw", "xr", "gr" }, order)
    assert.same({ "bias" }, absent)
  end)
end)
