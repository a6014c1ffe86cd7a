-- layoutlm.lua: describes LayoutLM (Xu et al. 2019), the first version: BERT whose tokens have a box on a page.
local heads = require("checkpoints.heads")
local words = require("common.words")

local function places(axis) return { ("embeddings.%s_position_embeddings.weight"):format(axis) } end

return {
  known = "LayoutLM, the first version",
  model_types = { layoutlm = "LayoutLM" },
  tensors = words.append({
    { "input.boxes.weight", { join = "rows", places "x", places "y", places "h", places "w" } },
  }, heads.bert_tensors()),
  config = heads.bert_config({ vocab = 30522, types = 2, d_model = 768, layers = 12, heads = 12, d_ff = 3072 }, {
    { "max_2d_position_embeddings", to = "boxes", default = 1024, kind = "count" },
  }),
  fixed = { norm = "post", separator_place = 1000 }, -- as in transformers' pipeline of questions
}
