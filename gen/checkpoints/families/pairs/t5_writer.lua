-- t5_writer.lua: describes T5 with its decoder (Raffel et al. 2020), Flan-T5 and mT5: T5's encoder (t5.lua), and a
-- decoder that writes. T5's scores are divided by sqrt(d_model), unless config.json says otherwise, or, in older
-- folders, that tables are not tied. mT5's are not.
local encoder = require("checkpoints.families.pairs.t5")
local seq2seq = require("checkpoints.seq2seq")

local own, cross, ff = "decoder.block.*.layer.0.", "decoder.block.*.layer.1.", "decoder.block.*.layer.2."

local tensors = {
  seq2seq.tables[1], seq2seq.tables[2],
  { "positions.bias.weight", "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight" },
  { "l*.attn.positions.bias.weight", own .. "SelfAttention.relative_attention_bias.weight" },
  { "l*.attn.{q,k,v,out}", own .. "SelfAttention.{q,k,v,o}" },
  { "l*.norm1", own .. "layer_norm" },
  { "l*.cross.{q,k,v,out}", cross .. "EncDecAttention.{q,k,v,o}" },
  { "l*.norm_cross", cross .. "layer_norm" },
  { "l*.ff.gate", ff .. "DenseReluDense.wi_0" },
  { "l*.ff.up.weight", { ff .. "DenseReluDense.wi_1.weight", when = { "gated", true } } },
  { "l*.ff.{up,down}", ff .. "DenseReluDense.{wi,wo}" },
  { "l*.norm2", ff .. "layer_norm" },
  { "final_norm", "decoder.final_layer_norm" },
}
for _, entry in ipairs(encoder.tensors) do tensors[#tensors + 1] = { "encoder." .. entry[1], entry[2] } end

local config = {
  { "num_decoder_layers", to = "decoder_layers", default = false, kind = "count" },
  { "tie_word_embeddings", to = "is_tied", default = true, kind = "flag" },
  { "scale_decoder_outputs", to = "divides", default = true, kind = "flag" },
}
table.move(encoder.config, 1, #encoder.config, #config + 1, config)

return {
  known = "T5, Flan-T5, mT5, umT5",
  model_types = { ["t5:writer"] = "T5", mt5 = "MT5", umt5 = "UMT5" },
  called = { ["t5:writer"] = "T5", mt5 = "mT5", umt5 = "umT5" },
  prefixes = { "" },
  tensors = tensors,
  config = config,
  other = function(given)
    local classes = given.architectures
    local class = type(classes) == "table" and classes[1]
    return type(class) == "string" and class:find("MT5EncoderModel$") and given.model_type .. ":encoder" or nil
  end,
  defaults = { mt5 = encoder.defaults["mt5:encoder"], umt5 = encoder.defaults["umt5:encoder"] },
  fixed = encoder.fixed,
  encoder = { layers = "encoder_layers" },
  start = 0,
  derive = function(facts, given)
    encoder.derive(facts)
    facts.encoder_layers, facts.layers = facts.layers, facts.decoder_layers or facts.layers
    local divides = facts.divides
    if given.scale_decoder_outputs == nil then divides = facts.is_tied end
    facts.logit_scale = divides and facts.model_type ~= "mt5" and facts.d_model ^ -0.5 or nil
    facts.tied = true
  end,
  heads = { ForConditionalGeneration = seq2seq.head() },
}
