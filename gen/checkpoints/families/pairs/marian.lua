-- marian.lua: describes Marian's translators, OPUS-MT: norms after each part, sinusoidal positions. Sources and the
-- texts that are written may have vocabularies of their own.
local seq2seq = require("checkpoints.seq2seq")

return seq2seq.family {
  known = "Marian, OPUS-MT",
  model_types = { marian = "Marian" },
  config = seq2seq.config { vocab = 58101, more = {
    { "decoder_vocab_size", to = "written_vocab", default = false, kind = "count" },
    { "share_encoder_decoder_embeddings", to = "shares", default = true, kind = "flag" } } },
  fixed = { norm = "post", input_norm = false, positions = "sinusoidal", sinusoids = "halves" },
  start = 58100,
  derive = function(facts, ...)
    seq2seq.derive(facts, ...)
    facts.source_vocab = facts.vocab
    if not facts.shares and facts.written_vocab then facts.vocab = facts.written_vocab end
  end,
  heads = { MTModel = seq2seq.head("final_logits_bias") },
}
