-- continued_spec.lua: models whose calls go on from earlier ones: `check` compares outputs and states with the
-- reference, and scripts of calls with one whole sequence, for one worker and for two, also with NaN.
local checkpoint = require("tests.spec.checkpoint")
local helper = require("tests.spec.helper")
local json = require("common.json")

local FLAGS = helper.optimised_runtime
local root = helper.shell(helper.absolute_root())

-- Keys that a description has in addition. They give pages of keys that are not full, several sequences, heads that
-- share keys, one group of these (whose keys two workers share), every kind of position, windows that differ by layer
-- and forget keys, convolutions, keys that layers share, and types of products.
local models = {
  [[layers = 2, context = 300, chunk = 40, sequences = 3, kv_heads = 2, positions = "rope", norm = "pre",
    norm_kind = "rms", gated = true, output = { vocabulary { tied = true } }, mask = "causal"]],
  [[context = 300, chunk = 20, positions = "alibi", kv_heads = 1, precision = "int8", cache = "bf16",
    layers = { { mask = { window = { 9, 0 } } }, { mask = "causal" }, { mask = { window = { 70, 0 } } } },
    mask = "causal", output = { vocabulary {}, softmax() }]],
  [[layers = 2, context = 70, chunk = 7, sequences = 32, positions = "learned", precision = "bf16", target = "avx2",
    mask = "causal", output = { hidden { name = "states" }, linear { to = 5 } }]],
  [[context = 150, chunk = 20, sequences = 3, kv_heads = 1, head_dim = 15, cache = "int8",
    layers = { { mask = { window = { 9, 0 } } }, { mask = "causal" } }, mask = "causal",
    output = { vocabulary {} }]],
  [[layers = 1, context = 140, chunk = 30, kv_heads = 1, head_dim = 32, positions = "rope", mask = "causal",
    cache = "int4", output = { vocabulary {} }]],
  [[context = 200, chunk = 30, sequences = 2, positions = "rope", qk_norm = "heads", cache = "int8", values = "normed",
    layers = { { mask = { window = { 20, 0 } } }, { short_conv = 3 }, { head_dim = 20, kv_heads = 1, values = "keys" },
      { mask = { window = { 20, 0 } }, keys_of = 0 }, { head_dim = 20, kv_heads = 1, keys_of = 2 },
      { short_conv = 64, gate_sparsity = 0.0 } }, norm = "sandwich", layer_inputs = 9, mask = "causal", gated = true,
    streams = { count = 3, active = 1, scaled = true }, residual_rank = 7, gate_sparsity = 0.6,
    output = { vocabulary {} }]],
}

local folder

-- Runs a line of shell in the folder, which must succeed.
local function runs(line)
  local code, errors, output = helper.script(("cd '%s' && %s"):format(folder, line), folder)
  assert.equal(0, code, line .. "\n" .. errors .. output)
  return output
end

describe("a model that continues", function()
  setup(function() folder = helper.folder() end)
  teardown(helper.clean)

  for i, more in ipairs(helper.sample(models, 2)) do
    -- The first for both; in `make test` each other for one.
    local first, last = 1, 2
    if i > 1 and not helper.is_long then first, last = i % 2 + 1, i % 2 + 1 end
    it(("is right for %d to %d workers: "):format(first, last) .. more:gsub("%s+", " "), function()
      helper.write(("%s/writer%d.lua"):format(folder, i), ([[return { name = "writer", d_model = 48, heads = 4,
        input = tokens { vocab = 40 }, %s }]]):format(more))
      for threads = first, last do
        runs(("%s %s/tests/program.lua writer%d.lua out threads=%d"):format(FLAGS, root, i,
          threads))
        local said = runs("out/writer check")
        assert.truthy(said:find("in chunks", 1, true) and said:find("token by token", 1, true)
          and said:find("in mixed calls", 1, true))
        assert.equal(more:find("hidden") ~= nil, said:find("output states, by itself in calls ", 1, true) ~= nil)
        if threads == first then runs("out/writer check --nan") end
        if threads == first and more:find("window") then runs("out/writer bench -r 1") end
        if threads == 1 and i == 1 then
          said = runs("out/writer info")
          assert.truthy(said:find("\ncontext      3 sequences, which calls add to; a call computes at most 40 tokens\n",
            1, true), said)
          local each = tonumber(said:match("\n  a sequence (%d+) bytes\n"))
          assert.truthy(said:find(("\nstate        %d bytes"):format(3 * each), 1, true), said)
          assert.same({ tokens = 300, sequences = 3, call_tokens = 40, cache = "f32", sequence_bytes = each,
            state_bytes = 3 * each },
            json.decode(runs("out/writer info --json")).context)
        end
      end
    end)
  end

  -- Attention amplifies rounding if it takes one of two keys of nearly the same score.
  it("may have strong attention, and a wrong value that it keeps is found", function()
    local wrong = "s/copy_nx12(kept + \\([^,]*\\),[^;]*;/& kept[\\1] += %sf;/"
    for _, case in ipairs { { "", "1e-4" }, { "scale = 2000," }, { "scale = 2000,", "1e-3" },
      helper.is_long and { "" } or nil } do
      helper.write(folder .. "/strong.lua", ([[return { name = "strong", d_model = 48, heads = 4, layers = 2, %s
        input = tokens { vocab = 40 }, context = 150, chunk = 40, norm = "pre", norm_kind = "rms", mask = "causal",
        output = { vocabulary {} } }]]):format(case[1]))
      runs(("%s %s/tests/program.lua strong.lua out"):format(
        case[2] and helper.spoiling("strong.c", wrong:format(case[2])) or FLAGS, root))
      -- Seeds 7 and 8 give layer 1 keys beyond the limits of usual models.
      for _, seed in ipairs(case[2] and { 2 } or { 2, 7, 8 }) do
        local code, _, said = helper.script(("cd '%s' && out/strong check --seed %d"):format(folder, seed), folder)
        assert.equal(case[2] and 1 or 0, code, said)
        assert.matches("state of l1%.attn%.v [^\n]*" .. (case[2] and "FAIL" or "ok") .. "\n", said)
      end
    end
  end)

  it("is timed as it is used: prompts, and tokens of one sequence and of all", function()
    local names = {}
    local function rows_of(options)
      local list = {}
      for line in runs("out/writer bench -r 1 -o json " .. options):gmatch("[^\n]+") do
        list[#list + 1] = json.decode(line)
        names[list[#list].entry] = list[#list]
      end
      return list
    end
    runs(("%s %s/tests/program.lua writer1.lua out threads=1"):format(FLAGS, root)) -- the first of all
    rows_of("")
    for _, name in ipairs { "prefill (300 tokens)", "first token (16 tokens)", "decode (position 0)",
      "decode (position 150)", "decode (3 sequences, position 0)", "decode (3 sequences, position 150)" } do
      assert.truthy(names[name], name)
    end
    -- All weights are read but the two tables of positions [300][6], in whole lines of 64 bytes: of these a row each,
    -- for queries and keys of both layers. The vocabulary's panels of 48 rows are the table of 40 tokens: a row is
    -- read again.
    local positions, first = 7232, names["decode (position 0)"]
    local weights = first.weight_bytes - 2 * positions + 48 * 48 * 4 / 40 + 2 * 2 * 2 * positions / 300
    local kept = 4 * 2 * 2 * 24
    assert.equal(weights // 1 + kept, first.bytes_per_token)
    assert.equal(weights // 1 + 151 * kept, names["decode (position 150)"].bytes_per_token)
    assert.equal(3, names["decode (3 sequences, position 0)"].tokens)
    assert.is_number(first.memory_fraction)
    rows_of("--length 300 --profile") -- longer than a call takes
    local long, sum = names["decode (position 299)"], 0
    for _, each in ipairs(long.profile.results) do sum = sum + each.flops end
    assert.equal(long.flops, sum)
    assert.truthy(names["decode (position 0)"].profile and names["first token (16 tokens)"].profile)
    local table_of_calls = runs("out/writer bench -r 1 -o csv") -- one table, whose lines have a field for each column
    local fields
    for line in table_of_calls:gmatch("([^\n]*)\n") do
      local _, commas = line:gsub('"[^"]*"', ""):gsub(",", "")
      fields = fields or commas
      assert.equal(fields, commas, table_of_calls)
    end
    assert.matches(",open_peak_bytes,tokens,sequences,position,tokens_per_s,", table_of_calls, 1, true)
    local code, errors, output = helper.script(("cd '%s' && out/writer bench --length 301"):format(folder), folder)
    assert.same({ 2, "", "writer: --length: 301, but 1 to 300 is allowed\n" }, { code, output, errors })
  end)
end)

-- The beginning of the example of runtime/README.md.
local EXAMPLE = [[#include "writer.h"
#define END 3
static int32_t largest(const float *logits) {
  int32_t best = 0;
  for (int32_t i = 1; i < WRITER_VOCABULARY; i++) if (logits[i] > logits[best]) best = i;
  return best;
}
int example(writer_ctx *ctx, const int32_t *prompt, int32_t count);
int example(writer_ctx *ctx, const int32_t *prompt, int32_t count) {
%s
  return status;
}
]]

-- From C and C++, through packed weights and a checkpoint, which are the same weights.
describe("its interface", function()
  setup(function()
    folder = helper.folder()
    local description = [[return { name = "writer", d_model = 48, heads = 4, kv_heads = 2, layers = 2, context = 130,
      chunk = 16, sequences = 3, positions = "rope", input = tokens { vocab = 40 }, mask = "causal", precision = "bf16",
      output = { linear { to = 7, name = "logits" } } }]]
    helper.write(folder .. "/writer.lua", description)
    local text = checkpoint.text(folder .. "/writer.lua", "F32")
    helper.write(folder .. "/weights", text)
    helper.write(folder .. "/others", text:sub(1, -5) .. string.pack("<f", 0.375))
    runs(("lua5.4 %s/gen/attn2c build writer.lua -o writer"):format(root))
    runs("writer/writer pack --weights weights -o packed")
  end)
  teardown(helper.clean)

  for _, form in ipairs { { "C", "gcc -std=c99" }, { "C++", "g++ -std=c++11 -x c++" } } do
    it("keeps sequences, saves and loads them, from " .. form[1], function()
      runs(("%s -Wall -Wextra -Wpedantic -Werror -Iwriter %s/tests/c/host_continued.c -o host -Lwriter -lwriter "
        .. "-Wl,-rpath,$PWD/writer"):format(form[2], root))
      helper.write(folder .. "/example.c", EXAMPLE:format(helper.read(helper.absolute_root() .. "/runtime/README.md")
        :match("\n```c\n(float logits%b[];\n.-)\n```")))
      runs(("%s -Wall -Wextra -Werror -Iwriter -c example.c -o example.o"):format(form[2]))
      assert.equal("130 tokens\n", runs("./host weights others saved"))
      assert.equal("130 tokens\n", runs("./host packed others saved"))
      runs("cp saved first && ./host weights others saved && cmp saved first")
    end)
  end
end)
