-- ernie.lua: describes ERNIE 1 to 3 (Sun et al. 2021): BERT; version 3 adds an embedding of the task. All tokens have
-- the first task, as in transformers without task_type_ids.
local heads = require("checkpoints.heads")

local POSITIONS, TASKS = "embeddings.position_embeddings.weight", "embeddings.task_type_embeddings.weight"

return {
  known = "ERNIE 1.0 to 3.0, ERNIE-Gram (nghuyong)",
  model_types = { ernie = "Ernie" },
  called = { ernie = "ERNIE" },
  config = heads.bert_config({ vocab = 30522, types = 2, d_model = 768, layers = 12, heads = 12, d_ff = 3072 }, {
    { "use_task_id", to = "has_tasks", default = false, kind = "flag" },
  }),
  derive = function(facts, _, names)
    if not facts.has_tasks then return end
    facts.keeps_types = true -- the first type, if all tokens had it, would be added in the same place
    names["input.positions.weight"] = { "ernie." .. POSITIONS, POSITIONS,
      plus = { "ernie." .. TASKS, TASKS, row = 0 } }
  end,
}
