-- functions_spec: functions of fused kernels whose map works on the outputs of one strip alone: in each row they take
-- all outputs of the map, each once, and none of the padding of the product.
local helper = require("tests.spec.helper")

-- Returns the columns of the map of each fused kernel, and those that its calls take in a row, by its name.
local function columns_of(text)
  local of_map, taken = {}, {}
  for comment, name, body in text:gmatch("/%*([^/]-)%*/\nvoid ([%w_]+)%([^\n]*%) {\n(.-)\n}\n") do
    local cols = comment:match("of each strip's rows.- cols (%d+)")
    local times = 1
    for line in cols and body:gmatch("[^\n]+") or function() end do
      times = tonumber(line:match("^  for %(int j = 0; j < (%d+)")) or line:match("^    ") and times or 1
      local first, count = line:match("rows_of_[%w_]+%(.*, (%d+), %d+, (%d+)%);")
      if first == "0" then taken[name] = (taken[name] or 0) + times * tonumber(count) end
    end
    if taken[name] then of_map[name] = tonumber(cols) end
  end
  return of_map, taken
end

describe("a fused kernel of int8", function()
  local sizes = { x86_64 = { 31, 47, 48, 49, 191 }, avx2 = { 31, 47, 48, 49, 191 }, avx512vnni = { 191, 192 } }
  for _, target in ipairs { "x86_64", "avx2", "avx512vnni" } do
    for _, size in ipairs(sizes[target]) do
      it(("takes %d outputs on %s, and no padding"):format(size, target), function()
        local state = helper.tiny { d_model = size, heads = 1, d_ff = size, seq = 4, precision = "int8",
          target = target, layers = 1, plan = { panel = 128, token_block = 4 } }
        local of_map, taken = columns_of(helper.emitted(state, "tiny_kernels.c"))
        assert.truthy(next(of_map))
        assert.same(of_map, taken)
      end)
    end
  end
end)

describe("a loop", function()
  it("has no local whose name is only that of an output", function()
    local stages = { { stage = "silu", name = "all" } }
    for i = 1, 3 do stages[i + 1] = { stage = "log_softmax" } end
    local description = helper.description { d_model = 187, heads = 1, layers = 1, context = 6, mask = "causal",
      input = { stage = "tokens", vocab = 19 }, output = stages }
    description.seq = nil
    local text = helper.emitted(helper.state(description), "tiny.c")
    assert.matches("out%->all", text)
    assert.is_nil(text:find("all = rows", 1, true))
  end)
end)
