-- disentangled.lua: checks the keys of DeBERTa: positions = "disentangled", and the convolution after the first layer.
local masks = require("data.masks")
local projections = require("passes.validate.projections")

local disentangled = {}

--- Checks a stack's keys, once its sizes are known.
function disentangled.check(say, spec)
  if spec.distances ~= "disentangled" then return end
  local buckets, farthest = spec.position_buckets, spec.position_distance
  if buckets and buckets > 0 and buckets < 4 then
    say("position_buckets", ("%d, but 0 or at least 4 is allowed"):format(buckets))
  elseif buckets and buckets > 0 and farthest and farthest < buckets // 2 + 2 then
    say("position_distance", ("%d, but with %d buckets at least %d is allowed"):format(farthest, buckets,
      buckets // 2 + 2))
  end
  if spec.scoring == "additive" then say("positions", "disentangled goes with scoring = \"dot\"") end
  if spec.input.stage == "qkv" then say("positions", "disentangled does not go with input = qkv()") end
  if spec.position_projections ~= "own" and not (projections.has(spec, "q") and projections.has(spec, "k")) then
    say("position_projections", "shared goes with projections of q and k; give own")
  end
end

--- Checks the keys of the convolution after the first layer.
function disentangled.check_convolution(say, spec)
  local kernel = spec.conv_kernel
  if not kernel then return end
  if kernel % 2 == 0 then say("conv_kernel", ("%d, but an odd number is allowed"):format(kernel)) end
  if spec.norm == "none" then say("conv_kernel", "goes with a norm, not with norm = \"none\"") end
  if (spec.past or 0) > 0 then say("conv_kernel", "does not go with past: it needs the rows before the first") end
  if spec.input.stage == "qkv" then say("conv_kernel", "does not go with input = qkv()") end
  for _, array in ipairs(masks.arrays) do
    if spec.mask and spec.mask[array.word] then
      say("conv_kernel", ("does not go with mask = \"%s\": give \"padding\", whose lengths say where rows "
        .. "end"):format(array.word))
    end
  end
end

return disentangled
