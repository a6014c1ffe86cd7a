-- ast.lua: describes the audio spectrogram transformer (Gong et al. 2021): DeiT on the filter banks of a sound, in
-- patches that overlap.
local heads = require("checkpoints.heads")

return {
  known = "the audio spectrogram transformer, on its filter banks",
  model_types = { ["audio-spectrogram-transformer"] = "AST" },
  prefixes = { "audio_spectrogram_transformer.", "" },
  tensors = heads.vit_tensors { join = "rows", { "embeddings.cls_token" }, { "embeddings.distillation_token" } },
    config = heads.config({ d_model = 768, layers = 12, heads = 12, d_ff = 3072, activation = "gelu", eps = 1e-12,
    head_dim = false, patch = 16, qkv_bias = true }, {
    { "frequency_stride", to = "row_stride", default = 10, kind = "count" },
    { "time_stride", to = "column_stride", default = 10, kind = "count" },
    { "num_mel_bins", to = "bands", default = 128, kind = "count" },
    { "max_length", to = "frames", default = 1024, kind = "count" },
  }),
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
