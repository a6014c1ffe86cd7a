-- precision.lua: the parts of a model whose products may have a number type of their own, and which part a product
-- belongs to. The description's key, the graph and the messages read it.
local precision = {}

--- Number types of products. attention: whether the products of an attention may have it.
precision.types = { { name = "f32", attention = true }, { name = "bf16", attention = true }, { name = "int8" } }

--- Parts beside "layer N" and "encoder layer N", whose linear layers they are, and what each is.
precision.parts = {
  { name = "input", meaning = "linear layers before the layers" },
  { name = "qkv", meaning = "projections to queries, keys and values" },
  { name = "out", meaning = "projections of attentions' results" },
  { name = "ff", meaning = "feed-forwards" },
  { name = "attention", meaning = "queries by keys, and weights by values" },
  { name = "output", meaning = "linear layers behind the layers" },
}

--- Whether a word names a part.
function precision.is_part(word)
  for _, part in ipairs(precision.parts) do if part.name == word then return true end end
  local layer = word:match("^layer (%d+)$") or word:match("^encoder layer (%d+)$")
  return layer == "0" or layer ~= nil and layer:sub(1, 1) ~= "0"
end

-- The part of a linear layer, by its path in the graph.
local function part_of(path)
  if path:match("%.[qkv]$") then return "qkv" end
  return path:match("%.out$") and "out" or path:match("%.ff%.%w+$") and "ff" or nil
end

--- The number type of the linear layer `path` of a section ("layer 3", "output"). given: the spec's precision, { all =
--- a type, by_part = part -> type }. A layer's own comes before its part's.
function precision.of_linear(given, section, path)
  local of = given.by_part
  local stage = section:match("(%w+)$")
  local part = section:find("layer", 1, true) and part_of(path) or stage
  return of[section] or of[part] or given.all
end

--- The number type of an attention's products: a layer in f32 has all of them so. Where nothing says it, bf16 if
--- has_pairs, whether a target of the model multiplies pairs of bf16 by an instruction, and the layer's others are not
--- f32; without one, f32 is as fast.
function precision.of_scores(given, section, has_pairs)
  local own = given.by_part[section]
  if own == "f32" then return "f32" end
  return given.by_part.attention or (own or given.all) ~= "f32" and has_pairs and "bf16" or "f32"
end

--- The number types in use, as a set.
function precision.set(given)
  local set = { [given.all] = true }
  for _, type in pairs(given.by_part) do set[type] = true end
  return set
end

--- Whether all products are f32.
function precision.is_plain(given)
  local set = precision.set(given)
  return not (set.bf16 or set.int8)
end

--- As one word or a short text: "bf16", "int8, output f32".
function precision.text(given)
  local parts = {}
  for part in pairs(given.by_part) do parts[#parts + 1] = part end
  table.sort(parts)
  for i, part in ipairs(parts) do parts[i] = (", %s %s"):format(part, given.by_part[part]) end
  return given.all .. table.concat(parts)
end

return precision
