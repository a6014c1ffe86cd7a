-- dinov3.lua: describes DINOv3 (Siméoni et al. 2025), its vision transformers: rotary positions of patches, registers,
-- and factors of the parts' results for each column, which are multiplied into the weights.
local heads = require("checkpoints.heads")

local function both(name, more)
  local rule = { "layer.*." .. name, "model.layer.*." .. name }
  for key, value in pairs(more or {}) do rule[key] = value end
  return rule
end

local function scaled(number) return { times = both(("layer_scale%d.lambda1"):format(number)) } end

return {
  known = "DINOv3, its vision transformers (not its ConvNeXts)",
  model_types = { dinov3_vit = "DINOv3ViT" },
  called = { dinov3_vit = "DINOv3" },
  prefixes = { "" },
  tensors = {
    { "input.class", { "embeddings.cls_token", when = { "input.registers", 0 } } },
    { "input.class", { join = "rows", { "embeddings.cls_token", count = 1 }, { "embeddings.register_tokens" } } },
    { "input.patches", "embeddings.patch_embeddings" },
    { "l*.attn.{q,k,v}", both("attention.{q,k,v}_proj") },
    { "l*.attn.out", both("attention.o_proj", scaled(1)) },
    { "l*.{norm1,norm2}", both("{norm1,norm2}") },
    { "l*.ff.{gate,up}", both("mlp.{gate,up}_proj") },
    { "l*.ff.down", both("mlp.down_proj", scaled(2)) },
    { "final_norm", "norm" },
  },
  config = heads.image_config({ d_model = 384, heads = 6, d_ff = 1536, eps = 1e-5, rope_theta = 100.0,
    mlp_bias = true }, {
    { "query_bias", to = "q_bias", default = true, kind = "flag" },
    { "key_bias", to = "k_bias", default = false, kind = "flag" },
    { "value_bias", to = "v_bias", default = true, kind = "flag" },
    { "proj_bias", to = "out_bias", default = true, kind = "flag" },
    { "use_gated_mlp", to = "gated", default = false, kind = "flag" },
    { "num_register_tokens", to = "registers", default = false, kind = "size" },
  }),
  fixed = { norm = "pre", final_norm = true, positions = "rope", rope_patches = true },
  image = { any_size = true },
  derive = function(facts)
    facts.bias = { q = facts.q_bias, k = facts.k_bias, v = facts.v_bias, out = facts.out_bias, ff = facts.mlp_bias }
    facts.rope_base = facts.rope_theta
  end,
  heads = { Model = { { "hidden", name = "last_hidden_state" }, { "pool", over = "first", name = "pooler_output" } } },
}
