-- classes.lua: adds the steps of a tokenizer that transformers has in its class and not in tokenizer.json.
local json = require("common.json")

local classes = {}

local function object(value) return setmetatable(value, { __jsontype = "object" }) end
local function array(value) return setmetatable(value, { __jsontype = "array" }) end

-- Puts a normalizer before those of a tokenizer.
local function before(root, normalizer)
  local list = array { object(normalizer) }
  if root.normalizer ~= nil then list[2] = root.normalizer end
  root.normalizer = object { type = "Sequence", normalizers = list }
end

local steps = {
  Siglip2Tokenizer = function(root) before(root, { type = "Lowercase" }) end,
}

-- Classes that stand for another one in a folder, by the type of its model: SigLIP 2's folders of fixed sizes name
-- Gemma's class and SigLIP's type. The models learned small letters alone.
local other = { siglip = { GemmaTokenizer = "Siglip2Tokenizer" } }

--- Adds a class's steps to a parsed tokenizer.json. config: tokenizer_config.json, or nil; model: config.json, or nil.
--- Returns a line for the user if AutoTokenizer of transformers does not add them, or nil. file: the config's name.
function classes.complete(root, config, model, file)
  if json.kind(root) ~= "object" or json.kind(config) ~= "object" then return nil end
  local stated = type(config.tokenizer_class) == "string" and config.tokenizer_class:gsub("Fast$", "") or ""
  local class = json.kind(model) == "object" and (other[model.model_type] or {})[stated] or stated
  local add = steps[class]
  if add then add(root) end
  return add and class ~= stated and ("%s: warning: tokenizer_class is %s in a folder of SigLIP 2: texts are put into "
    .. "small letters, as by %s; AutoTokenizer keeps capitals"):format(file, stated, class) or nil
end

return classes
