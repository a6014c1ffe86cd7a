-- granitemoe.lua: describes the mixtures of experts of Granite 3 (Granite Team 2024).
local experts = require("checkpoints.experts")
local granite = require("checkpoints.families.decoders.granite")
local heads = require("checkpoints.heads")
local words = require("common.words")

return words.merged(granite, {
  known = "Granite 3: 1B-A400M, 3B-A800M",
  model_types = { granitemoe = "GraniteMoe" },
  called = { granitemoe = "Granite of experts" },
  tensors = heads.llama_tensors {
    { "l*.ff.router", { "layers.*.block_sparse_moe.router.layer", "layers.*.block_sparse_moe.router" } },
    { "l*.ff.experts.{gate,up}", { "layers.*.block_sparse_moe.input_linear", parts = 2 } },
    { "l*.ff.experts.down", "layers.*.block_sparse_moe.output_linear" },
  },
  config = words.append(experts.config { experts_width = false }, granite.config),
  derive = function(facts, _, names, has)
    granite.derive(facts)
    experts.set(facts, nil, names, has)
  end,
})
