-- gguf_types.lua: lists the types of GGUF's tensors. Each is one record, which the compiler and the runtime read
-- (`make headers` writes runtime/formats/gguf_types.h).
--
--   id         the number in the file
--   name       the format's own name
--   elements   elements of a block, which are next to each other in a row
--   bytes      bytes of a block
--   widen      the function of runtime/base/floats.h that converts elements to f32
--   split      the function of runtime/formats/gguf_blocks.h that converts blocks to scale blocks. A type with neither
--              function is refused by name
--   type       the type of weights in scale blocks (gen/data/types.lua) that holds the same numbers
local gguf_types = {}

gguf_types.list = {
  { id = 0, name = "F32", elements = 1, bytes = 4, widen = "attn2c_floats_from_f32" },
  { id = 1, name = "F16", elements = 1, bytes = 2, widen = "attn2c_floats_from_f16" },
  { id = 2, name = "Q4_0", elements = 32, bytes = 18, split = "attn2c_split_q4_0", type = "q4" },
  { id = 3, name = "Q4_1", elements = 32, bytes = 20, split = "attn2c_split_q4_1", type = "q4m" },
  { id = 6, name = "Q5_0", elements = 32, bytes = 22, split = "attn2c_split_q5_0", type = "q5" },
  { id = 7, name = "Q5_1", elements = 32, bytes = 24, split = "attn2c_split_q5_1", type = "q5m" },
  { id = 8, name = "Q8_0", elements = 32, bytes = 34, split = "attn2c_split_q8_0", type = "q8" },
  { id = 9, name = "Q8_1", elements = 32, bytes = 40 },
  { id = 10, name = "Q2_K", elements = 256, bytes = 84, split = "attn2c_split_q2_k", type = "q2k" },
  { id = 11, name = "Q3_K", elements = 256, bytes = 110, split = "attn2c_split_q3_k", type = "q3k" },
  { id = 12, name = "Q4_K", elements = 256, bytes = 144, split = "attn2c_split_q4_k", type = "q4k" },
  { id = 13, name = "Q5_K", elements = 256, bytes = 176, split = "attn2c_split_q5_k", type = "q5k" },
  { id = 14, name = "Q6_K", elements = 256, bytes = 210, split = "attn2c_split_q6_k", type = "q6k" },
  { id = 15, name = "Q8_K", elements = 256, bytes = 292 },
  { id = 16, name = "IQ2_XXS", elements = 256, bytes = 66, split = "attn2c_split_iq2_xxs", type = "v3" },
  { id = 17, name = "IQ2_XS", elements = 256, bytes = 74, split = "attn2c_split_iq2_xs", type = "v3h" },
  { id = 18, name = "IQ3_XXS", elements = 256, bytes = 98, split = "attn2c_split_iq3_xxs", type = "v4x" },
  { id = 19, name = "IQ1_S", elements = 256, bytes = 50 },
  { id = 20, name = "IQ4_NL", elements = 32, bytes = 18, split = "attn2c_split_iq4_nl", type = "v4" },
  { id = 21, name = "IQ3_S", elements = 256, bytes = 110, split = "attn2c_split_iq3_s", type = "v4s" },
  { id = 22, name = "IQ2_S", elements = 256, bytes = 82, split = "attn2c_split_iq2_s", type = "v3h" },
  { id = 23, name = "IQ4_XS", elements = 256, bytes = 136, split = "attn2c_split_iq4_xs", type = "v4k" },
  { id = 24, name = "I8", elements = 1, bytes = 1 },
  { id = 25, name = "I16", elements = 1, bytes = 2 },
  { id = 26, name = "I32", elements = 1, bytes = 4 },
  { id = 27, name = "I64", elements = 1, bytes = 8 },
  { id = 28, name = "F64", elements = 1, bytes = 8, widen = "attn2c_floats_from_f64" },
  { id = 29, name = "IQ1_M", elements = 256, bytes = 56 },
  { id = 30, name = "BF16", elements = 1, bytes = 2, widen = "attn2c_floats_from_bf16" },
  { id = 34, name = "TQ1_0", elements = 256, bytes = 54 },
  { id = 35, name = "TQ2_0", elements = 256, bytes = 66 },
  { id = 39, name = "MXFP4", elements = 32, bytes = 17, split = "attn2c_split_mxfp4", type = "fp4" },
  { id = 40, name = "NVFP4", elements = 64, bytes = 36 },
  { id = 41, name = "Q1_0", elements = 128, bytes = 18 },
}

--- The records by name.
gguf_types.by_name = {}
local readable = {}
for _, each in ipairs(gguf_types.list) do
  gguf_types.by_name[each.name] = each
  if each.widen or each.split then readable[#readable + 1] = each.name end
end

--- The types whose values are read, as a list in words.
gguf_types.readable = table.concat(readable, ", ", 1, #readable - 1) .. " or " .. readable[#readable]

return gguf_types
