-- encoders.lua: makes the entry `encode` of a model with a context and an encoder.
-- A call of it reads sources of any length, each into one of the caller's sequences, whose state keeps the keys and
-- values that the cross-attentions read. The decoder's calls then go on as in any model with a context.
local any_length = require("passes.validate.any_length")
local keys = require("data.keys")
local sizes = require("passes.validate.sizes")
local symbols = require("passes.validate.symbols")
local words = require("common.words")

local encoders = {}

-- Keys of a model that hold for its encoder, too.
local shared = words.set { "name", "batch", "sequences", "layout", "kv_layout", "inputs", "names", "target",
  "kernels", "precision", "weights", "input_order", "threads", "workers", "reuse", "unroll", "max_lines", "plan" }

local largest
for _, field in ipairs(keys.list) do if field.key == "seq" then largest = field.max end end

--- Returns an encoder's fields with its longest source as seq = N, from seq = any(N), or 2 after a fault.
function encoders.sized(say, fields)
  local seq = fields.seq
  local most = type(seq) == "table" and seq.any
  most = math.type(most) == "float" and math.tointeger(most) or most
  if math.type(most) ~= "integer" or most < 2 or most > largest then
    say("memory.seq", ("the encoder of a model with a context takes any(N), with the most rows of a source, an integer "
      .. "from 2 to %d"):format(largest))
    most = 2 -- reported
  end
  return words.merged(fields, { seq = most })
end

--- Returns the spec of the entry `encode` of a resolved spec, and sets spec.source to the sizes of its sources,
--- { least, seq }; nil if it has no such entry.
--- The entry's `decoder` is the spec of the layers that read its states.
function encoders.entry(say, spec)
  local encoder = spec.context and spec.memory and spec.memory.encoder
  if not encoder then return nil end
  local encode = { decoder = spec, output = {}, past = 0 }
  for key, value in pairs(spec) do if shared[key] then encode[key] = value end end
  for key, value in pairs(encoder) do encode[key] = value end
  -- Keys that hold for the model, too, were reported for it.
  local function say_encoder(key, message)
    return not shared[key:match("^[^.]+")] and say("memory." .. key, message)
  end
  if encoder.head_mask.kind ~= "none" then say("memory.head_mask", "factors of heads do not go with a context") end
  if spec.processes then
    say((spec.ranks or 1) > 1 and "ranks" or "stages", "an encoder does not go with ranks and stages in a model with a "
      .. "context; leave them out")
  end
  any_length.resolve(say_encoder, encode)
  encode.call_rows = encode.seq
  sizes.resolve(say_encoder, encode)
  symbols.resolve(encode)
  spec.source = { least = encode.least, seq = encode.seq }
  return encode
end

return encoders
