-- seq2seq.lua: holds the data that the families of encoders with decoders share that began with BART (Lewis et al.
-- 2019): configuration keys, tensors' names, and the head that writes.
local seq2seq = {}

--- Returns the stages of a decoder that writes. bias: true if scores have a bias that the file calls by this name.
function seq2seq.head(bias)
  return {
    writes = true, decodes = true,
    { "pool", over = "last" },
    { "vocabulary", tied = "tied", name = "logits", bias = bias and true or nil,
      tensors = { weight = { "lm_head.weight" }, bias = bias and { bias } or nil } },
  }
end

-- Appends a stack's tensors: the path before its layers in the graph and in the file.
local function add_stack(list, path, name, rules)
  for _, each in ipairs(rules) do list[#list + 1] = { path .. each[1], name .. each[2] } end
end

local layer = {
  { "l*.attn.q", "layers.*.self_attn.q_proj" },
  { "l*.attn.k", "layers.*.self_attn.k_proj" },
  { "l*.attn.v", "layers.*.self_attn.v_proj" },
  { "l*.attn.out", "layers.*.self_attn.out_proj" },
  { "l*.norm1", "layers.*.self_attn_layer_norm" },
  { "l*.ff.up", "layers.*.fc1" },
  { "l*.ff.down", "layers.*.fc2" },
  { "l*.norm2", "layers.*.final_layer_norm" },
  { "input.norm", "layernorm_embedding" },
  { "input.positions", "embed_positions" },
  { "final_norm", "layer_norm" },
}

--- The tensors of such a decoder: its layers, and the parts of them that read the encoder's states.
seq2seq.decoder = {}
add_stack(seq2seq.decoder, "", "decoder.", layer)
add_stack(seq2seq.decoder, "", "decoder.", {
  { "l*.cross.q", "layers.*.encoder_attn.q_proj" },
  { "l*.cross.k", "layers.*.encoder_attn.k_proj" },
  { "l*.cross.v", "layers.*.encoder_attn.v_proj" },
  { "l*.cross.out", "layers.*.encoder_attn.out_proj" },
  { "l*.norm_cross", "layers.*.encoder_attn_layer_norm" },
})

--- The tensors of an encoder with a decoder.
seq2seq.tensors = {
  { "input.tokens.weight", { "shared.weight", "decoder.embed_tokens.weight" } },
  { "encoder.input.tokens.weight", { "shared.weight", "encoder.embed_tokens.weight" } },
}
table.move(seq2seq.decoder, 1, #seq2seq.decoder, 3, seq2seq.tensors)
add_stack(seq2seq.tensors, "encoder.", "encoder.", layer)

--- Returns the configuration keys with a family's defaults. longest: the fact that max_position_embeddings is.
function seq2seq.config(d)
  local list = {
    { "vocab_size", to = "vocab", default = d.vocab or 50265, kind = "count" },
    { "d_model", "hidden_size", to = "d_model", default = 1024, kind = "count" },
    { "max_position_embeddings", to = "longest", default = 1024, kind = "count" },
    { "encoder_layers", "num_hidden_layers", to = "encoder_layers", default = 12, kind = "count" },
    { "encoder_attention_heads", "num_attention_heads", to = "encoder_heads", default = 16, kind = "count" },
    { "encoder_ffn_dim", to = "encoder_d_ff", default = 4096, kind = "count" },
    { "decoder_layers", to = "layers", default = 12, kind = "count" },
    { "decoder_attention_heads", to = "heads", default = 16, kind = "count" },
    { "decoder_ffn_dim", to = "d_ff", default = 4096, kind = "count" },
    { "activation_function", to = "activation", default = d.activation or "gelu", kind = "activation" },
    { "scale_embedding", to = "scales", default = d.scales or false, kind = "flag" },
    { "tie_word_embeddings", to = "tied", default = true, kind = "flag" },
  }
  for _, entry in ipairs(d.more or {}) do list[#list + 1] = entry end
  return list
end

--- Sets the facts that follow from others. Learned positions begin at row 2 of their table. Sinusoidal ones that a file
--- stores are read, as transformers does it. has(name): true if the file has a tensor.
function seq2seq.derive(facts, _, _, has)
  facts.embedding_scale = facts.scales and math.sqrt(facts.d_model) or nil
  if facts.family.fixed.positions == "learned" then
    facts.max_position = facts.longest + 2
  elseif has("encoder.embed_positions.weight") and has("decoder.embed_positions.weight") then
    facts.positions, facts.max_position = "learned", facts.longest
  end
end

--- The keys of the encoder's description, by the facts that have them.
seq2seq.encoder = { layers = "encoder_layers", heads = "encoder_heads", d_ff = "encoder_d_ff" }

return seq2seq
