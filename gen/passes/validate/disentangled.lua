-- disentangled.lua: checks the keys of DeBERTa's positions = "disentangled".
local projections = require("passes.validate.projections")

local disentangled = {}

--- Checks a stack's keys, once its sizes are known.
function disentangled.check(say, spec)
  if spec.distances ~= "disentangled" then return end
  local buckets, farthest = spec.position_buckets, spec.position_distance
  if buckets and buckets > 0 and buckets < 4 then
    say("position_buckets", "%d, but 0 or at least 4 is allowed", buckets)
  elseif buckets and buckets > 0 and farthest and farthest < buckets // 2 + 2 then
    say("position_distance", "%d, but with %d buckets at least %d is allowed", farthest, buckets, buckets // 2 + 2)
  end
  if spec.scoring == "additive" then say("positions", "disentangled goes with scoring = \"dot\"") end
  if spec.input.stage == "qkv" then say("positions", "disentangled does not go with input = qkv()") end
  if spec.position_projections == "shared" and not (projections.has(spec, "q") and projections.has(spec, "k")) then
    say("position_projections", "shared goes with projections of q and k; give own")
  end
end

return disentangled
