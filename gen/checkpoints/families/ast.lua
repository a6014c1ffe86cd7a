-- ast.lua: describes the audio spectrogram transformer (Gong et al. 2021): DeiT on the filter banks of a sound, in
-- patches that overlap.
local heads = require("checkpoints.heads")

return {
  known = "the audio spectrogram transformer, on its filter banks",
  model_types = { ["audio-spectrogram-transformer"] = "AST" },
  called = { ["audio-spectrogram-transformer"] = "AST" },
  prefixes = { "audio_spectrogram_transformer.", "" },
  tensors = heads.vit_tensors { join = "rows", { "embeddings.cls_token" }, { "embeddings.distillation_token" } },
  config = {
    { "hidden_size", to = "d_model", default = 768, kind = "count" },
    { "num_hidden_layers", to = "layers", default = 12, kind = "count" },
    { "num_attention_heads", to = "heads", default = 12, kind = "count" },
    { "intermediate_size", to = "d_ff", default = 3072, kind = "count" },
    { "hidden_act", to = "activation", default = "gelu", kind = "activation" },
    { "layer_norm_eps", to = "eps", default = 1e-12, kind = "number" },
    { "patch_size", to = "patch", default = 16, kind = "sides" },
    { "qkv_bias", to = "qkv_bias", default = true, kind = "flag" },
    { "head_dim", to = "head_dim", default = false, kind = "count" },
    { "frequency_stride", to = "row_stride", default = 10, kind = "count" },
    { "time_stride", to = "column_stride", default = 10, kind = "count" },
    { "num_mel_bins", to = "bands", default = 128, kind = "count" },
    { "max_length", to = "frames", default = 1024, kind = "count" },
  },
  fixed = { norm = "pre", final_norm = true },
  image = { distillation_token = true, positions = "embeddings.position_embeddings", position_tokens = 2,
    features = { "bands", "frames" } },
  heads = {
    Model = { { "hidden", name = "last_hidden_state" }, { "pool", over = "tokens", name = "pooler_output" } },
    ForAudioClassification = {
      { "pool", over = "tokens" },
      { "norm", tensor = "classifier.layernorm" },
      { "linear", to = "labels", name = "logits", tensor = "classifier.dense" },
    },
  },
}
