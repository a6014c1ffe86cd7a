-- stages.lua: lists the stages before and after the layers that a description may construct.
-- describe, validate and the docs read this table.
local activations = require("data.activations")

local stages = {}

stages.pools = { mean = true, max = true, first = true, second = true, last = true, root = true, weighted = true,
  patches = true, tokens = true, deviation = true, all = true, own = true }

--- Pools that keep rows: all, or those that are not a joined picture's.
stages.pools_of_rows = { all = true, own = true }

--- Returns the rows and columns of patches of an image, the input of a description.
function stages.patches(input)
  local p = input.patch
  return (input.height - p) // (input.row_stride or p) + 1, (input.width - p) // (input.column_stride or p) + 1
end

--- Pools that depend on which rows a sequence has, and so take a mask that selects rows.
stages.pools_of_kept = { mean = true, max = true, last = true, root = true, weighted = true }

-- Fields have a type, a default or `required`, a range and a meaning. word: the field that `stage "word"` sets.
local name_field = { type = "name", meaning = "makes the result an output of this name" }

local of_field = { type = "integer", min = 0, max = 64, place = "output",
  meaning = "the stage whose result is taken, instead of the one before; 0: the layers'" }

stages.constructors = {
  -- before the stack
  linear = { place = "both", meaning = "y = x W^T + b",
    fields = {
      from = { type = "integer", min = 1, max = 65536, place = "input", required = true,
        meaning = "width of the features that come in" },
      features_norm = { type = "boolean", place = "input",
        meaning = "a norm of the features, before the linear layer" },
      norm = { type = "boolean", place = "input",
        meaning = "a norm of the sum of the result and positions" },
      grid = { type = "integer", min = 1, max = 64, place = "input",
        meaning = "learned positions are of a square grid with this side, and are resized to that of each sequence: "
          .. "shapes come in, its rows and columns of patches, whose product is its length (SigLIP 2)" },
      to = { type = "integer", min = 1, max = 1048576, place = "output", required = true,
        meaning = "width of the result" },
      bias = { type = "boolean", default = true, meaning = "whether there is a b" },
      activation = { type = "activation", place = "output", meaning = "applied to the result" },
      kernel = { type = "integer", min = 3, max = 31, place = "output",
        meaning = "odd: y of a row is made of `kernel` rows around it, side by side; 0 outside of the sequence" },
      dilation = { type = "integer", min = 1, max = 64, place = "output",
        meaning = "with kernel: rows from one of these to the next; default: 1" },
      squeeze = { type = "boolean", place = "output", meaning = "to = 1: the output has no last axis" },
      of = of_field, name = { type = "name", place = "output", meaning = name_field.meaning } } },
  frames = { place = "input",
    meaning = "two rows of features for each row of states: two convolutions of three rows, with gelu, of which the "
      .. "second takes every other row (Whisper)",
    fields = {
      from = { type = "integer", min = 1, max = 65536, required = true,
        meaning = "width of the features that come in" } } },
  tokens = { place = "input", meaning = "token ids, looked up in a table [vocab, d_model]",
    fields = {
      vocab = { type = "integer", min = 1, max = 16777216, required = true, meaning = "rows of the table" },
      types = { type = "integer", min = 0, max = 65536, default = 0,
        meaning = "rows of a table of token types, which come in as token_types" },
      optional_types = { type = "boolean", meaning = "token_types need not be given: where they are NULL, all are 0" },
      boxes = { type = "integer", min = 1, max = 65536,
        meaning = "rows of each of four tables of places on a page: boxes (left, upper, right, lower) come in, from 0 "
          .. "to 1,000, and their rows are added; where they are NULL, all are 0 (LayoutLM)" },
      place_width = { type = "integer", min = 1, max = 2048,
        meaning = "boxes: width of the tables' rows of left, upper, right and lower sides; the rows of a box are side "
          .. "by side, height and width in equal parts of the rest (LayoutLMv3); default: they are added" },
      separator_place = { type = "integer", min = 0, max = 1000,
        meaning = "boxes: all sides of the separator token's box in texts with boxes (LayoutLM); default: 0, as other "
          .. "special tokens have" },
      norm = { type = "boolean", default = false, meaning = "a norm of the sum of token, position and type" },
      eps = { type = "number", min = 1e-30, max = 1, meaning = "eps of that norm; default: the model's" },
      scale = { type = "scale", default = 1.0, meaning = "factor of the table's rows" },
      dropped = { type = "integer", min = 0, max = 16777215,
        meaning = "id of the mask token, whose rows are 0; all others are multiplied by 0.88 / (1 - its share of the "
          .. "sequence) (ESM)" },
      width = { type = "integer", min = 1, max = 8192,
        meaning = "width of the tables, if it is not d_model; a linear layer then maps it to d_model" },
      projected = { type = "word", words = { "after_norm", "before_norm", "before_positions" },
        default = "after_norm",
        meaning = "place of that linear layer; before_norm (DeBERTa), before_positions (OPT): it has no bias" },
      padded = { type = "boolean",
        meaning = "texts are filled up to seq with the tokenizer's padding token, which the model sees as any other" },
    } },
  image = { place = "input",
    meaning = "an image [channels, height, width], cut into patches that go through a linear layer",
    fields = {
      channels = { type = "integer", min = 1, max = 4096, default = 3, meaning = "planes" },
      height = { type = "integer", min = 1, max = 65536, required = true, meaning = "rows of pixels" },
      width = { type = "integer", min = 1, max = 65536, required = true, meaning = "columns of pixels" },
      patch = { type = "integer", min = 1, max = 4096, required = true, meaning = "edge of a patch, in pixels" },
      row_stride = { type = "integer", min = 1, max = 4096,
        meaning = "an image that comes in column by column, [width][height], as features do, a frame's at a time: "
          .. "rows from a patch to the next" },
      column_stride = { type = "integer", min = 1, max = 4096, meaning = "the same: columns" },
      class_token = { type = "boolean", default = true, meaning = "a learned token before the first patch" },
      distillation_token = { type = "boolean", default = false, meaning = "one more after the class token" },
      norm = { type = "boolean", default = false, meaning = "a norm of the sum of rows and positions" },
      eps = { type = "number", min = 1e-30, max = 1, meaning = "eps of that norm; default: the model's" },
      bias = { type = "boolean", default = true, meaning = "whether the patches' linear layer has a bias" },
      registers = { type = "integer", min = 0, max = 64, default = 0, meaning = "further tokens before the patches" } },
  },
  qkv = { place = "input",
    meaning = "query, key and value come in one by one: one attention, as torch.nn.MultiheadAttention is called",
    fields = {} },
  encoder = { place = "memory",
    meaning = "a stack of its own, whose result the cross-attention reads; its keys default to the model's",
    fields = {} },
  hidden = { place = "both",
    meaning = "before: hidden states come in as they are; after: the hidden states so far are an output",
    fields = { name = { type = "name", place = "output", meaning = name_field.meaning } } },
  -- after the stack
  norm = { place = "output", meaning = "layer norm, or the layers' kind of norm",
    fields = {
      kind = { type = "word", words = { "layer", "rms" },
        meaning = "rms, or layer, with a bias; default: the layers'" },
      eps = { type = "number", min = 1e-30, max = 1, meaning = "default: the model's eps" }, name = name_field } },
  recurrent = { place = "output", word = "to",
    meaning = "the states of an LSTM over the rows (Hochreiter and Schmidhuber 1997), with torch's gates",
    fields = {
      to = { type = "integer", min = 1, max = 2048, required = true, meaning = "width of the result" },
      both = { type = "boolean", meaning = "a second LSTM reads the rows from the last to the first; each makes half "
        .. "of the result" },
      marked = { type = "boolean", meaning = "the input marks [batch][seq] has 1 where a row is read; others are "
        .. "passed over, and their states are 0. Texts with spans fill it with 1 for the first token of a word" },
      of = of_field, name = name_field } },
  match = { place = "output", word = "labels",
    meaning = "scores of words for labels, which go through two linear layers in pairs, with a relu between them: the "
      .. "first one reads half of a word's row, half of a label's, and the product of the other halves. The input "
      .. "marks has 1 for words and 2 for labels",
    fields = {
      labels = { type = "integer", min = 0, max = 64, required = true,
        meaning = "the stage with the rows of labels, which have the same width" },
      hidden = { type = "integer", min = 1, max = 16384, required = true,
        meaning = "width of the first layer's result" },
      scores = { type = "integer", min = 1, max = 8, required = true, meaning = "numbers of a pair" },
      most = { type = "integer", min = 1, max = 1024, default = 64, meaning = "the most labels of a sequence" },
      of = of_field, name = name_field } },
  pool = { place = "output", word = "over",
    meaning = "one row a sequence: mean, max, first, second or last of its (unpadded) rows; root: their sum / "
      .. "sqrt(rows); weighted: their mean with weights 1, 2, ...; patches: the mean of an image's patches, without "
      .. "the tokens before them; tokens: the mean of those; deviation: sqrt(sum of (x - mean)^2 / (rows - 1)); a "
      .. "list: several, concatenated; all: the rows stay",
    fields = { over = { type = "pool", required = true, meaning = "mean, max, first or last" },
      mask = { type = "boolean",
        meaning = "the input pool_mask [batch][seq] has 1 where a row is taken; texts fill it with 0 for the prompt" },
      cut = { type = "integer", min = 0, max = 1000,
        meaning = "of mean and deviation: rows at each end that are left out; without any other row the result is 0" },
      pad = { type = "integer", min = 0, max = 16777215,
        meaning = "of last: a token id whose rows at the end are left out, as transformers' class heads do; the first "
          .. "row stays" },
      ending = { type = "integer", min = -1, max = 16777215,
        meaning = "of last: the id of the token that ends a text: its first row is taken, or the first row of all; -1: "
          .. "the largest id (CLIP)" },
      of = of_field, name = name_field } },
  attend = { place = "output",
    meaning = "one row a sequence: y, what a learned query takes of all rows by attention of the model's heads, plus "
      .. "the feed-forward of the norm of y (SigLIP)",
    fields = { name = name_field } },
  normalise = { place = "output", meaning = "x / max(|x|, 1e-12), a row", fields = { name = name_field } },
  similarity = { place = "output",
    meaning = "two learned numbers s and b, the same for every sequence: the cosine of an embedding with another "
      .. "model's becomes the score exp(s) cosine + b (CLIP, SigLIP)",
    fields = {
      bias = { type = "boolean", default = false, meaning = "whether there is a b" }, name = name_field } },
  softmax = { place = "output", meaning = "exp(x) / sum of exp(x), a row", fields = { name = name_field } },
  log_softmax = { place = "output", meaning = "x - log(sum of exp(x)), a row", fields = { name = name_field } },
  vocabulary = { place = "output", meaning = "a score for each token of the input's table",
    fields = {
      tied = { type = "boolean", default = true, meaning = "by the table itself; else by a weight of its own" },
      bias = { type = "boolean", default = false, meaning = "whether there is a bias" },
      scale = { type = "scale", default = 1.0, meaning = "factor of the scores, before softcap" },
      softcap = { type = "number", min = 1e-3, max = 1e6, meaning = "scores s become c tanh(s / c), with this c" },
      name = name_field } },
  argmax = { place = "output", meaning = "the index of the largest, the first of equals, as int32",
    fields = { name = name_field } },
  topk = { place = "output", word = "k",
    meaning = "the k largest of a row, descending, the first of equals first; NAME_index, int32: "
      .. "their indices",
    fields = {
      k = { type = "integer", min = 1, max = 1024, required = true, meaning = "how many, up to a row's width" },
      name = { type = "name", meaning = "name of the values' output, and of NAME_index; default: top" } } },
}
for name, activation in pairs(activations.of_descriptions) do
  stages.constructors[name] = { place = "output", meaning = activation.equation, fields = { name = name_field },
    activation = name }
end

return stages
