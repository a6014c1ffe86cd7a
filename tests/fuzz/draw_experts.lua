-- draw_experts.lua: makes the feed-forwards of a drawn description, or of some of its layers, mixtures of experts.
local accepted = require("accepted")
local sizes = require("sizes")

local draw_experts = {}

local random, pick, chance = math.random, sizes.pick, sizes.chance

-- Draws a value of the key `experts`. unit: what the width is a multiple of.
local function draw_value(unit)
  local e = { count = chance(10) and 1 or random(2, 9) }
  e.used, e.d_ff = random(1, math.min(e.count, chance(80) and 3 or 9)), unit * random(1, unit > 4 and 2 or 20)
  if chance(30) then e.router = pick { "softmax", "sigmoid" } end
  if e.router == "sigmoid" and chance(50) then e.correction = chance(80) end
  if e.router == "sigmoid" and chance(50) then e.sum_eps = pick { 1e-6, 0.5 } end
  if chance(40) then e.normalise = chance(30) end
  if chance(30) then e.bias = chance(80) end
  if chance(20) then e.factor = pick { 0.5, 2.5 } end
  if chance(30) then
    e.shared = sizes.size(60)
    if chance(50) then e.shared_gate = chance(80) end
  end
  if chance(20) then e.scales = chance(80) end
  if chance(20) then e.own_norms = chance(80) end
  return e
end

--- Gives a description experts, if it goes with them. Returns whether it does.
function draw_experts.change(d)
  local e = draw_value(d.weights and chance(70) and 64 or 4)
  local layer = type(d.layers) == "table" and #d.layers > 0 and chance(60) and d.layers[random(#d.layers)]
  local of, before = layer or d, (layer or d).experts
  of.experts = not layer and e or chance(80) and e
  if layer and not of.experts then d.experts = e end
  if accepted(d) then return true end
  of.experts, d.experts = before, nil
  return false
end

return draw_experts
