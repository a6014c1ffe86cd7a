-- vision_trocr.lua: describes folders of vision-encoder-decoder whose decoder is TrOCR's (Li et al. 2021): BART's
-- decoder with learned or sinusoidal positions, and with or without a norm of the embeddings.
local heads = require("checkpoints.heads")
local seq2seq = require("checkpoints.seq2seq")

return seq2seq.vision {
  known = "TrOCR: text in pictures of lines",
  decoder = "trocr",
  tensors = seq2seq.add_part({ { "input.tokens.weight", { "decoder.model.decoder.embed_tokens.weight" } } }, "",
    "decoder.model.", seq2seq.decoder),
  config = heads.config({ vocab = 50265, d_model = 1024, layers = 12, heads = 16, d_ff = 4096, activation = "gelu",
    longest = 512, pad = 1, tied = true }, {
    { "scale_embedding", to = "scales", default = false, kind = "flag" },
    { "use_learned_position_embeddings", to = "learned", default = true, kind = "flag" },
    { "layernorm_embedding", to = "input_norm", default = true, kind = "flag" },
    { "cross_attention_hidden_size", to = "cross_width", default = false, kind = "count" },
  }, { d_model = "d_model hidden_size", layers = "decoder_layers num_hidden_layers",
    heads = "decoder_attention_heads num_attention_heads", d_ff = "decoder_ffn_dim",
    activation = "activation_function" }),
  fixed = { norm = "post", positions = "sinusoidal", sinusoids = "fairseq" },
  vocabulary = "decoder.output_projection.weight",
  start = 2,
  derive = function(facts)
    facts.embedding_scale = facts.scales and math.sqrt(facts.d_model) or nil
    facts.positions = facts.learned and "learned" or nil
    facts.first_position = facts.learned and 2 or facts.pad + 1
    facts.max_position = facts.learned and facts.longest + 2 or nil
  end,
}
