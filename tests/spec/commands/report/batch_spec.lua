-- batch_spec: arrays of any number of sequences as one batch of an entry.
local helper = require("tests.spec.helper")
local arrays = require("commands.quality.arrays")
local batch = require("commands.report.batch")

local function entry_of(size, seq)
  return { name = "forward", spec = { batch = size, seq = seq }, graph = { entry = { inputs = { "in.x", "in.n" } },
    tensors = { ["in.x"] = { member = "x", grows = "bs.", shape = { size, seq, 2 } },
      ["in.n"] = { member = "n", grows = "b", shape = { size } } } } }
end

local function state_of(entry) return { entries = { entry }, primary = entry } end

local state = state_of(entry_of(3, 4))

describe("a batch of inputs", function()
  after_each(helper.clean)

  local function made(sequences, seq)
    local x, n = arrays.random({ sequences, seq, 2 }, "f32"), arrays.random({ sequences }, "i32", 1, 5)
    return { "x=" .. helper.file(x, "x.npy"), "n=" .. helper.file(n, "n.npy") }, x, n
  end

  local function shape_and_values(word)
    local array = arrays.read(word:match("=(.*)$"))
    return array.shape, array.values
  end

  it("is the first of more", function()
    local list = made(5, 4)
    local found = batch.of(list, state, helper.folder())
    assert.is_nil(found.note)
    local shape, values = shape_and_values(found.input[1])
    assert.same({ 3, 4, 2 }, shape)
    local _, all = shape_and_values(list[1])
    assert.same(table.move(all, 1, 24, 1, {}), values)
    assert.same({ 3 }, (shape_and_values(found.input[2])))
  end)

  it("is what is given where it fills one", function()
    local list = made(3, 4)
    assert.same({ input = list }, batch.of(list, state, helper.folder()))
  end)

  it("is repeated where there are fewer", function()
    local list = made(2, 4)
    local found = batch.of(list, state, helper.folder())
    local shape, values = shape_and_values(found.input[2])
    local _, given = shape_and_values(list[2])
    assert.same({ { 3 }, { given[1], given[2], given[1] } }, { shape, values })
  end)

  it("is none, with a note, where the entry has no sequences so long", function()
    local found = batch.of(made(3, 6), state, helper.folder())
    assert.same({}, found.input)
    assert.matches("have 6 tokens, and the model's entry 4$", found.note)
  end)

  it("is left to the program where two have other numbers of sequences, or of tokens", function()
    local five, two = made(5, 4), helper.file(arrays.random({ 2 }, "i32", 1, 5), "two.npy")
    local list = { five[1], "n=" .. two }
    assert.same({ input = list }, batch.of(list, state, helper.folder()))
    local four, eight = made(3, 4), helper.file(arrays.random({ 3, 8 }, "i32", 0, 2), "eight.npy")
    local other = entry_of(3, 4)
    table.insert(other.graph.entry.inputs, "in.m")
    other.graph.tensors["in.m"] = { member = "m", grows = "bs", shape = { 3, 4 } }
    list = { four[1], "m=" .. eight }
    assert.same({ input = list }, batch.of(list, state_of(other), helper.folder()))
  end)

  it("is left to the program where it is no array, or of no input", function()
    for _, list in ipairs { { "x=/nowhere.npy" }, { "y=" .. helper.file("text") }, { "x=" .. helper.file("text") },
      { helper.file(arrays.random({ 5, 4, 2 }, "f32")) }, {} } do
      assert.same({ input = list }, batch.of(list, state, helper.folder()))
    end
  end)
end)
