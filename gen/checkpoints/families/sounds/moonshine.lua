-- moonshine.lua: describes Moonshine (Jeffries et al. 2024), which writes down short sounds of any length: an encoder
-- after three convolutions over samples, and a decoder, both with rotary positions.
local faults = require("common.faults")
local heads = require("checkpoints.heads")

local tensors = {
  { "sound.0", "encoder.conv1" }, { "sound.0.norm", "encoder.groupnorm" },
  { "sound.1", "encoder.conv2" }, { "sound.2", "encoder.conv3" },
  { "encoder.l*.ff.{up,down}", "encoder.layers.*.mlp.{fc1,fc2}" },
  { "encoder.l*.{norm1,norm2}", "encoder.layers.*.{input,post_attention}_layernorm" },
  { "encoder.final_norm", "encoder.layer_norm" },
  { "encoder.l*.attn.{q,k,v,out}", "encoder.layers.*.self_attn.{q,k,v,o}_proj" },
  { "input.tokens.weight", "decoder.embed_tokens.weight" },
  { "l*.attn.{q,k,v,out}", "decoder.layers.*.self_attn.{q,k,v,o}_proj" },
  { "l*.cross.{q,k,v,out}", "decoder.layers.*.encoder_attn.{q,k,v,o}_proj" },
  { "l*.{norm1,norm_cross,norm2}", "decoder.layers.*.{input,post_attention,final}_layernorm" },
  { "l*.ff.{up,gate}", { "decoder.layers.*.mlp.fc1", parts = 2 } },
  { "l*.ff.down", "decoder.layers.*.mlp.fc2" },
  { "final_norm", "decoder.norm" },
}

-- Returns the convolutions over samples for a width of the states.
local function convolutions(width)
  return {
    { width = width, kernel = 127, stride = 64, activation = "tanh", activation_first = true, norm = "group",
      groups = 1 },
    { width = 2 * width, kernel = 7, stride = 3, bias = true },
    { width = width, kernel = 3, stride = 2, bias = true },
  }
end

-- Refuses what transformers 5.24 computes otherwise than config.json says, or not at all: it shapes queries by the
-- number of key heads, and gives the decoder the encoder's heads.
local function check_heads(f)
  for _, each in ipairs { { "encoder_num_attention_heads", f.encoder_heads },
    { "encoder_num_key_value_heads", f.encoder_kv_heads or f.encoder_heads },
    { "decoder_num_key_value_heads", f.kv_heads or f.heads } } do
    if each[2] ~= f.heads then
      faults.raise("usage", "config.json: %s: %d, but decoder_num_attention_heads, %d, is the only supported number",
        each[1], each[2], f.heads)
    end
  end
end

return {
  known = "Moonshine tiny and base: speech",
  model_types = { moonshine = "Moonshine" },
  prefixes = { "model.", "" },
  tensors = tensors,
  config = heads.config({ vocab = 32768, d_model = 288, d_ff = 1152, longest = 512, rope_theta = false,
    rope_scaling = false, rope_parameters = false, original = false, partial = 0.9, attention_bias = false,
    head_dim = false, tied = true }, {
    { "decoder_num_hidden_layers", "num_hidden_layers", to = "layers", default = 6, kind = "count" },
    { "decoder_num_attention_heads", "num_attention_heads", to = "heads", default = 8, kind = "count" },
    { "decoder_num_key_value_heads", "num_key_value_heads", to = "kv_heads", default = false, kind = "count",
      null = false },
    { "decoder_hidden_act", "hidden_act", to = "activation", default = "silu", kind = "activation" },
    { "encoder_num_hidden_layers", to = "encoder_layers", default = 6, kind = "count" },
    { "encoder_num_attention_heads", to = "encoder_heads", default = 8, kind = "count" },
    { "encoder_num_key_value_heads", to = "encoder_kv_heads", default = false, kind = "count", null = false },
    { "encoder_hidden_act", to = "encoder_activation", default = "gelu", kind = "activation" },
  }),
  fixed = { norm = "pre", final_norm = true, eps = 1e-5, positions = "rope", rope_style = "pairs", gated = true },
  rotary = true,
  encoder = { layers = "encoder_layers", activation = "encoder_activation", gated = "encoder_gated" },
  start = 1,
  derive = function(f)
    check_heads(f)
    f.kv_heads, f.encoder_gated, f.convolutions = nil, false, convolutions(f.d_model)
    f.bias = { qkv = f.attention_bias, out = false, norm = false }
  end,
  heads = { ForConditionalGeneration = {
    writes = true, decodes = true,
    { "pool", over = "last" },
    { "vocabulary", tied = "tied", name = "logits", tensors = { weight = { "proj_out.weight" } } },
  } },
}
