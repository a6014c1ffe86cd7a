-- layoutlmv3.lua: describes LayoutLMv3 (Huang et al. 2022): RoBERTa whose tokens have a box on a page, and after them
-- the patches of the page's picture. Scores have numbers added for distances of tokens, and for differences of boxes.
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local words = require("common.words")

local function places(axis) return { ("embeddings.%s_position_embeddings.weight"):format(axis) } end

local function refuse(key, ...) faults.raise("usage", "config.json: %s: %s", key, faults.line(...)) end

local PREFIX = "layoutlmv3."

-- Returns the rule of a table of numbers of each head, [head][bucket] in the file, which are divided like scores.
local function biases(facts, name)
  name = ("encoder.%s.weight"):format(name)
  return { PREFIX .. name, name, transpose = true, factor = 1 / math.sqrt(facts.d_model // facts.heads) }
end

local function derive(facts, _, names, has)
  local rest = facts.d_model - 4 * facts.place_width
  if rest ~= 2 * facts.size_width then
    refuse("coordinate_size", "%d, but four of them and two of shape_size, %d, must be hidden_size, %d",
      facts.place_width, facts.size_width, facts.d_model)
  end
  facts.is_page = facts.with_picture and has("patch_embed.proj.weight")
  if facts.is_page and facts.patch[1] ~= facts.patch[2] then
    refuse("patch_size", "patches that are not square are not supported")
  end
  facts.variant = (facts.is_page and "page" or "") .. (has("classifier.dense.weight") and "deep" or "")
  if facts.is_page and facts.by_distance and not facts.by_box then
    refuse("has_spatial_attention_bias", "false, but models of pictures add numbers for boxes as well as for distances")
  end
  facts.positions = "learned"
  -- transformers adds numbers for boxes only beside those for distances
  if facts.by_distance then
    facts.positions, names["positions.bias.weight"] = { "learned", "t5" }, biases(facts, "rel_pos_bias")
  end
  if facts.by_distance and facts.by_box then
    names["places.across.bias.weight"] = biases(facts, "rel_pos_x_bias")
    names["places.down.bias.weight"] = biases(facts, "rel_pos_y_bias")
  else
    facts.box_buckets, facts.box_distance = nil, nil
  end
  if not facts.by_distance then facts.t5_buckets, facts.t5_distance = nil, nil end
end

local deep = { heads.two_layers("tanh")[2], heads.two_layers("tanh")[3] }

-- Labels are of tokens, without the rows of a picture.
local OWN = { "pool", over = "own" }

local answers = { "linear", to = "d_model", activation = "tanh", tensor = "qa_outputs.dense" }

return {
  known = "LayoutLMv3: text, boxes and a picture (not v2, whose pictures go through a network of another library)",
  model_types = { layoutlmv3 = "LayoutLMv3" },
  prefixes = { PREFIX, "" },
  tensors = words.append({
    { "input.boxes.weight", { join = "rows", places "x", places "y" } },
    { "input.sizes.weight", { join = "rows", places "h", places "w" } },
    { "encoder.input.class", "cls_token" },
    { "encoder.input.positions.weight", "pos_embed" },
    { "encoder.input.patches", "patch_embed.proj" },
    { "encoder.input.norm", "norm" },
    { "joined.norm", "LayerNorm" },
  }, heads.bert_tensors()),
  config = heads.bert_config({ vocab = 50265, types = 2, d_model = 768, layers = 12, heads = 12, d_ff = 3072,
    eps = 1e-5, pad = 1 }, {
    { "max_2d_position_embeddings", to = "boxes", default = 1024, kind = "count" },
    { "coordinate_size", to = "place_width", default = 128, kind = "count" },
    { "shape_size", to = "size_width", default = 128, kind = "count" },
    { "has_relative_attention_bias", to = "by_distance", default = true, kind = "flag" },
    { "rel_pos_bins", to = "t5_buckets", default = 32, kind = "count" },
    { "max_rel_pos", to = "t5_distance", default = 128, kind = "count" },
    { "has_spatial_attention_bias", to = "by_box", default = true, kind = "flag" },
    { "rel_2d_pos_bins", to = "box_buckets", default = 64, kind = "count" },
    { "max_rel_2d_pos", to = "box_distance", default = 256, kind = "count" },
    { "visual_embed", to = "with_picture", default = true, kind = "flag" },
    { "input_size", to = "image", default = 224, kind = "sides" },
    { "patch_size", to = "patch", default = 16, kind = "sides" },
    { "num_channels", to = "channels", default = 3, kind = "count" },
  }),
  positions_after_pad = true,
  derive = derive,
  heads = {
    Model = heads.model(),
    ForTokenClassification = heads.token_classification,
    ForSequenceClassification = heads.two_layers("tanh"),
    ForQuestionAnswering = { answers,
      words.merged(heads.question_answering[1], { tensor = "qa_outputs.out_proj" }),
      words.merged(heads.question_answering[2], { tensor = "qa_outputs.out_proj", of = 1 }) },
  },
  variants = { deep = { ForTokenClassification = deep }, page = { ForTokenClassification = words.append({}, { OWN },
    heads.token_classification) }, pagedeep = { ForTokenClassification = words.append({}, { OWN }, deep) } },
}
