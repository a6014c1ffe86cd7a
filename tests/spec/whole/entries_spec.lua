-- entries_spec: a model of several lengths: an entry for each over one packed copy of the weights,
-- checked, benched and run; its results are those of the models of one length.
local helper = require("tests.spec.helper")
local files = require("common.files")
local pipeline = require("pipeline")

local scratch

-- A model over tokens with learned positions, padding, pooling and two workers.
local function description(name, seq)
  return ([[return { name = "%s", seq = %s, d_model = 32, heads = 4, layers = 2, batch = 2, threads = 2,
    mask = "padding", max_position = 16, input = tokens { vocab = 50 },
    output = { hidden { name = "states" }, pool "mean", linear { to = 7 } } }]]):format(name, seq)
end

local function build(name, text)
  local path = scratch .. "/" .. name .. ".lua"
  files.write_all(scratch, { { name = name .. ".lua", text = text } })
  local code, _, errors = helper.command({ "build", path, "-o", scratch .. "/" .. name })
  assert.equal(0, code, errors)
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
  local longest = state.entries[#state.entries]
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

-- The outputs of an entry (nil: the only one) on the same ids and lengths, as the bytes of their files.
local function outputs_of(program, entry, seq)
  local ids = {}
  for i = 1, 2 * seq do ids[i] = i * 7 % 50 end
  write_integers(scratch .. "/ids.npy", { 2, seq }, ids)
  write_integers(scratch .. "/lengths.npy", { 2 }, { seq, seq - 2 })
  local list = { "run", "--weights", scratch .. "/weights.safetensors", "--input", "ids=" .. scratch .. "/ids.npy",
    "--input", "lengths=" .. scratch .. "/lengths.npy", "--output", "states=" .. scratch .. "/states.npy", "--output",
    "logits=" .. scratch .. "/logits.npy" }
  if entry then table.move({ "--entry", entry }, 1, 2, #list + 1, list) end
  local code, text = run(program, list)
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

  it("is checked, entry by entry, with random inputs, with those of one entry, and with NaN", function()
    local code, text = run(both, { "check" })
    assert.equal(0, code, text)
    assert.matches("both, forward_5, seed 1\n.*both, forward_16, seed 1\n", text)
    outputs_of(both, "forward_5", 5)
    local ids = { "--input", "ids=" .. scratch .. "/ids.npy" }
    assert.equal(0, (run(both, { "check", "--entry", "forward_5", table.unpack(ids) })))
    code, text = run(both, { "check", table.unpack(ids) }) -- it is not as long as the longest
    assert.equal(3, code, text)
    code, text = run(both, { "check", "--nan" })
    assert.equal(0, code, text)
  end)

  it("computes what the models of one length compute, from one file of weights", function()
    assert.same(outputs_of(short, nil, 5), outputs_of(both, "forward_5", 5))
    assert.same(outputs_of(long, nil, 16), outputs_of(both, "forward_16", 16))
    assert.same(outputs_of(long, nil, 16), outputs_of(both, nil, 16)) -- the longest, where none is named
  end)

  it("refuses an entry that it does not have", function()
    local code, text = run(both, { "run", "--entry", "forward_8" })
    assert.equal(2, code)
    assert.equal("both: --entry forward_8: no such entry; known: forward_5, forward_16\n", text)
  end)

  local function json_of(program, list)
    local code, text = run(program, list)
    assert.equal(0, code, text)
    return require("dkjson").decode(text)
  end

  it("packs the weights once, and has the arena of its longest entry", function()
    local info, of_short, of_long = json_of(both, { "info", "--json" }), json_of(short, { "info", "--json" }),
      json_of(long, { "info", "--json" })
    assert.equal(of_long.weight_bytes, info.weight_bytes)
    assert.equal(of_long.arena_bytes, info.arena_bytes)
    assert.equal(of_long.parameters, info.parameters)
    for i, single in ipairs { of_short, of_long } do
      assert.equal(single.entries[1].flops, info.entries[i].flops)
      assert.equal(single.entries[1].arena_bytes, info.entries[i].arena_bytes)
      assert.same(single.entries[1].inputs, info.entries[i].inputs)
    end
  end)

  it("is benched with a row an entry, and profiled", function()
    local code, text = run(both, { "bench", "-r", "2", "-o", "csv", "--profile" })
    assert.equal(0, code, text)
    assert.matches("\nboth,forward_5,2,", text)
    assert.matches("\nboth,forward_16,2,", text)
  end)

  it("has a C interface for each entry", function()
    local header = helper.read(scratch .. "/both/both.h")
    for _, length in ipairs { 5, 16 } do
      assert.truthy(header:find(("int both_forward_@(both_ctx *ctx, const both_forward_@_in *in, "
        .. "both_forward_@_out *out);"):gsub("@", length), 1, true))
      assert.truthy(header:find(("#define BOTH_FORWARD_%d_IN_IDS %d "):format(length, 2 * length), 1, true))
    end
    helper.write(scratch .. "/use.c", '#include "both.h"\nint main(void) { both_forward_5_in in5 = { 0 };\n'
      .. "both_forward_16_out out16 = { 0 }; (void)in5, (void)out16;\n"
      .. "return both_forward_5(0, 0, 0) == 2 && both_forward_16(0, 0, 0) == 2 ? 0 : 1; }\n")
    local code, text = run("cc", { "-std=c99", "-Wall", "-Wextra", "-Werror", "-I" .. scratch .. "/both",
      scratch .. "/use.c", scratch .. "/both/libboth.a", "-lpthread", "-lm", "-o", scratch .. "/use" })
    assert.equal(0, code, text)
    assert.equal(0, (run(scratch .. "/use", {})))
  end)
end)

describe("lengths", function()
  setup(function() scratch = helper.folder() end)
  teardown(helper.clean)

  it("go with rotary positions, three entries and any number of workers", function()
    local text = [[return { name = "three", seq = { 5, 9, 16 }, d_model = 32, heads = 4, layers = 1, batch = 3,
      positions = "rope", mask = { "causal", "padding" }, threads = 0 }]]
    local code, said = run(build("three", text), { "check" })
    assert.equal(0, code, said)
  end)

  it("go with every kind of position and mask", function()
    for _, more in ipairs { { positions = "t5", kv_heads = 1 }, { positions = "alibi", attention_output = "mean" },
      { positions = "relative_key_query", past = 3 }, { positions = "sinusoidal", norm = "pre" },
      { mask = "additive", positions = "rope" }, { mask = { window = { 2, 2 } } }, { input = { stage = "qkv" } } } do
      more.seq = { 5, 9, 16 }
      local state = helper.tiny(more) -- with the checkers of all passes
      assert.equal(3, #state.entries)
    end
  end)
end)
