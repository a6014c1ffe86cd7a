-- classes.lua: has what transformers does in a tokenizer's class and tokenizer.json does not say: steps, and how calls
-- cut texts and give tokens their types.
local json = require("common.json")
local look = require("text.look")
local words = require("common.words")

local classes = {}

local object, array = json.object, json.array

-- Puts a normalizer before a tokenizer's own.
local function before(root, normalizer)
  local list = array { object(normalizer) }
  if root.normalizer ~= nil then list[2] = root.normalizer end
  root.normalizer = object { type = "Sequence", normalizers = list }
end

local steps = {
  Siglip2Tokenizer = function(root) before(root, { type = "Lowercase" }) end,
}

-- The class to use in place of the one that a folder names, by the type of its model. SigLIP 2's folders of fixed sizes
-- name Gemma's class and SigLIP's type, but these models have only learned small letters. AutoTokenizer takes the
-- second for the type siglip2 in any case.
local other = { siglip = { GemmaTokenizer = "Siglip2Tokenizer" }, siglip2 = { GemmaTokenizer = "Siglip2Tokenizer" } }

--- Adds a class's steps to a parsed tokenizer.json. config: tokenizer_config.json, or nil; model: config.json, or nil.
--- Returns a line for the user if AutoTokenizer of transformers does not add them, or nil. file: the config's name.
function classes.complete(root, config, model, file)
  if json.kind(root) ~= "object" or json.kind(config) ~= "object" then return nil end
  local stated = type(config.tokenizer_class) == "string" and config.tokenizer_class:gsub("Fast$", "") or ""
  local class = json.kind(model) == "object" and (other[model.model_type] or {})[stated] or stated
  local add = steps[class]
  if add then add(root) end
  if not add or class == stated or model.model_type == "siglip2" then return nil end
  return ("%s: warning: tokenizer_class is %s in a folder of SigLIP 2: texts are put into small letters, as by %s; "
    .. "AutoTokenizer keeps capitals"):format(file, stated, class)
end

--- Puts texts into small letters first, as sentence-transformers does for do_lower_case if no normalizer of
--- tokenizer.json does so.
function classes.lower(root)
  if json.kind(root) ~= "object" then return end
  local own = root.normalizer
  for _, each in ipairs { own, table.unpack(json.kind(own) == "object" and own.normalizers or {}) } do
    if json.kind(each) == "object" and each.type == "Lowercase" then return end
  end
  before(root, { type = "Lowercase" })
end

local SIDE = { right = 0, left = 1 }

-- Classes whose calls give no types of tokens unless model_input_names asks for them.
local untyped = words.set { "PreTrainedTokenizer", "TokenizersBackend", "AlbertTokenizer", "DistilBertTokenizer",
  "HerbertTokenizer", "MPNetTokenizer", "RobertaTokenizer", "XLMRobertaTokenizer" }

--- Returns how the class calls the tokenizer: from_left, 1 if a text that is too long loses its first tokens, 0 if its
--- last, nil if tokenizer_config.json does not say; splits_special, true if the text of a special token is like any
--- other; pads_left, the file if it says that padding is before texts;
--- without_types, true if all tokens have the first type; note, a line for the user if nobody has asked for that.
--- config: tokenizer_config.json, or nil. file: its name in messages.
function classes.calls(config, file)
  if json.kind(config) ~= "object" then return nil end
  local at, class = look.new(file), type(config.tokenizer_class) == "string" and config.tokenizer_class or ""
  local names = config.model_input_names ~= nil and at:texts(config, "tokenizer", "model_input_names")
  local made = {
    from_left = config.truncation_side ~= nil and at:choice(config, "tokenizer", "truncation_side", SIDE) or nil,
    pads_left = at:choice(config, "tokenizer", "padding_side", SIDE, "right") == 1 and file or nil,
    splits_special = at:boolean(config, "tokenizer", "split_special_tokens", false),
    without_types = untyped[class:gsub("Fast$", "")] or false,
    note = ("%s: warning: the class %s gives no token_type_ids, so all tokens of a pair have type 0, as in "
      .. "transformers; if the model knows types, add token_type_ids to model_input_names"):format(file, class),
  }
  if names then made.without_types, made.note = not words.set(names).token_type_ids, nil end
  at:settle()
  return made
end

return classes
