-- growth_spec.lua: tests how the tensors of a model of any length grow with a sequence.
local encoded = require("tests.spec.encoded")
local helper = require("tests.spec.helper")
local graph_pass = require("passes.graph")
local growth = require("passes.graph.growth")

-- Returns the state of a model of any length after a pass.
local function any(most, more, last)
  local description = helper.description(more)
  description.seq = { any = most }
  return helper.state(description, last or "graph")
end

local function growth_of(more, name)
  return any(20, more).graph.tensors[name].growth
end

describe("growth", function()
  it("is one for each axis of rows, scores and what has one row for each sequence", function()
    local tensors = any(20, { output = { { stage = "pool", over = "mean" } } }).graph.tensors
    assert.are.same({ 0, 1, 0 }, tensors["in.hidden"].growth)
    assert.are.same({ 0, 0, 1, 1 }, tensors["l0.attn.scores"].growth)
    assert.are.same({ 0, 1, 0 }, tensors["l0.attn.context"].growth)
    assert.are.same({ 0, 0 }, tensors["output.1.pool"].growth)
    assert.are.same({ 0, 0 }, tensors["l0.ff.up.weight"].growth)
  end)

  it("is that of the first rows in tables of positions, and of the middle in tables of distances", function()
    assert.are.same({ 1, 0 }, growth_of({ positions = "learned" }, "input.positions.weight"))
    assert.are.same({ 1, 0 }, growth_of({ positions = "rope" }, "positions.cos_20"))
    assert.are.same({ 0, 2 }, growth_of({ positions = "alibi" }, "positions.alibi"))
    assert.are.same({ 2 }, growth_of({ positions = "t5" }, "positions.buckets"))
    assert.are.same({ 0, 2 }, growth_of({ positions = "t5" }, "positions.table"))
  end)

  it("is in no model of fixed sizes", function()
    assert.is_nil(helper.tiny({}, "graph").graph.tensors["in.hidden"].growth)
  end)

  it("is in the dump, of tensors that grow", function()
    local dump = graph_pass.dump(any(20))
    assert.is_truthy(dump:find("input in.hidden f32 [1, 20, 16]   grows +0 +1 +0", 1, true), dump)
    assert.is_nil(dump:find("weight [^\n]*grows"))
  end)

  it("is four for each row of a source that another entry has read, and one for each of its own rows", function()
    local encode, decode = encoded.states(nil, nil, "graph")
    local own, read = encode.graph.tensors, decode.graph.tensors
    assert.are.same({ 0, 1, 0 }, own["l0.cross.k.kept"].growth)
    assert.are.same({ 0, 4, 0 }, read["l0.cross.k.kept"].growth)
    assert.are.same({ 0, 0, 1, 4 }, read["l0.cross.scores"].growth)
    assert.are.same({ 0, 1, 0 }, read["l0.cross.context"].growth)
    assert.are.same({ 0, 0, 1, 1 }, read["l0.attn.scores"].growth)
    local dump = graph_pass.dump(decode)
    assert.is_truthy(dump:find("l0.cross.weights = [^\n]*   grows %+0 %+0 %+1 %+4"), dump)
  end)

  it("counts from the fewest rows that a sequence has", function()
    local state = any(5, { output = { { stage = "pool", over = "second" } } })
    assert.are.same({ 0, 1, 0 }, state.graph.tensors["in.hidden"].growth)
  end)

  it("refuses what else changes with the length", function()
    local function pair(change)
      local state = any(20)
      local short = { spec = growth.shortened(state.spec, 12), name = "forward", target_names = state.target_names,
        entries = {} }
      short.spec.any = nil
      graph_pass.run(short)
      change(short.graph)
      return function() growth.set(state.graph, short.graph, 8, growth.OF_TOKENS) end
    end
    assert.has_no.errors(pair(function() end))
    assert.has_error(pair(function(graph) graph.entry.ops[1].attributes.offset = 3 end))
    assert.has_error(pair(function(graph) graph.tensors["in.hidden"].shape[3] = 15 end))
    assert.has_error(pair(function(graph) graph.entry.ops[2].op = "copy" end))
  end)

  it("knows the first distance of a formula, and no other number", function()
    local state = any(20, { positions = "alibi" })
    local function set(formula)
      local short = { spec = growth.shortened(state.spec, 12), name = "forward", target_names = state.target_names,
        entries = {} }
      short.spec.any = nil
      graph_pass.run(short)
      assert.are.equal("alibi -11", short.graph.tensors["positions.alibi"].formula)
      short.graph.tensors["positions.alibi"].formula = formula
      growth.set(state.graph, short.graph, 8, growth.OF_TOKENS)
    end
    assert.has_no.errors(function() set("alibi -11") end)
    assert.has_error(function() set("alibi -12") end)
  end)
end)
