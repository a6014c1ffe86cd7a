-- describe.lua: runs a description file and returns its plain table.
-- The description runs in an environment of literals, arithmetic and the constructors (describe/language), within
-- limits of time, instructions and memory (describe/limits). Then the KEY=VALUE overrides of the command line are
-- applied. This pass decides nothing.
--
-- A checkpoint's folder is accepted too, and replaced by the description that `import` writes.
--
-- Before: state.file, state.overrides. After: state.text, state.description, state.folder, which its paths are
-- relative to; for a checkpoint's folder, state.checkpoint, its tensors, and, unless `seq` is overridden,
-- state.length, for a model that does not go with any length.
local dump = require("common.dump")
local faults = require("common.faults")
local files = require("common.files")
local keys = require("data.keys")
local kinds = require("common.kinds")
local language = require("passes.describe.language")
local lfs = require("lfs")
local limits = require("passes.describe.limits")
local paths = require("checkpoints.paths")
local terminal = require("common.terminal")
local texts = require("passes.common.texts")
local words = require("common.words")

local describe = {}

-- The largest description in models/ has 2 KB. A quarter of a MiB holds factors of 50,000 heads.
local LARGEST = 256 << 10 -- bytes

-- These bounds allow the longest lists: factors of 128 heads in each of 1000 layers.
local MOST_KEYS = 1000 -- in one table
local MOST_VALUES = 200000 -- in all tables; a shared table counts each time
local DEEPEST = 16 -- a description may hold itself

-- Returns the text of a failure for a message: with its place in the file, or without one for a limit.
local function reason(failure, text)
  if failure.unknown then
    return (":%d: %s"):format(failure.line, language.unknown(failure.unknown, text, failure.line))
  end
  if failure.limit then return ": " .. failure.limit end
  local message = language.explained(terminal.short(failure.message, 400))
  return message:match("^description(:.*)$") or ": " .. message
end

-- Runs a text. Returns true and its result, or false and a failure (limits.evaluate).
local function evaluate(budget, text, name)
  local env = language.globals()
  local ok, result = limits.evaluate(budget, text, name, env)
  language.close(env)
  return ok, result
end

-- Faults where a file is of a kind that is no description; one in Lua may have any name.
local function refuse_kind(file, text)
  local said = kinds.said(file, text, lfs.attributes(file, "size"), text:find("return%s*{") ~= nil)
  if said then faults.raise("usage", "%s: %s", file, said) end
end

local function read(file)
  if file == "" then faults.raise("io", "the description's name is empty") end
  local handle, message = files.open(file)
  if not handle then
    local advice = lfs.attributes(file, "mode") and "" or kinds.advice_on_missing(file)
    faults.raise("io", "cannot read %s: %s%s", file, message, advice)
  end
  local text, failure = handle:read(LARGEST + 1)
  handle:close()
  if failure then faults.raise("io", "cannot read %s: %s", file, failure) end
  text = (text or ""):gsub("^\xef\xbb\xbf", "") -- as Lua itself reads a file
  if #text > LARGEST then
    refuse_kind(file, text)
    faults.raise("usage", file .. ": larger than 256 KiB, the limit of a description")
  end
  return text
end

-- Counts the values in a table and the tables in it; raises a fault if there are too many.
local function count_values(file, value, depth, before)
  local own = 0
  for _, each in next, value do
    own, before = own + 1, before + 1
    if own > MOST_KEYS then
      faults.raise("usage", "%s: a table with more than %d keys, the limit of a description", file, MOST_KEYS)
    end
    if before > MOST_VALUES then
      faults.raise("usage", "%s: more than %d values, the limit of a description", file, MOST_VALUES)
    end
    if type(each) == "table" and depth < DEEPEST then before = count_values(file, each, depth + 1, before) end
  end
  return before
end

local keywords = words.set { "true", "false", "nil" }

-- The keys whose values are texts, which need no quotes on a command line.
local is_text, of_text = {}, words.set { "adapters", "name", "path", "text" }
for _, field in ipairs(keys.list) do is_text[field.key] = of_text[field.type] end

local function parse_value(budget, argument, text)
  local is_bare = text:match("^[%w./~][^'\"{}%c]*$") and not keywords[text] and not tonumber(text)
  if is_bare and is_text[argument:match("^[^=.]*")] then return text end
  if text:match("^[%a_][%w_]*$") and not keywords[text] then return text end
  if argument:match("^target=") and text:match("^[%w_, ]*,[%w_, ]*$") then return text end -- a list is one value
  local ok, value = evaluate(budget, "return (" .. text .. "\n)", "value")
  if ok then return value end
  if not value.limit and text:match("^%w[%w_-]*$") then return text end -- such as avx-512
  local why = "is neither a Lua literal nor a bare word"
  if value.limit then why = value.limit end
  if value.unknown then why = why .. ": " .. language.unknown(value.unknown, text, value.line) end
  return faults.raise("usage", "%s: the value %s", faults.quote(argument), why)
end

-- Applies an override such as output.4.to=10 to { output = { ..., { stage = "linear", to = 600 } } }.
local function override(budget, description, argument)
  local path, text = argument:match("^([%w_.]+)=(.*)$")
  if not path or path:find("..", 1, true) or path:match("^%.") or path:match("%.$") then
    faults.raise("usage", "%s: an override is KEY=VALUE, with dots between nested keys%s", faults.quote(argument),
      lfs.attributes(argument, "mode") and "; one description is allowed" or "")
  end
  local value = parse_value(budget, argument, text)
  local parts = words.map(words.list(path, "[^.]+"), function(key) return math.tointeger(tonumber(key)) or key end)
  local holder = description
  for i = 1, #parts - 1 do
    local inner = holder[parts[i]]
    if inner == nil then
      inner = {}
      holder[parts[i]] = inner
    end
    if type(inner) ~= "table" then
      faults.raise("usage", "%s: %s is a %s and has no keys", faults.quote(argument), table.concat(parts, ".", 1, i),
        type(inner))
    end
    holder = inner
  end
  holder[parts[#parts]] = value
end

-- Removes the layers that an override has left out from a key `weights` by path. A file's description names those whose
-- types are not the usual one. layers: their number without the override.
local function leave_out(weights, layers, left)
  if math.type(layers) ~= "integer" or math.type(left) ~= "integer" or type(weights) ~= "table" then return end
  for i = left, layers - 1 do
    local prefix = ("l%d."):format(i)
    for path in next, weights do
      if type(path) == "string" and path:sub(1, #prefix) == prefix then weights[path] = nil end
    end
  end
end

-- Returns what overrides ask of a checkpoint's folder, as import.text takes it: the form of the description, "forward"
-- for whole sequences, as lengths and outputs are for these, or "continued"; the tower of two that is built, "text", or
-- nil: the other one; the sides of an image, { height, width }, both may be nil; and { head = in place of its own, or
-- nil; adapter = its name, or nil; page = false: without the picture that follows its tokens }.
local function asked_of(overrides)
  local given, form = {}, nil
  for _, argument in ipairs(overrides) do
    local key, word = argument:match("^([%w_.]+)=(.*)$")
    given[key or ""] = word
    if argument:find("^output%.") then form = "forward" end
  end
  if given.seq or given.batch then form = "forward" end
  for _, each in ipairs { { "tower", "text", "image" }, { "head", "splade" } } do
    local key, word = each[1], given[each[1]]
    if word and not words.set(each)[word] or word == key then
      faults.raise("usage", "%s: %s, but %s is allowed", key, faults.quote(word), table.concat(each, " or ", 2))
    end
  end
  local function side(name) return math.tointeger(tonumber((given["input." .. name] or ""):match("^%d+$"))) end
  return form or given.context and "continued" or nil, given.tower == "text" and "text" or nil,
    { height = side("height"), width = side("width") },
    { head = given.head, adapter = given.adapter, page = given.memory ~= "false" and nil }
end

-- True if a key is overridden, so that what the folder says of it does not matter.
local function is_overridden(overrides, key)
  return words.any(overrides, function(argument) return argument:find("^" .. key .. "[=.]") end)
end

--- Runs the pass. Faults: io if the file cannot be read; usage for any other mistake in the text.
function describe.run(state)
  local file = state.file
  state.folder = file:match("^(.*)/[^/]*$") or "."
  if paths.is_checkpoint(file) then
    local import = require("checkpoints.import") -- loaded only for checkpoints
    local notes
    if not paths.is_file(file) then state.folder = file end
    state.text, notes, state.checkpoint, state.length = import.text(file, nil, asked_of(state.overrides))
    for _, note in ipairs(notes) do
      local key = import.key_of(note)
      if not (key and is_overridden(state.overrides, key)) then table.insert(state.notes or {}, note) end
    end
  else
    state.text = read(file)
  end
  if state.text:sub(1, 1) == "\27" then faults.raise("usage", file .. ": compiled Lua is not accepted, only text") end
  local budget = limits.budget()
  local ok, result = evaluate(budget, state.text, "description")
  if not ok then
    if not paths.is_checkpoint(file) then refuse_kind(file, state.text) end
    faults.raise("usage", file .. reason(result, state.text))
  end
  if type(result) ~= "table" then
    faults.raise("usage", "%s: a description returns a table, this one returned %s", file,
      result == nil and "nothing (write return in front of its first {)" or "a " .. type(result))
  end
  state.description = result
  local weights, layers = result.weights, result.layers
  for _, argument in ipairs(state.overrides) do
    local is_of_folder = argument:find("^tower=") or argument:find("^head=")
    local has_second = result.texts or result.draft
    local is_other = is_of_folder and paths.is_checkpoint(file) or texts.owns(argument) and has_second
    if not is_other then override(budget, result, argument) end
    if argument:find("^seq=") then state.length = nil end
  end
  count_values(file, result, 1, 0)
  if result.weights == weights then leave_out(weights, layers, result.layers) end
end

--- Returns the plain table as text, keys sorted.
function describe.dump(state) return dump.table(state.description) end

return describe
