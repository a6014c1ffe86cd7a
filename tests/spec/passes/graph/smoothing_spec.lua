-- smoothing_spec: which inputs of products of int8 share factors, where the factors go, and files of them.
local helper = require("tests.spec.helper")
local factors = require("passes.graph.factors")
local smoothing = require("passes.graph.smoothing")

local function powers(count, first)
  local list = {}
  for i = 1, count do list[i] = i == 1 and first or 0 end
  return list
end

-- The graph of a small model with factors for the inputs of the products that are named.
local function graph_of(more, named)
  local description = helper.description(more)
  description.precision = description.precision or "int8"
  local state = { root = helper.root, file = "tiny.lua", overrides = {}, text = "", description = description,
    host = function() return "avx2" end, machine = "A-CPU", notes = {} }
  require("pipeline").step(state, "validate")
  local checksums = {}
  for product in pairs(named) do checksums[product] = #product end
  state.factors = { of = named, checksums = checksums, weighed = {}, file = "tiny.factors", hash = "0", asked = true }
  require("pipeline").step(state, "graph")
  return state.primary.graph
end

local function op_of(graph, name)
  for _, op in ipairs(graph.entry.ops) do if op.result.name == name then return op end end
end

local qkv = { ["l0.attn.q"] = powers(16, 3), ["l0.attn.k"] = powers(16, 3), ["l0.attn.v"] = powers(16, 3) }

describe("inputs of products of int8", function()
  it("that one tensor is for several have one set of factors", function()
    local groups = smoothing.groups(helper.tiny({ precision = "int8" }, "graph").graph.entry)
    local names = {}
    for i, group in ipairs(groups) do names[i] = table.concat(group.products, " ") end
    assert.same({ "l0.attn.q l0.attn.k l0.attn.v", "l0.attn.out", "l0.ff.up", "l0.ff.down" }, names)
    assert.same({ 16, 64 }, { groups[1].width, groups[4].width })
  end)

  it("have one set where layers share their weights, and where weights of several layers read one tensor", function()
    local shared = smoothing.groups(helper.tiny({ precision = "int8", norm = "pre", layers = 3,
      layer_groups = { 0, 1, 0 } }, "graph").graph.entry)
    assert.same({ 8, 2, 1 }, { #shared, #shared[1].inputs, #shared[5].inputs })
    assert.same({ "l0.norm1", "l2.norm1" }, { shared[1].inputs[1].x.name, shared[1].inputs[2].x.name })
    local memory = smoothing.groups(helper.tiny({ precision = "int8", layers = 2, memory = { seq = 5, width = 16 } },
      "graph").graph.entry)
    local lists = {}
    for _, group in ipairs(memory) do lists[table.concat(group.products, " ")] = group.inputs[1].x.name end
    assert.equal("in.memory", lists["l0.cross.k l0.cross.v l1.cross.k l1.cross.v"])
  end)
end)

describe("factors", function()
  it("go into the norm that makes the numbers for products of int8 alone", function()
    local graph = graph_of({ norm = "pre" }, qkv)
    assert.same({ powers = qkv["l0.attn.q"], sign = -1 }, graph.tensors["l0.norm1.weight"].factors)
    assert.same({ powers = qkv["l0.attn.q"], sign = -1 }, graph.tensors["l0.norm1.bias"].factors)
    assert.same({ powers = qkv["l0.attn.q"], sign = 1, checksum = #"l0.attn.k" },
      graph.tensors["l0.attn.k.weight"].factors)
    assert.is_nil(graph.tensors["l0.attn.k.bias"].factors)
    assert.is_nil(op_of(graph, "l0.norm1.int8").operands.factors)
    assert.is_nil(graph.tensors["l0.norm2.weight"].factors)
    assert.same({ inputs = 1, all = 4, folded = 1, weighed = 0, in_blocks = 0 }, graph.smoothing)
  end)

  it("go into a norm that layers share where all of them are for these products", function()
    local shared = { norm = "pre", layers = 2, layer_groups = { 0, 0 } }
    assert.same({ inputs = 1, all = 4, folded = 1, weighed = 0, in_blocks = 0 }, graph_of(shared, qkv).smoothing)
  end)

  it("are an operand of the quantisation where others read the numbers, too", function()
    local up = { ["l0.ff.up"] = powers(16, -2) }
    local post = graph_of({ norm = "post" }, up)
    assert.is_nil(post.tensors["l0.norm1.weight"].factors)
    local operand = op_of(post, "l0.norm1.int8").operands.factors
    assert.equal(operand, op_of(post, "l0.norm1.scale").operands.factors)
    assert.same({ "constant", "ones", -1 }, { operand.kind, operand.formula, operand.factors.sign })
    assert.same({ inputs = 1, all = 4, folded = 0, weighed = 0, in_blocks = 0 }, post.smoothing)
    local output = { { stage = "norm", name = "hidden" }, { stage = "linear", to = 3, name = "logits" } }
    local mixed = graph_of({ norm = "pre", output = output }, { ["output.2.linear"] = powers(16, 1) })
    assert.is_nil(mixed.tensors["output.1.norm.weight"].factors)
    assert.is_truthy(op_of(mixed, "output.1.norm.int8").operands.factors)
  end)

  it("are for those products that are of int8", function()
    local graph = graph_of({ norm = "pre", precision = { "int8", qkv = "f32" } },
      { ["l0.attn.q"] = powers(16, 3), ["l0.ff.up"] = powers(16, 1) })
    assert.is_nil(graph.tensors["l0.attn.q.weight"].factors)
    assert.is_truthy(graph.tensors["l0.ff.up.weight"].factors)
  end)

  it("of another model are refused in one line", function()
    local function refused(pattern, more, named)
      local fault = helper.fault(function() graph_of(more, named) end)
      assert.equal(2, fault.code)
      assert.truthy(fault.lines[1]:find(pattern, 1, true), fault.lines[1])
      assert.equal(1, #fault.lines)
    end
    refused("the model has no product l7.attn.q; calibrate again", {}, { ["l7.attn.q"] = powers(16, 1) })
    refused("the model has no product l0.norm1; calibrate again", { norm = "pre" }, { ["l0.norm1"] = powers(16, 1) })
    refused("l0.ff.up has 16 inputs, but 3 factors", {}, { ["l0.ff.up"] = { 1, 2, 3 } })
    refused("l0.attn.q and l0.attn.k read the same numbers", {}, { ["l0.attn.q"] = powers(16, 1) })
    refused("no product is of int8", { precision = "bf16" }, { ["l0.ff.up"] = powers(16, 1) })
  end)

  it("are written and read", function()
    local text = factors.text { { products = { "a.q", "a.k" }, checksums = { 7, -1 }, powers = { 0, -3, 12 } },
      { products = { "b" }, checksums = { math.mininteger }, powers = { 1 } },
      { products = { "b" }, checksums = { 9 }, powers = { 5 }, weighs = true } }
    assert.equal("attn2c factors 2 3\na.q=0000000000000007 a.k=ffffffffffffffff: 0 -3 12\nb=8000000000000000: 1\n"
      .. "weigh b=0000000000000009: 5\n", text)
    local of, checksums, weighed = factors.parse(text, "f")
    assert.same({ b = { powers = { 5 }, checksum = 9 } }, weighed)
    assert.same({ ["a.q"] = { 0, -3, 12 }, ["a.k"] = { 0, -3, 12 }, b = { 1 } }, of)
    assert.same({ ["a.q"] = 7, ["a.k"] = -1, b = math.mininteger }, checksums)
    assert.same({}, factors.parse(factors.text {}, "f"))
    assert.same(of, factors.parse(text:gsub(" 3\n", "\n", 1), "f")) -- older files do not say how many lines they have
    for cut = #"attn2c factors 2 3", #text - 1 do
      local fault = helper.fault(factors.parse, text:sub(1, cut), "f")
      assert.same({ 3, 1 }, { fault and fault.code, fault and #fault.lines }, text:sub(1, cut))
    end
  end)

  it("that are malformed are refused with the line", function()
    local a = "a=0123456789abcdef"
    for text, pattern in pairs {
      [""] = 'f: line 1: "", but "attn2c factors FORMAT"', ["attn2c factors 9\n"] = "line 1: format 9, but 2",
      ["attn2c factors 1\na: 1\n"] = "line 1: format 1, but 2 is allowed: calibrate again",
      ["attn2c factors 2\na 1 2\n"] = "line 2:", ["attn2c factors 2\n" .. a .. ": 1 x\n"] = 'power "x"',
      ["attn2c factors 2\n : 1\n"] = "line 2:", ["attn2c factors 2\na: 1\n"] = '"a", but PRODUCT=CHECKSUM',
      ["attn2c factors 2\na=12: 1\n"] = '"a=12", but PRODUCT=CHECKSUM',
      ["attn2c factors 2\n" .. a .. "0: 1\n"] = "with 16 hexadecimal digits",
      ["attn2c factors 2\n" .. a .. ": 25\n"] = 'power "25"',
      [("attn2c factors 2\n%s: 1\n%s: 1\n"):format(a, a)] = 'a second line for "a"',
      [("attn2c factors 2\nweigh %s: 1\nweigh %s: 1\n"):format(a, a)] = 'line 3: a second line for "a"',
      ["attn2c factors 2 2\n" .. a .. ": 1\n"] = "line 2: is the last, but line 1 says that 2 follow it: the file was "
        .. "cut",
      ["attn2c factors 2 99999999999999999999\n"] = "99999999999999999999 follow",
      ["attn2c factors 2\nweigh " .. a] = "line 2:", ["attn2c factors 2\nweigh: 1\n"] = '"weigh", but PRODUCT=CHECKSUM',
      ["attn2c factors 2\nweigh " .. a .. ": nan\n"] = 'power "nan"',
    } do
      local fault = helper.fault(function() factors.parse(text, "f") end)
      assert.equal(3, fault.code)
      assert.truthy(fault.lines[1]:find(pattern, 1, true), fault.lines[1])
    end
  end)
end)
