-- siglip2_vision.lua: describes the image tower of SigLIP 2 of any shape (NaFlex; Tschannen et al. 2025), from a folder
-- of it or of both towers: SigLIP's, which reads rows of patches, whose learned positions are resized to each picture's
-- rows and columns.
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local siglip = require("checkpoints.families.pictures.siglip_vision")
local words = require("common.words")

local function derive(facts)
  local grid = math.tointeger(facts.num_patches ^ 0.5)
  if not grid or grid > 64 then
    faults.raise("usage", "config.json: num_patches: %d is not supported: the square of at most 64 is",
      facts.num_patches)
  end
  if facts.patch[1] ~= facts.patch[2] then
    faults.raise("usage", "config.json: patch_size: patches that are not square are not supported")
  end
  facts.grid, facts.features = grid, facts.channels * facts.patch[1] * facts.patch[2]
end

local family = words.merged(siglip, {
  known = "SigLIP 2 of any shape (NaFlex): the image tower, or one of both",
  model_types = { siglip2_vision_model = "Siglip2Vision", siglip2 = "" },
  called = { siglip2 = "SigLIP 2", siglip2_vision_model = "SigLIP 2's image tower" },
  inside = { siglip2 = "vision_config" },
  other = function(given, tower) return given.model_type == "siglip2" and tower == "text" and "siglip2:text" or nil end,
  tensors = words.append({ { "input.linear", "embeddings.patch_embedding" } }, siglip.tensors),
  config = heads.config({ d_model = 768, layers = 12, heads = 12, d_ff = 3072, activation = "gelu_pytorch_tanh",
    eps = 1e-6, patch = 16, channels = 3 }, {
    { "num_patches", to = "num_patches", default = 256, kind = "count" },
  }),
  patches = true,
  derive = derive,
  heads = {
    Siglip2Model = siglip.heads.SiglipModel,
    Siglip2ForImageClassification = { { "pool", over = "mean" },
      { "linear", to = "labels", name = "logits", tensor = "classifier" } },
    Model = siglip.heads.Model,
  },
})
family.image = nil -- rows of patches come in

return family
