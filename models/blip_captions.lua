-- BLIP that writes captions: the tower reads a picture into the state of a sequence, and the text decoder goes on from
-- there, a token at a time. blip_text_decoder.lua has the decoder by itself.
return {
  name = "blip_captions",
  input = tokens { vocab = 30524, norm = true }, max_position = 512,
  context = 64, sequences = 8, d_model = 768, heads = 12, layers = 12, eps = 1e-12,
  mask = "causal",
  memory = encoder {
    input = image { height = 384, width = 384, channels = 3, patch = 16 }, positions = "learned",
    d_model = 768, heads = 12, layers = 12, norm = "pre", final_norm = true, eps = 1e-5,
  },
  output = { linear { to = 768, activation = "gelu" }, norm(), vocabulary { bias = true } },
  pictures = { height = 384, width = 384, filter = "bicubic", scale = 1 / 255,
    mean = { 0.48145466, 0.4578275, 0.40821073 }, std = { 0.26862954, 0.26130258, 0.27577711 } },
  generation = { draw = false, start = { 30522 }, stop = { 102 } },
}
