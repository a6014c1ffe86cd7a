-- ranks_table.lua: predicts large models with weights of 4 bits on several ranks, by `bench --scale` of some of their
-- layers, and prints the table. To make random weights of a whole vocabulary would take minutes. So a part of the
-- vocabulary is timed, and the rest is counted at the rate at which all other weights are read.
-- lua5.4 tests/bench/ranks_table.lua measure MODEL RANKS   times the parts; leaves out/bench/scale/MODEL-RANKS.json
-- lua5.4 tests/bench/ranks_table.lua                       prints the table of these files
package.path = "gen/?.lua;" .. package.path
local cost = require("commands.scale.cost")
local json = require("common.json")
local process = require("common.process")

-- Vocabulary, width, heads, heads of keys, layers, inner width; heads have 128 numbers.
local MODELS = { { "Llama-3.1-8B", 128256, 4096, 32, 8, 32, 14336 }, { "Qwen2.5-32B", 152064, 5120, 40, 8, 64, 27648 },
  { "Llama-3.1-70B", 128256, 8192, 64, 8, 80, 28672 } }
local TIMED_TOKENS, BYTES = 16384, 18 / 32 -- of the vocabulary; of a weight of 4 bits, with its part of a scale
local COUNTS = { 1, 2, 4, 8, 16 }
local NETWORK = { "--latency", "2us", "--bandwidth", "12GB/s" }
local PROMPT = 128
local MOST_RATE = 50e6 -- bytes that a core reads from memory in a millisecond: faster times were disturbed
local CACHE = 60e6 -- bytes that the fewest layers of a rank have at least, so that no cache holds them

local FOLDER = "out/bench/scale"

-- Returns the description of a model.
local function text_of(m)
  return ([[return { name = "large", input = tokens { vocab = %d }, context = 4096, chunk = 128, d_model = %d,
  heads = %d, kv_heads = %d, head_dim = 128, layers = %d, d_ff = %d, gated = true, activation = "silu", norm = "pre",
  bias = false, norm_kind = "rms", final_norm = true, mask = "causal", positions = "rope", weights = "int4",
  output = { vocabulary {} } }
]]):format(TIMED_TOKENS, table.unpack(m, 3))
end

-- Returns how many layers of a rank are timed at least.
local function layers_of(m, count)
  local _, _, width, heads, kv_heads, layers, inner = table.unpack(m)
  local bytes = (2 * width * heads * 128 + 2 * width * kv_heads * 128 + 3 * width * inner) * 18 / 32 / count
  return math.min(math.ceil(CACHE / bytes), layers // 2)
end

local function path_of(m, count) return ("%s/%s-%d.json"):format(FOLDER, m[1], count) end

local function measure(m, count)
  assert(os.execute("mkdir -p " .. FOLDER))
  local path = ("%s/%s.lua"):format(FOLDER, m[1])
  local file = assert(io.open(path, "w"))
  file:write(text_of(m))
  file:close()
  local list = { "gen/attn2c", "bench", path, "--scale", tostring(count), "--layers", tostring(layers_of(m, count)),
    "--length", tostring(PROMPT), "-r", "3", "-o", "json", table.unpack(NETWORK) }
  local child = process.run { words = list, gather = "all" }
  assert(child.code == 0 and child.signal == 0, child.errors)
  file = assert(io.open(path_of(m, count), "w"))
  file:write(child.output)
  file:close()
end

-- Returns the prediction of a model on some ranks: layers timed, bytes of memory and of weights, milliseconds of a
-- token and of a prompt, and of a token's meetings. nil: it was not timed, or
-- other work disturbed the times of half of the layers more than all layers'.
local function prediction_of(m, count)
  local file = io.open(path_of(m, count))
  if not file then return nil end
  local result, of = json.decode(file:read("a")), {}
  file:close()
  for _, each in ipairs(result.predictions) do of[each.call] = each end
  local token, prompt = of["decode (position 0)"], of[("prefill (%d tokens)"):format(PROMPT)]
  local row = m[3] * BYTES / count -- of a table of tokens, on one rank
  local rest = (m[2] - TIMED_TOKENS) * row
  local read = token.weight_bytes - TIMED_TOKENS * row
  if read / token.parts_ms > MOST_RATE then return nil end
  local parts = rest * token.parts_ms / read
  local function gather(tokens)
    return (cost.of_call({ { kind = "gather", floats = tokens, times = 1 } }, count, result.network)) / 1000
  end
  local meetings = gather(m[2]) - gather(TIMED_TOKENS)
  return { layers = result.timed[1].layers, memory = token.memory_bytes + 2 * rest,
    weights = token.weight_bytes + 2 * rest, token = token.ms + parts + meetings,
    prompt = prompt.ms + parts + meetings, meetings = token.meetings_ms + meetings }
end

local function find(name)
  for _, m in ipairs(MODELS) do if m[1] == name then return m end end
  return error("no such model: " .. tostring(name))
end

if arg[1] == "measure" then
  measure(find(arg[2]), math.tointeger(tonumber(arg[3])))
  return
end
print("| model | ranks | layers timed | GB a rank | GB of weights | tokens/s, decoding | of it in meetings | tokens/s, "
  .. "prompt |")
print("|---|---|---|---|---|---|---|---|")
for _, m in ipairs(MODELS) do
  for _, count in ipairs(COUNTS) do
    local of = prediction_of(m, count)
    if of then
      print(("| %s | %d | %d | %.2f | %.2f | %.2f | %.1f %% | %.1f |"):format(m[1], count, of.layers, of.memory / 1e9,
        of.weights / 1e9, 1000 / of.token, 100 * of.meetings / of.token, PROMPT * 1000 / of.prompt))
    end
  end
end
