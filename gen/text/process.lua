-- process.lua: turns post-processors into templates: the special tokens around a text or a pair, and all token types.
-- It also reads whether the positions of tokens leave out spaces.
local json = require("common.json")
local numbers = require("text.numbers")

local process = {}

local FIRST, SECOND, TOKEN = numbers.TEMPLATE.first, numbers.TEMPLATE.second, numbers.TEMPLATE.token

local function piece(kind, id, type, pair) return { kind = kind, id = id, type = type, pair = pair } end

-- Returns the id in a pair [token, id] of BertProcessing or RobertaProcessing.
local function special(look, object, path, key)
  local value = look:array(object, path, key)
  local id = value and value[2]
  if value and (type(value[1]) ~= "string" or math.type(id) ~= "integer" or id < 0 or id > 0x7fffffff) then
    look:fault(path .. "." .. key, "a token and its id are expected")
    return 0
  end
  return id or 0
end

local function around(cls, sep, types, doubled)
  local list = { piece(TOKEN, cls, 0, 0), piece(FIRST, 0, 0, 0), piece(TOKEN, sep, 0, 0),
    piece(TOKEN, cls, 0, 1), piece(FIRST, 0, 0, 1), piece(TOKEN, sep, 0, 1) }
  if doubled then list[#list + 1] = piece(TOKEN, sep, 0, 1) end
  list[#list + 1] = piece(SECOND, 0, types, 1)
  list[#list + 1] = piece(TOKEN, sep, types, 1)
  return list
end

local function trim(add_prefix_space)
  return { stage = numbers.STAGE.trim, kind = numbers.TRIM.spaces, flags = add_prefix_space and 1 or 0 }
end

local processors = {}

function processors.BertProcessing(look, object, path)
  return around(special(look, object, path, "cls"), special(look, object, path, "sep"), 1)
end

function processors.RobertaProcessing(look, object, path)
  local prefix = look:boolean(object, path, "add_prefix_space")
  local trims = look:boolean(object, path, "trim_offsets") and trim(prefix) or nil
  return around(special(look, object, path, "cls"), special(look, object, path, "sep"), 0, true), trims
end

function processors.ByteLevel(look, object, path)
  local prefix = look:boolean(object, path, "add_prefix_space")
  return nil, look:boolean(object, path, "trim_offsets") and trim(prefix) or nil
end

-- Returns the ids that a special token of a template is replaced by.
local function template_ids(look, tokens, name, path)
  local token = tokens[name]
  if json.kind(token) ~= "object" then
    look:fault(path, "a special token that special_tokens does not have")
    return {}
  end
  local ids = look:array(token, path, "ids") or {}
  for _, id in ipairs(ids) do
    if math.type(id) ~= "integer" or id < 0 or id > 0x7fffffff then
      look:fault(path .. ".ids", "ids are expected")
      return {}
    end
  end
  return ids
end

local MOST_PIECES = 4096 -- pieces of a template: far more than a call of any model takes

local function template(look, object, path, key, pair, list)
  local tokens = look:object(object, path, "special_tokens") or {}
  local firsts, before = 0, #list
  for i, entry in ipairs(look:array(object, path, key) or {}) do
    local at = ("%s.%s[%d]"):format(path, key, i - 1)
    local sequence = json.kind(entry) == "object" and entry.Sequence
    local token = json.kind(entry) == "object" and entry.SpecialToken
    if json.kind(sequence) == "object" then
      local which = look:choice(sequence, at, "id", { A = FIRST + 1, B = SECOND + 1 })
      if which == SECOND + 1 and pair == 0 then look:fault(at, "the template for one text has a second text") end
      firsts = firsts + 1
      list[#list + 1] = piece((which or 1) - 1, 0, look:count(sequence, at, "type_id") or 0, pair)
    elseif json.kind(token) == "object" then
      local type_id, name = look:count(token, at, "type_id") or 0, look:text(token, at, "id")
      for _, id in ipairs(name and template_ids(look, tokens, name, at) or {}) do
        list[#list + 1] = piece(TOKEN, id, type_id, pair)
      end
    else
      look:fault(at, "Sequence or SpecialToken is expected")
    end
    if #list - before > MOST_PIECES then
      return look:fault(at, ("has more than %d tokens with those before it"):format(MOST_PIECES))
    end
  end
  if firsts > 16 then look:fault(path .. "." .. key, "has a text more than 16 times") end
end

function processors.TemplateProcessing(look, object, path)
  local list = {}
  template(look, object, path, "single", 0, list)
  template(look, object, path, "pair", 1, list)
  return list
end

local function read(look, value, path, made, depth)
  if json.kind(value) ~= "object" then return look:fault(path, "an object is expected") end
  if value.type == "Sequence" and depth < 8 then
    for i, member in ipairs(look:array(value, path, "processors") or {}) do
      read(look, member, ("%s.processors[%d]"):format(path, i - 1), made, depth + 1)
    end
    return nil
  end
  local processor = look:choice(value, path, "type", processors)
  if not processor then return nil end
  local templates, trims = processor(look, value, path)
  if templates and made.templates then look:fault(path, "two processors that add tokens are not supported") end
  made.templates = made.templates or templates
  made.trims[#made.trims + 1] = trims
  return nil
end

--- Returns the templates, and adds the trims to the list of components.
function process.read(look, root, list)
  local made = { trims = {} }
  if root.post_processor ~= nil then read(look, root.post_processor, "post_processor", made, 0) end
  for _, record in ipairs(made.trims) do list[#list + 1] = record end
  return made.templates or { piece(FIRST, 0, 0, 0), piece(FIRST, 0, 0, 1), piece(SECOND, 0, 1, 1) }
end

return process
