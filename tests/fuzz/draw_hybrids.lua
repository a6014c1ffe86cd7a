-- draw_hybrids.lua: gives a drawn description layers of other kinds: convolutions in place of attentions, heads of
-- another width, keys and values of another layer, normed values, scales, and parts that read tokens.
local accepted = require("accepted")
local sizes = require("sizes")

local draw_hybrids = {}

local random, pick, chance = math.random, sizes.pick, sizes.chance

-- Each draws the value of a key, of a layer or of all.
local draws = {
  short_conv = function() return pick { 1, 2, 3, 3, 4, 9 } end,
  values = function() return pick { "normed", "keys", "normed", "projected" } end,
  keys_of = function(d, is_layer) return is_layer and random(0, math.max(0, #d.layers - 2)) or 0 end,
  layer_scale = function() return true end,
  second_ff = function() return pick { 1, 5, 16, 24 } end,
  residual_rank = function() return pick { 1, 4, 9, 16 } end,
  gate_sparsity = function() return pick { 0.1, 0.5, 0.95, 0.9999 } end,
}

-- Sets a key, and takes it back if the description is refused then.
local function try(d, of, key, value)
  local before = of[key]
  of[key] = value
  if not accepted(d) then of[key] = before end
end

--- Gives a description some of these keys, where it goes with them.
function draw_hybrids.change(d)
  local layers = type(d.layers) == "table" and d.layers or {}
  for _, key in ipairs { "short_conv", "values", "keys_of", "layer_scale", "second_ff", "residual_rank",
    "gate_sparsity" } do
    local draw = draws[key]
    if chance(35) then try(d, d, key, draw(d)) end
    for _, layer in ipairs(layers) do
      if chance(35) then try(d, layer, key, chance(80) and draw(d, true) or key == "short_conv" and 0 or nil) end
    end
  end
  for _, layer in ipairs(layers) do if chance(25) then try(d, layer, "head_dim", pick { 2, 6, 8, 16, 20 }) end end
  if chance(40) then try(d, d, "layer_inputs", pick { 1, 5, 8, 24 }) end
  if chance(30) and d.d_model >= 16 then -- lengths of narrow rows may be near 0
    local count = random(2, 4)
    try(d, d, "streams", { count = count, active = chance(50) and random(0, count - 1) or nil,
      scaled = d.layer_inputs and chance(50) or nil })
  end
  if d.positions == "rope" and chance(30) then
    try(d, d, "rope_scaling", { type = "proportional", rotated = pick { 0, 2, 4, 8 }, factor = pick { 1, 2 } })
  end
end

return draw_hybrids
