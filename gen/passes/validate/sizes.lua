-- sizes.lua: reads `batch` and `seq`, and finds which models may pad sequences.
-- A list of sizes, seq = { 16, 64 } or batch = { 1, 8 }, is another way to write any(64), which takes any number of
-- sequences of any length up to the most. The file finds the layers where tokens would see the padding of a sequence
-- shorter than its entry, and the reason why some models may not pad at all.
local hints = require("data.hints")
local keys = require("data.keys")
local layers = require("passes.validate.layers")
local masks = require("data.masks")
local pools_of_kept = require("data.stages").pools_of_kept
local precision = require("data.precision")
local words = require("common.words")

local sizes = {}

local largest = {} -- key -> its maximum
for _, field in ipairs(keys.list) do largest[field.key] = field.max end

--- True if a description has sequences of any length, seq = any(512), or of any up to a context.
function sizes.are_open(description)
  return description.context ~= nil or type(description.seq) == "table" and description.seq.any ~= nil
end

local HOW_ANY = ("an integer from 1 to %d, or a list of lengths, is allowed; any length is written any(512), with the "
  .. "most tokens of a sequence"):format(largest.seq)

-- True if a value of `seq`, or a member of its list, asks for any length in another form than any(512).
local function means_any(value)
  return type(value) == "function" or type(value) == "string" and hints.any_length[value:lower():match("^%a+")] or false
end

-- Returns the size of the entry of a description with a context, or nil after a fault.
local function context_size(say, description)
  if description.seq ~= nil then
    return say("seq", "context, which is for causal models, takes its place; leave seq out")
  end
  local most = description.context
  most = math.type(most) == "float" and math.tointeger(most) or most
  return { batch = 1, any = true, context = math.type(most) == "integer" and most or nil } -- its key says what is wrong
end

-- Returns the size of the entry of a description with any length, or nil after a fault.
local function open_size(say, description)
  if description.batch ~= nil then
    return say("batch", "a model of any length takes any number of sequences in a call; leave batch out")
  end
  if description.context ~= nil then return context_size(say, description) end
  for name in pairs(description.seq) do
    if name ~= "any" then return say("seq", HOW_ANY) end
  end
  local most = description.seq.any
  most = math.type(most) == "float" and math.tointeger(most) or most
  if math.type(most) ~= "integer" or most < 2 or most > largest.seq then
    return say("seq", "any(N) takes the most tokens of a sequence, an integer from 2 to %d", largest.seq)
  end
  return { batch = 1, seq = most, any = true }
end

-- Returns the largest size of a list in `key`, or the value itself if it is no list; nil after a fault.
local function largest_of(say, description, key)
  local given, what, most = description[key], key == "seq" and "lengths" or "batches", nil
  if type(given) ~= "table" then return given end
  for place, value in pairs(given) do
    local n = math.type(value) == "float" and math.tointeger(value) or value
    if math.type(place) ~= "integer" or math.type(n) ~= "integer" then
      return say(key, "a list has only %s: { 8, 16 }", what)
    end
    if n < 1 or n > largest[key] then return say(key, "%d, but an integer from 1 to %d is allowed", n, largest[key]) end
    most = math.max(most or n, n)
  end
  return most or say(key, "an empty list, but an integer from 1 to %d or a list of %s, { 8, 16 }, is allowed",
    largest[key], what)
end

--- Returns a description with any length in place of a list of sizes; the description itself if it has none; nil after
--- a fault.
function sizes.without_lists(say, description)
  local seq, batch = description.seq, description.batch
  local member = type(seq) == "table" and seq[1]
  if means_any(seq) or means_any(member) or type(member) == "table" and member.any ~= nil then
    return say("seq", HOW_ANY)
  end
  if sizes.are_open(description) or type(seq) ~= "table" and type(batch) ~= "table" then return description end
  local most, sequences = largest_of(say, description, "seq"), largest_of(say, description, "batch")
  if type(seq) == "table" and not most or type(batch) == "table" and not sequences then return nil end
  local copy = words.merged(description)
  copy.seq, copy.batch = { any = most }, nil
  return copy
end

--- Returns the size of the entry, { batch, seq, any }; nil after a fault.
function sizes.of(say, description)
  if sizes.are_open(description) then return open_size(say, description) end
  return { batch = description.batch, seq = description.seq }
end

-- True if tokens of a layer would see keys after the sequence's last one. A sum with NaN is not hidden by -inf, and
-- rows of padding that see nothing may be NaN. is_of_integers: whether attentions are in int8, whose values have scales
-- of all rows of a sequence.
local function sees_padding(spec, keys_follow, is_of_integers)
  local mask = spec.mask
  if spec.input.stage == "qkv" and not keys_follow then return false end
  if is_of_integers then return not mask.padding or spec.mask_value ~= nil end
  if mask.causal or (mask.window and mask.window.right == 0) then return false end
  if (mask.padding or mask.key_padding) and not spec.mask_value then return false end
  if spec.fully_masked == "nan" then return true end
  for _, array in ipairs(masks.arrays) do
    if mask[array.word] and not array.takes_value then return false end -- the caller's padding in it hides keys
  end
  return true
end

local function pools_of(stage)
  if stage.stage ~= "pool" then return {} end
  return type(stage.over) == "table" and stage.over or { stage.over }
end

--- Returns the first pool of a stage that has to know which rows a sequence has, or nil.
function sizes.asks_for_rows(stage)
  for _, over in ipairs(pools_of(stage)) do if pools_of_kept[over] then return over end end
  return nil
end

-- Returns the mask that selects the rows of pools, an array whose keys are the rows, if there are no lengths.
local function mask_of_pools(spec)
  if spec.input.stage == "qkv" or layers.have_mask(spec, "padding") then return nil end
  return layers.have_mask(spec, "attention_mask") and "attention_mask"
    or layers.have_mask(spec, "key_padding") and "key_padding" or nil
end

-- Returns the first pool that must know a sequence's rows and is not told, and the fewest rows that pools take.
local function look_at_pools(spec)
  local told = spec.input.stage ~= "qkv" and layers.have_mask(spec, "padding") or spec.pool_mask
  local asks, least = nil, 1
  for _, stage in ipairs(spec.output) do
    for _, over in ipairs(pools_of(stage)) do if over == "second" then least = 2 end end
    if not told and not stage.mask then asks = asks or sizes.asks_for_rows(stage) end
  end
  return asks, least
end

-- Returns the longest sequence with unchanged angles if the angles of a layer depend on the length, and the scaling
-- that says so; else nil.
local function angles_same_to(spec)
  local least, by
  for _, each in ipairs(spec.each or { spec }) do
    local scaling = each.positions == "rope" and each.rope_dim > 0 and each.rope_scaling
    local same_to
    if scaling and scaling.type == "dynamic" and scaling.longest == 0 then same_to = scaling.max_position end
    if scaling and scaling.type == "longrope" then same_to = scaling.original end
    if same_to and (not least or same_to < least) then least, by = same_to, scaling end
  end
  return least, by
end

-- Leaves out windows that hold all tokens of the longest sequence.
local function drop_windows(spec)
  local last = math.max(spec.seq + (spec.past or 0), spec.key_seq or 0) - 1
  for _, each in ipairs(spec.each or { spec }) do
    local window, mask = each.mask.window, words.merged(each.mask)
    mask.causal, mask.window = mask.causal or window ~= nil and window.right == 0, nil
    if window and window.left >= last and (mask.causal or window.right >= last) then each.mask = mask end
  end
end

-- Names that a call of a model of any length gives its own fields.
local names_of_any = { sequences = "number of sequences", lengths = "lengths of the sequences" }

--- Fills in a spec, without faults, for its longest sequence and shorter ones: masks; spec.least, the fewest tokens;
--- spec.pool_mask, the mask that selects the rows of pools; spec.exact, the reason why a sequence may not be shorter.
function sizes.resolve(say, spec)
  drop_windows(spec)
  local sees, is_of_integers = false, precision.attends_in_integers(spec.precision)
  for _, each in ipairs(spec.each or { spec }) do
    sees = sees or spec.layers > 0 and sees_padding(each, spec.keys_follow, is_of_integers)
  end
  local is_convolved = spec.conv_kernel ~= nil and spec.layers > 0 or spec.positions == "convolution"
  for _, stage in ipairs(spec.output) do
    is_convolved = is_convolved or stage.stage == "recurrent" and stage.both and not stage.marked
  end
  sees = sees or is_convolved and not spec.mask.padding
  spec.pool_mask = mask_of_pools(spec)
  local asks, least = look_at_pools(spec)
  local same_to, scaling = angles_same_to(spec)
  spec.least = least
  local own = spec.any and names_of_any or {}
  for _, name in ipairs(spec.inputs and words.sorted_keys(spec.inputs) or {}) do
    local what = own[spec.inputs[name]]
    if what then
      say("inputs." .. name, "\"%s\" is the name that a call of any size gives its %s", spec.inputs[name], what)
    end
  end
  if spec.seq < least then say("output", "pool \"second\" takes the second row, but seq is %d", spec.seq) end
  if spec.any and spec.seq == least then -- a tensor's growth is found by two lengths (graph/growth.lua)
    say("seq", "any(%d), but pool \"second\" takes sequences of %d tokens or more: write seq = %d, or any(N) with a "
      .. "larger N", spec.seq, least, least)
  end
  if same_to and spec.seq + spec.past <= same_to then same_to = nil end
  if spec.any and same_to then
    say("rope_scaling", "the angles of %s depend on the length beyond %d positions, and then any length does "
      .. "not go with it%s", scaling.type, same_to, scaling.type == "dynamic" and "; give it `longest`" or "")
  end
  if spec.any then return end
  spec.exact = spec.input.stage == "image" and "an image has one size"
    or spec.memory and spec.memory.joined and "the rows of a picture follow it"
    or spec.input.stage == "frames" and "its convolutions read the rows after the last"
    or same_to and "its angles depend on the length"
    or sees and is_of_integers and "scales of its attention are of all tokens, and it has no lengths"
    or sees and "its tokens see all others, and it has neither lengths nor attention_mask"
    or asks and ("pool %s takes all rows, and it has no lengths"):format(asks)
    or nil
end

return sizes
