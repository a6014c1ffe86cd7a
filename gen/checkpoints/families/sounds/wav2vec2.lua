-- wav2vec2.lua: describes wav2vec 2.0 (Baevski et al. 2020) and the models that share its encoder: HuBERT, UniSpeech,
-- UniSpeech-SAT. Convolutions over samples make the features, which the encoder reads.
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local words = require("common.words")

local CONV = "encoder.pos_conv_embed.conv"
local PREFIXES = { "wav2vec2.", "hubert.", "unispeech.", "unispeech_sat.", "wavlm.", "" }

-- Tensors of each layer, with the same names in all of these models.
local function layers(list)
  return words.append(list, {
    { "l*.attn.{q,k,v,out}", "encoder.layers.*.attention.{q,k,v,out}_proj" },
    { "l*.ff.{up,down}", "encoder.layers.*.feed_forward.{intermediate,output}_dense" },
    { "l*.{norm1,norm2}", "encoder.layers.*.{layer_norm,final_layer_norm}" },
    { "l*.ff.second.{norm,up,down}", "encoder.layers.*.adapter_layer.{norm,linear_1,linear_2}" },
  })
end

local function derive(f, _, names, has)
  -- Stable: norms before each part, and one after the last layer. Else norms before the first layer and after parts.
  f.norm, f.final_norm = f.stable and "pre" or "post", f.stable or nil
  f.input_norm = not f.stable or nil
  -- As in transformers, only these layers have it, and none of WavLM's.
  f.second_ff = f.stable and f.model_type ~= "wavlm" and f.second_ff or nil
  f.convolutions = {}
  for i, width in ipairs(f.widths) do
    local conv = { width = width, kernel = f.kernels[i], stride = f.strides[i], bias = f.conv_bias or nil,
      norm = f.conv_norm == "layer" and "layer" or i == 1 and "group" or nil }
    for key, value in pairs { conv_dim = width, conv_kernel = conv.kernel or 0, conv_stride = conv.stride or 0 } do
      if math.type(value) ~= "integer" or value < 1 then
        faults.raise("format", "config.json: %s: a list of %d counts is expected", key, #f.widths)
      end
    end
    f.convolutions[i] = conv
  end
  f.tdnn, f.tdnn_cut = {}, 0
  for i, width in ipairs(f.tdnn_dims) do
    local kernel, dilation = f.tdnn_kernels[i], f.tdnn_dilations[i]
    for key, value in pairs { tdnn_dim = width, tdnn_kernel = kernel or 0, tdnn_dilation = dilation or 0 } do
      if math.type(value) ~= "integer" or value < 1 or key == "tdnn_kernel" and value % 2 == 0 then
        faults.raise("format", "config.json: %s: a list of %d counts%s is expected", key, #f.tdnn_dims,
          key == "tdnn_kernel" and ", odd ones," or "")
      end
    end
    f.tdnn[i] = { to = width, kernel = kernel > 1 and kernel or nil, dilation = kernel > 1 and dilation > 1 and dilation
      or nil }
    f.tdnn_cut = f.tdnn_cut + (kernel - 1) // 2 * dilation
  end
  f.tdnn_first = f.tdnn_dims[1]
  f.features = f.widths[#f.widths] or faults.raise("format", "config.json: conv_dim: a list of counts is expected")
  -- Without its norm, as some programs save it.
  if has(CONV .. ".weight") then
    local rule = words.map(PREFIXES, function(prefix) return prefix .. CONV .. ".weight" end)
    names["positions.conv.weight"] = rule
  end
end

local bare = heads.model()

return {
  known = "wav2vec 2.0, XLS-R, HuBERT and UniSpeech",
  model_types = { wav2vec2 = "Wav2Vec2", hubert = "Hubert", unispeech = "UniSpeech",
    ["unispeech-sat"] = "UniSpeechSat" },
  called = { wav2vec2 = "wav2vec 2.0", hubert = "HuBERT", unispeech = "UniSpeech",
    ["unispeech-sat"] = "UniSpeech-SAT" },
  prefixes = PREFIXES,
  tensors = layers {
    { "sound.*", "feature_extractor.conv_layers.*.conv" },
    { "sound.*.norm", "feature_extractor.conv_layers.*.layer_norm" },
    { "input.{features_norm,linear}", "feature_projection.{layer_norm,projection}" },
    { "input.norm", "encoder.layer_norm" },
    { "final_norm", "encoder.layer_norm" },
    { "positions.conv.weight", { CONV .. ".parametrizations.weight.original1", CONV .. ".weight_v",
      tap_gain = { CONV .. ".parametrizations.weight.original0", CONV .. ".weight_g" } } },
    { "positions.conv.bias", CONV .. ".bias" },
  },
    config = heads.config({ vocab = 32, d_model = 768, layers = 12, heads = 12, d_ff = 3072, activation = "gelu", eps
    = 1e-5 }, {
    { "conv_dim", to = "widths", default = { 512, 512, 512, 512, 512, 512, 512 }, kind = "list" },
    { "conv_kernel", to = "kernels", default = { 10, 3, 3, 3, 3, 2, 2 }, kind = "list" },
    { "conv_stride", to = "strides", default = { 5, 2, 2, 2, 2, 2, 2 }, kind = "list" },
    { "conv_bias", to = "conv_bias", default = false, kind = "flag" },
    { "feat_extract_norm", to = "conv_norm", default = "group", kind = "word", words = { group = "group",
      layer = "layer" } },
    { "num_conv_pos_embeddings", to = "position_kernel", default = 128, kind = "count" },
    { "num_conv_pos_embedding_groups", to = "position_groups", default = 16, kind = "count" },
    { "feat_extract_activation", to = "position_activation", default = "gelu", kind = "activation" },
    { "do_stable_layer_norm", to = "stable", default = false, kind = "flag" },
    { "feat_proj_layer_norm", to = "features_norm", default = true, kind = "flag" },
    { "adapter_attn_dim", to = "second_ff", default = false, null = false, kind = "count" },
    { "classifier_proj_size", to = "projection", default = 256, kind = "count" },
    { "tdnn_dim", to = "tdnn_dims", default = { 512, 512, 512, 512, 1500 }, kind = "list" },
    { "tdnn_kernel", to = "tdnn_kernels", default = { 5, 3, 3, 1, 1 }, kind = "list" },
    { "tdnn_dilation", to = "tdnn_dilations", default = { 1, 2, 3, 1, 1 }, kind = "list" },
    { "xvector_output_dim", to = "xvector", default = 512, kind = "count" },
  }),
  fixed = { positions = "convolution" },
  frames = {},
  notes = { ForPreTraining = "only the encoder is built, without the quantiser" },
  derive = derive,
  heads = {
    Model = bare,
    ForPreTraining = bare,
    ForCTC = { ctc = true, { "linear", to = "vocab", name = "logits", tensor = "lm_head" } },
    ForSequenceClassification = {
      { "linear", to = "projection", tensor = "projector" },
      { "pool", over = "mean" },
      { "linear", to = "labels", name = "logits", tensor = "classifier" },
    },
    ForAudioFrameClassification = heads.token_classification,
    -- Rows at the ends, which see zeros, are left out by the pool: transformers' convolutions have no row for them.
    ForXVector = {
      { "linear", to = "tdnn_first", tensor = "projector" },
      { "linear", each = "tdnn", activation = "relu", tensor = "tdnn.*.kernel" },
      { "pool", over = { "mean", "deviation" }, cut = "tdnn_cut" },
      { "linear", to = "xvector", name = "embeddings", tensor = "feature_extractor" },
      { "linear", to = "xvector", name = "logits", tensor = "classifier" },
    },
  },
}
