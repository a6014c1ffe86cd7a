-- strip.lua: the C function of a strip: some rows of a product by some vectors of its outputs,
-- whose sums are variables of their own, so that each stays in a register over the loop of k.
local strip = {}

-- Columns of a line of C.
local WIDTH = 116

--- What tells a strip from another: { rows, vectors, rows_held: whether the rows' floats stay in registers while the
--- vectors come one after the other, fetches: whether it asks for weights ahead }.
function strip.name(shape)
  return ("strip_%dx%d%s%s"):format(shape.rows, shape.vectors, shape.rows_held and "_held" or "",
    shape.fetches and "_ahead" or "")
end

-- `count` texts made by make(0), make(1), ..., between separators.
local function each(count, separator, make)
  local list = {}
  for i = 0, count - 1 do list[#list + 1] = make(i) end
  return table.concat(list, separator)
end

-- Where vector v of a row at `pointer` begins.
local function vector_at(pointer, v)
  if v == 0 then return pointer end
  return v == 1 and pointer .. " + ATTN2C_LANES" or ("%s + %d * ATTN2C_LANES"):format(pointer, v)
end

-- Where a row of C begins. That of row 0 names ldc, too: a strip of one row uses all that it is called with.
local function row_of_c(row) return ("c + %d * ldc"):format(row) end

-- Vector v of a row at `pointer`; the last may be cut to its first lanes.
local function load(shape, pointer, v, lanes)
  local at = vector_at(pointer, v)
  if v < shape.vectors - 1 then return ("attn2c_load(%s)"):format(at) end
  return ("attn2c_load_first(%s, %s)"):format(at, lanes)
end

local function store(shape, pointer, v, value)
  local at = vector_at(pointer, v)
  if v < shape.vectors - 1 then return ("attn2c_store(%s, %s);"):format(at, value) end
  return ("attn2c_store_first(%s, %s, c_lanes);"):format(at, value)
end

-- The float of B of a row, in every lane.
local function splat(row) return ("attn2c_splat(b[%d * ldb])"):format(row) end

local function sum(row, vector) return ("c%d_%d"):format(row, vector) end

-- One step: for each row and vector, its sum and a multiply-add more.
local function step_lines(shape, add)
  local function multiply_adds(row, vector)
    return ("%s = attn2c_multiply_add(w%s, x%s, %s);"):format(sum(row, vector), shape.rows_held and "" or vector,
      shape.rows_held and row or "", sum(row, vector))
  end
  if shape.rows_held then
    for row = 0, shape.rows - 1 do
      add("  attn2c_vector x%d = %s;", row, splat(row))
      add("  ATTN2C_HOLD(x%d);", row)
    end
    for vector = 0, shape.vectors - 1 do
      add("  w = %s;", load(shape, "a", vector, "a_lanes"))
      add("  %s", each(shape.rows, " ", function(row) return multiply_adds(row, vector) end))
    end
    return
  end
  for vector = 0, shape.vectors - 1 do
    add("  attn2c_vector w%d = %s;", vector, load(shape, "a", vector, "a_lanes"))
    add("  ATTN2C_HOLD(w%d);", vector)
  end
  for row = 0, shape.rows - 1 do
    add("  x = %s;", splat(row))
    add("  %s", each(shape.vectors, " ", function(vector) return multiply_adds(row, vector) end))
  end
end

-- Appends a line; one of several statements that is too long, as lines of as many as fit.
local function add_wrapped(lines, line)
  local indent = line:match("^ *")
  while #line > WIDTH do
    local cut
    for at in line:gmatch("(); ") do if at <= WIDTH then cut = at end end
    if not cut then break end
    lines[#lines + 1] = line:sub(1, cut)
    line = indent .. line:sub(cut + 2)
  end
  lines[#lines + 1] = line
end

--- A strip's function as C.
function strip.text(shape)
  local lines = {}
  local function add(...) add_wrapped(lines, string.format(...)) end
  add("/* %d rows by %d vectors of outputs%s%s. */", shape.rows, shape.vectors,
    shape.rows_held and ", the rows in registers" or "",
    shape.fetches and (", asking for `lines` lines from `ahead` on every `every` inputs") or "")
  add("ATTN2C_STRIP %s(const float *a, const float *b, float *c, int k, ptrdiff_t lda, ptrdiff_t ldb, ptrdiff_t ldc,",
    strip.name(shape))
  add("    int adds, int a_lanes, int c_lanes%s) {",
    shape.fetches and ", const float *ahead, int every, int lines" or "")
  for row = 0, shape.rows - 1 do
    add("  attn2c_vector %s;", each(shape.vectors, ", ", function(vector)
      return ("%s = attn2c_zero()"):format(sum(row, vector))
    end))
  end
  add("  if (adds) {")
  for row = 0, shape.rows - 1 do
    add("    %s", each(shape.vectors, " ", function(vector)
      return ("%s = %s;"):format(sum(row, vector), load(shape, row_of_c(row), vector, "c_lanes"))
    end))
  end
  add("  }")
  if shape.fetches then
    add("  for (int i = 0; i < k;) {")
    add("    const int stop = i + every < k ? i + every : k;")
    add("    ahead = attn2c_ask(ahead, lines);")
    add("    for (; i < stop; i++, a += lda, b++) {")
  else
    add("  for (int i = 0; i < k; i++, a += lda, b++) {")
  end
  local deep = shape.fetches and "    " or "  "
  local function add_deep(format, ...) add(deep .. format, ...) end
  add_deep("  attn2c_vector %s;", shape.rows_held and "w" or "x")
  step_lines(shape, add_deep)
  add_deep("}")
  if shape.fetches then add("  }") end
  for row = 0, shape.rows - 1 do
    add("  %s", each(shape.vectors, " ", function(vector)
      return store(shape, row_of_c(row), vector, sum(row, vector))
    end))
  end
  add("}")
  return table.concat(lines, "\n")
end

return strip
