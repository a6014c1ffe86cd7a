-- readers.lua: reads each type of a description's key: readers[type](say, field, value).
-- A reader returns the value for the spec, or nil after it reported a fault. field is the entry of the table that
-- declares the key; say(key, message, ...) records a fault, whose message is a format if values follow, and say() tells
-- whether one more line may be recorded.
local activations = require("data.activations")
local faults = require("common.faults")
local hints = require("data.hints")
local keys = require("data.keys")
local masks = require("data.masks")
local scale_blocks = require("data.scale_blocks")
local stages = require("data.stages")
local targets = require("data.targets")
local values = require("passes.validate.values")
local words = require("common.words")

local read, is_list = values.read, values.is_list
local show, one_of, suggestion = values.show, values.one_of, values.suggestion

function read.activation(say, field, value)
  local list = words.sorted_keys(activations.of_descriptions)
  if type(value) == "string" and activations.of_descriptions[value] then return value end
  return say(field.key, "%s, but %s is allowed%s", show(value), one_of(list), suggestion(say, value, list,
    hints.activations))
end

function read.pool(say, field, value)
  local list = words.sorted_keys(stages.pools)
  if type(value) == "string" and stages.pools[value] then return value end
  if type(value) == "table" and #value >= 1 and #value <= 8 then
    local result = words.map(value, function(word)
      return not stages.pools_of_rows[word] and stages.pools[word] and word or nil
    end)
    if #result == #value then return result end
  end
  return say(field.key, "%s, but %s is allowed%s", show(value), one_of(list),
    type(value) == "string" and hints.text(hints.pools, value) or "")
end

-- Parts of a bias that stand for several.
local groups_of_bias = { qkv = { "q", "k", "v" }, ff = { "up", "down" } }

function read.bias(say, field, value)
  local parts = { "qkv", "q", "k", "v", "out", "ff", "up", "down", "norm" }
  local bias = {}
  for _, part in ipairs(parts) do if not groups_of_bias[part] then bias[part] = value ~= false end end
  if type(value) == "boolean" then return bias end
  if type(value) ~= "table" then return say(field.key, show(value)
    .. ", but true, false or { qkv =, out =, ff =, norm = } is allowed") end
  for group, members in pairs(groups_of_bias) do
    if type(value[group]) == "boolean" then for _, part in ipairs(members) do bias[part] = value[group] end end
  end
  for _, part in ipairs(words.sorted_keys(value)) do
    if bias[part] == nil and not groups_of_bias[part] then
      say(field.key, "no part %s; the parts are %s%s", show(part), one_of(parts), suggestion(say, part, parts))
    elseif type(value[part]) ~= "boolean" then
      say(field.key .. "." .. part, show(value[part]) .. ", but true or false is allowed")
    elseif not groups_of_bias[part] then
      bias[part] = value[part]
    end
  end
  return bias
end

local MOST_LABEL, MOST_NAME = 1000, 100 -- bytes, of a prompt's name
local MOST_PROMPTS, MOST_LABELS = 64, 16000

--- Reads texts by name; an empty one means none.
function read.prompts(say, field, value)
  local result, count = {}, 0
  for name, text in pairs(type(value) == "table" and value or {}) do
    count = count + 1
    local is_name = type(name) == "string" and #name <= MOST_NAME and utf8.len(name) and name:match("^%C+$")
    if not is_name then return say(field.key, "%s, but a name of 1 to %d bytes is allowed", show(name), MOST_NAME) end
    result[name] = text == "" and "" or read.text(say, { key = field.key .. "." .. name }, text)
  end
  if count > 0 and count <= MOST_PROMPTS then return result end
  return say(field.key, "%s, but a table of 1 to %d texts such as { query = \"query: \" } is allowed",
    count > 0 and count .. " texts" or show(value), MOST_PROMPTS)
end

local MOST_ADAPTERS, MOST_ADAPTER_NAME = 64, 64

-- Returns the adapter's name, the last part of its path without the end of a GGUF file.
local function name_of(path) return (path:match("([^/]+)/*$") or path):gsub("%.[gG][gG][uU][fF]$", "") end

--- Reads a folder, a list of folders, or a table of folders by name, as { { name, path } }, sorted by name if they have
--- names; nil: there are none.
function read.adapters(say, field, value)
  if value == false then return nil end
  local given, list, taken = type(value) == "string" and { value } or value, {}, {}
  if type(given) ~= "table" or next(given) == nil then
    return say(field.key, show(value) .. ", but a list of paths, or a table such as { sql = PATH }, is allowed")
  end
  for _, key in ipairs(words.sorted_keys(given)) do
    local path = given[key]
    local is_path = type(path) == "string" and path ~= "" and not path:find("%c")
    local name = type(key) == "string" and key or is_path and name_of(path) or "?"
    local place = ("%s.%s"):format(field.key, tostring(key):gsub("%c", "?"):sub(1, MOST_ADAPTER_NAME))
    if not is_path then
      say(place, show(path) .. ", but the path of a folder or GGUF file is allowed")
    elseif not name:find("^[%w_][%w_.-]*$") or #name > MOST_ADAPTER_NAME or name == "none" then
      say(place, "the name %s, but 1 to %d letters, digits, _, . and - are allowed, and not none: { NAME = FOLDER }",
        show(name), MOST_ADAPTER_NAME)
    elseif taken[name] then
      say(place, "the name %s is given twice; { NAME = FOLDER } gives another one", show(name))
    end
    taken[name], list[#list + 1] = true, { name = name, path = path }
  end
  if #list <= MOST_ADAPTERS then return list end
  return say(field.key, "%d adapters, but at most %d are allowed", #list, MOST_ADAPTERS)
end

function read.labels(say, field, value)
  if type(value) ~= "table" or #value == 0 then
    return say(field.key, show(value) .. ", but a list of texts such as { \"no\", \"yes\" } is allowed")
  end
  local result = {}
  if type(value[1]) == "table" then -- parts of a longer list
    local parts = {}
    for i, part in ipairs(value) do
      for _, label in ipairs(type(part) == "table" and part or { part }) do parts[#parts + 1] = label end
      if #parts > MOST_LABELS or type(part) ~= "table" then
        return say(("%s.%d"):format(field.key, i), "%s, but parts of a list of at most %d texts are allowed",
          show(part), MOST_LABELS)
      end
    end
    value = parts
  end
  for key, label in pairs(value) do
    if math.type(key) ~= "integer" or key < 1 or key > #value or type(label) ~= "string" or #label > MOST_LABEL
      or not utf8.len(label) or label:find("%z") then
      return say(field.key .. "." .. tostring(key):gsub("%c", "?"):sub(1, 60),
        "%s, but a text of at most %d bytes without NUL is allowed", show(label), MOST_LABEL)
    end
    result[key] = label
  end
  return result
end

--- Reads true, false, or { q =, k =, v =, out = } with some of each.
function read.projections(say, field, value)
  if type(value) == "boolean" then return value end
  local parts = { "q", "k", "v", "out" }
  if type(value) ~= "table" then
    return say(field.key, show(value) .. ", but true, false or { q =, k =, v =, out = } is allowed")
  end
  local result, some, all = { q = true, k = true, v = true, out = true }, false, true
  for _, part in ipairs(words.sorted_keys(value)) do
    if result[part] == nil then
      say(field.key, "no part %s; the parts are %s%s", show(part), one_of(parts), suggestion(say, part, parts))
    else
      result[part] = read.boolean(say, { key = field.key .. "." .. part }, value[part]) ~= false
    end
  end
  for _, part in ipairs(parts) do some, all = some or result[part], all and result[part] end
  if all or not some then return all end
  return result
end

function read.scale(say, field, value)
  if value == false then return 1.0 end
  if type(value) ~= "number" or not (value >= 1e-30 and value <= 1e6) then
    return say(field.key, show(value) .. ", but false or a number from 1e-30 to 1e6 is allowed")
  end
  return value + 0.0
end

function read.window(say, field, value)
  local allowed = (", but { left, right }, integers from 0 to %d, is allowed"):format(keys.LONGEST)
  local function bound(v) return math.type(v) == "integer" and v >= 0 and v <= keys.LONGEST end
  if type(value) ~= "table" then return say(field.key, show(value) .. allowed) end
  local left, right = value[1] or value.left, value[2] or value.right
  for _, key in ipairs(words.sorted_keys(value)) do
    if key ~= 1 and key ~= 2 and key ~= "left" and key ~= "right" then
      return say(field.key, show(key) .. " is not part of { left, right }")
    end
  end
  if not (bound(left) and bound(right)) then
    return say(field.key, ("{ %s, %s }"):format(show(left), show(right)) .. allowed)
  end
  return { left = left, right = right }
end

--- Returns { causal, padding, window, prefix, key_padding, ... }; wants_window, wants_prefix: given elsewhere.
function read.mask(say, field, value)
  local mask = { causal = false, padding = false }
  local none, some = false, false
  local list = type(value) == "table" and value or { value }
  for _, key in ipairs(words.sorted_keys(list)) do
    local word = list[key]
    some = some or word ~= "none"
    if key == "window" then
      mask.window = read.window(say, { key = field.key .. ".window" }, word)
      mask.wants_window = true
    elseif key == "prefix" then
      mask.prefix = read.integer(say, { key = field.key .. ".prefix", min = 1, max = keys.LONGEST }, word)
      mask.wants_prefix = true
    elseif words.set(masks.words)[key] then
      say(field.key, "%s has no value; words are members of a list, such as { %s }", key, faults.quote(key))
    elseif math.type(key) ~= "integer" then
      say(field.key, "%s, but %s is allowed%s", show(key), one_of(masks.words), suggestion(say, key, masks.words))
    elseif type(word) == "table" then
      say(("%s.%s"):format(field.key, key), "a list in a list, but one list, such as "
        .. "{ \"causal\", \"padding\", window = { 16, 16 } }, is allowed; "
        .. "masks that differ from layer to layer belong in layers")
    elseif word == "none" then none = true
    elseif word == "causal" or word == "padding" or masks.by_word[word] then mask[word] = true
    elseif word == "window" then mask.wants_window = true
    elseif word == "prefix" then mask.wants_prefix = true
    else
      read.word(say, { key = field.key, words = masks.words }, word)
    end
  end
  if none and some then say(field.key, "none goes with no other mask") end
  return mask
end

--- Reads the number of layers. Differences between them are read once the stack is known (validate/layers.lua).
function read.layers(say, field, value)
  if type(value) ~= "table" then
    local n = math.type(value) == "float" and math.tointeger(value) or value
    if math.type(n) == "integer" and n >= field.min and n <= field.max then return n end
    return say(field.key, "%s, but an integer from %d to %d or a list of tables, one a layer, is allowed", show(value),
      field.min, field.max)
  end
  if not is_list(say, field.key, value, "layers") then return nil end
  if #value <= field.max then return #value end
  return say(field.key, "%d layers, but at most %d are allowed", #value, field.max)
end

function read.attention_output(say, field, value)
  local kinds = keys.attention_outputs
  if type(value) ~= "table" then return { kind = read.word(say, { key = field.key, words = kinds }, value) } end
  local kind = value.kind
  if kind == nil then kind = "heads" end
  local result = { kind = read.word(say, { key = field.key .. ".kind", words = kinds }, kind) }
  for _, key in ipairs(words.sorted_keys(value)) do
    if key ~= "kind" and key ~= "layers" and key ~= "scores" and key ~= "before_head_mask" then
      say(field.key, show(key) .. " is not part of { kind =, layers =, scores =, before_head_mask = }")
    end
  end
  if value.scores ~= nil then result.scores = read.boolean(say, { key = field.key .. ".scores" }, value.scores) end
  if value.before_head_mask ~= nil then
    local at = field.key .. ".before_head_mask"
    result.before_head_mask = read.boolean(say, { key = at }, value.before_head_mask)
    if result.before_head_mask and result.kind and result.kind ~= "heads" then say(at, "goes with kind = \"heads\"") end
  end
  if value.layers == nil then return result end
  if type(value.layers) ~= "table" then
    return say(field.key .. ".layers", show(value.layers) .. ", but a list of layers, counted from 0, is allowed")
  end
  if not is_list(say, field.key .. ".layers", value.layers, "layers") then return nil end
  result.layers = {}
  for i, layer in ipairs(value.layers) do
    local n = read.integer(say, { key = ("%s.layers.%d"):format(field.key, i), min = 0, max = 999 }, layer)
    if n then result.layers[n] = true end
  end
  return result
end

-- Reads lists of numbers, one for each layer; their lengths are checked once heads and layers are known.
function read.head_mask(say, field, value)
  if value == "none" or value == "input" then return { kind = value } end
  if type(value) ~= "table" then
    return say(field.key, show(value) .. ", but none, input or a list of a list of factors a layer is allowed")
  end
  if not is_list(say, field.key, value, "layers") then return nil end
  local result, fine = { kind = "constant", layers = {} }, true
  for layer, list in ipairs(value) do
    local key = ("%s.%d"):format(field.key, layer)
    if type(list) ~= "table" then return say(key, show(list) .. ", but a list of factors, one a head, is allowed") end
    if not is_list(say, key, list, "factors") then return nil end
    result.layers[layer] = {}
    for head, factor in ipairs(list) do
      local number = read.number(say, { key = ("%s.%d"):format(key, head), min = -1e6, max = 1e6 }, factor)
      result.layers[layer][head], fine = number, fine and number ~= nil
    end
  end
  return fine and result or nil
end

--- Returns { encoder = fields, joined } or { seq, width, mask }; nil for false.
function read.memory(say, field, value)
  if value == false then return nil end
  if type(value) ~= "table" then
    return say(field.key, show(value) .. ", but { seq =, width =, mask = } or encoder { ... } is allowed")
  end
  if value.stage == "encoder" then
    local fields = {}
    for key, each in pairs(value) do if key ~= "stage" and key ~= "joined" then fields[key] = each end end
    local joined = value.joined
    if joined ~= nil and type(joined) ~= "boolean" then
      return say(field.key .. ".joined", show(joined) .. ", but true or false is allowed")
    end
    return { encoder = fields, joined = joined or nil }
  end
  return values.fields(say, field.key, value, {
    seq = { type = "integer", min = 1, max = keys.LONGEST, required = true, meaning = "rows of the memory" },
    width = { type = "integer", min = 1, max = 8192 },
    mask = { type = "word", words = { "none", "padding", "key_padding" }, default = "none" },
  })
end

function read.plan(say, field, value)
  if type(value) ~= "table" then return say(field.key, show(value) .. ", but a table of tile parameters is allowed") end
  local plan = {}
  local names = words.sorted_keys(targets.parameters)
  for _, name in ipairs(words.sorted_keys(value)) do
    local parameter, key = targets.parameters[name], field.key .. "." .. tostring(name)
    if not parameter then
      say(field.key, "no parameter %s; there are %s%s", show(name), one_of(names), suggestion(say, name, names,
        hints.parameters))
    elseif parameter.words then
      plan[name] = read.word(say, { key = key, words = parameter.words }, value[name])
    else
      local n = read.integer(say, { key = key, min = parameter.min, max = parameter.max }, value[name])
      if n and parameter.multiple and n % parameter.multiple ~= 0 then
        say(key, "%d, but a multiple of %d is allowed", n, parameter.multiple)
      end
      if n and parameter.divides and parameter.divides % n ~= 0 then
        say(key, "%d, but a divisor of %d is allowed", n, parameter.divides)
      end
      plan[name] = n
    end
  end
  return plan
end

local function stages_of(place)
  local list = {}
  for _, name in ipairs(words.sorted_keys(stages.constructors)) do
    local of = stages.constructors[name].place
    if of == place or of == "both" then list[#list + 1] = name end
  end
  return list
end

-- Reads one stage before or after the stack, each field by its type.
local function read_stage(say, key, value, place)
  if type(value) ~= "table" or type(value.stage) ~= "string" then
    return say(key, show(value) .. ", but a stage such as " .. (place == "input" and "linear { from = 40 }"
      or "pool \"mean\"") ..
      " is allowed")
  end
  local stage = stages.constructors[value.stage]
  if not stage then
    local list = stages_of(place)
    return say(key, "no stage %s%s; %s is allowed", faults.quote(value.stage), suggestion(say, value.stage, list,
      hints.activations), one_of(list))
  end
  if stage.place ~= "both" and stage.place ~= place then
    return say(key, "%s is allowed only in the %s", value.stage, stage.place)
  end
  local fields, given = {}, words.merged(value)
  given.stage = nil
  for name, field in pairs(stage.fields) do
    if not field.place or field.place == place then fields[name] = field end
  end
  local result = values.fields(say, key, given, fields, value.stage, hints.fields)
  result.stage, result.activation = value.stage, result.activation or stage.activation
  return result
end

function read.input(say, field, value) return read_stage(say, field.key, value, "input") end

function read.output(say, field, value)
  if type(value) == "table" and value.stage then value = { value } end
  if type(value) ~= "table" then return say(field.key, show(value) .. ", but a list of stages is allowed") end
  if not is_list(say, field.key, value, "stages") then return nil end
  if #value > 64 then return say(field.key, "%d stages, but at most 64 are allowed", #value) end
  return words.map(value, function(stage, i)
    return read_stage(say, field.key .. "." .. i, stage, "output") or { stage = "hidden" }
  end)
end

local of_inputs = words.set { "learned", "sinusoidal", "convolution" }
local of_attentions = words.set { "alibi", "t5", "disentangled" }

--- Reads one word, or one of positions of the input and one of positions of attentions.
function read.positions(say, field, value)
  if type(value) ~= "table" then return read.word(say, field, value) end
  local first, second = value[1], value[2]
  if #value == 2 and of_inputs[first] and of_attentions[second] then return { first, second } end
  return say(field.key, "a list, but two words are allowed: \"learned\", \"sinusoidal\" or \"convolution\", and then "
    .. "\"alibi\", \"t5\" or \"disentangled\"")
end

function read.layer_groups(say, field, value)
  if type(value) ~= "table" or #value == 0 then
    return say(field.key, show(value) .. ", but a list with a group for each layer is allowed: { 0, 0, 1 }")
  end
  for i, group in ipairs(value) do
    if math.type(group) ~= "integer" or group < 0 or group >= #value then
      return say(("%s.%d"):format(field.key, i), "%s, but a group from 0 to %d is allowed", show(group), #value - 1)
    end
  end
  return value
end

read.weights = require("passes.validate.weights").read
read.input_order = require("passes.validate.weights").reader(scale_blocks.order_words)
for _, key in ipairs { "ctc", "experts", "late_interaction", "pictures", "precision", "sound", "spans", "speech",
  "streams" } do
  read[key] = require("passes.validate." .. (key == "sound" and "sounds" or key)).reader
end
for _, key in ipairs { "generation", "inputs", "names", "rope_scaling" } do
  read[key] = require("passes.validate." .. key)
end

return read
