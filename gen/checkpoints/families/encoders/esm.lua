-- esm.lua: describes ESM-2 and ESM-1b (Lin et al. 2022, Rives et al. 2019): encoders of proteins. They are BERT with
-- norms before the parts; ESM-2 has rotary positions.
local faults = require("common.faults")
local heads = require("checkpoints.heads")

local layer = "encoder.layer.*."

-- Names of the rotations' frequencies. transformers takes the file's, which the first folders have rounded to f16.
local FREQUENCIES = { "encoder.layer.0.attention.self.rotary_embeddings.inv_freq", "rotary_embeddings.inv_freq",
  "encoder.layer.*.attention.self.rotary_embeddings.inv_freq" } -- as transformers 5.24 writes it
local SAME = 1e-6 -- relative difference of frequencies: more than rounding to f32

-- Sets rotary positions, with the factors of the file's frequencies.
local function set_angles(f, values)
  local width = f.d_model // f.heads
  f.longest, f.first_position, f.rope_base = f.reach, 0, f.rope_theta
  local own, factors, differs = values(FREQUENCIES, width // 2), {}, false
  for i = 1, own and width // 2 or 0 do
    factors[i] = f.rope_theta ^ (-2 * (i - 1) / width) / (own[i] or 0)
    differs = differs or math.abs(factors[i] - 1) > SAME
  end
  if differs then
    f.rope_scale = { type = "longrope", short_factor = factors, long_factor = factors, original = f.reach }
  end
end

return {
  known = "ESM-2 (8M to 15B), ESM-1b, ESM-1v: sequences of amino acids",
  model_types = { esm = "Esm" },
  called = { esm = "ESM" },
  tensors = {
    { "input.{tokens,positions,norm}", "embeddings.{word_embeddings,position_embeddings,layer_norm}" },
    { "l*.attn.{q,k,v,out}", layer .. "attention.{self.query,self.key,self.value,output.dense}" },
    { "l*.{norm1,norm2}", layer .. "{attention.LayerNorm,LayerNorm}" },
    { "l*.ff.{up,down}", layer .. "{intermediate,output}.dense" },
    { "final_norm", "encoder.emb_layer_norm_after" },
  },
  config = heads.config({ vocab = 33, d_model = 768, layers = 12, heads = 12, d_ff = 3072, eps = 1e-12, tied = true,
    pad = 1, rope_theta = 10000.0 }, {
    { "max_position_embeddings", to = "reach", default = 1026, kind = "count" },
    { "position_embedding_type", to = "positions", default = "absolute", kind = "word",
      words = { absolute = "learned", rotary = "rope" } },
    { "emb_layer_norm_before", to = "input_norm", default = false, kind = "flag", null = false },
    { "token_dropout", to = "drops", default = false, kind = "flag" },
    { "mask_token_id", to = "mask_id", default = false, kind = "size" },
  }),
  fixed = { norm = "pre", final_norm = true },
  positions_after_pad = true,
  derive = function(f, _, _, _, values)
    f.activation = "gelu" -- the class reads no hidden_act
    if f.positions == "rope" then set_angles(f, values) else f.max_position = f.reach end
    if not f.drops then return end
    if not f.mask_id then faults.raise("format", "config.json: mask_token_id: token_dropout needs it") end
    f.dropped = f.mask_id
  end,
  heads = heads.of_encoder {
    Model = heads.model("pooler.dense"),
    ForSequenceClassification = heads.two_layers("tanh"),
    ForMaskedLM = heads.masked_lm { transform = "lm_head.dense", activation = "gelu", norm = "lm_head.layer_norm",
      vocabulary = "lm_head.decoder", bias = "lm_head.bias" },
  },
}
