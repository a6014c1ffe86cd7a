-- facts.lua: reads config.json by its family's table.
-- Every key is mapped, known to have no effect, or refused by name (file_keys.lua). An unknown key gets a note.
local families = require("checkpoints.families")
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local json = require("common.json")
local keys = require("data.keys")
local known_keys = require("common.known")
local words = require("common.words")

local facts = {}

local function refuse(kind, key, ...) faults.raise(kind, "config.json: %s: %s", key, faults.line(...)) end

-- kind -> a function of a value. It returns the value's meaning, or nil and the expected kind in words.
local kinds = {}

-- Adds a kind whose values mean themselves.
local function kind(name, expected, fits)
  kinds[name] = function(value)
    if fits(value) then return value end
    return nil, expected
  end
end

kind("count", "an integer of at least 1", function(value) return math.type(value) == "integer" and value >= 1 end)
kind("size", "an integer of at least 0", function(value) return math.type(value) == "integer" and value >= 0 end)
kind("integer", "an integer", function(value) return math.type(value) == "integer" end)
kind("number", "a positive number", function(value)
  return type(value) == "number" and value == value and value > 0 and value < math.huge
end)
kind("flag", "true or false", function(value) return type(value) == "boolean" end)
kind("text", "a string", function(value) return type(value) == "string" end)
kind("object", "an object", function(value) return type(value) == "table" end)
kind("list", "a list", function(value) return type(value) == "table" end)

function kinds.counts(value)
  if type(value) == "table" or kinds.count(value) then return value end
  return nil, "an integer of at least 1 or a list of them"
end

-- Returns a set of words, of a list or of a string with | between them.
function kinds.words(value)
  local list, set = {}, {}
  if type(value) == "string" then
    for word in value:lower():gmatch("[^|]+") do list[#list + 1] = word:match("^%s*(.-)%s*$") end
  elseif type(value) == "table" then
    list = value
  end
  for _, word in ipairs(list) do
    if type(word) ~= "string" then return nil, "words" end
    set[word] = true
  end
  if type(value) == "table" or type(value) == "string" then return set end
  return nil, "words"
end

function kinds.sides(value)
  if type(value) == "table" and #value == 2 and kinds.count(value[1]) and kinds.count(value[2]) then return value end
  if kinds.count(value) then return { value, value } end
  return nil, "one integer or a list of two"
end

-- Returns attn2c's word for an activation of transformers. It refuses an unsupported activation by its name.
function kinds.activation(value, key)
  if type(value) ~= "string" then return nil, "a string" end
  if not heads.activations[value] then
    refuse("usage", key, "%s is not supported; supported are %s", faults.quote(value),
      table.concat(words.sorted_keys(heads.activations), ", "))
  end
  return heads.activations[value]
end

-- Returns the meaning of one of an entry's words. It refuses others by their names.
function kinds.word(value, key, entry)
  if type(value) ~= "string" then return nil, "a string" end
  if entry.words[value] == nil then
    refuse("usage", key, "%s is not supported; supported are %s", faults.quote(value),
      table.concat(words.sorted_keys(entry.words), ", "))
  end
  return entry.words[value]
end

local most_layers
for _, field in ipairs(keys.list) do
  if field.key == "layers" then most_layers = field.max end
end

-- Returns the greatest value of an entry that is a count. Loops follow the number of layers before a description is
-- validated. Other counts are of rows and columns, which 31 bits hold.
local function most_of(entry) return entry.to == "layers" and most_layers or (1 << 31) - 1 end

--- Returns the greatest value that a key of config.json may have in the family of a model_type.
function facts.most(model_type, key)
  for _, entry in ipairs(families.by_type[model_type].config) do
    for _, name in ipairs(entry) do if name == key then return most_of(entry) end end
  end
  return (1 << 31) - 1
end

-- Other names of keys in attribute_map of transformers, which takes their value, whatever the key says.
local OTHER_NAMES = words.set { "head_dim", "hidden_size", "max_position_embeddings", "num_attention_heads",
  "num_hidden_layers", "num_key_value_heads", "num_local_experts" }

-- Returns the value of an entry of a family's table.
local function read_entry(entry, config, default, known)
  local value, key
  for i = 1, #entry do
    known[entry[i]] = true
    local given = config[entry[i]]
    if given ~= nil and (value == nil or value == json.null) then
      value, key = given, entry[i]
    elseif i > 1 and OTHER_NAMES[entry[i]] and kinds.count(given) and given ~= value then
      refuse("format", entry[i], "%d, but %s is %s", given, key, json.shown(value))
    end
  end
  if value == json.null then
    if entry.null ~= nil then return entry.null end
    value = nil
  end
  if value == nil then
    if default == false then return false end
    value, key = default, entry[1]
  end
  local meant, expected = kinds[entry.kind](value, key, entry)
  if meant == nil then refuse("format", key, "%s, but %s is expected", json.shown(value), expected) end
  if math.type(meant) == "integer" and entry.kind ~= "number" and meant > most_of(entry) then
    refuse("usage", key, "%d is not supported; at most %d is", meant, most_of(entry))
  end
  return meant
end

--- Returns the family of a configuration, and its model_type. Faults: format, usage.
function facts.family(config, tower)
  local word = config.model_type
  if type(word) ~= "string" then refuse("format", "model_type", "missing, or not a string") end
  local family, own_code = families.by_type[word], config.auto_map
  if not family then
    local is_own = type(own_code) == "table" and next(own_code) ~= nil
    local reason = families.refused[word]
    if reason then refuse("usage", "model_type", "%s is not supported: %s", faults.quote(word), reason) end
    local own = is_own and ": it is Python code of its own (auto_map)" or ""
    refuse("usage", "model_type", "%s is not supported%s; supported are %s, and similar models by a description "
      .. "(models/*.lua)", faults.quote(word), own, table.concat(families.called(), ", "))
  end
  local other = family.other and family.other(config, tower)
  if other then return families.by_type[other], other end
  return family, word
end

-- Returns the configuration of the part of a model that a family describes. CLIP's older folders have a second one,
-- which transformers takes in place of the first.
local function part_of(config, family, word, notes)
  local inside = family.inside and family.inside[word]
  if not inside then return config end
  known_keys.check(config, "config.json", { "config.json with parts", "config.json" }, notes)
  local part, other = config[inside], config.model_type == "clip" and config[inside .. "_dict"]
  if type(other) == "table" and other ~= json.null then part = other end
  if part == nil or part == json.null then return {} end
  if type(part) ~= "table" then refuse("format", inside, json.shown(part) .. ", but an object is expected") end
  return part
end

-- Looks at the keys of rotary positions, of all layers or of each type of layers.
local function check_rope(value, key, notes)
  if not key or type(value) ~= "table" then return end
  local plain = {}
  for name, each in pairs(value) do
    if type(each) == "table" and each ~= json.null and each[1] == nil then
      check_rope(each, ("%s: %s"):format(key, name), notes)
    else
      plain[name] = each
    end
  end
  known_keys.check(plain, "config.json: " .. key, { "config.json: rope_parameters" }, notes)
end

--- Returns the facts of a configuration, and notes on unknown keys. tower: "text" for that tower of a model of two.
function facts.read(config, tower)
  local family, word = facts.family(config, tower)
  if tower == "text" and not word:find(":text", 1, true) then
    faults.raise("usage", "tower: goes with a folder that has a tower for texts and one for images")
  end
  local result, known, notes = { family = family, model_type = word }, {}, {}
  config = part_of(config, family, word, notes)
  local defaults = family.defaults and family.defaults[word] or {}
  for _, entry in ipairs(family.config) do
    local default = defaults[entry.to]
    if default == nil then default = entry.default end
    result[entry.to] = read_entry(entry, config, default, known)
  end
  for key, entries in pairs(family.inner or {}) do
    local object, inner = read_entry({ key, kind = "object" }, config, {}, known), {}
    for _, entry in ipairs(entries) do result[entry.to] = read_entry(entry, object, entry.default, inner) end
    known_keys.check(object, "config.json: " .. key, { inner, "config.json: " .. key, "config.json" }, notes)
  end
  -- Decoders whose tokens see both sides: transformers has this key for all of them.
  if family.causal then
    result.causal = read_entry({ "is_causal", default = true, kind = "flag" }, config, true, known)
    if not result.causal and result.window then result.window = result.window + 1 end
    if not result.causal and (family.fixed.positions == "alibi" or result.has_alibi) then
      refuse("usage", "is_causal", "false is not supported in models with ALiBi")
    end
  end
  known_keys.check(config, "config.json", { known, "config.json of " .. family.name, "config.json" }, notes)
  for _, key in ipairs { "rope_scaling", "rope_parameters" } do check_rope(config[key], known[key] and key, notes) end
  return result, notes
end

return facts
