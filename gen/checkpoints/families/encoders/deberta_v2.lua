-- deberta_v2.lua: describes DeBERTa v2 and v3 (He et al. 2021): BERT with disentangled attention.
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local words = require("common.words")

local TABLE, TYPES = "embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"

local function refuse(key, ...) faults.raise("usage", "config.json: %s: %s", key, faults.line(...)) end

local function set_positions(f)
  local is_added = f.relative_attention and (f.terms.c2p or f.terms.p2c)
  local of_input = f.biased and "learned" or nil
  f.positions = of_input and is_added and { of_input, "disentangled" } or of_input or is_added and "disentangled"
    or "none"
  f.longest = f.max_position_embeddings
  if of_input then f.max_position, f.longest = f.max_position_embeddings, nil end
  if not is_added then return end
  local distance = f.max_relative >= 1 and f.max_relative or f.max_position_embeddings
  f.disentangled = {
    terms = not f.terms.p2c and "content_to_position" or not f.terms.c2p and "position_to_content" or nil,
    buckets = math.max(f.buckets, 0), distance = distance, norm = f.norms.layer_norm and true or nil,
    projections = f.projections or not f.shared and "own" or nil,
  }
end

local function set_convolution(f)
  if f.conv_kernel == 0 then f.conv_kernel = nil end
  if not f.conv_kernel then
    f.conv_activation = nil
    return
  end
  if f.conv_groups ~= 1 then refuse("conv_groups", "%d is not supported; 1 is", f.conv_groups) end
  if f.conv_kernel % 2 == 0 then refuse("conv_kernel_size", "%d is not supported: an odd number is", f.conv_kernel) end
end

local function derive(f, _, names)
  f.variant = not f.legacy and "not_legacy" or nil
  for word in pairs(f.terms) do
    if word ~= "c2p" and word ~= "p2c" then
      refuse("pos_att_type", faults.quote(word) .. " is not supported; supported are c2p and p2c")
    end
  end
  set_positions(f)
  set_convolution(f)
  f.head_dim = f.head_dim or f.d_model // f.heads
  -- The terms of pos_att_type count even where relative_attention is false.
  f.score_scale = 1 / math.sqrt(f.head_dim * (1 + (f.terms.c2p and 1 or 0) + (f.terms.p2c and 1 or 0)))
  f.embedding = f.embedding or f.d_model
  if f.embedding ~= f.d_model then f.projected = "before_norm" end
  -- A first type that all tokens have is a part of the table of positions, if there is one.
  f.keeps_types = f.types > 0 and not f.biased
  if f.types == 0 and f.biased then names["input.positions.weight"] = { "deberta." .. TABLE, TABLE } end
  if (f.pooler_width or f.d_model) ~= f.d_model then
    refuse("pooler_hidden_size", "%d is not supported: it must be hidden_size, %d", f.pooler_width, f.d_model)
  end
end

-- Keys that the first version has, too.
local keys = {
  { "max_position_embeddings", to = "max_position_embeddings", default = 512, kind = "count" },
  { "relative_attention", to = "relative_attention", default = false, kind = "flag" },
  { "max_relative_positions", to = "max_relative", default = -1, kind = "integer" },
  { "position_biased_input", to = "biased", default = true, kind = "flag" },
  { "pos_att_type", to = "terms", default = "", kind = "words" },
  { "pooler_hidden_size", to = "pooler_width", default = false, kind = "count" },
  { "pooler_hidden_act", to = "pooler_activation", default = "gelu", kind = "activation" },
  { "legacy", to = "legacy", default = true, kind = "flag" },
}

return {
  keys = keys,
  known = "DeBERTa v2 and v3, mDeBERTa v3, and their NLI models and rerankers",
  model_types = { ["deberta-v2"] = "DebertaV2" },
  called = { ["deberta-v2"] = "DeBERTa v2 and v3" },
  prefixes = { "deberta.", "" },
  tensors = {
    { "input.tokens", "embeddings.word_embeddings" },
    { "input.positions.weight", { TABLE, plus = { TYPES, row = 0 }, when = { "input.types", 0 } } },
    { "input.positions.weight", TABLE },
    { "input.types.weight", TYPES },
    { "input.{projection,norm}", "embeddings.{embed_proj,LayerNorm}" },
    { "positions.{table,norm}", "encoder.{rel_embeddings,LayerNorm}" },
    { "conv", "encoder.conv.conv" },
    { "conv_norm", "encoder.conv.LayerNorm" },
    { "l*.attn.{q,k,v,position_k}", "encoder.layer.*.attention.self.{query,key,value,pos_key}_proj" },
    { "l*.attn.{position_q,out}", "encoder.layer.*.attention.{self.pos_query_proj,output.dense}" },
    { "l*.{norm1,norm2}", "encoder.layer.*.{attention.output,output}.LayerNorm" },
    { "l*.ff.{up,down}", "encoder.layer.*.{intermediate,output}.dense" },
  },
  config = heads.config({ vocab = 128100, d_model = 1536, layers = 24, heads = 24, d_ff = 6144, activation = "gelu",
    eps = 1e-7, tied = true, types = 0, embedding = false }, words.append({}, keys, {
    { "attention_head_size", to = "head_dim", default = false, kind = "count" },
    { "position_buckets", to = "buckets", default = -1, kind = "integer" },
    { "norm_rel_ebd", to = "norms", default = "none", kind = "words" },
    { "share_att_key", to = "shared", default = false, kind = "flag" },
    { "conv_kernel_size", to = "conv_kernel", default = 0, kind = "size" },
    { "conv_groups", to = "conv_groups", default = 1, kind = "count" },
    { "conv_act", to = "conv_activation", default = "tanh", kind = "activation" },
  })),
  derive = derive,
  heads = heads.of_encoder {
    ForSequenceClassification = {
      { "pool", over = "first" },
      { "linear", to = "d_model", activation = "pooler_activation", tensor = "pooler.dense" },
      { "linear", to = "labels", name = "logits", tensor = "classifier" },
    },
    ForMaskedLM = heads.masked_lm { transform = "cls.predictions.transform.dense", to = "embedding",
      norm = "cls.predictions.transform.LayerNorm", vocabulary = "cls.predictions.decoder",
      bias = "cls.predictions.bias" },
  },
  variants = {
    not_legacy = {
      ForMaskedLM = heads.masked_lm { transform = "lm_predictions.lm_head.dense",
        norm = "lm_predictions.lm_head.LayerNorm", vocabulary = "lm_predictions.lm_head",
        bias = "lm_predictions.lm_head.bias" },
    },
  },
}
