-- op_words.lua: gives operations plain words on a page, in place of the graph's names.
local common_words = require("common.words")

local op_words = {}

-- Operations that are not in this table keep their name, with blanks.
local words = {
  activate = "activation", add_array = "add an array", add_distance = "add by distance",
  add_places = "add by boxes", add_gated = "add by distance, times a gate", position_gates = "gates of positions",
  add_length = "mask after the length", add_relative = "add relative positions",
  add_disentangled = "add projected positions", additive_scores = "scores by tanh",
  block_array = "mask by an array", bucket_table = "table of distances", centre = "subtract the mean of rows",
  combine = "add up experts", share = "shares of the sum",
  column_scale = "scale of each column", context_of_integers = "context of integers", dequantise = "apply scales",
  dequantise_experts = "apply scales of experts",
  grid_positions = "resize positions", drop_tokens = "drop a token's rows", embed = "look rows up",
  embed_boxes = "look boxes up", gather_columns = "columns in another order",
  gate_rows = "gate of each row", group_rows = "group rows by expert",
  head_scale = "factor of each head", join = "join rows",
  linear_experts = "linear of experts", linear_experts_integers = "linear of experts in integers",
  linear_integers = "linear in integers", log_softmax = "log softmax", row_length = "length of each row",
  mean_heads = "mean over heads",
  convolve = "convolution", convolve_columns = "convolution of each column",
  neighbours = "rows side by side", windows = "rows side by side", pair_rows = "rows side by side",
  pick = "choose experts",
  patches = "cut into patches", patches_of_columns = "cut into patches", quantise = "round to integers",
  quantise_columns = "round columns to integers",
  rms_norm = "RMS norm",
  match_labels = "score labels",
  recurrent = "LSTM", hadamard = "turn by a Hadamard matrix", rotate = "rotate by position", round = "round to bf16",
  round_to_bytes = "round weights to 0 .. 255",
  round_weights = "round weights to bf16", row_scale = "scale of each row", scores_of_integers = "scores of integers",
  softcap = "cap scores",
  softmax_rows = "softmax of rows", sparsify = "keep the largest",
  spread = "place rows by expert", swap = "exchange axes",
  topk_indices = "places of the largest",
  topk_values = "largest values", weigh = "weights without softmax",
  weight_scale = "scale of each row of weights",
}

--- Returns the words for an operation of the graph, or its name with blanks.
function op_words.of(name) return words[name] or (name:gsub("_", " ")) end

function op_words.names() return common_words.sorted_keys(words) end

return op_words
