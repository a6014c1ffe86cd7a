-- vision_gpt2.lua: describes folders of vision-encoder-decoder whose decoder is GPT-2 with cross-attention (ViT-GPT2).
local gpt2 = require("checkpoints.families.decoders.gpt2")
local seq2seq = require("checkpoints.seq2seq")

local cross = {
  { "l*.cross.{q,out}", { "h.*.crossattention.{q_attn,c_proj}", transpose = true } },
  { "l*.cross.{k,v}", { "h.*.crossattention.c_attn", parts = 2, transpose = true } },
  { "l*.norm_cross", "h.*.ln_cross_attn" },
}

local config = {}
for _, entry in ipairs(gpt2.config) do if entry.to ~= "inverse_layers" then config[#config + 1] = entry end end

return seq2seq.vision {
  known = "ViT-GPT2: captions",
  decoder = "gpt2",
  tensors = seq2seq.add_part(seq2seq.add_part({}, "", "decoder.transformer.", cross), "", "decoder.transformer.",
    gpt2.tensors),
  config = config,
  fixed = gpt2.fixed,
  vocabulary = "decoder.lm_head.weight",
}
