-- rounded.lua: gives activations whose results are only rounded to bf16 or int8 a shorter form.
-- data/activations.lua lists these forms. Their error is a small part of what rounding changes.
local activations = require("data.activations")
local words = require("common.words")

-- An adapter's part of a sum reads the shorter form, too, so that rows without an adapter keep their bits.
local rounds = words.set { "round", "row_scale", "quantise", "adapt" }

--- Sets the function of the activations of an entry, which is not an output of the model.
return function(entry)
  local keeps_floats = {}
  for _, op in ipairs(entry.ops) do
    for _, tensor in pairs(op.operands) do keeps_floats[tensor] = keeps_floats[tensor] or not rounds[op.op] end
  end
  for _, op in ipairs(entry.ops) do
    local short = op.op == "activate" and activations.rounded[op.attributes["function"]]
    if short and op.result.kind == "scratch" and keeps_floats[op.result] == false then
      op.attributes["function"] = short.name
    end
  end
end
