-- ranks_table.lua: predicts large models with weights of 4 bits on several ranks, by `bench --scale` of some of their
-- layers, and prints the table.
-- lua5.4 tests/bench/ranks_table.lua measure MODEL RANKS   times the parts; leaves out/bench/scale/MODEL-RANKS.json
-- lua5.4 tests/bench/ranks_table.lua                       prints the table of these files
package.path = "gen/?.lua;" .. package.path
local json = require("common.json")
local process = require("common.process")

-- Vocabulary, width, heads, heads of keys, layers, inner width; heads have 128 numbers.
local MODELS = { { "Llama-3.1-8B", 128256, 4096, 32, 8, 32, 14336 }, { "Qwen2.5-32B", 152064, 5120, 40, 8, 64, 27648 },
  { "Llama-3.1-70B", 128256, 8192, 64, 8, 80, 28672 } }
local COUNTS = { 1, 2, 4, 8, 16 }
local NETWORK = { "--latency", "2us", "--bandwidth", "12GB/s" }
local CACHE = 60e6 -- bytes that the fewest layers of a rank have at least, so that no cache holds them

local FOLDER = "out/bench/scale"

-- Returns the description of a model.
local function text_of(m)
  return ([[return { name = "large", input = tokens { vocab = %d }, context = 4096, chunk = 128, d_model = %d,
  heads = %d, kv_heads = %d, head_dim = 128, layers = %d, d_ff = %d, gated = true, activation = "silu", norm = "pre",
  bias = false, norm_kind = "rms", final_norm = true, mask = "causal", positions = "rope", weights = "int4",
  output = { vocabulary {} } }
]]):format(table.unpack(m, 2))
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
    "--length", "512", "-r", "3", "-o", "json", table.unpack(NETWORK) }
  local child = process.run { words = list, gather = "all" }
  assert(child.code == 0 and child.signal == 0, child.errors)
  file = assert(io.open(path_of(m, count), "w"))
  file:write(child.output)
  file:close()
end

-- Returns the predictions of a model on some ranks by the name of their call; nil if it was not timed.
local function predictions_of(m, count)
  local file = io.open(path_of(m, count))
  if not file then return nil end
  local result, of = json.decode(file:read("a")), {}
  file:close()
  for _, each in ipairs(result.predictions) do of[each.call] = each end
  return of, result
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
    local of, result = predictions_of(m, count)
    if of then
      local decode, prompt = of["decode (position 0)"], of["prefill (512 tokens)"]
      print(("| %s | %d | %d | %.2f | %.2f | %.2f | %.1f %% | %.1f |"):format(m[1], count, result.timed[1].layers,
        decode.memory_bytes / 1e9, decode.weight_bytes / 1e9, 1000 / decode.ms, 100 * decode.meetings_ms / decode.ms,
        512 * 1000 / prompt.ms))
    end
  end
end
