-- decoders.lua: the part of list.lua that concerns families of decoders, and the keys that only some of them need.
-- of and spec: as in list.lua.
return function(of, spec)
  local values, folder = spec .. "checkpoints/values_spec.lua", "gen/checkpoints/families/decoders/"

  of(folder .. "opt.lua", values) {
    { name = "opt_positions", old = "facts.longest + 2", new = "facts.longest", filter = "of opt has",
      wrong = "the table of positions lacks its first two rows" },
    { name = "opt_final", old = "facts.is_before and not facts.has_no_final_norm", new = "facts.is_before",
      filter = "of opt gives each", wrong = "old folders have a norm that they lack" },
  }

  of(folder .. "bloom.lua", values) {
    { name = "bloom_norm", old = "input_norm = true, ", new = "", filter = "of bloom has",
      wrong = "embeddings have no norm" },
  }

  of(folder .. "falcon.lua", values) {
    { name = "falcon_queries", old = "facts.is_multi_query and not facts.is_new", new = "facts.is_multi_query",
      filter = "of falcon gives each", wrong = "Falcon 40B has one key" },
    { name = "falcon_norms", old = "facts.norms ~= 1", new = "true", filter = "of falcon gives each",
      wrong = "Falcon 11B has two norms" },
    { name = "falcon_slopes", old = "(facts.d_model // facts.heads) ^ -0.5", new = "1", filter = "of falcon gives each",
      wrong = "ALiBi is not scaled" },
  }

  of(folder .. "mpt.lua", values) {
    { name = "mpt_scale", old = "facts.score_scale or nil", new = "nil", filter = "of mpt gives each",
      wrong = "another scale of the scores is ignored" },
  }

  of(folder .. "gptj.lua", values) {
    { name = "gptj_rotated", old = "facts.rotary_dim / (facts.d_model // facts.heads)", new = "0.5",
      filter = "of gptj has", wrong = "half of each head is rotated" },
  }

  of(folder .. "gpt_neo.lua", values) {
    { name = "gpt_neo_local", old = 'list[i + 1] == "local"', new = 'list[i + 1] == "global"',
      filter = "of gpt_neo has", wrong = "the other layers have windows" },
    { name = "gpt_neo_count", old = "or i > facts.layers then", new = "then", filter = "something else",
      wrong = "more types than layers pass" },
  }

  of(folder .. "olmo3.lua", values) {
    { name = "olmo3_scaling", old = "rope_theta = THETA, rope_scaling = false",
      new = "rope_theta = THETA, rope_scaling = facts.rope_scaling", filter = "of olmo3 gives each",
      wrong = "layers with a window are scaled" },
  }

  of(folder .. "exaone4.lua", values) {
    { name = "exaone4_still", old = "if has_windows then", new = "if true then", filter = "of exaone4 gives each",
      wrong = "a model without windows has no positions" },
  }

  of("gen/checkpoints/layers.lua", values) {
    { name = "layers_still", old = "if not each then layers.own(facts, i - 1).rope_dim",
      new = "if each then layers.own(facts, i - 1).rope_dim", filter = "of cohere2 has",
      wrong = "layers with a window have no positions" },
  }

  of("gen/checkpoints/cohere.lua", values) {
    { name = "cohere_scale", old = 'to = "logit_scale", default = 0.0625', new = 'to = "logit_scale", default = 1',
      filter = "of cohere gives the stages", wrong = "logits are not scaled" },
  }

  of(folder .. "cohere.lua", values) {
    { name = "cohere_bias", old = "facts.bias.norm, facts.qk_norm = false,",
      new = "facts.bias.norm, facts.qk_norm = nil,",
      filter = "of cohere has", wrong = "norms have biases" },
  }

  of(folder .. "cohere2.lua", values) {
    { name = "cohere2_pattern", old = "(i + 1) % facts.pattern", new = "i % facts.pattern", filter = "of cohere2 has",
      wrong = "other layers have windows" },
  }

  of(folder .. "ministral.lua", values) {
    { name = "ministral_windows", old = "function() return true end", new = "function() return false end",
      filter = "of ministral has", wrong = "no layer has a window" },
  }

  of(folder .. "mistral3.lua", values) {
    { name = "mistral3_usual", old = "facts.rope_parameters = USUAL", new = "", filter = "of ministral3 has",
      wrong = "Ministral 3 has plain positions" },
  }

  of(folder .. "stablelm.lua", values) {
    { name = "stablelm_heads", old = '.norms.%d.weight"):format(path, i - 1)',
      new = '.norms.%d.weight"):format(path, i)',
      filter = "of stablelm gives each", wrong = "each head has the norm of the next" },
  }

  of(folder .. "glm4.lua", values) {
    { name = "glm4_norms", old = 'facts.model_type == "glm4" and "sandwich" or nil', new = '"sandwich"',
      filter = "of glm has", wrong = "the earlier class has four norms" },
  }

  of(folder .. "internlm2.lua", values) {
    { name = "internlm2_output", old = '"output.weight"', new = '"lm_head.weight"',
      filter = "of internlm2 gives the stages", wrong = "logits are not found" },
  }

  of(folder .. "internlm3.lua", values) {
    { name = "internlm3_class", old = 'class = "Llama",', new = "", filter = "of internlm3 gives each",
      wrong = "the class that transformers saves is refused" },
  }

  of("gen/checkpoints/sources.lua", spec .. "checkpoints/sources_spec.lua") {
    { name = "sources_share", old = "* spec.head_dim // (groups or 1) or part", new = "* spec.head_dim or part",
      filter = "groups of heads", wrong = "a group has the rows of all heads" },
  }

  of("gen/checkpoints/facts.lua", values) {
    { name = "facts_inner", old = "read_entry(entry, object, entry.default, inner)",
      new = "read_entry(entry, config, entry.default, inner)", filter = "of mpt gives each",
      wrong = "an object's keys are looked for outside it" },
  }

  of("gen/checkpoints/rotary.lua", values) {
    { name = "rotary_grows", old = 'if word ~= "yarn" then refuse', new = "if false then refuse",
      filter = "something else", wrong = "queries that grow are refused by a fault of the program" },
  }

  of("gen/passes/graph/rope.lua", spec .. "passes/graph/rope_spec.lua") {
    { name = "rope_grows", old = "spec.symbols.tokens.most + spec.past > s.original", new = "true", filter = "grow",
      wrong = "short models have a table of their own for queries" },
  }

  local attention = spec .. "passes/graph/attention_spec.lua"

  of("gen/passes/graph/attention.lua", attention) {
    { name = "attention_limit_whole", old = "if a[part] and attention.projects(spec, part) then", new = "if true then",
      filter = "limit", wrong = "what nothing projects is limited, too" },
    { name = "attention_norm_each_zeros", old = 'or spec.qk_norm == "each" or', new = "or", filter = "norm of its own",
      wrong = "a head that is left out moves the others' norms" },
  }

  of("gen/passes/graph/builder.lua", attention) {
    { name = "graph_gate", old = "b = act },", new = "b = gate },", wrong = "the gate has no activation" },
    { name = "builder_norm_each", old = "self.spec.bias.norm and not each", new = "self.spec.bias.norm",
      filter = "norm of its own", wrong = "norms of heads have biases" },
  }

  of("runtime/weights/constants.c", "c:constants") {
    { name = "constants_factor", old = "factor * alibi_slope(", new = "1 / factor * alibi_slope(",
      filter = "constants/alibi_of", wrong = "slopes are divided by their factor" },
    { name = "constants_growth", old = "beta * log1p(floor(", new = "beta * log1p((", filter = "constants/grown",
      wrong = "queries grow with each position" },
  }

  of("runtime/reference/reduce.c", "c:reference_rows") {
    { name = "reference_each",
      old = "const float *own = gain ? gain + (each ? r % n['h'] * width : 0) : NULL;\n    double variance",
      new = "const float *own = gain;\n    double variance", filter = "layer_norm/of_each_head_with*",
      wrong = "all heads have the first one's norm" },
  }

  of("gen/checkpoints/architectures.lua", spec .. "checkpoints/gguf_spec.lua") {
    { name = "gguf_olmo3", old = "if not config.sliding_window then return end", new = "do return end",
      filter = "OLMo 3", wrong = "OLMo 3 has no windows" },
  }
end
