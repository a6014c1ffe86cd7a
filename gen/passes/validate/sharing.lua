-- sharing.lua: checks layers that read the keys and values of an earlier one (keys_of), and further parts of layers
-- that read tokens (layer_inputs).
local sharing = {}

-- Keys that are the same in layers that share keys and values.
local same = { "kv_heads", "head_dim", "rope_theta", "rope_dim" }

-- Checks a layer, whose number is `index`. each: the specs of all layers; stack: keys_of of the stack.
local function check_layer(say, each, index, stack)
  local own = each[index + 1]
  local other = own.keys_of and each[own.keys_of + 1]
  if not own.keys_of or own.short_conv > 0 then return end
  local place = ("layers.%d.keys_of"):format(index + 1)
  if own.keys_of >= index and own.keys_of == stack then return end -- a layer before those that read others' keys
  if own.keys_of >= index or not other then
    say(place, "%d, but the layer is number %d, counted from 0, and reads keys of one before it", own.keys_of, index)
  elseif (other.keys_of or index) < own.keys_of or other.short_conv > 0 then
    say(place, "layer %d has no keys of its own", own.keys_of)
  else
    for _, key in ipairs(same) do
      if own[key] ~= other[key] then
        say(place, "%s is %s, but %s in layer %d, whose keys it reads", key, tostring(own[key]), tostring(other[key]),
          own.keys_of)
      end
    end
  end
end

--- Checks the keys of a stack, once its layers are known.
function sharing.check(say, spec)
  local is_shared = spec.keys_of ~= nil
  for i, each in ipairs(spec.each or {}) do
    is_shared = is_shared or each.keys_of ~= nil
    check_layer(say, spec.each, i - 1, spec.keys_of)
  end
  if spec.keys_of and spec.layers and spec.keys_of + 1 >= spec.layers then
    say("keys_of", "%d, but there are %d layers, numbered from 0, and some follow it", spec.keys_of, spec.layers)
  end
  if is_shared and (spec.past or 0) > 0 then say("past", "does not go with keys_of: each layer has past keys") end
  if is_shared and spec.layer_groups then say("layer_groups", "does not go with keys_of") end
  if is_shared and (spec.stages or 1) > 1 then
    say("stages", "does not go with keys_of: a stage has the keys of its own layers")
  end
  if spec.layer_inputs and (spec.input.stage ~= "tokens" or spec.input.width) then
    say("layer_inputs", "goes with input = tokens { ... } without a width")
  end
  if spec.layer_inputs and spec.layer_groups then say("layer_inputs", "does not go with layer_groups") end
end

return sharing
