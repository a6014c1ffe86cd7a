-- validate: table -> spec. Types, ranges, defaults, and which keys go together; finds all
-- faults before it gives up. It changes no meaning: a spec says what the description said.
--
-- Before: state.description.  After: state.spec, every key present.
local dump = require("dump")
local faults = require("faults")
local keys = require("keys")
local stages = require("stages")
local targets = require("targets")
local words = require("words")

local validate = {}

local quote = faults.quote

local function show(value)
  if type(value) == "string" then return quote(value) end
  if type(value) == "number" or type(value) == "boolean" then return tostring(value) end
  if value == nil then return "nothing" end
  return "a " .. type(value)
end

local function one_of(list)
  if #list == 1 then return list[1] end
  return table.concat(list, ", ", 1, #list - 1) .. " or " .. list[#list]
end

-- A description may hold a hundred thousand keys that are none: the first faults tell enough, and the search for the
-- nearest word is what takes long.
local MOST_LINES, MOST_SUGGESTIONS = 100, 40
local suggestions = 0

local function suggestion(word, candidates)
  if type(word) ~= "string" or suggestions >= MOST_SUGGESTIONS then return "" end
  suggestions = suggestions + 1
  local near = words.nearest(word, candidates)
  return near and (" (did you mean " .. near .. "?)") or ""
end

local reserved = words.set {
  "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float",
  "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static",
  "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "class", "delete", "new", "this",
  "private", "public", "protected", "template", "operator", "namespace", "using", "virtual", "friend", "try", "throw",
  "catch", "typename", "export", "bool", "true", "false", "and", "or", "not", "xor", "asm", "explicit", "mutable",
}

-- Readers: type -> function(say, field, value) -> what the spec holds, or nil after a fault.
-- say(key, message) records a fault; field is the entry of the table that declares the key.
local read = {}

function read.integer(say, field, value)
  local n = math.type(value) == "float" and math.tointeger(value) or value
  if math.type(n) ~= "integer" or n < field.min or n > field.max then
    return say(field.key, ("%s, but an integer from %d to %d is allowed"):format(show(value), field.min, field.max))
  end
  return n
end

function read.number(say, field, value)
  if type(value) ~= "number" or value ~= value or value < field.min or value > field.max then
    return say(field.key, ("%s, but a number from %g to %g is allowed"):format(show(value), field.min, field.max))
  end
  return value + 0.0
end

function read.boolean(say, field, value)
  if type(value) ~= "boolean" then return say(field.key, show(value) .. ", but true or false is allowed") end
  return value
end

function read.word(say, field, value)
  if type(value) == "string" then
    for _, word in ipairs(field.words) do if word == value then return value end end
    for _, word in ipairs(keys.later_words[field.key] or {}) do
      if word == value then return say(field.key, value .. " is not there yet; now: " .. one_of(field.words)) end
    end
  end
  return say(field.key, ("%s, but %s is allowed%s"):format(show(value), one_of(field.words),
    type(value) == "string" and suggestion(value, field.words) or ""))
end

function read.name(say, field, value)
  if type(value) ~= "string" or #value > 40 or not value:match("^[a-z][a-z0-9_]*$") or reserved[value] then
    return say(field.key,
      show(value) .. ", but a name is 1 to 40 of a-z, 0-9 and _, begins with a letter and is no word of C or C++")
  end
  if field.taken and (field.taken[value] or value:match("^attn2c")) then
    return say(field.key, show(value) .. ", but that is the name of a header or a library that the model is built with")
  end
  return value
end

function read.activation(say, field, value)
  local list = words.sorted_keys(stages.activations)
  if type(value) == "string" and stages.activations[value] then return value end
  return say(field.key, ("%s, but %s is allowed%s"):format(show(value), one_of(list),
    type(value) == "string" and suggestion(value, list) or ""))
end

function read.pool(say, field, value)
  local list = words.sorted_keys(stages.pools)
  if type(value) == "string" and stages.pools[value] then return value end
  return say(field.key, ("%s, but %s is allowed"):format(show(value), one_of(list)))
end

function read.bias(say, field, value)
  local parts = { "qkv", "out", "ff", "norm" }
  if type(value) == "boolean" then return { qkv = value, out = value, ff = value, norm = value } end
  if type(value) ~= "table" then return say(field.key, show(value)
    .. ", but true, false or { qkv =, out =, ff =, norm = } is allowed") end
  local bias = { qkv = true, out = true, ff = true, norm = true }
  for _, part in ipairs(words.sorted_keys(value)) do
    if bias[part] == nil then
      say(field.key, ("no part %s; the parts are %s%s"):format(show(part), one_of(parts), suggestion(part, parts)))
    elseif type(value[part]) ~= "boolean" then
      say(field.key .. "." .. part, show(value[part]) .. ", but true or false is allowed")
    else
      bias[part] = value[part]
    end
  end
  return bias
end

function read.scale(say, field, value)
  if value == false then return 1.0 end
  if type(value) ~= "number" or not (value >= 1e-30 and value <= 1e6) then
    return say(field.key, show(value) .. ", but false or a number from 1e-30 to 1e6 is allowed")
  end
  return value + 0.0
end

function read.window(say, field, value)
  local function bound(v) return math.type(v) == "integer" and v >= 0 and v <= 4096 end
  if type(value) ~= "table" then
    return say(field.key, show(value) .. ", but { left, right }, integers from 0 to 4096, is allowed")
  end
  local left, right = value[1] or value.left, value[2] or value.right
  for _, key in ipairs(words.sorted_keys(value)) do
    if key ~= 1 and key ~= 2 and key ~= "left" and key ~= "right" then
      return say(field.key, show(key) .. " is not part of { left, right }")
    end
  end
  if not (bound(left) and bound(right)) then
    return say(field.key, ("{ %s, %s }, but { left, right }, integers from 0 to 4096, is allowed"):format(show(left),
      show(right)))
  end
  return { left = left, right = right }
end

function read.mask(say, field, value)
  local known = { "none", "causal", "window", "padding" }
  local mask = { causal = false, padding = false }
  local none = false
  local list = type(value) == "table" and value or { value }
  for _, key in ipairs(words.sorted_keys(list)) do
    local word = list[key]
    if key == "window" then
      mask.window = read.window(say, { key = field.key .. ".window" }, word)
      mask.wants_window = true
    elseif math.type(key) ~= "integer" then
      say(field.key, ("%s, but %s is allowed%s"):format(show(key), one_of(known), suggestion(key, known)))
    elseif word == "none" then none = true
    elseif word == "causal" or word == "padding" then mask[word] = true
    elseif word == "window" then mask.wants_window = true
    else
      read.word(say, { key = field.key, words = known }, word)
    end
  end
  if none and (mask.causal or mask.padding or mask.wants_window) then
    say(field.key, "none goes with no other mask")
  end
  return mask
end

function read.plan(say, field, value)
  if type(value) ~= "table" then return say(field.key, show(value) .. ", but a table of tile parameters is allowed") end
  local plan = {}
  local names = words.sorted_keys(targets.parameters)
  for _, name in ipairs(words.sorted_keys(value)) do
    local parameter, key = targets.parameters[name], field.key .. "." .. tostring(name):gsub("%c", "?")
    if not parameter then
      say(field.key, ("no parameter %s; there are %s%s"):format(show(name), one_of(names), suggestion(name, names)))
    elseif parameter.words then
      plan[name] = read.word(say, { key = key, words = parameter.words }, value[name])
    else
      local n = read.integer(say, { key = key, min = parameter.min, max = parameter.max }, value[name])
      if n and parameter.multiple and n % parameter.multiple ~= 0 then
        say(key, ("%d, but a multiple of %d is allowed"):format(n, parameter.multiple))
      end
      if n and parameter.divides and parameter.divides % n ~= 0 then
        say(key, ("%d, but a divisor of %d is allowed"):format(n, parameter.divides))
      end
      plan[name] = n
    end
  end
  return plan
end

-- One stage before or after the stack: its fields, each read by its type.
local function read_stage(say, key, value, place)
  if type(value) ~= "table" or type(value.stage) ~= "string" then
    return say(key, show(value) .. ", but a stage such as " .. (place == "input" and "linear { from = 40 }"
      or "pool \"mean\"") ..
      " is allowed")
  end
  local stage = stages.constructors[value.stage]
  if not stage then
    for _, later in ipairs(stages.later) do
      if later == value.stage then return say(key, value.stage .. " is not there yet") end
    end
    return say(key, "no stage " .. quote(value.stage))
  end
  if stage.place ~= "both" and stage.place ~= place then
    return say(key, ("%s stands only in the %s"):format(value.stage, stage.place))
  end
  local result = { stage = value.stage, activation = stage.activation }
  local known = {}
  for _, name in ipairs(words.sorted_keys(stage.fields)) do
    local field = stage.fields[name]
    if not field.place or field.place == place then
      known[#known + 1] = name
      local entry = { key = key .. "." .. name, min = field.min, max = field.max, words = field.words }
      if value[name] ~= nil then
        result[name] = read[field.type](say, entry, value[name])
      elseif field.required then
        say(entry.key, "missing: " .. field.meaning)
      else
        result[name] = field.default
      end
    end
  end
  for _, name in ipairs(words.sorted_keys(value)) do
    local field = stage.fields[name]
    if name ~= "stage" and (not field or (field.place and field.place ~= place)) then
      say(key, ("%s has no field %s%s"):format(value.stage, show(name), suggestion(name, known)))
    end
  end
  return result
end

function read.input(say, field, value) return read_stage(say, field.key, value, "input") end

function read.output(say, field, value)
  if type(value) == "table" and value.stage then value = { value } end
  if type(value) ~= "table" then return say(field.key, show(value) .. ", but a list of stages is allowed") end
  local list, count = {}, 0
  for key in pairs(value) do
    count = count + 1
    if math.type(key) ~= "integer" then return say(field.key, "a list of stages has no key " .. show(key)) end
  end
  if count ~= #value then return say(field.key, "the list of stages has holes") end
  if count > 64 then return say(field.key, ("%d stages, but at most 64 are allowed"):format(count)) end
  for i, stage in ipairs(value) do
    list[i] = read_stage(say, field.key .. "." .. i, stage, "output") or { stage = "hidden" }
  end
  return list
end

-- Which stage may follow which, and the names of outputs.
local function check_output(say, spec)
  local pooled, ended = false, nil
  local names = {}
  for i, stage in ipairs(spec.output) do
    local key = "output." .. i
    if ended then say(key, ("nothing can follow %s, which gives integers"):format(ended)) end
    if stage.stage == "pool" then
      if pooled then say(key, "the rows were pooled before; one pool is allowed") end
      pooled = true
    elseif stage.stage == "argmax" then
      ended = "argmax"
    end
    if stage.name then
      if names[stage.name] then say(key .. ".name", quote(stage.name) .. " is the name of another output, too") end
      names[stage.name] = true
    end
  end
end

local function resolve(say, spec, given)
  if spec.d_model and spec.heads and not spec.head_dim then
    if spec.d_model % spec.heads ~= 0 then
      say("heads", ("d_model %d is not divisible by heads %d, and head_dim is not given"):format(spec.d_model,
        spec.heads))
    elseif spec.d_model // spec.heads > 256 then
      say("head_dim", ("d_model %d / heads %d gives %d, but 1 to 256 is allowed"):format(spec.d_model, spec.heads,
        spec.d_model // spec.heads))
    else
      spec.head_dim = spec.d_model // spec.heads
    end
  end
  if spec.d_model and not spec.d_ff and given.d_ff == nil then spec.d_ff = 4 * spec.d_model end
  if spec.head_dim and not spec.scale and given.scale == nil then spec.scale = 1 / math.sqrt(spec.head_dim) end
  if spec.mask then
    if given.window ~= nil and not spec.mask.wants_window then
      say("window", "given, but mask does not say window")
    elseif given.window ~= nil and spec.mask.window then
      say("window", "given twice: here and in mask")
    end
    spec.mask.window = spec.mask.window or spec.window
    if spec.mask.wants_window and not spec.mask.window and given.window == nil and
      not (type(given.mask) == "table" and given.mask.window ~= nil) then
      say("mask", "window without bounds; give window = { left, right }")
    end
    spec.mask.wants_window = nil
  end
  spec.window = nil
  if spec.norm == "none" and spec.final_norm then say("final_norm",
    "goes with norm = \"pre\" or \"post\", not \"none\"") end
  spec.input = spec.input or { stage = "hidden" }
  spec.output = spec.output or { { stage = "hidden" } }
  if #spec.output == 0 then spec.output = { { stage = "hidden" } } end
  if not spec.positions and given.positions == nil then
    spec.positions = spec.input.stage == "tokens" and "learned" or "none"
  end
  check_output(say, spec)
  if spec.target == "host" then spec.target = targets.host() end
  spec.plan = spec.plan or {}
  spec.workers = spec.threads == 0 and { 1, 2, 4, 8 } or { spec.threads }
end

--- Faults: usage, with all that is wrong.
function validate.run(state)
  local description, spec, lines = state.description, {}, {}
  local file = state.file:gsub("%c", "?")
  local more = 0
  suggestions = 0
  local function say(key, message)
    if #lines == MOST_LINES then
      more = more + 1
      return nil
    end
    lines[#lines + 1] = ("%s: %s: %s"):format(file, tostring(key):gsub("%c", "?"), message)
    return nil
  end
  local known = {}
  for _, field in ipairs(keys.list) do known[#known + 1] = field.key end
  local known_set = words.set(known)
  for _, key in ipairs(words.sorted_keys(description)) do
    if not known_set[key] then
      if keys.later[key] then
        say(key, keys.later[key] .. ": not there yet")
      else
        say(type(key) == "string" and key:sub(1, 60) or show(key), "no such key" .. suggestion(key, known))
      end
    end
  end
  for _, field in ipairs(keys.list) do
    local value = description[field.key]
    if value == nil then value = field.default end
    if value ~= nil then
      spec[field.key] = read[field.type](say, field, value)
    elseif field.required then
      say(field.key, "missing: " .. field.meaning)
    end
  end
  if not spec.mask and description.mask == nil then spec.mask = { causal = false, padding = false } end
  resolve(say, spec, description)
  if more > 0 then lines[#lines + 1] = ("%s: and %d more"):format(file, more) end
  if #lines > 0 then faults.raise("usage", lines) end
  state.spec = spec
end

--- Every key, sorted, with its resolved value.
function validate.dump(state)
  return dump.table(state.spec)
end

return validate
