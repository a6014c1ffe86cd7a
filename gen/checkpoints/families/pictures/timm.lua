-- timm.lua: lists timm's names of a vision transformer's tensors; query, key and value are one tensor.
return {
  known = "the names of timm's vision transformers; only for `names`, not for folders",
  prefixes = { "" },
  tensors = {
    { "input.class", "cls_token" },
    { "input.positions.weight", "pos_embed" },
    { "input.patches", "patch_embed.proj" },
    { "l*.attn.{q,k,v}", { "blocks.*.attn.qkv", parts = 3 } },
    { "l*.attn.out", "blocks.*.attn.proj" },
    { "l*.{norm1,norm2}", "blocks.*.{norm1,norm2}" },
    { "l*.ff.{up,down}", "blocks.*.mlp.{fc1,fc2}" },
    { "final_norm", "norm" },
    { "output.2.linear", "head" },
  },
}
