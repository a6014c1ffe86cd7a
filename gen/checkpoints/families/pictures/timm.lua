-- timm.lua: lists timm's names of a vision transformer's tensors; query, key and value are one tensor.
local function projection(part) return { "blocks.*.attn.qkv", part = part, parts = 3 } end

return {
  known = "the names of timm's vision transformers; only for `names`, not for folders",
  prefixes = { "" },
  tensors = {
    { "input.class", "cls_token" },
    { "input.positions.weight", "pos_embed" },
    { "input.patches", "patch_embed.proj" },
    { "l*.attn.q", projection(1) },
    { "l*.attn.k", projection(2) },
    { "l*.attn.v", projection(3) },
    { "l*.attn.out", "blocks.*.attn.proj" },
    { "l*.norm1", "blocks.*.norm1" },
    { "l*.ff.up", "blocks.*.mlp.fc1" },
    { "l*.ff.down", "blocks.*.mlp.fc2" },
    { "l*.norm2", "blocks.*.norm2" },
    { "final_norm", "norm" },
    { "output.2.linear", "head" },
  },
}
