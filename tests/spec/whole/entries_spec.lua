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

-- The outputs of an entry (nil: of those that fit) on the same ids and lengths, as the bytes of their files. seeds: one
-- a sequence.
local function outputs_of(program, entry, seq, seeds)
  local lengths = { seq, seq - 2 }
  for i = 3, #(seeds or {}) do lengths[i] = seq end
  write_inputs(seq, seeds or { 0, seq }, table.move(lengths, 1, seeds and #seeds or 2, 1, {}))
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

  -- The floats of a file, from sequence `first` (from 0) on, `count` of `all`.
  local function floats(bytes, all, first, count)
    local header = string.unpack("<I2", bytes, 9)
    local size = (#bytes - 10 - header) // all
    local data, list = bytes:sub(11 + header + first * size, 10 + header + (first + count) * size), {}
    for i = 1, #data, 4 do list[#list + 1] = string.unpack("<f", data, i) end
    return list
  end

  it("takes any length and any number of sequences, through the entry that costs least", function()
    assert.same(outputs_of(short, nil, 4), outputs_of(both, nil, 4)) -- which a model of one length pads, too
    assert.same(outputs_of(long, nil, 7), outputs_of(both, nil, 7))
    assert.same(outputs_of(both, "forward_5", 3), outputs_of(both, nil, 3))
    for _, file in ipairs { "states", "logits" } do
      local exact, padded = outputs_of(both, "forward_5", 5)[file], outputs_of(both, "forward_16", 5)[file]
      assert.equal(#exact, #padded)
      local a, b = floats(exact, 1, 0, 1), floats(padded, 1, 0, 1)
      for i = 1, #a do assert.is_true(math.abs(a[i] - b[i]) < 2e-6, file .. " " .. i) end
    end
  end)

  it("gives a sequence the same bits whatever its neighbours are", function()
    local function first_of(seeds)
      local outputs = outputs_of(both, nil, 7, seeds)
      return { floats(outputs.states, #seeds, 0, 1), floats(outputs.logits, #seeds, 0, 1) }
    end
    local alone = first_of { 3 }
    assert.same(alone, first_of { 3, 9 })
    assert.same(alone, first_of { 3, 4 })
    assert.same(alone, first_of { 3, 8, 1, 2, 5 })
  end)

  it("refuses what does not fit", function()
    local function said(seq, lengths, ids_seq)
      write_inputs(seq, { 0, 1 }, lengths)
      local list = { "run", "--weights", scratch .. "/weights.safetensors", "--input", "ids=" .. scratch .. "/ids.npy",
        "--input", "lengths=" .. scratch .. "/lengths.npy", "--output", "logits=-" }
      if ids_seq then table.move({ "--entry", ids_seq }, 1, 2, #list + 1, list) end
      local code, text = run(both, list)
      assert.equal(3, code, text)
      return (text:gsub("[%w_/.]+/", ""))
    end
    assert.equal("both: ids: ids.npy holds [2, 17]: 17 tokens, but 1 to 16 are allowed\n",
      said(17, { 3, 3 }):match("^[^\n]+\n"))
    assert.equal("both: ids: ids.npy holds [2, 6]: 6 tokens, but 1 to 5 are allowed\n",
      said(6, { 3, 3 }, "forward_5"):match("^[^\n]+\n"))
    assert.equal("both: lengths[1]: 7, but 1 to 6 is allowed\n", said(6, { 6, 7 }))
    assert.equal("both: lengths: 3 sequences, but ids has 2\n", said(6, { 6, 6, 6 }))
  end)

  it("times a call of a length that no entry has", function()
    local code, text = run(both, { "bench", "-r", "2", "--length", "7" })
    assert.equal(0, code, text)
    assert.truthy(text:find("\n| both | forward_16 (7 tokens) | 2 |", 1, true), text)
    code, text = run(both, { "bench", "--length", "17" })
    assert.equal(2, code)
    assert.equal("both: --length: 17, but 1 to 16 is allowed\n", text)
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
    assert.same({ least = 1, most = 16 }, info.tokens)
    assert.matches("\ntokens       1 to 16\n", (select(2, run(both, { "info" }))))
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
    local ops = select(2, text:gsub(",result,", ""))
    code, text = run(both, { "bench", "-r", "2", "-o", "csv", "--profile", "--brief" })
    assert.equal(0, code, text)
    assert.same({ ops, ops > 0 }, { select(2, text:gsub(",result,", "")), true })
    assert.same({ 2, "both: --brief: goes with --profile\n" }, { run(both, { "bench", "--brief" }) })
    code, text = run(both, { "bench", "-r", "2", "-o", "csv", "--profile", "--brief", "--cold", "1" })
    assert.same({ 0, ops }, { code, select(2, text:gsub(",result,", "")) })
    assert.same({ 2, "both: --cold: goes with --brief\n" }, { run(both, { "bench", "--profile", "--cold", "1" }) })
  end)

  it("has a C interface for each entry", function()
    local header = helper.read(scratch .. "/both/both.h")
    for _, length in ipairs { 5, 16 } do
      assert.truthy(header:find(("int both_forward_@(both_ctx *ctx, const both_forward_@_in *in, "
        .. "both_forward_@_out *out);"):gsub("@", length), 1, true))
      assert.truthy(header:find(("#define BOTH_FORWARD_%d_IN_IDS %d "):format(length, 2 * length), 1, true))
    end
    helper.write(scratch .. "/use.c", [[
#include "both.h"
#include <math.h>
#include <stddef.h>
int main(int argc, char **argv) {
  both_model *model;
  both_ctx *ctx;
  int32_t ids[4 * 16], lengths[4] = { 5, 3, 5, 4 };
  float one[2 * 7], any[3 * 7];
  if (both_forward_5(NULL, NULL, NULL) != 2 || both_forward(NULL, NULL, NULL) != 2) return 1;
  if (argc < 2 || both_open(argv[1], &model, NULL, 0) || both_create(model, &ctx)) return 2;
  for (int i = 0; i < 4 * 16; i++) ids[i] = i % 50;
  both_forward_5_in in5 = { .ids = ids, .lengths = lengths };
  both_forward_5_out out5 = { .logits = one };
  both_forward_in in = { .batch = 3, .seq = 5, .ids = ids, .lengths = lengths };
  both_forward_out out = { .logits = any };
  if (both_forward_5(ctx, &in5, &out5) || both_forward(ctx, &in, &out)) return 3;
  for (int i = 0; i < 2 * 7; i++)
    if (one[i] != any[i]) return 4;
  in.seq = 4, in.batch = 1;
  if (both_forward(ctx, &in, &out) != 3) return 5; /* of its length 5 */
  lengths[0] = 4;
  if (both_forward(ctx, &in, &out) || !isfinite(any[0])) return 6;
  in.seq = 17;
  if (both_forward(ctx, &in, &out) != 2) return 7;
  in.seq = 4, in.lengths = NULL;
  if (both_forward(ctx, &in, &out) != 2) return 8;
  both_destroy(ctx);
  both_close(model);
  return 0;
}
]])
    local code, text = run("cc", { "-std=c99", "-Wall", "-Wextra", "-Werror", "-I" .. scratch .. "/both",
      scratch .. "/use.c", scratch .. "/both/libboth.a", "-lpthread", "-lm", "-o", scratch .. "/use" })
    assert.equal(0, code, text)
    assert.equal(0, (run(scratch .. "/use", { scratch .. "/weights.safetensors" })))
  end)
end)

describe("token types that need not be given", function()
  setup(function() scratch = helper.folder() end)
  teardown(helper.clean)

  it("are 0 then, of one length and of several", function()
    for name, seq in pairs { one = "5", several = "{ 5, 16 }" } do
      local text = description(name, seq):gsub("vocab = 50", "vocab = 50, types = 3, optional_types = true")
      local program = build(name, text)
      write_checkpoint(text, scratch .. "/weights.safetensors")
      write_inputs(5, { 0, 1, 2 }, { 5, 3, 4 })
      local function logits(type)
        local list = { "run", "--weights", scratch .. "/weights.safetensors", "--input", "ids=" .. scratch
          .. "/ids.npy", "--input", "lengths=" .. scratch .. "/lengths.npy", "--output", "logits=-" }
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
      assert.matches("token_types: int32 %[[%d, ]+%], 0 to 2, default: all 0", info)
    end
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
