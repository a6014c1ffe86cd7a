-- encoders.lua: makes the entry `encode` of a model with a context and an encoder.
-- A call of it reads sources of any length, or of one, such as pictures, each into one of the caller's sequences, whose
-- state keeps the keys and values that the cross-attentions read. The decoder's calls then go on as in any model with a
-- context.
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

local HOW = ("the encoder of a model with a context takes any(N), with the most rows of a source, or N, the rows of "
  .. "each; an integer from 2 to %d"):format(largest)

-- True if an encoder reads pictures, whose rows have one number.
local function reads_pictures(fields) return type(fields.input) == "table" and fields.input.stage == "image" end

--- Returns an encoder's fields with the rows of its longest source as seq = N, from seq = any(N), or 2 after a fault.
function encoders.sized(say, fields)
  local seq = fields.seq
  local most = seq
  if type(seq) == "table" then most = seq.any end
  most = math.type(most) == "float" and math.tointeger(most) or most
  if reads_pictures(fields) and seq == nil then return fields end
  if math.type(most) ~= "integer" or most < 2 or most > largest then
    say("memory.seq", HOW)
    most = 2 -- reported
  end
  return words.merged(fields, { seq = most })
end

-- Checks an encoder of sources of one length, and fills in the sizes of its calls, of one source each.
local function resolve_one(say, spec, memory)
  if memory.mask ~= "none" then
    say("mask", "sources of one length have no padding; seq = any(N) takes shorter ones")
  end
  if spec.attention_output.kind ~= "none" or spec.attention_output.scores then
    say("attention_output", "outputs of an attention: not supported with a context")
  end
  if spec.seq and spec.seq < 2 then say("input", "the image has 1 row, but 2 or more are expected") end
  spec.batch = 1
end

--- Returns the spec of the entry `encode` of a resolved spec, and sets spec.source to the sizes of its sources,
--- { least, seq }; nil if it has no such entry.
--- The entry's `decoder` is the spec of the layers that read its states.
function encoders.entry(say, spec)
  local encoder = spec.context and spec.memory and spec.memory.encoder
  if not encoder then return nil end
  local encode, is_open = { role = "encode", decoder = spec, output = {}, past = 0 }, spec.memory.any
  for key, value in pairs(spec) do if shared[key] then encode[key] = value end end
  for key, value in pairs(encoder) do encode[key] = value end
  -- Keys that hold for the model, too, were reported for it.
  local function say_encoder(key, ...) return not shared[key:match("^[^.]+")] and say("memory." .. key, ...) end
  if encoder.head_mask.kind ~= "none" then say("memory.head_mask", "factors of heads do not go with a context") end
  if (spec.stages or 1) > 1 then
    say("stages", "an encoder does not go with stages in a model with a context; ranks do")
  end
  if is_open then any_length.resolve(say_encoder, encode) else resolve_one(say_encoder, encode, spec.memory) end
  encode.call_rows = encode.seq
  sizes.resolve(say_encoder, encode)
  if not is_open then encode.least = encode.seq end
  symbols.resolve(encode)
  spec.source = { least = encode.least, seq = encode.seq }
  return encode
end

return encoders
