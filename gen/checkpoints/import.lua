-- import.lua: turns a checkpoint folder into a description, as Lua text.
local faults = require("common.faults")
local folder = require("checkpoints.folder")
local generation = require("checkpoints.generation")
local gguf = require("common.gguf")
local heads = require("checkpoints.heads")
local json = require("common.json")
local language = require("checkpoints.language")
local keys = require("data.keys")
local ctc = require("checkpoints.ctc")
local names = require("checkpoints.names")
local pages = require("checkpoints.pages")
local pictures = require("checkpoints.pictures")
local reserved = require("data.reserved")
local rotary = require("checkpoints.rotary")
local seq2seq = require("checkpoints.seq2seq")
local sentence = require("checkpoints.sentence")
local sounds = require("checkpoints.sounds")
local spans = require("checkpoints.spans")
local speech = require("checkpoints.speech")
local stored = require("checkpoints.stored")
local words = require("common.words")
local write = require("checkpoints.write")

--- BEGINS: a pattern that finds the first line of a description.
local import = { BEGINS = "^%-%- [^\n]*: %w+[^\n]* of transformers' family [^\n]*, from its [^\n]*%.\n" }

-- A model whose folder has a tokenizer takes texts of any length up to this, or up to the model's longest.
local MOST_TOKENS = 512

-- Its length if it goes with no other, and that of a folder without a tokenizer: at most the model's longest.
local TEXT_LENGTH, USUAL_LENGTH = 256, 128

-- A model of frames takes up to 30 seconds at 50 frames a second; exactly 10 if it does not go with any length.
local MOST_FRAMES, FRAME_LENGTH = 1499, 499

-- A model that writes has sequences of up to this many tokens, or up to its longest, and this many of them.
local MOST_CONTEXT, USUAL_SEQUENCES = 4096, 8

local MOST_LABELS = 1000 -- members that a table of a description may have

-- True if the file has a tensor of the model, with or without a prefix.
local function has(self, name)
  name = (self.folder.renamed or {})[name] or name
  local other = self.family.original and name:gsub("weight$", self.family.original) or name
  return words.any(self.family.prefixes, function(prefix)
    return self.folder.tensors[prefix .. name] or self.folder.tensors[prefix .. other]
  end)
end

--- Returns a model's name made from a folder's name.
function import.identifier(title)
  local name = title:lower():gsub("[^a-z0-9]+", "_"):gsub("^_+", ""):gsub("_+$", "")
  if not name:match("^[a-z]") then name = "m_" .. name end
  name = name:sub(1, 40):gsub("_+$", "")
  if reserved.keywords[name] or reserved.of_model(name) then name = name:sub(1, 34) .. "_model" end
  return name
end

-- Returns the task head of a configuration: the end of the class's name, after the family's name.
local function head_of(self, config)
  local classes, begin = config.architectures, self.family.model_types[self.facts.model_type]:lower()
  local usual = self.family.heads.Model and "Model" or next(self.family.heads)
  if classes == nil or classes == json.null then return usual end
  if not json.is_texts(classes) then
    faults.raise("format", "config.json: architectures: %s, but an array of strings is expected", json.shown(classes))
  end
  local class = classes[1]
  if not class then return usual end
  local function after(word) return class:sub(1, #word):lower() == word and class:sub(#word + 1) or nil end
  local suffix = after(begin) or after((self.family.class or begin):lower())
  if self.is_late and class == "HF_ColBERT" then return usual end
  -- Old checkpoints of one family may have the class of another family that it is derived from.
  if not suffix or not self.family.heads[suffix] then
    local prefix = self.family.model_types[self.facts.model_type]
    local list = words.map(words.sorted_keys(self.family.heads), function(word) return prefix .. word end)
    local reason = (self.family.refused or {})[suffix]
    faults.raise("usage", "config.json: architectures: %s is not supported%s; supported are %s", faults.quote(class),
      reason and ": " .. reason or "", table.concat(list, ", "))
  end
  return suffix
end

-- Returns a stage's names of tensors as they are in the file, each once.
local function renamed(self, rule)
  local list, seen = {}, {}
  for key, name in pairs(rule) do if type(key) ~= "number" then list[key] = name end end
  for _, name in ipairs(rule) do
    local own = self.folder.renamed and self.folder.renamed[name] or name
    if not seen[own] then list[#list + 1], seen[own] = own, true end
  end
  return list
end

-- Returns the names that the table of tokens may have in a family with `sums_types`.
local function table_names(self)
  local list, other = {}, (self.folder.renamed or {})[heads.word_embeddings]
  if other then return { other } end
  for _, prefix in ipairs(self.family.prefixes) do list[#list + 1] = prefix .. heads.word_embeddings end
  return list
end

-- Adds the names of a stage's weights to self.names; without_bias: the stage has no bias.
local function add_names(self, path, stage, without_bias)
  local tensors = stage.tensors
  if stage.tensor and not tensors then
    local list = words.map(stage.within and self.family.prefixes or { "" }, function(prefix)
      return prefix .. stage.tensor
    end)
    local rule = #list > 1 and list or list[1]
    if stage.part then rule = { list[1], part = stage.part, parts = stage.parts } end
    self.names[path] = rule
    return
  end
  for parameter, template in pairs(tensors or {}) do
    local rule = renamed(self, template)
    local plain = #words.sorted_keys(rule) == 1 and type(rule[1]) == "string"
    if parameter ~= "bias" or not without_bias then self.names[path .. "." .. parameter] = plain and rule[1] or rule end
  end
end

-- Returns the rows of a classifier's tensor, or the number of labels if the file has no such tensor.
local function labels_of(self, stage)
  local tensor = self.folder.tensors[stage.tensor .. ".weight"]
  if tensor and #tensor.shape == 2 then return tensor.shape[1] end
  local count = 0
  local labels = self.folder.config.id2label
  for _ in pairs(type(labels) == "table" and labels or {}) do count = count + 1 end
  return count > 0 and count or 2
end

-- Returns the fact called `value`, or the value itself if there is no such fact.
local function fact_or(self, value)
  if type(value) == "string" and self.facts[value] ~= nil then return self.facts[value] end
  return value
end

-- Returns the id of padding, whose rows at the end a class head leaves out, or nil: config.json's, else the default of
-- the family's configuration.
local function pad_of(self)
  local pad = self.folder.config.pad_token_id
  if pad == nil then pad = self.family.pad end
  return math.type(pad) == "integer" and pad >= 0 and pad < self.facts.vocab and pad or nil
end

-- Returns a stage of a head in the form of a description, or nil if the file lacks a tensor that the stage needs.
local function output_stage(self, stage, number)
  if stage.needs and not has(self, stage.needs .. ".weight") then
    self.notes[#self.notes + 1] = stage[1] == "linear"
      and ("the file has no %s: %s is left out"):format(stage.needs, stage.name) or nil
    return nil
  end
  local result = { stage = stage[1], over = fact_or(self, stage.over), of = stage.of, name = stage.name,
    squeeze = stage.squeeze, mask = stage.mask, kind = stage.kind, eps = stage.eps, kernel = stage.kernel,
    dilation = stage.dilation, cut = fact_or(self, stage.cut), both = stage.both, marked = stage.marked,
    labels = stage.labels, hidden = stage.hidden, scores = stage.scores,
    pad = stage.pad and pad_of(self) or nil, ending = fact_or(self, stage.ending) or nil }
  self.has_labels = self.has_labels or stage.to == "labels"
  self.has_similarity = self.has_similarity or stage[1] == "similarity"
  if stage.to == "labels" then result.to = labels_of(self, stage) else result.to = fact_or(self, stage.to) end
  result.activation = fact_or(self, stage.activation)
  result.bias = fact_or(self, stage.bias)
  if stage.tied then result.tied = self.facts.tied end
  local shared = result.tied and (self.sums_types and table_names(self) or stage.shared)
  if shared then
    -- An output without a table of its own has the file's, without the type that is added, or the stacks' common one.
    result.tied = not self.sums_types
    local rule = words.append({ stage.tensors.weight[1] }, shared)
    stage = { stage[1], tensors = { weight = rule, bias = stage.tensors.bias } }
  end
  if stage[1] == "vocabulary" then
    result.scale, result.softcap = self.facts.logit_scale or nil, self.facts.logit_softcap or nil
  end
  if result.bias == true and stage[1] == "linear" then result.bias = nil end
  if stage[1] == "similarity" and not result.bias then result.bias = nil end
  if result.tied == true then result.tied = nil end
  add_names(self, ("output.%d.%s"):format(number, stage[1]), stage, result.bias == false)
  return result
end

local function output_of(self, stages)
  local list = {}
  for _, stage in ipairs(stages) do
    -- `each` names a fact, a list of what several such stages have of their own.
    for i, own in ipairs(stage.each and self.facts[stage.each] or { {} }) do
      local one = words.merged(stage, own)
      one.tensor = one.tensor and stage.each and one.tensor:gsub("%*", tostring(i - 1)) or one.tensor
      list[#list + 1] = output_stage(self, one, #list + 1)
    end
  end
  return list
end

-- True if a head pools only the rows before each sequence's end.
local function needs_lengths(stages)
  return words.any(stages, function(each) return each[1] == "pool" and each.over ~= "first" and each.over ~= "all" end)
end

-- Returns the stage of token inputs: tables, token types and norm. It sets the names of the inputs.
local function token_input(self, fixed)
  local f = self.facts
  local types = f.types or 0
  -- A text of one part has no second type, and models of sentences take only such texts.
  if (types < 2 or self.is_sentences or self.is_late or self.folder.spans) and not f.keeps_types then types = 0 end
  if self.family.sums_types and types == 0 then
    self.sums_types = f.types > 0
    if f.types == 0 then self.names["input.tokens.weight"] = table_names(self) end
  end
  if types > 0 then self.input_remark = "types = 0: no token_type_ids; all tokens have the first type" end
  self.inputs = { ids = "input_ids", token_types = types > 0 and "token_type_ids" or nil,
    boxes = f.boxes and "bbox" or nil }
  local width, input_norm = f.embedding and f.embedding ~= f.d_model and f.embedding or nil, fixed.input_norm
  if input_norm == nil then input_norm = f.input_norm end
  return { stage = "tokens", vocab = f.vocab, types = types > 0 and types or nil,
    optional_types = types == 1 or types > 0 and self.is_sentences or nil, padded = self.family.padded,
    norm = (input_norm or input_norm == nil and fixed.norm == "post") and true or nil,
    scale = f.embedding_scale, width = width, dropped = f.dropped, boxes = f.boxes,
    separator_place = f.boxes and pages.separator_place(self.folder, fixed.separator_place),
    place_width = f.place_width, projected = f.projected }
end

local function image_input(self)
  local f = self.facts
  if f.patch[1] ~= f.patch[2] then
    faults.raise("usage", "config.json: patch_size: patches that are not square are not supported")
  end
  local rule = self.family.image
  self.inputs = rule.features and { features = "input_values" } or { image = "pixel_values" }
  local sides = f.sides or f.image
  return { stage = "image", channels = f.channels, height = sides[1], width = sides[2], patch = f.patch[1],
    row_stride = rule.features and f.row_stride, column_stride = rule.features and f.column_stride,
    distillation_token = self.family.image.distillation_token, registers = f.registers or nil,
    class_token = self.family.image.class_token, norm = self.family.image.norm, bias = self.family.image.patch_bias }
end

-- Returns the most tokens of a sequence. A tokenizer's limit does not end the sequences of a model that writes.
local function limit_of(self, first, writes)
  local f = self.facts
  local most = f.longest or (f.max_position and f.max_position - first) or 512
  -- PyLate's calls set the limit of their kind of texts, and a folder has that of the last call before it was saved.
  return (writes or self.is_late) and most or math.min(most, sentence.limit(self.folder, self.notes) or most)
end

-- Returns the stages of a head. If it scores the tokens that may come next, they have no pool of the last row: calls
-- that continue a sequence choose rows themselves. A folder without a tokenizer has such calls if they are asked for.
local function stages_of_writer(self, stages)
  local list, is_asked = { writes = true }, self.form == "continued"
  if self.form and not is_asked or not (stages.writes and self.facts.causal) then return stages end
  if not (self.folder.tokenizer or is_asked) then return stages end
  for _, stage in ipairs(stages) do if stage[1] ~= "pool" then list[#list + 1] = stage end end
  self.is_writer = true
  return list
end

-- Returns the length of a sequence, and a remark. Sets self.length, that of a model that does not go with any length,
-- if the result is any length.
local function length_of(self, most)
  if self.is_writer and most >= 2 then
    self.context = math.min(most, MOST_CONTEXT)
    return nil
  end
  if self.form == "continued" then return nil end -- the context is no such model's; validate says why
  most = math.min(most, keys.LONGEST)
  self.late = sentence.late(self.folder, most)
  if self.late and self.late.document_length then
    most = math.max(self.late.query_length, self.late.document_length)
    if self.form == "one" or not self.folder.tokenizer then return most, "tokens of a text" end
    self.length = most
    return { any = most }, "tokens of a text"
  end
  if self.family.frames and self.form == "one" then
    return FRAME_LENGTH, "frames"
  elseif self.family.frames then
    self.length = FRAME_LENGTH
    return { any = MOST_FRAMES }, "frames of a sequence, 50 a second"
  end
  if self.facts.is_page then return most, "tokens; a picture's rows follow" end
  if self.family.padded then return most, "tokens; shorter texts are filled up" end
  if self.family.patches then return pictures.patches(self.folder.preprocessor), "patches of a picture, or fewer" end
  if not self.folder.tokenizer then return math.min(USUAL_LENGTH, most), ("tokens; up to %d"):format(most) end
  local length = math.min(TEXT_LENGTH, most)
  if self.form == "one" or most < 2 then return length, ("tokens of a text, or fewer; up to %d"):format(most) end
  self.length = length
  return { any = math.min(most, MOST_TOKENS) }, most <= MOST_TOKENS and "tokens of a sequence"
    or ("tokens of a sequence; up to %d"):format(most)
end

-- Takes the output's table as that of tokens, if the folder has only the output's. A GGUF file has one of tokens.
local function check_tie(self, output)
  if not self.facts.tied or self.family.image or self.family.patches or self.folder.is_file then return end
  local last = self.names[("output.%d.vocabulary.weight"):format(#output)]
  local own = type(last) == "table" and last[1] or last
  for _, rule in ipairs(self.folder.tensors[own or ""] and names.rules(self.family.tensors) or {}) do
    local path, whole = rule[1]:match("^(.*input%.tokens)(.*)$")
    local list = type(rule[2]) == "string" and { rule[2] .. (whole == "" and ".weight" or "") } or rule[2]
    if path and not words.any(list, function(name) return has(self, name) end) then
      self.names[path .. ".weight"] = own
    end
  end
end

-- Returns a mask; window: the tokens that each token sees to a side, with itself, or false for all.
local function mask_of(self, stages, window)
  if self.family.image or self.family.padded then return nil end
  local mask, causal = {}, self.facts.causal
  if causal then mask[1] = "causal" end
  if not causal or needs_lengths(stages) then mask[#mask + 1] = "padding" end
  if window then mask.window = { window - 1, causal and 0 or window - 1 } end
  return #mask == 1 and not mask.window and mask[1] or mask
end

-- Returns the number of layers, or a list of what differs in each.
local function layers_of(self, stages)
  local list = self.facts.each
  if not list then return self.facts.layers end
  for _, layer in ipairs(list) do
    if layer.window then layer.mask = mask_of(self, stages, layer.window) end
    layer.window = nil
  end
  return list
end

-- Returns the path of the tokenizer's files from the folder of the description, or nil without them.
local function path_of(self)
  local inside = self.folder.tokenizer
  if not inside then return nil end
  if self.folder.is_file and self.place ~= "" then return self.place end
  if self.place == "" then return inside ~= "" and inside or "." end
  return self.place .. (inside ~= "" and "/" .. inside or "")
end

-- Returns label_function for what a cross-encoder's folder says of its scores, or nil if it says nothing. Several
-- scores as they are, or with a softmax, are a classifier's scores. count: the number of labels.
local function score_function_of(self, count)
  local word = sentence.score_function(self.folder)
  if not word then return nil end
  if word == "Sigmoid" then return "sigmoid" end
  if count > 1 and (word == "Identity" or word == "Softmax") then return nil end
  if word ~= "Identity" then
    self.notes[#self.notes + 1] = ("config.json: activation_fn: %s is not supported; scores are without it"):format(
      faults.quote(word))
  end
  return "none"
end

-- Returns the names of the labels, or nil, and the function that makes probabilities of their scores, or nil.
local function labels_of_text(self, output)
  local last, config = output[#output], self.folder.config
  if not self.has_labels or not (self.folder.tokenizer or self.pictures) then return nil, nil end
  local by_number, list = config.id2label, {}
  for i = 1, math.min(last.to, MOST_LABELS + 1) do
    local word = type(by_number) == "table" and by_number[tostring(i - 1)]
    list[i] = type(word) == "string" and word or nil
  end
  if #list ~= last.to or #list > MOST_LABELS then
    if type(by_number) == "table" then
      self.notes[#self.notes + 1] = ("config.json: id2label: %d labels are expected, as the tensors say, and at most %d"
        .. " are supported; labels are numbers instead"):format(last.to, MOST_LABELS)
    end
    list = nil
  end
  local problem = config.problem_type
  if not words.any(output, function(stage) return stage.stage == "pool" end) then -- of tokens: always a softmax
    return list, last.to == 1 and "softmax" or nil
  end
  return list, score_function_of(self, last.to) or problem == "multi_label_classification" and "sigmoid"
    or problem == "regression" and "none" or nil
end

-- Returns what a sentence-transformers folder with a tokenizer puts before texts: the text that is there unless another
-- is asked for, and all texts by name.
local function prompts_of(self)
  if not (self.folder.modules or self.is_late) or not self.folder.tokenizer then return nil, nil end
  local prompts, named = sentence.prompts(self.folder), { query = "", document = "" }
  -- a caller says by its name that a text is a query
  if (self.late or {}).query_length or self.folder.queries then prompts = words.merged(named, prompts or {}) end
  return sentence.prompt(self.folder, self.asked.adapter), prompts
end

-- Returns the token that the texts of a decoder begin with, or nil without an encoder. transformers takes the first of
-- these that is there.
local function start_of(self, stated, config)
  for _, id in ipairs { (stated or {}).decoder_start_token_id or false,
    config.decoder_start_token_id or false, self.family.start or false, config.bos_token_id or false } do
    if math.type(id) == "integer" and id >= 0 and id < self.facts.vocab then return { id } end
  end
  return nil
end

-- Returns what the folder says about generating text, for a model that writes; nil for others.
local function generation_of(self)
  if not self.context then return nil end
  local stated, config = self.folder.generation, self.folder.config
  if self.family.generation then stated, config = self.family.generation(config, stated) end
  local result = generation.of(stated, config, self.facts.vocab, self.notes,
    self.folder.is_file and "metadata general.sampling" or nil)
  if not (self.family.encoder or self.family.pictures) then return result end
  result = result or {}
  result.draw = result.draw or false -- transformers' default; sources are no prompts to go on with
  result.start = start_of(self, stated, config)
  return result
end

-- Returns the comment lines that a description begins with.
local function head_lines(self, class)
  local f = self.folder
  local lines = { ("%s: %s of transformers' family %s, from its %s."):format(f.title, class, self.family.name,
    f.is_file and "GGUF file" or "folder") }
  local count, types = 0, {}
  for _, tensor in pairs(f.tensors) do count, types[tensor.dtype] = count + 1, true end
  lines[#lines + 1] = ("%d tensors of type %s."):format(count, table.concat(words.sorted_keys(types), ", "))
  if f.is_file or f.quantised then lines[#lines + 1] = stored.said(f) end
  for _, note in ipairs(self.notes) do lines[#lines + 1] = note end
  return lines
end

-- Returns the naming scheme: a GGUF file's, timm if the file has timm's names, else the family's.
local function scheme_of(self)
  if self.folder.scheme then return self.folder.scheme end
  if self.family.image and self.folder.tensors["blocks.0.attn.qkv.weight"] then
    for path in pairs(self.names) do if path:find("^output") then self.names[path] = nil end end
    return "timm"
  end
  return self.family.name
end

local function name_table(self)
  local scheme = scheme_of(self)
  if next(self.names) == nil and not self.folder.quantised then return scheme end
  return words.merged(self.names,
    { scheme, quantised = self.folder.quantised, prefix = self.folder.spans and self.family.prefixes })
end

-- Returns the types that hold the blocks of a GGUF file or quantised folder, and the order of inputs; or nil.
local function blocks_of(self, output)
  if not self.folder.is_file and not self.folder.quantised then return nil end
  local naming = { scheme = { scheme = scheme_of(self), rules = {}, modules = {} }, own = self.names }
  for name, rule in pairs(self.folder.rules or {}) do
    table.insert(naming.scheme.rules, names.compile(name, rule))
  end
  return stored.weights(self.folder, self.facts, output, naming),
    stored.input_order(self.folder, self.facts, output, naming)
end

-- Returns the facts of a folder's image tower, the encoder of a family that writes about pictures, as a state of its
-- own; nil for other families. sides: as in pictures.set_size. Faults: usage, format.
local function tower_of(self, sides)
  local rule, facts = self.family.pictures, require("checkpoints.facts")
  if not rule then return nil end
  local part = json.given(self.folder.config, rule.inside, {})
  if type(part) ~= "table" then
    faults.raise("format", "config.json: %s: %s, but an object is expected", rule.inside, json.shown(part))
  end
  part = seq2seq.both(part, { model_type = rule.usual })
  if not (rule.kinds or { [rule.usual] = true })[part.model_type] then
    faults.raise("usage", "config.json: %s: model_type: %s is not supported; supported are %s", rule.inside,
      json.shown(part.model_type), table.concat(words.sorted_keys(rule.kinds), ", "))
  end
  local own, notes = facts.read(part)
  words.append(self.notes, notes)
  local family, prefixes = own.family, {}
  for i, prefix in ipairs(family.prefixes) do prefixes[i] = rule.names .. prefix end
  local tower = setmetatable({ facts = own, names = {}, inputs = {},
    family = setmetatable({ prefixes = prefixes }, { __index = family }) }, { __index = self })
  pictures.set_size(tower, sides)
  if family.derive then
    family.derive(own, part, tower.names, function(name) return has(tower, name) end)
  end
  for path, template in pairs(tower.names) do self.names["encoder." .. path] = template end
  for _, entry in ipairs(names.rules(family.tensors)) do -- the scheme's are ViT's
    if rule.kinds and entry[1] == "input.class" then
      self.names["encoder.input.class"] = seq2seq.named_after(rule.names, entry[2])
    end
  end
  return tower
end

-- Returns the encoder of pictures. to: the width of its states after a linear layer, or nil.
local function image_memory(self, tower, to)
  local f, fixed = tower.facts, tower.family.fixed
  local result = { stage = "encoder", input = image_input(tower), to = to, d_model = f.d_model, heads = f.heads,
    layers = f.layers, d_ff = f.d_ff, activation = f.activation, norm = fixed.norm, eps = f.eps,
    final_norm = fixed.final_norm, bias = f.qkv_bias == false and { qkv = false } or nil, positions = "learned" }
  self.pictures = pictures.of(self.folder.preprocessor, f.sides, self.notes, f.resized_from)
  self.inputs.source_image, self.inputs.ids = "pixel_values", "decoder_input_ids"
  return result
end

-- Returns the rows of a page's picture, which follow the rows of its tokens.
local function page_memory(self)
  local f = self.facts
  self.notes[#self.notes + 1] = "config.json: visual_embed: a text comes with its page's picture; memory=false builds "
    .. "the model for text and boxes only"
  self.inputs.source_image = "pixel_values"
  self.pictures = self.folder.tokenizer and pictures.of(self.folder.preprocessor, f.image, self.notes)
  return { stage = "encoder", joined = true, layers = 0, positions = "learned", input = { stage = "image", norm = true,
    channels = f.channels, height = f.image[1], width = f.image[2], patch = f.patch[1], eps = 1e-6 } }
end

-- Returns the encoder whose states the layers read, in a family that has one; nil for others. most: tokens of a source.
-- Its calls take any length if the decoder's continue sequences.
local function memory_of(self, input, first, most)
  local own, f = self.family.encoder, self.facts
  if self.tower_of_images then return image_memory(self, self.tower_of_images, f.projected_to) end
  if f.is_page then return page_memory(self) end
  if not own then return nil end
  local result = { stage = "encoder", positions = f.positions or self.family.fixed.positions }
  self.inputs.ids = "decoder_input_ids"
  if self.family.features or f.convolutions then
    result.input, result.seq = sounds.source(self)
  else
    result.input = { stage = "tokens", vocab = f.source_vocab or input.vocab, norm = input.norm, scale = input.scale }
    result.seq, result.mask = self.is_writer and { any = most } or most, not self.is_writer and "padding" or nil
    result.first_position, result.max_position = first > 0 and first or nil, f.max_position or nil
    self.inputs.source_ids = "input_ids"
  end
  for key, fact in pairs(own) do result[key] = f[fact] end
  return result
end

local function entries_of(self, stages)
  local f, fixed = self.facts, self.family.fixed
  local first = f.first_position or fixed.first_position or (self.family.positions_after_pad and f.pad + 1) or 0
  local input = self.family.image and image_input(self) or self.family.frames and sounds.frames(self)
    or self.family.patches and pictures.rows(self) or token_input(self, fixed)
  if self.family.image and self.family.image.features then
    self.sound = sounds.of(self.folder.preprocessor, self.notes, { width = input.height, rows = input.width })
  elseif self.family.image then
    self.pictures = pictures.of(self.folder.preprocessor, f.sides or f.image, self.notes, f.resized_from)
  end
  local seq, lengths_remark
  local memory = memory_of(self, input, first, math.min(limit_of(self, first), self.is_writer and MOST_CONTEXT
    or USUAL_LENGTH))
  if not self.family.image then seq, lengths_remark = length_of(self, limit_of(self, first, stages.writes)) end
  local theta, scaling, rotated = f.rope_base, f.rope_scale, nil
  if self.family.rotary and not theta and not f.positions then
    theta, scaling, rotated = rotary.of(f)
    scaling = scaling or f.rope_scale
  end
  local output = output_of(self, stages)
  check_tie(self, output)
  local mask = mask_of(self, stages, f.window)
  local labels, label_function = labels_of_text(self, output)
  local texts = self.has_similarity and self.pictures and path_of(self) or nil -- of the other tower
  local embeds, of_ctc = self.is_sentences and self.folder.tokenizer, nil
  if stages.ctc then
    labels, of_ctc = ctc.of(self.folder.read, self.folder.tokenizer_config, output[#output].to, self.notes)
  end
  if texts then label_function = self.family.similarity end
  local weights, input_order = blocks_of(self, output)
  local prompt, prompts = prompts_of(self)
  local said = generation_of(self)
  return {
    { "name", import.identifier(self.folder.title .. (self.tower and "_" .. self.tower or "")) },
    { "seq", seq, lengths_remark },
    { "context", self.context, "tokens of a sequence, with those that are generated" },
    { "sequences", self.context and math.max(USUAL_SEQUENCES, said and said.beams or 1),
      "that a caller's context keeps" },
    { "d_model", f.d_model }, { "heads", f.heads },
    { "kv_heads", f.kv_heads and f.kv_heads ~= f.heads and f.kv_heads or nil },
    { "head_dim", f.head_dim and f.head_dim * f.heads ~= f.d_model and f.head_dim or nil },
    { "layers", layers_of(self, stages) }, { "layer_groups", f.layer_groups },
    { "d_ff", f.d_ff and f.d_ff ~= 4 * f.d_model and f.d_ff or nil }, { "experts", f.experts },
    { "gated", f.gated or fixed.gated }, { "gate_limit", f.gate_limit },
    { "activation", f.activation }, { "norm", f.norm or fixed.norm }, { "parallel", f.parallel or fixed.parallel },
    { "norm_kind", fixed.norm_kind },
    { "eps", fixed.eps or f.eps }, { "final_norm", f.final_norm or fixed.final_norm },
    { "residual_scale", f.residual_scale },
    { "bias", f.bias or fixed.bias or (f.qkv_bias == false and { qkv = false } or nil) },
    { "values", fixed.values }, { "layer_scale", fixed.layer_scale }, { "layer_inputs", f.layer_inputs },
    { "residual_rank", f.residual_rank }, { "streams", f.streams }, { "second_ff", f.second_ff },
    { "qk_norm", f.qk_norm or fixed.qk_norm }, { "scale", f.score_scale or fixed.scale },
    { "softcap", f.softcap or nil }, { "sinks", fixed.sinks }, { "mask", mask }, { "memory", memory },
    { "conv_kernel", f.conv_kernel }, { "conv_activation", f.conv_activation },
    { "positions", f.positions or fixed.positions }, { "max_position", f.max_position or nil },
    { "sinusoids", not f.positions and fixed.sinusoids or nil },
    { "first_position", first > 0 and first or nil }, { "rope_theta", theta }, { "rope_style", fixed.rope_style },
    { "rope_scaling", scaling }, { "rope_dim", rotated }, { "rope_patches", fixed.rope_patches },
    { "alibi_max", f.alibi_max ~= 8 and f.alibi_max or nil }, { "alibi_factor", f.alibi_factor },
    { "qkv_limit", f.qkv_limit or nil },
    { "t5_buckets", f.t5_buckets or fixed.t5_buckets }, { "t5_distance", f.t5_distance or fixed.t5_distance },
    { "t5_by_layer", f.t5_by_layer }, { "box_buckets", f.box_buckets }, { "box_distance", f.box_distance },
    { "position_gate", fixed.position_gate },
    { "position_kernel", f.position_kernel }, { "position_groups", f.position_groups },
    { "position_activation", f.position_activation },
    { "position_terms", f.disentangled and f.disentangled.terms },
    { "position_buckets", f.disentangled and f.disentangled.buckets },
    { "position_distance", f.disentangled and f.disentangled.distance },
    { "position_norm", f.disentangled and f.disentangled.norm },
    { "position_projections", f.disentangled and f.disentangled.projections },
    { "input", input, self.input_remark }, { "inputs", self.inputs }, { "output", output },
    { "late_interaction", self.folder.tokenizer and self.late or nil },
    { "spans", self.folder.spans and spans.of(self.folder) or nil },
    { "labels", labels }, { "label_function", label_function },
    { "tokenizer", not (self.family.image or self.family.patches) and path_of(self) or nil },
    { "pictures", self.pictures },
    { "sound", self.sound }, { "texts", texts },
    { "prompt", prompt }, { "prompts", prompts }, { "dimensions", embeds and sentence.dimensions(self.folder) or nil },
    { "query_weights", folder.query_weights(self.folder, self.place) },
    { "similarity", embeds and sentence.similarity(self.folder, self.notes) or nil },
    { "generation", said }, { "ctc", of_ctc },
    { "speech", self.context and self.folder.tokenizer and (self.family.features
      and speech.of(self.folder.generation, f.vocab, self.notes, f.median) or f.convolutions and {}) or nil },
    { "weights", weights }, { "input_order", input_order },
    { "names", name_table(self) },
    { "opens", self.folder.opens },
  }
end

-- Returns a folder's path relative to the folder of the file `from`.
local function place_of(path, from)
  local uv = require("common.libuv")
  local to = uv.fs_realpath(path) or path
  local base = uv.fs_realpath(from:match("^(.*)/[^/]*$") or ".")
  if not base or to:find("[%c\128-\255]") then return path end
  local up = ""
  while base ~= "" and to ~= base and to:sub(1, #base + 1) ~= base .. "/" do
    up, base = up .. "../", base:match("^(.*)/[^/]*$") or ""
  end
  local down = to:sub(#base + 2)
  local place = (up .. down):gsub("/$", "")
  return place == "" and "." or place
end

--- Returns the text of a folder's description, lines for the user, the folder's tensors, and the length of a model that
--- does not go with the any length of the text. Faults: io, format, usage.
--- from: a file to whose folder the paths in the text are relative; without it they are relative to the checkpoint's.
--- form: "one": the text has that length in place of any length; "forward": calls take whole sequences, also in a model
--- that writes; "continued": calls continue a sequence, also without a tokenizer; nil: the usual form. tower: "text",
--- for the other of two towers. sides: { height, width } of the image that is asked for; a missing one is the folder's.
--- asked: { head = "splade": lexical weights in place of the scores of a masked language model; adapter: the task whose
--- adapter the model gets; page = false: a page's picture is not read }, or nil.
function import.text(path, from, form, tower, sides, asked)
  local facts = require("checkpoints.facts") -- only folders need families
  local self = { notes = {}, names = {}, place = from and place_of(path, from) or "",
    form = form, tower = tower, asked = asked or {} }
  local place = write.remark(path):gsub("(.)/+$", "%1") .. "/"
  local done, result = pcall(function()
    self.folder = folder.read(path, function(config) facts.family(config, tower) end)
    self.names = words.merged(self.folder.rules)
    self.facts, self.notes = facts.read(self.folder.config, tower)
    table.move(self.folder.notes or {}, 1, #(self.folder.notes or {}), #self.notes + 1, self.notes)
    if self.folder.modules or sentence.is_late(self.folder) then sentence.check(self.folder, self.notes) end
    self.family = self.facts.family
    if self.folder.spans then
      spans.check(self.folder, self.notes)
      self.family = spans.family(self.family)
    end
    local f = self.facts
    if f.d_ff == false then f.d_ff = nil end
    if f.kv_heads == false then f.kv_heads = f.heads end
    f.pooler_width = f.pooler_width or f.d_model
    f.pooler_activation = f.pooler_activation or "tanh"
    if self.family.image then pictures.set_size(self, sides) end
    self.tower_of_images = tower_of(self, sides)
    if self.asked.page == false then f.with_picture = false end
    if self.family.derive then
      self.family.derive(f, self.folder.config, self.names, function(name) return has(self, name) end,
        function(list, most) return gguf.first_floats(self.folder, self.family.prefixes, list, most) end)
    end
    self.is_late = sentence.is_late(self.folder)
    local head = head_of(self, self.folder.config)
    language.choose(self, head)
    if f.causal == nil then f.causal = self.family.causal or (self.family.encoder or self.family.pictures) ~= nil end
    self.notes[#self.notes + 1] = (self.family.notes or {})[head]
      and ("config.json: %s: %s"):format(self.family.model_types[f.model_type] .. head,
        self.family.notes[head])
    local said = not self.folder.is_file and self.family.said and self.family.said(f)
    self.notes[#self.notes + 1] = said and "config.json: " .. said or nil
    self.is_sentences = self.folder.modules ~= nil and not (sentence.is_cross_encoder(self.folder)
      and head == "ForSequenceClassification")
    local variant = self.family.variants and self.family.variants[f.variant] or {}
    local scores = self.family.heads.ForMaskedLM
    local stages = self.folder.spans and spans.stages(self.folder)
      or (self.is_sentences or self.is_late) and sentence.stages(self.folder, scores)
      or self.asked.head and sentence.lexical_stages(self.folder, scores) or variant[head] or self.family.heads[head]
    sentence.note_unread(self.folder, stages, self.notes)
    stages = stages_of_writer(self, stages)
    local entries = entries_of(self, stages)
    local class = self.family.model_types[f.model_type]
      .. (self.is_sentences and "Model, of sentence-transformers" or self.folder.spans and "Model, of GLiNER" or head)
    return write.description(head_lines(self, class), entries)
  end)
  local lines = done and self.notes or faults.is(result) and result.lines or {}
  local before = self.folder and self.folder.is_file and path .. ": metadata, in words of " or place
  for i, line in ipairs(lines) do
    if self.folder and self.folder.spans then line = spans.said(line) end
    if line:find("^[%w_/]+%.json: ") and line:sub(1, #place) ~= place then line = before .. line end
    lines[i] = line
  end
  if done then return result, lines, self.folder.tensors, self.length end
  error(result, 0)
end

--- Returns the key of a description that a note says the folder gives no value for, or nil.
function import.key_of(note) return pictures.is_note(note) and "pictures" or sounds.is_note(note) and "sound" or nil end

return import
