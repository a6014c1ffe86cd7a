-- sizes.lua: reads the lists batch = { 1, 8 } and seq = { 16, 64 }, and checks which models may pad sequences.
-- It finds the layers where tokens would see the padding of a sequence shorter than its entry, and the reason why
-- some models may not pad at all.
local hints = require("data.hints")
local keys = require("data.keys")
local layers = require("passes.validate.layers")
local masks = require("data.masks")
local pools_of_kept = require("data.stages").pools_of_kept
local precision = require("data.precision")
local words = require("common.words")

local sizes = {}

local MOST, MOST_ENTRIES = 16, 32

local largest = {} -- key -> its maximum
for _, field in ipairs(keys.list) do largest[field.key] = field.max end

--- True if a description has sequences of any length, seq = any(512), or of any up to a context.
function sizes.are_open(description)
  return description.context ~= nil or type(description.seq) == "table" and description.seq.any ~= nil
end

--- True if a description has a list of sizes, even of one.
function sizes.are_listed(description)
  return not sizes.are_open(description) and (type(description.seq) == "table" or type(description.batch) == "table")
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
    return say("seq", ("any(N) takes the most tokens of a sequence, an integer from 2 to %d"):format(largest.seq))
  end
  return { batch = 1, seq = most, any = true }
end

--- Returns the sizes of a list in `key`, smallest first, or { value } if it is no list; nil after a fault.
function sizes.of(say, description, key)
  local given, what = description[key], key == "seq" and "length" or "batch"
  if type(given) ~= "table" then return { given } end
  local list, seen = {}, {}
  for place, value in pairs(given) do
    local n = math.type(value) == "float" and math.tointeger(value) or value
    if math.type(place) ~= "integer" or math.type(n) ~= "integer" then
      return say(key, ("a list has only %s: { 8, 16 }"):format(key == "seq" and "lengths" or "batches"))
    end
    if seen[n] then return say(key, ("the %s %d is given twice"):format(what, n)) end
    seen[n], list[#list + 1] = true, n
  end
  if #list == 0 then
    return say(key, ("an empty list, but an integer from 1 to %d or a list of %s, { 8, 16 }, is allowed"):format(
      largest[key], key == "seq" and "lengths" or "batches"))
  end
  if #list > MOST then
    return say(key, ("a list of %d %s, but at most %d are allowed"):format(#list,
      key == "seq" and "lengths" or "batches", MOST))
  end
  table.sort(list)
  return list
end

--- Returns the sizes of all entries, { batch, seq }, by length, the largest last.
function sizes.entries(say, description)
  local seq = description.seq
  local member = type(seq) == "table" and seq[1]
  if means_any(seq) or means_any(member) or type(member) == "table" and member.any ~= nil then
    return say("seq", HOW_ANY)
  end
  if sizes.are_open(description) then
    local size = open_size(say, description)
    return size and { size }
  end
  local batches, lengths = sizes.of(say, description, "batch"), sizes.of(say, description, "seq")
  if not (batches and lengths) then return nil end
  if not sizes.are_listed(description) then
    return { { batch = batches[1], seq = lengths[1] } }
  end
  if #batches * #lengths > MOST_ENTRIES then
    return say("batch", ("%d batches of %d lengths, but at most %d entries are allowed"):format(#batches, #lengths,
      MOST_ENTRIES))
  end
  local list = {}
  for s = 1, math.max(#lengths, 1) do
    for b = 1, math.max(#batches, 1) do list[#list + 1] = { batch = batches[b], seq = lengths[s] } end
  end
  return list
end

--- Returns the suffix of an entry of a list: _16, or _8x16 if there is a list of batches; "" without a list.
function sizes.suffix(description, spec)
  if not sizes.are_listed(description) then return "" end
  if type(description.batch) ~= "table" then return "_" .. spec.seq end
  return ("_%dx%d"):format(spec.batch, spec.seq)
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

-- Returns the pools of a stage, as a list.
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

-- Returns the longest sequence with unchanged angles if those of a layer depend on the length, and the scaling that
-- says so; else nil.
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

-- Names that a call of a model with a list of sizes, or with any length, gives its own fields.
local names_of_listed = { batch = "number of sequences", seq = "length" }
local names_of_any = { sequences = "number of sequences", lengths = "lengths of the sequences" }

--- Fills in a spec, without faults, for sequences shorter than it: spec.least, the fewest tokens; spec.pool_mask, the
--- mask that selects the rows of pools; spec.rows for a model with a list (listed): true if it gets an input of the
--- rows of each sequence; spec.exact, the reason why a sequence may not be shorter; and sees_padding of each layer.
function sizes.resolve(say, spec, listed)
  local sees, is_of_integers = false, precision.attends_in_integers(spec.precision)
  for _, each in ipairs(spec.each or { spec }) do
    each.sees_padding = sees_padding(each, spec.keys_follow, is_of_integers)
    sees = sees or (each.sees_padding and spec.layers > 0)
  end
  local is_convolved = spec.conv_kernel ~= nil and spec.layers > 0 or spec.positions == "convolution"
  sees = sees or is_convolved and not spec.mask.padding
  spec.pool_mask = mask_of_pools(spec)
  local asks, least = look_at_pools(spec)
  local same_to, scaling = angles_same_to(spec)
  spec.least = least
  local own = spec.any and names_of_any or listed and names_of_listed or {}
  for _, name in ipairs(spec.inputs and words.sorted_keys(spec.inputs) or {}) do
    local what = own[spec.inputs[name]]
    if what then
      say("inputs." .. name, ("\"%s\" is the name that a call of any size gives its %s"):format(spec.inputs[name],
        what))
    end
  end
  if spec.seq < least then
    say("output", ("pool \"second\" takes the second row, but seq is %d"):format(spec.seq))
  end
  if spec.any and spec.seq == least then -- a tensor's growth is found by two lengths (graph/growth.lua)
    say("seq", ("any(%d), but pool \"second\" takes sequences of %d tokens or more: write seq = %d, or any(N) with a "
      .. "larger N"):format(spec.seq, least, least))
  end
  if same_to and spec.seq + spec.past <= same_to then same_to = nil end
  if (listed or spec.any) and same_to then
    say("rope_scaling", ("the angles of %s depend on the length beyond %d positions, and then a list of lengths does "
      .. "not go with it%s"):format(scaling.type, same_to, scaling.type == "dynamic" and "; give it `longest`" or ""))
  end
  local is_image = spec.input.stage == "image"
  if spec.any then return end
  spec.rows = listed and not is_image and (sees or asks ~= nil) or nil
  spec.exact = is_image and "an image has one size" or nil
  if listed or is_image then return end
  spec.exact = same_to and "its angles depend on the length"
    or sees and is_of_integers and "scales of its attention are of all tokens, and it has no lengths"
    or sees and "its tokens see all others, and it has neither lengths nor attention_mask"
    or asks and ("pool %s takes all rows, and it has no lengths"):format(asks)
    or nil
end

return sizes
