-- spans.lua: turns a folder of GLiNER (Zaratiana et al. 2023) into stages after the layers of its encoder, and into the
-- key `spans`. Its gliner_config.json has the encoder's configuration.
local faults = require("common.faults")
local json = require("common.json")
local known = require("common.known")
local words = require("common.words")

local spans = {}

local FILE, ENCODER = "gliner_config.json", "token_rep_layer.bert_layer.model."

local MOST_LSTMS = 54 -- an output has at most 64 stages, and 10 of them are others

local SAVE = "to write it, run in the folder: python3 -c 'import gliner; gliner.GLiNER.from_pretrained(\".\")"
  .. ".save_pretrained(\".\", safe_serialization=True)'"

local function refuse(kind, ...) faults.raise(kind, "%s: %s", FILE, faults.line(...)) end

-- Returns a value of the file, which is a whole number from `least` on, and at most `most` if that is given.
local function count(config, key, default, least, most)
  local value = json.given(config, key, default)
  if math.type(value) ~= "integer" or value < least then
    refuse("format", "%s: %s, but an integer from %d is expected", key, json.shown(value), least)
  end
  if most and value > most then refuse("usage", "%s: %d is not supported; at most %d is", key, value, most) end
  return value
end

--- Returns the encoder's configuration, in place of config.json. own: the object of gliner_config.json.
function spans.encoder(own)
  local config = json.given(own, "encoder_config")
  if config == nil then refuse("usage", "encoder_config: missing; " .. SAVE) end
  if json.kind(config) ~= "object" then
    refuse("format", "encoder_config: %s, but an object is expected", json.shown(config))
  end
  local rows = json.given(own, "vocab_size", -1)
  return words.merged({ model_type = "deberta-v2" }, config, { architectures = json.null,
    vocab_size = rows ~= -1 and rows or config.vocab_size })
end

--- Looks at the keys of a folder's gliner_config.json. notes: lines for the user, which it adds to.
--- Faults: usage, format.
function spans.check(folder, notes)
  known.check(folder.spans, FILE, { FILE }, notes)
  if not folder.tokenizer then
    notes[#notes + 1] = FILE .. ": the folder has no tokenizer.json, so the model takes no text; " .. SAVE
  end
end

--- Returns the family of an encoder, whose tensors have other names in a folder of GLiNER. Faults: usage.
function spans.family(family)
  if family.encoder or family.causal or family.image or family.frames or family.patches then
    refuse("usage", "encoder_config: models of the family %s are not supported; encoders of texts are", family.name)
  end
  return setmetatable({ prefixes = words.map(family.prefixes, function(prefix) return ENCODER .. prefix end) },
    { __index = family })
end

--- Returns a line about the encoder's configuration with its place.
function spans.said(line) return (line:gsub("^config%.json: ", FILE .. ": encoder_config: ")) end

-- Returns the names of an LSTM's weights: the second direction's rows follow the first one's.
local function names_of_lstm(layer)
  local function both(name, plus, transpose)
    local pieces = { join = "rows" }
    for i, ending in ipairs { "", "_reverse" } do
      local function full(each) return ("rnn.lstm.%s_l%d%s"):format(each, layer, ending) end
      pieces[i] = { full(name), plus = plus and full(plus), transpose = transpose }
    end
    return pieces
  end
  return { ["gates.weight"] = both("weight_ih"), ["gates.bias"] = both("bias_ih", "bias_hh"),
    weight = both("weight_hh", nil, true) }
end

--- Returns the stages after the layers: the outputs starts, ends and labels have a row for each token. The score of a
--- span from word a to word b for a label is the sum over j of relu(starts[a][j] + ends[b][j]) labels[j], plus the last
--- number of the label's row. That is GLiNER's own score, whose last layer is multiplied by the label first.
function spans.stages(folder)
  local config, stages = folder.spans, {}
  local width = count(config, "hidden_size", 512, 2)
  local function add(stage)
    stages[#stages + 1] = stage
    return #stages
  end
  local function linear(to, tensor, of, more)
    return add(words.merged({ "linear", to = to, of = of, tensor = tensor }, more))
  end
  local states = 0
  if width ~= folder.config.hidden_size then states = linear(width, "token_rep_layer.projection") end
  local of_words = states
  for layer = 0, count(config, "num_rnn_layers", 1, 0, MOST_LSTMS) - 1 do
    of_words = add { "recurrent", to = width, both = true, marked = true, of = of_words,
      tensors = names_of_lstm(layer) }
  end
  local span, out = "span_rep_layer.span_rep_layer.", "span_rep_layer.span_rep_layer.out_project."
  for part, each in ipairs { { "project_start", "starts" }, { "project_end", "ends" } } do
    local wide = linear(4 * width, span .. each[1] .. ".0", of_words, { activation = "relu" })
    local rows = linear(width, span .. each[1] .. ".3", wide, { activation = "relu" })
    linear(4 * width, nil, rows, { name = each[2], bias = part == 1, tensors = {
      weight = { out .. "0.weight", part = part, parts = 2, across = true }, bias = { out .. "0.bias" } } })
  end
  local wide = linear(4 * width, "prompt_rep_layer.0", states, { activation = "relu" })
  local rows = linear(width, "prompt_rep_layer.3", wide)
  linear(4 * width + 1, nil, rows, { name = "labels", bias = false, tensors = { weight = { join = "rows",
    { out .. "3.weight", transpose = true, count = 4 * width }, { out .. "3.bias" } } } })
  return stages
end

--- Returns the key `spans`.
function spans.of(folder)
  local config = folder.spans
  local function token(key, default)
    local value = json.given(config, key, default)
    if type(value) ~= "string" then refuse("format", "%s: %s, but a string is expected", key, json.shown(value)) end
    return value
  end
  return { width = count(config, "max_width", 12, 1), words = count(config, "max_len", 384, 1),
    label = token("ent_token", "<<ENT>>"), separator = token("sep_token", "<<SEP>>") }
end

return spans
