-- seq2seq.lua: holds the data that the families of encoders with decoders share that began with BART (Lewis et al.
-- 2019): configuration keys, tensors' names, and the head that writes.
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local json = require("common.json")
local words = require("common.words")

local seq2seq = {}

--- Returns the stages of a decoder that writes. bias: true if scores have a bias that the file calls by this name.
function seq2seq.head(bias)
  return {
    writes = true, decodes = true,
    { "pool", over = "last" },
    { "vocabulary", tied = "tied", name = "logits", bias = bias and true or nil,
      shared = { "model.shared.weight", "shared.weight" },
      tensors = { weight = { "lm_head.weight" }, bias = bias and { bias } or nil } },
  }
end

-- Appends a stack's tensors: the path before its layers in the graph and in the file.
local function add_stack(list, path, name, rules)
  for _, each in ipairs(rules) do list[#list + 1] = { path .. each[1], name .. each[2] } end
end

local layer = {
  { "l*.attn.{q,k,v,out}", "layers.*.self_attn.{q,k,v,out}_proj" },
  { "l*.{norm1,norm2}", "layers.*.{self_attn,final}_layer_norm" },
  { "l*.ff.{up,down}", "layers.*.{fc1,fc2}" },
  { "input.{norm,positions}", "{layernorm_embedding,embed_positions}" },
  { "final_norm", "layer_norm" },
}

--- The tensors of such a decoder: its layers, and the parts of them that read the encoder's states.
seq2seq.decoder = {}
add_stack(seq2seq.decoder, "", "decoder.", layer)
add_stack(seq2seq.decoder, "", "decoder.", {
  { "l*.cross.{q,k,v,out}", "layers.*.encoder_attn.{q,k,v,out}_proj" },
  { "l*.norm_cross", "layers.*.encoder_attn_layer_norm" },
})

--- The tables of tokens of an encoder with a decoder, each by its own name first. As in transformers, a table that the
--- file has is read in any case, and a missing one is one of the others.
seq2seq.tables = {
  { "input.tokens.weight", { "decoder.embed_tokens.weight", "shared.weight", "encoder.embed_tokens.weight" } },
  { "encoder.input.tokens.weight", { "encoder.embed_tokens.weight", "shared.weight", "decoder.embed_tokens.weight" } },
}

--- The tensors of an encoder with a decoder.
seq2seq.tensors = { table.unpack(seq2seq.tables) }
table.move(seq2seq.decoder, 1, #seq2seq.decoder, 3, seq2seq.tensors)
add_stack(seq2seq.tensors, "encoder.", "encoder.", layer)

--- Returns a template of names (names.lua) with a prefix before each name.
function seq2seq.named_after(prefix, template)
  if type(template) == "string" then return prefix .. template end
  local copy = {}
  for key, value in pairs(template) do
    copy[key] = (type(key) == "number" or key == "plus") and seq2seq.named_after(prefix, value) or value
  end
  return copy
end

--- Appends the tensors of a family that is a part of another one: the path before its paths, the prefixes of its names.
--- but: a set of paths that are left out.
function seq2seq.add_part(list, path, prefix, tensors, but)
  for _, each in ipairs(tensors) do
    if not (but or {})[each[1]] then list[#list + 1] = { path .. each[1], seq2seq.named_after(prefix, each[2]) } end
  end
  return list
end

--- Returns the values that are set in either of two objects; `own` comes first.
function seq2seq.both(own, other)
  local result = setmetatable({}, getmetatable(own))
  for _, from in ipairs { other, own } do
    for key, value in pairs(from) do if value ~= json.null then result[key] = value end end
  end
  return result
end

-- Decoders of vision-encoder-decoder, by their model_type.
local decoders = { gpt2 = "vision-encoder-decoder", trocr = "vision-encoder-decoder:trocr" }

-- Returns the model_type of the family of a folder of vision-encoder-decoder, by its decoder. Faults: usage.
local function of_decoder(config)
  local word = type(config.decoder) == "table" and config.decoder.model_type
  if not decoders[word] then
    faults.raise("usage", "config.json: decoder: model_type: %s is not supported; supported are %s",
      json.shown(word or json.null), table.concat(words.sorted_keys(decoders), ", "))
  end
  return decoders[word]
end

--- Returns a family of folders of vision-encoder-decoder. d: its `known`, the decoder's model_type, tensors, config and
--- fixed keys, the name of its vocabulary, and `derive` of its own.
function seq2seq.vision(d)
  local model_type = decoders[d.decoder]
  local tensors = { { "encoder.projection", "enc_to_dec_proj" } }
  seq2seq.add_part(tensors, "encoder.", "encoder.", heads.vit_tensors("embeddings.cls_token"))
  table.move(d.tensors, 1, #d.tensors, #tensors + 1, tensors)
  return {
    known = d.known,
    model_types = { [model_type] = "VisionEncoderDecoder" },
    called = { [model_type] = "vision-encoder-decoder with " .. d.decoder },
    inside = { [model_type] = "decoder" },
    other = of_decoder,
    pictures = { inside = "encoder", usual = "vit", kinds = { vit = true, deit = true }, names = "encoder." },
    prefixes = { "" },
    tensors = tensors,
    config = d.config,
    fixed = d.fixed,
    start = d.start,
    generation = function(config, stated)
      return stated, seq2seq.both(config, type(config.decoder) == "table" and config.decoder or {})
    end,
    derive = function(facts, _, _, has)
      if d.derive then d.derive(facts) end
      facts.projected_to = has("enc_to_dec_proj.weight") and facts.d_model or nil
    end,
    heads = { Model = { writes = true, decodes = true, { "pool", over = "last" },
      { "vocabulary", tied = "tied", name = "logits", tensors = { weight = { d.vocabulary } } } } },
  }
end

--- Returns the configuration keys with a family's defaults. d: some of these, further keys, another name of the
--- encoder's heads, and the name of the key that says the most tokens.
function seq2seq.config(d)
  local list = {
    { "vocab_size", to = "vocab", default = d.vocab or 50265, kind = "count" },
    { "d_model", "hidden_size", to = "d_model", default = 1024, kind = "count" },
    { d.longest or "max_position_embeddings", to = "longest", default = 1024, kind = "count" },
    { "encoder_layers", "num_hidden_layers", to = "encoder_layers", default = 12, kind = "count" },
    { "encoder_attention_heads", "num_attention_heads", d.also, to = "encoder_heads", default = 16, kind = "count" },
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

--- Returns a family that began with BART: what `own` has, and the usual other fields.
function seq2seq.family(own)
  return words.merged({ prefixes = { "model.", "" }, tensors = seq2seq.tensors, config = seq2seq.config {},
    encoder = seq2seq.encoder, derive = seq2seq.derive,
    heads = { ForConditionalGeneration = seq2seq.head("final_logits_bias") } }, own)
end

return seq2seq
