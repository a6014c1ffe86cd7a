-- extremes.lua: each bound of each size by itself, in a model that is small elsewhere.
local extremes = {}

-- Among thousands of rows of two values some have nearly equal ones, and their norm would multiply any rounding by
-- hundreds. The outputs of such a model cannot agree with anything. A large eps keeps it well-conditioned.
local NARROW_EPS = 0.1

local function with(changes)
  local d = { name = "extreme", seq = 3, d_model = 8, heads = 2, layers = 1, d_ff = 12 }
  for key, value in pairs(changes) do d[key] = value end
  if d.d_model < 8 then d.eps = NARROW_EPS end
  return d
end

--- The descriptions: { what, description }.
function extremes.list()
  local list = {}
  local function add(what, changes) list[#list + 1] = { what = what, description = with(changes) } end
  for _, n in ipairs { 1, 2, 3, 8191, 8192 } do
    add("d_model " .. n, { d_model = n, heads = 1, head_dim = 4, d_ff = 5, seq = 2 })
  end
  for _, n in ipairs { 1, 127, 128 } do add("heads " .. n, { heads = n, head_dim = 2 }) end
  for _, n in ipairs { 1, 511, 512 } do add("head_dim " .. n, { head_dim = n }) end
  for _, n in ipairs { 1, 2, 4095, 4096 } do
    add("seq " .. n, { seq = n, heads = 1, d_ff = 2 })
  end
  add("seq 4096 under a causal window", { seq = 4096, heads = 1, d_ff = 2,
    mask = { "causal", "padding", window = { 100, 0 } } })
  for _, n in ipairs { 1, 255, 256 } do add("batch " .. n, { batch = n, mask = "padding" }) end
  for _, n in ipairs { 0, 1, 1000 } do
    add("layers " .. n, { layers = n, heads = 1, seq = 2, eps = NARROW_EPS })
  end
  for _, n in ipairs { 1, 65535, 65536 } do add("d_ff " .. n, { d_ff = n }) end
  for _, n in ipairs { 1, 65536 } do add("features " .. n, { input = { stage = "linear", from = n } }) end
  for _, n in ipairs { 1, 16777216 } do
    add("vocab " .. n, { input = { stage = "tokens", vocab = n }, d_model = 1, heads = 1 })
  end
  for _, n in ipairs { 1, 1048576 } do
    add("logits " .. n, { output = { { stage = "linear", to = n } }, d_model = 2, heads = 1, seq = 1 })
  end
  for _, n in ipairs { { 0, 0 }, { 4096, 4096 } } do
    add(("window %d %d"):format(n[1], n[2]), { mask = { window = n }, seq = 20 })
  end
  return list
end

return extremes
