-- blip.lua: describes BLIP (Li et al. 2022), which writes captions: its image tower (blip_vision.lua), and BERT's
-- layers with cross-attention.
local heads = require("checkpoints.heads")
local images = require("checkpoints.families.pictures.blip_vision")
local seq2seq = require("checkpoints.seq2seq")

local cross, predictions = "encoder.layer.*.crossattention.", "text_decoder.cls.predictions."

local tensors = seq2seq.add_part({}, "", "text_decoder.bert.", {
  { "input.{tokens,positions,norm}", "embeddings.{word_embeddings,position_embeddings,LayerNorm}" },
  { "l*.cross.{q,k,v,out}", cross .. "{self.query,self.key,self.value,output.dense}" },
  { "l*.norm_cross", cross .. "output.LayerNorm" },
  table.unpack(heads.bert_layers),
})
seq2seq.add_part(tensors, "encoder.", "vision_model.", images.tensors)

local head = heads.masked_lm { transform = predictions .. "transform.dense",
  norm = predictions .. "transform.LayerNorm",
  vocabulary = predictions .. "decoder", bias = predictions .. "bias" }
table.insert(head, 1, { "pool", over = "last" })
head.writes, head.decodes = true, true

return {
  known = "BLIP: captions",
  model_types = { blip = "Blip" },
  called = { blip = "BLIP" },
  inside = { blip = "text_config" },
  pictures = { inside = "vision_config", usual = "blip_vision_model", names = "" },
  prefixes = { "" },
  tensors = tensors,
  config = heads.bert_config { vocab = 30524, d_model = 768, layers = 12, heads = 8, d_ff = 3072 },
  fixed = { norm = "post" },
  --- Answers begin with bos and end with sep, and nothing but text_config is read for them.
  generation = function(config)
    local text = type(config.text_config) == "table" and config.text_config or {}
    return nil, seq2seq.both({ decoder_start_token_id = text.bos_token_id or 30522,
      eos_token_id = text.sep_token_id or 102 }, text)
  end,
  heads = { ForConditionalGeneration = head },
}
