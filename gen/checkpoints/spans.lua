-- spans.lua: turns a folder of GLiNER (Zaratiana et al. 2023) into stages after the layers of its encoder, and into the
-- key `spans`. Its gliner_config.json has the encoder's configuration.
local faults = require("common.faults")
local json = require("common.json")
local known = require("common.known")
local words = require("common.words")

local spans = {}

local FILE, ENCODER = "gliner_config.json", "token_rep_layer.bert_layer.model."

-- Ends of names of encoders' tables of tokens.
local EMBEDDINGS = words.set { "word_embeddings.weight", "tok_embeddings.weight", "embed_tokens.weight" }

local MOST_LSTMS = 54 -- an output has at most 64 stages, and 10 of them are others

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

-- Returns the name of the encoder's model on a hub.
local function model_of(own)
  local name = json.given(own, "model_name")
  return type(name) == "string" and #name < 200 and (name:gsub("%c", "?")) or "its encoder"
end

-- True if the library gives the vocabulary tokens that it lacks.
local function adds_tokens(own)
  return json.given(own, "class_token_index", -1) == -1 or json.given(own, "vocab_size", -1) == -1
end

--- Returns the encoder's configuration. own: the object of gliner_config.json; config: that of config.json next to it,
--- or nil: the encoder's as its model has it, as published folders often leave it out.
function spans.encoder(own, config)
  config = json.given(own, "encoder_config") or config
  if config == nil then
    refuse("usage", ("encoder_config: missing; put config.json of %s into the folder"):format(model_of(own)))
  end
  if json.kind(config) ~= "object" then
    refuse("format", "encoder_config: %s, but an object is expected", json.shown(config))
  end
  local rows = json.given(own, "vocab_size", -1)
  return words.merged({ model_type = "deberta-v2" }, config, { architectures = json.null,
    vocab_size = rows ~= -1 and rows or config.vocab_size })
end

--- Sets the number of rows of a table of tokens that the library made longer than the encoder's configuration says.
function spans.set_rows(own, config, tensors)
  if not adds_tokens(own) then return end
  for name, tensor in pairs(tensors) do
    local ending = name:sub(1, #ENCODER) == ENCODER and name:match("[%w_]+%.weight$")
    if EMBEDDINGS[ending] then config.vocab_size = tensor.shape[1] end
  end
end

--- Looks at the keys of a folder's gliner_config.json. notes: lines for the user, which it adds to.
--- Faults: usage, format.
function spans.check(folder, notes)
  known.check(folder.spans, FILE, { FILE }, notes)
  if not folder.tokenizer then
    notes[#notes + 1] = ("%s: the folder has no tokenizer, so the model takes no text; put tokenizer_config.json, and "
      .. "tokenizer.json or the model of SentencePiece, of %s into it"):format(FILE, model_of(folder.spans))
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

--- Returns the stages after the layers. With token_level the output pairs has three scores of each word for each label:
--- that a span begins, ends, and is at the word. Else starts, ends and labels have a row for each token: the score of a
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
  local mode = json.given(config, "span_mode", "markerV0")
  if mode == "token_level" then
    local of_pairs = linear(2 * width, "scorer.proj_token", of_words)
    local function layer(number, columns)
      local name = ("scorer.out_mlp.%d."):format(number)
      return { join = "rows", { name .. "weight", transpose = true, count = columns }, { name .. "bias" } }
    end
    add { "match", labels = linear(2 * width, "scorer.proj_label", states), of = of_pairs, hidden = 4 * width,
      scores = 3, name = "pairs", tensors = { weight = layer(0, 3 * width), ["out.weight"] = layer(3, 4 * width) } }
    return stages
  end
  local is_plain = mode == "marker"
  local factor, last = is_plain and 2 or 4, is_plain and "out_project." or "out_project.3."
  local span = "span_rep_layer.span_rep_layer."
  for part, each in ipairs { { "project_start", "starts" }, { "project_end", "ends" } } do
    local before, more = span .. each[1] .. ".3", { name = each[2], tensors = {} }
    local rows = linear(factor * width, span .. each[1] .. ".0", of_words, { activation = "relu" })
    if is_plain then -- the halves of starts + ends are the two markers
      for _, of in ipairs { "weight", "bias" } do
        local pieces = { join = "rows", { before .. "." .. of, count = width }, { before .. "." .. of, count = width } }
        pieces[3 - part].factor, more.tensors[of] = 0, pieces
      end
    else
      rows, more.bias = linear(width, before, rows, { activation = "relu" }), part == 1
      more.tensors = { weight = { span .. "out_project.0.weight", part = part, parts = 2, across = true },
        bias = { span .. "out_project.0.bias" } }
    end
    linear(factor * width, nil, rows, more)
  end
  local wide = linear(4 * width, "prompt_rep_layer.0", states, { activation = "relu" })
  local rows = linear(width, "prompt_rep_layer.3", wide)
  linear(factor * width + 1, nil, rows, { name = "labels", bias = false, tensors = { weight = { join = "rows",
    { span .. last .. "weight", transpose = true, count = factor * width }, { span .. last .. "bias" } } } })
  return stages
end

function spans.of(folder)
  local config = folder.spans
  local function token(key, default)
    local value = json.given(config, key, default)
    if type(value) ~= "string" then refuse("format", "%s: %s, but a string is expected", key, json.shown(value)) end
    return value
  end
  local label, separator = token("ent_token", "<<ENT>>"), token("sep_token", "<<SEP>>")
  return { width = count(config, "max_width", 12, 1), words = count(config, "max_len", 384, 1),
    label = label, separator = separator, added = adds_tokens(config) and "[FLERT]" or nil }
end

return spans
