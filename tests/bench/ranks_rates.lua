-- ranks_rates.lua: prints the table of large models on several ranks, from bytes and from rates that were measured.
-- lua5.4 tests/bench/ranks_rates.lua. Weights, states and meetings are the compiled parts'. Layers are equal,
-- so that one and two of them stand for all. Nothing is timed: `bench --scale` does that.
package.path = "gen/?.lua;" .. package.path
local cost = require("commands.scale.cost")
local ops = require("data.ops")
local pipeline = require("pipeline")

-- Vocabulary, width, heads, heads of keys, layers, inner width; heads have 128 numbers.
local MODELS = { { "Llama-3.1-8B", 128256, 4096, 32, 8, 32, 14336 }, { "Qwen2.5-32B", 152064, 5120, 40, 8, 64, 27648 },
  { "Llama-3.1-70B", 128256, 8192, 64, 8, 80, 28672 } }
local CONTEXT, CHUNK, PROMPT = 4096, 128, 512
local BYTES = 18 / 32 -- of a weight of 4 bits, with its part of a scale

-- One core: GB/s at which a decoded token reads weights, 10^9 operations a second of products with weights of 4 bits.
-- A network: latency, bandwidth, and what each further message of a rank costs.
local READS, PRODUCTS = 18, 340
local NETWORK = { latency_us = 2, gigabytes = 12, message_us = 0.5, adds_per_us = 4000 }

-- Returns the parts of a model of a few layers: bytes of weights, of the table of tokens, of the state, and the columns
-- of sums and gathers; of the largest rank.
local function parts_of(m, count, layers)
  local text = ([[return { name = "large", input = tokens { vocab = %d }, context = %d, chunk = %d, d_model = %d,
    heads = %d, kv_heads = %d, head_dim = 128, layers = %d, d_ff = %d, gated = true, activation = "silu",
    norm = "pre", bias = false, norm_kind = "rms", final_norm = true, mask = "causal", positions = "rope",
    weights = "int4", output = { vocabulary {} } }]]):format(m[2], CONTEXT, CHUNK, m[3], m[4], m[5], layers, m[7])
  local path = os.tmpname() .. ".lua"
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local state = pipeline.run(".", path, { "target=avx512", "threads=1", "ranks=" .. count }, "layout")
  os.remove(path)
  local most = { bytes = 0, tables = 0, state = 0, sums = {}, gathers = {} }
  for _, build in ipairs(state.builds) do
    local graph, tables = build.primary.graph, 0
    for _, name in ipairs(graph.weights) do
      local tensor = graph.tensors[name]
      if name:find("^input") then tables = tables + tensor.shape[1] * (tensor.shape[2] or 1) end
    end
    local keys = graph.tensors["l0.attn.k"].shape[3]
    most.bytes = math.max(most.bytes, build.primary.weights.bytes)
    most.tables = math.max(most.tables, tables * BYTES)
    most.state = math.max(most.state, layers * 2 * CONTEXT * keys * 4)
    most.sums, most.gathers = {}, {}
    for _, op in ipairs(graph.entry.ops) do
      local shape = op.result.shape
      if op.op == "sum_ranks" then table.insert(most.sums, shape[#shape]) end
      if op.op == "gather_ranks" then table.insert(most.gathers, shape[#shape]) end
      assert(not ops.class(op).meeting or op.op == "sum_ranks" or op.op == "gather_ranks", op.op)
    end
  end
  return most
end

-- Returns the meetings of a call of some rows, of all layers.
local function meetings_of(one, two, rows, layers, wanted)
  if not one.sums[1] then return {} end
  local times = #one.sums + (#two.sums - #one.sums) * (layers - 1)
  local list = { { kind = "sum", floats = rows * one.sums[1], times = times } }
  for _, columns in ipairs(wanted and one.gathers or {}) do
    list[#list + 1] = { kind = "gather", floats = columns, times = 1 }
  end
  return list
end

print("| model | ranks | GB a rank | GB of weights | tokens/s, decoding | of it in meetings | tokens/s, prompt |")
print("|---|---|---|---|---|---|---|")
for _, m in ipairs(MODELS) do
  for _, count in ipairs { 1, 2, 4, 8, 16 } do
    local one, two = parts_of(m, count, 1), parts_of(m, count, 2)
    local function all(key) return one[key] + (two[key] - one[key]) * (m[6] - 1) end
    local bytes, layers = all("bytes"), (two.bytes - one.bytes) * m[6]
    local met = cost.of_call(meetings_of(one, two, 1, m[6], true), count, NETWORK)
    local decode = (bytes - one.tables) / READS / 1000 + met
    local prompt = PROMPT * 2 * layers / BYTES / PRODUCTS / 1000
      + PROMPT / CHUNK * cost.of_call(meetings_of(one, two, CHUNK, m[6], false), count, NETWORK)
    print(("| %s | %d | %.2f | %.2f | %.2f | %.1f %% | %.1f |"):format(m[1], count, (bytes + all("state")) / 1e9,
      bytes / 1e9, 1e6 / decode, 100 * met / decode, 1e6 * PROMPT / prompt))
  end
end
