-- generation.lua: writes what a description says about generating text, as members of runtime/base/generation.h.
local c = require("common.c")

local emit_generation = {}

--- Returns { is_drawn, members = list of { name, value }, stops = list of ids, stop_list = the same as text, limit =
--- the line of a Python module about an answer's tokens, or nil }; false if the description says nothing.
function emit_generation.values(spec)
  local stated = spec.context and spec.generation
  if not stated then return false end
  local stops = stated.stop or {}
  local made = { is_drawn = stated.draw or false, stops = stops, stop_list = table.concat(stops, ", "), members = {
    { "is_drawn", stated.draw and 1 or 0 },
    { "temperature", c.double(stated.temperature or 1) },
    { "top_k", stated.top_k or 50 },
    { "top_p", c.double(stated.top_p or 1) },
    { "min_p", c.double(stated.min_p or 0) },
    { "repetition_penalty", c.double(stated.repetition_penalty or 1) },
    { "tokens", stated.tokens or 0 },
  } }
  if stated.length then table.insert(made.members, { "length", stated.length }) end
  made.limit = stated.tokens and "_tokens = " .. stated.tokens or stated.length and "_length = " .. stated.length
  return made
end

return emit_generation
