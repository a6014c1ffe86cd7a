-- vision_trocr.lua: describes folders of vision-encoder-decoder whose decoder is TrOCR's (Li et al. 2021): BART's
-- decoder with learned or sinusoidal positions, and with or without a norm of the embeddings.
local seq2seq = require("checkpoints.seq2seq")

return seq2seq.vision {
  known = "TrOCR: text in pictures of lines",
  decoder = "trocr",
  tensors = seq2seq.add_part({ { "input.tokens.weight", { "decoder.model.decoder.embed_tokens.weight" } } }, "",
    "decoder.model.", seq2seq.decoder),
  config = {
    { "vocab_size", to = "vocab", default = 50265, kind = "count" },
    { "d_model", "hidden_size", to = "d_model", default = 1024, kind = "count" },
    { "decoder_layers", "num_hidden_layers", to = "layers", default = 12, kind = "count" },
    { "decoder_attention_heads", "num_attention_heads", to = "heads", default = 16, kind = "count" },
    { "decoder_ffn_dim", to = "d_ff", default = 4096, kind = "count" },
    { "activation_function", to = "activation", default = "gelu", kind = "activation" },
    { "max_position_embeddings", to = "longest", default = 512, kind = "count" },
    { "scale_embedding", to = "scales", default = false, kind = "flag" },
    { "use_learned_position_embeddings", to = "learned", default = true, kind = "flag" },
    { "layernorm_embedding", to = "input_norm", default = true, kind = "flag" },
    { "cross_attention_hidden_size", to = "cross_width", default = false, kind = "count" },
    { "pad_token_id", to = "pad", default = 1, kind = "size" },
    { "tie_word_embeddings", to = "tied", default = true, kind = "flag" },
  },
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
