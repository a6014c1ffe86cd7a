-- dinov2.lua: describes DINOv2 (Oquab et al. 2023), with and without registers (Darcet et al. 2023): ViT whose parts'
-- results are scaled, a factor for each column. The factors are multiplied into the weights.
local heads = require("checkpoints.heads")

local function both(old, new, more)
  local rule = { "encoder.layer.*." .. old, "encoder.layer.*." .. (new or old) }
  for key, value in pairs(more or {}) do rule[key] = value end
  return rule
end

local function scaled(number) return { times = "encoder.layer.*.layer_scale" .. number .. ".lambda1" } end

return {
  known = "DINOv2, with and without registers",
  model_types = { dinov2 = "Dinov2", dinov2_with_registers = "Dinov2WithRegisters" },
  called = { dinov2 = "DINOv2", dinov2_with_registers = "DINOv2 with registers" },
  prefixes = { "dinov2.", "dinov2_with_registers.", "" },
  tensors = {
    { "input.class", { "embeddings.cls_token", when = { "input.registers", 0 } } },
    { "input.class", { join = "rows", { "embeddings.cls_token", count = 1 }, { "embeddings.register_tokens" } } },
    { "input.positions.weight", "embeddings.position_embeddings" },
    { "input.patches", "embeddings.patch_embeddings.projection" },
    { "l*.attn.{q,k,v}", both("attention.attention.{query,key,value}", "attention.{q,k,v}_proj") },
    { "l*.attn.out", both("attention.output.dense", "attention.o_proj", scaled(1)) },
    { "l*.{norm1,norm2}", both("{norm1,norm2}") },
    { "l*.ff.gate", { "encoder.layer.*.mlp.weights_in", part = 1, parts = 2 } },
    { "l*.ff.up", { "encoder.layer.*.mlp.weights_in", part = 2, parts = 2, when = { "gated", true } } },
    { "l*.ff.up", both("mlp.fc1") },
    { "l*.ff.down", both("mlp.fc2", "mlp.weights_out", scaled(2)) },
    { "final_norm", "layernorm" },
  },
  config = heads.config({ d_model = 768, layers = 12, heads = 12, activation = "gelu", eps = 1e-6, image = 224,
    patch = 14, channels = 3, qkv_bias = true, head_dim = false }, {
    { "mlp_ratio", to = "ratio", default = 4, kind = "number" },
    { "use_swiglu_ffn", to = "gated", default = false, kind = "flag" },
    { "num_register_tokens", to = "registers", default = false, kind = "size" },
  }),
  defaults = { dinov2_with_registers = { registers = 4 } },
  image = { any_size = true, positions = "embeddings.position_embeddings",
    smooth = { dinov2_with_registers = true } }, -- with registers, transformers uses antialiasing
  derive = function(facts)
    local width = math.floor(facts.d_model * facts.ratio)
    facts.d_ff = width
    if facts.gated then facts.d_ff, facts.activation = (width * 2 // 3 + 7) // 8 * 8, "silu" end
  end,
  heads = {
    Model = {
      { "hidden", name = "last_hidden_state" },
      { "pool", over = "first", name = "pooler_output" },
    },
    ForImageClassification = {
      { "pool", over = { "first", "patches" } },
      { "linear", to = "labels", name = "logits", tensor = "classifier" },
    },
  },
}
