-- lists_spec: a model with a list of lengths takes any length, with the results of models of one length; and what calls
-- of one length and one batch take.
local helper = require("tests.spec.helper")
local files = require("common.files")
local pipeline = require("pipeline")

local scratch

-- A model over tokens with learned positions, padding and pooling.
local function description(name, seq)
  return ([[return { name = "%s", seq = %s, d_model = 32, heads = 4, layers = 2, batch = 2,
    mask = "padding", max_position = 16, input = tokens { vocab = 50 },
    output = { hidden { name = "states" }, pool "mean", linear { to = 7 } } }]]):format(name, seq)
end

-- Builds the program of a description. more: further words of tests/program.lua, or nil.
local function build(name, text, more)
  local path = scratch .. "/" .. name
  files.write_all(scratch, { { name = name .. ".lua", text = text } })
  helper.succeeds(("lua5.4 %s/tests/program.lua %s.lua %s %s"):format(helper.shell(helper.root), helper.shell(path),
    helper.shell(path), more or ""))
  return scratch .. "/" .. name .. "/" .. name
end

-- Runs a program; returns its exit code and what it printed.
local function run(program, list)
  local parts = { helper.shell(program) }
  for _, word in ipairs(list) do parts[#parts + 1] = helper.shell(word) end
  local pipe = assert(io.popen(table.concat(parts, " ") .. " 2>&1"))
  local text = pipe:read("a")
  local _, _, code = pipe:close()
  return code, text
end

-- A NumPy file of int32.
local function write_integers(path, shape, values)
  local header = ("{'descr': '<i4', 'fortran_order': False, 'shape': (%s,), }"):format(table.concat(shape, ", "))
  header = header .. (" "):rep(63 - (10 + #header) % 64) .. "\n"
  helper.write(path, "\x93NUMPY\1\0" .. string.pack("<s2", header) .. string.pack(("<" .. ("i4"):rep(#values)),
    table.unpack(values)))
end

-- A safetensors file with small numbers for every weight of a description.
local function write_checkpoint(text, path)
  local state = pipeline.run(helper.root, helper.file(text), {}, "graph")
  local longest = state.primary
  local header, data, at, seed = {}, {}, 0, 1
  local function add(stored)
    local count = 1
    for _, n in ipairs(stored.shape) do count = count * n end
    header[#header + 1] = ('"%s":{"dtype":"F32","shape":[%s],"data_offsets":[%d,%d]}'):format(stored.names[1],
      table.concat(stored.shape, ","), at, at + 4 * count)
    for _ = 1, count do
      seed = (seed * 1103515245 + 12345) & 0x7fffffff
      data[#data + 1] = string.pack("<f", (seed >> 8 & 0xffff) / 65536 - 0.5)
    end
    at = at + 4 * count
  end
  for _, name in ipairs(longest.graph.weights) do
    local from = longest.graph.tensors[name].from
    for _, stored in ipairs(from and from.stored or {}) do add(stored) end
  end
  local head = "{" .. table.concat(header, ",") .. "}"
  helper.write(path, string.pack("<I8", #head) .. head .. table.concat(data))
end

-- Writes ids, those of each sequence from a seed, and lengths.
local function write_inputs(seq, seeds, lengths)
  local ids = {}
  for _, seed in ipairs(seeds) do
    for i = 1, seq do ids[#ids + 1] = (i + seed) * 7 % 50 end
  end
  write_integers(scratch .. "/ids.npy", { #seeds, seq }, ids)
  write_integers(scratch .. "/lengths.npy", { #lengths }, lengths)
end

-- Words of `run` with the inputs; has_lengths: the model takes the lengths of arrays with padding.
local function words_of(has_lengths, ...)
  local list = { "run", "--weights", scratch .. "/weights.safetensors", "--input", "ids=" .. scratch .. "/ids.npy",
    ... }
  if has_lengths then
    table.move({ "--input", "lengths=" .. scratch .. "/lengths.npy" }, 1, 2, #list + 1, list)
  end
  return list
end

-- The outputs for sequences without padding, as the bytes of their files. seeds: one a sequence.
local function outputs_of(program, seq, seeds, has_lengths)
  local lengths = {}
  for i = 1, #seeds do lengths[i] = seq end
  write_inputs(seq, seeds, lengths)
  local code, text = run(program, words_of(has_lengths, "--output", "states=" .. scratch .. "/states.npy", "--output",
    "logits=" .. scratch .. "/logits.npy"))
  assert.equal(0, code, text)
  return { states = helper.read(scratch .. "/states.npy"), logits = helper.read(scratch .. "/logits.npy") }
end

describe("a model of two lengths", function()
  local both, short, long

  setup(function()
    scratch = helper.folder()
    both = build("both", description("both", "{ 16, 5 }"))
    short, long = build("five", description("five", "5")), build("sixteen", description("sixteen", "16"))
    write_checkpoint(description("sixteen", "16"), scratch .. "/weights.safetensors")
  end)

  teardown(helper.clean)

  it("is checked, with random inputs and with NaN", function()
    for _, words in ipairs { { "check" }, { "check", "--nan" } } do
      local code, text = run(both, words)
      assert.equal(0, code, text)
    end
    local _, text = run(both, { "info" })
    assert.matches("\ntokens       1 to 16 a sequence, without padding\n", text)
  end)

  it("computes what the models of one length compute, from one file of weights", function()
    assert.same(outputs_of(short, 5, { 0, 5 }, true), outputs_of(both, 5, { 0, 5 }))
    assert.same(outputs_of(long, 16, { 0, 5 }, true), outputs_of(both, 16, { 0, 5 }))
  end)

  -- The floats of a file, from sequence `first` (from 0) on, `count` of `all`.
  local function floats(bytes, all, first, count)
    local header = string.unpack("<I2", bytes, 9)
    local size = (#bytes - 10 - header) // all
    local data, list = bytes:sub(11 + header + first * size, 10 + header + (first + count) * size), {}
    for i = 1, #data, 4 do list[#list + 1] = string.unpack("<f", data, i) end
    return list
  end

  it("gives a sequence the same bits whatever its neighbours are, as an entry of a batch does", function()
    for program, has_lengths in pairs { [both] = false, [short] = true } do
      local function first_of(seeds)
        local outputs = outputs_of(program, 5, seeds, has_lengths)
        return { floats(outputs.states, #seeds, 0, 1), floats(outputs.logits, #seeds, 0, 1) }
      end
      local alone = first_of { 3 } -- half of a batch
      assert.same(alone, first_of { 3, 9 })
      assert.same(alone, first_of { 3, 8, 1, 2, 5 })
    end
  end)

  it("refuses what does not fit", function()
    local function said(program, seq)
      write_inputs(seq, { 0, 1 }, { 3, 3 })
      local code, text = run(program, words_of(program ~= both, "--output", "logits=-"))
      assert.equal(3, code, text)
      return (text:gsub("[%w_/.]+/", "")):match("^[^\n]+\n")
    end
    assert.equal("both: ids: ids.npy holds [2, 17]: 17 tokens, but 1 to 16 are allowed\n", said(both, 17))
    assert.equal("five: ids: ids.npy holds [2, 4]: 4 tokens, but 5 are expected\n", said(short, 4))
    assert.equal("five: ids: ids.npy holds [2, 6]: 6 tokens, but 5 are expected\n", said(short, 6))
    assert.same({ 2, "five: --length: goes with a model of any length; the calls of this one have one length\n" },
      { run(short, { "bench", "--length", "4" }) })
    assert.same({ 2, "both: --length: 17, but 1 to 16 is allowed\n" }, { run(both, { "bench", "--length", "17" }) })
    assert.same({ 2, "both: --entry forward_8: no such entry; known: forward\n" },
      { run(both, { "run", "--entry", "forward_8" }) })
  end)

  it("is profiled", function()
    local code, text = run(short, { "bench", "-r", "2", "-o", "csv", "--profile" })
    assert.equal(0, code, text)
    local ops = select(2, text:gsub(",result,", ""))
    code, text = run(short, { "bench", "-r", "2", "-o", "csv", "--profile", "--brief" })
    assert.equal(0, code, text)
    assert.same({ ops, ops > 0 }, { select(2, text:gsub(",result,", "")), true })
    assert.same({ 2, "five: --brief: goes with --profile\n" }, { run(short, { "bench", "--brief" }) })
    for _, each in ipairs { { "%d" }, { "null", "--brief" } } do
      code, text = run(short, { "bench", "-r", "2", "-o", "json", "--profile", each[2] })
      assert.truthy(code == 0 and text:find('"memory_gb_per_s": *' .. each[1]), text)
    end
    code, text = run(short, { "bench", "-r", "2", "-o", "csv", "--profile", "--brief", "--cold", "1" })
    assert.same({ 0, ops }, { code, select(2, text:gsub(",result,", "")) })
    assert.same({ 2, "five: --cold: goes with --brief\n" }, { run(short, { "bench", "--profile", "--cold", "1" }) })
  end)
end)

describe("token types that need not be given", function()
  setup(function() scratch = helper.folder() end)
  teardown(helper.clean)

  it("are 0 then, with one length and with any", function()
    for name, seq in pairs { one = "5", several = "{ 5, 16 }" } do
      local text = description(name, seq):gsub("vocab = 50", "vocab = 50, types = 3, optional_types = true")
      local program = build(name, text, "--answers")
      write_checkpoint(text, scratch .. "/weights.safetensors")
      write_inputs(5, { 0, 1, 2 }, { 5, 3, 4 })
      local function logits(type)
        local list = words_of(name == "one", "--output", "logits=-")
        if type then
          local types = {}
          for i = 1, 15 do types[i] = type end
          write_integers(scratch .. "/types.npy", { 3, 5 }, types)
          table.move({ "--input", "token_types=" .. scratch .. "/types.npy" }, 1, 2, #list + 1, list)
        end
        local code, said = run(program, list)
        assert.equal(0, code, said)
        return said
      end
      assert.equal(logits(0), logits())
      assert.are_not.equal(logits(1), logits())
      local _, info = run(program, { "info" })
      assert.matches("token_types: int32 %[[%d, rows]+%], 0 to 2, default: all 0", info)
    end
  end)
end)
