-- generation.lua: writes the defaults of generating text, as members of runtime/base/generation.h.
local c = require("common.c")

local emit_generation = {}

--- The numbers that a model draws with if its description says nothing about choosing a token. Greedy answers of small
--- models repeat themselves (runtime/generate/README.md has what was measured).
emit_generation.usual = { draw = true, temperature = 0.2, top_p = 0.9, repetition_penalty = 1.1 }

--- The same as a text.
emit_generation.usual_text = ("temperature %g, top_p %g and repetition_penalty %g"):format(
  emit_generation.usual.temperature, emit_generation.usual.top_p, emit_generation.usual.repetition_penalty)

--- Returns { is_drawn, is_usual, usual = a text, members = list of { name, value }, stops = list of ids, stop_list =
--- the same as text, limit = the line of a Python module about an answer's tokens, or nil }; false if the model
--- continues no sequences.
function emit_generation.values(spec)
  if not spec.symbols.past.is_open then return false end
  local said = spec.generation or {}
  local is_usual, usual = true, emit_generation.usual
  for _, name in ipairs { "draw", "temperature", "top_k", "top_p", "min_p", "repetition_penalty" } do
    is_usual = is_usual and said[name] == nil
  end
  local from, stops = is_usual and usual or said, said.stop or {}
  local made = { is_drawn = from.draw or false, is_usual = is_usual, usual = emit_generation.usual_text, stops = stops,
    stop_list = table.concat(stops, ", "), members = {
      { "is_drawn", from.draw and 1 or 0 },
      { "is_usual", is_usual and 1 or 0 },
      { "temperature", c.double(from.temperature or 1) },
      { "top_k", from.top_k or 50 },
      { "top_p", c.double(from.top_p or 1) },
      { "min_p", c.double(from.min_p or 0) },
      { "repetition_penalty", c.double(from.repetition_penalty or 1) },
      { "tokens", said.tokens or 0 },
    } }
  if said.length then table.insert(made.members, { "length", said.length }) end
  made.limit = said.tokens and "_tokens = " .. said.tokens or said.length and "_length = " .. said.length
  return made
end

return emit_generation
