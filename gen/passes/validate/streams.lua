-- streams.lua: reads the key `streams`, and checks it with the other keys of Gemma 3n's layers: residual_rank and
-- gate_sparsity.
local values = require("passes.validate.values")
local words = require("common.words")

local streams = {}

local fields = {
  count = { type = "integer", min = 2, max = 16, required = true, meaning = "the number of streams" },
  active = { type = "integer", min = 0, max = 15, default = 0 },
  scaled = { type = "boolean", default = false },
}

streams.reader = values.table_reader(fields, "{ count = 4 }", true, function(say, key, s)
  if s.active and s.count and s.active >= s.count then
    say(key .. ".active", "%d, but there are %d streams, numbered from 0", s.active, s.count)
  end
end)

local LEAST_SPARSITY = 1e-4

local has_norm_before = words.set { "pre", "sandwich" }

-- Checks the keys of a layer, or of all. place: what the names of its keys begin with.
local function check_layer(say, each, place)
  if each.residual_rank and (not has_norm_before[each.norm] or each.parallel ~= "none" or each.residual == false) then
    say(place .. "residual_rank", 'goes with norm = "pre" or "sandwich", parallel = "none" and residual = true')
  end
  if (each.gate_sparsity or 0) > 0 and (not each.gated or each.experts) then
    say(place .. "gate_sparsity", "goes with gated = true, without experts")
  elseif (each.gate_sparsity or 0) > 0 and each.gate_sparsity < LEAST_SPARSITY then
    say(place .. "gate_sparsity", "%g, but 0 or a number from %g is allowed", each.gate_sparsity, LEAST_SPARSITY)
  end
end

--- Checks a stack's keys, once its layers are known.
function streams.check(say, spec)
  for i, each in ipairs(spec.each or { spec }) do
    check_layer(say, each, spec.each and ("layers.%d."):format(i) or "")
  end
  if not spec.streams then return end
  if spec.streams.scaled and not spec.layer_inputs then say("streams.scaled", "goes with layer_inputs") end
  if spec.conv_kernel then say("conv_kernel", "does not go with streams") end
  if (spec.stages or 1) > 1 then say("stages", "does not go with streams: a stage passes on one stream") end
  for _, key in ipairs { "layer_scale", "second_ff" } do
    if words.any(spec.each or { spec }, function(each) return each[key] end) then
      say(key, "does not go with streams")
    end
  end
end

return streams
