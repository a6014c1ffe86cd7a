-- draw.lua: random descriptions, valid ones only, from all keys together. Sizes lie where
-- tiles and vectors end: around multiples of 16, primes, ones; their product is bounded, so
-- that a case takes about a second.
local stages = require("stages")
local targets = require("targets")
local words = require("words")

local draw = {}

local random = math.random

local function pick(list) return list[random(#list)] end
local function chance(percent) return random(100) <= percent end

local primes = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 53, 61, 67, 83, 97, 101, 127, 131, 191, 193, 251, 257 }

-- An integer from 1 to `most`: a small one, a prime, one around a multiple of 16, or any.
local function size(most)
  local way = random(5)
  local n
  if way == 1 then n = random(8)
  elseif way == 2 then n = pick(primes)
  elseif way <= 4 then n = 16 * random(math.max(1, most // 16)) + random(-1, 1)
  else n = random(most) end
  return math.max(1, math.min(most, n))
end

local function divisors(n, most)
  local list = {}
  for d = 1, math.min(n, most) do
    if n % d == 0 and n // d <= 256 then list[#list + 1] = d end
  end
  return list
end

local activations = words.sorted_keys(stages.activations)
local pools = words.sorted_keys(stages.pools)

local function draw_heads(d)
  local fitting = divisors(d.d_model, 16)
  if #fitting > 0 and chance(60) then
    d.heads = pick(fitting)
  else
    d.heads, d.head_dim = chance(80) and random(6) or random(16), size(chance(90) and 80 or 256)
  end
end

local function draw_bias()
  if chance(40) then return nil end
  if chance(40) then return chance(50) end
  local bias = {}
  for _, part in ipairs { "qkv", "out", "ff", "norm" } do if chance(60) then bias[part] = chance(50) end end
  return bias
end

local function draw_window(seq)
  local function bound() return chance(90) and random(0, seq + 3) or pick { 0, 1, 16, 4096 } end
  return { bound(), bound() }
end

local function draw_mask(d)
  local way = random(10)
  if way <= 2 then return end
  if way == 3 then d.mask = "none"
  elseif way == 4 then d.mask = "causal"
  elseif way == 5 then d.mask = "padding"
  elseif way == 6 then d.mask, d.window = "window", draw_window(d.seq)
  else
    local mask = {}
    for _, word in ipairs { "causal", "padding" } do if chance(50) then mask[#mask + 1] = word end end
    if chance(60) then
      if chance(70) then mask.window = draw_window(d.seq)
      else mask[#mask + 1], d.window = "window", draw_window(d.seq) end
    end
    d.mask = mask
  end
end

local function draw_input(d)
  local way = random(4)
  if way == 1 then d.input = { stage = "hidden" }
  elseif way == 2 then
    d.input = { stage = "linear", from = size(150) }
    if chance(40) then d.input.bias = chance(50) end
  elseif way == 3 then d.input = { stage = "tokens", vocab = chance(20) and 1 or size(400) } end
  if chance(50) then d.positions = pick { "none", "learned", "sinusoidal" } end
end

-- Names that emitted C uses itself are among them, and names of inputs.
local output_names = {
  "logits", "label", "hidden", "lengths", "ids", "features", "a", "b", "i", "k", "s", "w", "out", "all", "wanted", "to",
  "from", "x",
}

-- The norm of a narrow row whose values are nearly equal multiplies any rounding, and no two computations of such a
-- model agree: below this width eps is large.
local NARROW = 8

-- pooled: whether rows were pooled before; width: of what comes in.
local function draw_stage(pooled, width)
  local kinds = { "hidden", "norm", "linear", "linear", "linear", "argmax", pick(activations), pick(activations) }
  if not pooled then kinds[#kinds + 1], kinds[#kinds + 2] = "pool", "pool" end
  local stage = { stage = pick(kinds) }
  if stage.stage == "linear" then
    stage.to = size(150)
    if chance(40) then stage.bias = chance(50) end
    if chance(40) then stage.activation = pick(activations) end
  elseif stage.stage == "pool" then
    stage.over = pick(pools)
  elseif stage.stage == "norm" and (chance(40) or width < NARROW) then
    stage.eps = width < NARROW and 0.5 or pick { 1e-12, 1e-5, 0.5 }
  end
  return stage
end

local function draw_output(d)
  if chance(35) then return end
  local output, names, pooled, width = {}, {}, false, d.d_model
  for i = 1, random(0, 6) do
    local stage = draw_stage(pooled, width)
    pooled, width = pooled or stage.stage == "pool", stage.to or width
    local name = pick(output_names)
    if chance(35) and not names[name] then stage.name, names[name] = name, true end
    output[i] = stage
    if stage.stage == "argmax" then break end
  end
  d.output = output
end

-- Tile parameters whose whole range would seldom meet a small model; others are drawn from what they allow.
local plan_draws = {
  panel = function() return 16 * random(8) end,
  k_block = function() return math.max(8, size(160)) end,
  token_block = function() return size(160) end,
  group_tokens = function() return size(400) end,
  query_block = function() return size(100) end,
  key_block = function() return 16 * random(8) end,
  window_block = function() return size(64) end,
  row_block = function() return size(100) end,
  least_phase = function() return pick { 0, 0, 1000, 1 << 40 } end,
  least_team = function() return pick { 0, 0, 1000, 1 << 40 } end,
}

-- Any value that a tile parameter's declaration allows.
local function draw_declared(parameter)
  if parameter.words then return pick(parameter.words) end
  local step = parameter.multiple or 1
  local value
  repeat
    value = step * random((parameter.min + step - 1) // step, parameter.max // step)
  until not parameter.divides or parameter.divides % value == 0
  return value
end

local function draw_plan(d)
  if chance(45) then return end
  local plan = {}
  for _, name in ipairs(words.sorted_keys(targets.parameters)) do
    if chance(35) then plan[name] = (plan_draws[name] or draw_declared)(targets.parameters[name]) end
  end
  d.plan = plan
end

-- Multiply-adds of a call, roughly.
local function cost(d)
  local width = d.heads * (d.head_dim or d.d_model // d.heads)
  local rows = (d.batch or 1) * d.seq
  local layer = 4 * d.d_model * width + 2 * d.d_model * (d.d_ff or 4 * d.d_model) + 2 * d.seq * width
  return rows * (d.layers * layer + 150 * (d.d_model + 150))
end

local MOST_COST = 2.5e7

-- Lowers what is largest until a check of it is quick.
local function bound_cost(d)
  while cost(d) > MOST_COST do
    if (d.batch or 1) > 4 then d.batch = d.batch // 2
    elseif d.layers > 1 then d.layers = d.layers - 1
    elseif d.seq > 40 then d.seq = d.seq * 2 // 3
    elseif (d.batch or 1) > 1 then d.batch = d.batch - 1
    elseif (d.d_ff or 4 * d.d_model) > 60 then d.d_ff = (d.d_ff or 4 * d.d_model) * 2 // 3
    elseif d.heads > 1 and d.head_dim then d.heads = d.heads // 2
    else d.seq = math.max(1, d.seq // 2) end
  end
end

--- A description as a plain table; the same for the same seed and number, on every machine.
function draw.description(seed, number)
  math.randomseed(seed, number)
  local d = { name = pick { "fuzzed", "w", "x9", "a_b", "k", "a_model_of_precisely_forty_letters_is_ok" } }
  if chance(60) then d.batch = chance(80) and random(6) or size(40) end
  d.seq, d.d_model, d.layers = size(chance(85) and 100 or 300), size(chance(85) and 130 or 400),
    pick { 0, 1, 1, 1, 2, 2, 3 }
  draw_heads(d)
  if chance(70) then d.d_ff = size(250) end
  if chance(60) then d.activation = pick(activations) end
  if chance(60) then d.norm = pick { "post", "pre", "none" } end
  if chance(40) then d.final_norm = d.norm ~= "none" and chance(70) end
  if d.d_model < NARROW then d.eps = pick { 0.1, 1 }
  elseif chance(30) then d.eps = pick { 1e-30, 1e-12, 1e-6, 1e-3, 1 } end
  d.bias = draw_bias()
  if chance(30) then d.scale = pick { false, 1, 0.25, 0.05 } end
  bound_cost(d)
  draw_mask(d)
  draw_input(d)
  draw_output(d)
  if chance(40) then d.names = pick { "attn2c", "torch" } end
  if chance(40) then d.target = pick { "host", "avx2", "x86_64" } end
  if chance(20) then d.kernels = pick { "libxsmm", "portable" } end
  if chance(40) then d.threads = pick { 0, 1, 2, 2, 3, 4, 8 } end
  if chance(25) then d.reuse = chance(30) end
  draw_plan(d)
  return d
end

return draw
