-- encoded.lua: descriptions of small models with a context and an encoder, for specs.
local helper = require("tests.spec.helper")

local encoded = {}

local function with(base, keys)
  for key, value in pairs(keys or {}) do base[key] = value or nil end
  return base
end

--- Returns a description. of_encoder, more: keys of the encoder and of the model in addition, or nil; false removes
--- one.
function encoded.description(of_encoder, more)
  local encoder = with({ stage = "encoder", seq = { any = 24 }, input = { stage = "tokens", vocab = 7 } }, of_encoder)
  return helper.description(with({ context = 100, mask = "causal", input = { stage = "tokens", vocab = 9 },
    memory = encoder }, more))
end

--- Returns the states of both entries after a pass (default: all).
function encoded.states(of_encoder, more, last)
  local state = helper.state(encoded.description(of_encoder, more), last)
  return state.entries[1], state.primary
end

return encoded
