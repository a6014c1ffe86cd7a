-- lengths.lua: writes the axes of inputs and outputs whose size a call decides, as rows of C initialisers. The
-- structure is attn2c_lengths in runtime/base/descriptor.h. The interface of calls of any size is written here too.
local c = require("common.c")
local words = require("common.words")

local emit_lengths = {}

local function axis(axes, letter) return (axes:find(letter, 1, true) or 0) - 1 end

local function axes_row(tensor)
  return ("{ %d, %d, %d, ATTN2C_HIDES_%s }"):format(axis(tensor.grows, "b"), axis(tensor.grows, "s"),
    axis(tensor.grows, "k"), (tensor.hides or "nothing"):upper())
end

local function axes_list(graph, names)
  return table.concat(words.map(names, function(name) return axes_row(graph.tensors[name]) end), ", ")
end

-- Names of sizes that a call decides, by the letter of an axis.
local names = { b = "batch", s = "seq" }

-- True if a tensor of a model of any length has a row for each token.
local function has_rows(tensor) return tensor.grows:find("s", 1, true) ~= nil end

--- True if an entry's calls take sources of one length, any number of them.
function emit_lengths.is_of_sources(spec) return spec.role == "encode" and not spec.symbols.rows.is_open end

--- Returns the sizes of a tensor as callers see it: numbers; for a call of any size also "batch", "seq" and "seq + N".
function emit_lengths.sizes(tensor, spec, is_growing)
  local sizes, is_of_sources = {}, emit_lengths.is_of_sources(spec)
  for i = 1, #tensor.shape - (tensor.squeezed and 1 or 0) do
    local n, letter = tensor.shape[i], (is_growing or is_of_sources) and tensor.grows:sub(i, i) or ""
    if is_of_sources and letter ~= "b" then letter = "" end
    local more = letter == "k" and n - spec.seq or 0
    sizes[i] = names[letter] or letter == "k" and (more > 0 and ("seq + %d"):format(more) or "seq") or n
  end
  return sizes
end

--- Returns the elements of an input or output of a model of any length for one row, for one sequence, or for a call;
--- and which of these: "row", "sequence" or "call".
function emit_lengths.each(tensor, spec)
  local elements = words.elements(tensor.shape)
  if tensor.unbatched then return elements, "call" end
  if has_rows(tensor) then return elements // spec.seq, "row" end
  return elements, "sequence"
end

--- Returns the number of elements of an input or output in a call of any length, as C on its sequences n.
function emit_lengths.count(tensor, spec)
  if not spec.symbols.rows.is_open then return nil end
  local each, what = emit_lengths.each(tensor, spec)
  if what == "call" then return tostring(each) end
  local text = what == "row" and "n->rows" or "n->count"
  return each == 1 and text or ("%s * %d"):format(text, each)
end

--- Returns the sizes as C writes them: "[batch][seq][384]"; with any length "[rows][384]" or "[sequences][384]".
function emit_lengths.shape(tensor, spec, is_growing)
  local parts = words.map(emit_lengths.sizes(tensor, spec, is_growing), function(size) return ("[%s]"):format(size) end)
  local is_open = spec.symbols.rows.is_open
  if not (spec.role == "encode" or is_open) or parts[1] ~= "[batch]" then return table.concat(parts) end
  parts[1] = "[sequences]"
  if is_open and has_rows(tensor) then table.remove(parts, 1) parts[1] = "[rows]" end
  return table.concat(parts)
end

--- Returns the templates' values for the sizes of an entry's calls.
function emit_lengths.values(state)
  local entry, spec = state.graph.entry, state.spec
  return { any = spec.symbols.rows.is_open,
    input_axes = axes_list(state.graph, entry.inputs),
    output_axes = axes_list(state.graph, entry.outputs),
    sizes = ("{ %d, %d }"):format(spec.batch, spec.seq), least = spec.least,
    exact = spec.exact and c.string(spec.exact) or "NULL" }
end

return emit_lengths
