-- disentangled.lua: makes the terms of disentangled attention: products with tables of projected distances.
-- A term is query · K(distance) or key · Q(distance) (He et al. 2021, section 3.1). K and Q are projections of one
-- table of distances by a layer's weights. They do not depend on the input, so they are constants, which are made once,
-- when weights are packed (runtime/weights/projected.h).
local shared = require("passes.common.disentangled")
local types = require("data.types")
local words = require("common.words")

local disentangled = {}

-- Returns the row of distance 0 in a table, and the rows of each head. Distance 0 is the last of a cache line's rows:
-- then blocks of whole lines of queries and keys begin at a line. Inputs of a packed head are an odd number of lines
-- apart, because they would else share a few sets of the first-level cache.
local function rows_of(spec)
  local line = types.per_line("f32")
  local reach = words.round_up(spec.max_position + shared.MARGIN, line) + line - 1
  local rows = words.round_up(2 * reach, line)
  return reach, rows // line % 2 == 0 and rows + line or rows
end

-- Returns the names of the table of distances and of its norm's weights, for a formula.
local function table_names(self)
  local spec, path = self.spec, self.prefix .. "positions"
  local rows = 2 * (spec.position_buckets > 0 and spec.position_buckets or spec.position_distance)
  local list = { self:weight(path .. ".table.weight", { rows, spec.d_model }, 0, 1).name }
  for i, each in ipairs { { "weight", 1 }, { "bias", 0 } } do
    list[i + 1] = spec.position_norm
      and self:weight(("%s.norm.%s"):format(path, each[1]), { spec.d_model }, each[2], 0.1).name or "-"
  end
  return list
end

-- Returns the names of the weight and bias by which the table is projected. Keys of an earlier layer share its weights.
local function projection_names(self, a, part, heads)
  local spec, path = self.spec, ("%s.%s"):format((part == "k" and a.shared or a).path, part)
  if spec.position_projections == "shared" then
    path = self:group_path(path)
    return path .. ".weight", spec.bias[part] and path .. ".bias" or "-"
  end
  local width = heads * spec.head_dim
  path = ("%s.position_%s"):format(a.path, part)
  local has_bias = part == "q" or spec.position_projections == "own"
  return self:weight(path .. ".weight", { width, spec.d_model }, 0, 1 / math.sqrt(spec.d_model)).name,
    has_bias and self:weight(path .. ".bias", { width }, 0, 0.1).name or "-"
end

-- Returns the constant of a layer's table, which the weights of `part` (q or k) project. direction: 1 if its rows are
-- in the order of distances from key to query, -1 for the reverse.
local function projected(self, a, part, heads, direction)
  local spec = self.spec
  local reach, rows = rows_of(spec)
  local names = table_names(self)
  local weight, bias = projection_names(self, a, part, heads)
  local formula = ("projected %d %d %d %d %d %.17g %s %s %s %s %s"):format(heads, reach, direction,
    spec.position_buckets, spec.position_distance, spec.eps, names[1], weight, bias, names[2], names[3])
  return self:constant(self:group_path(("%s.distances_%s"):format(a.path, part)), { heads * rows, spec.head_dim },
    formula), reach
end

--- Returns a self-attention's scores with the terms added.
function disentangled.add(self, a, scores)
  local terms = self.spec.position_terms
  local function add(name, x, part, heads, direction)
    local table_, reach = projected(self, a, part, heads, direction)
    scores = self:op("add_disentangled", ("%s.%s"):format(a.path, name), { scores = scores, x = x, table = table_ },
      { heads = a.heads, table_heads = heads, keys = direction == 1, reach = reach, offset = a.mask.offset,
        extra = a.mask.extra })
  end
  if terms ~= "position_to_content" then add("content_to_position", a.q, "k", a.kv_heads, -1) end
  if terms ~= "content_to_position" then add("position_to_content", a.k, "q", a.heads, 1) end
  return scores
end

return disentangled
