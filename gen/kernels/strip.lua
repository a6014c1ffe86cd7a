-- strip.lua: the C function of a strip: some rows of a product by some vectors of its outputs,
-- whose sums are variables of their own, so that each stays in a register over the loop of k.
local strip = {}

--- What tells a strip from another: { rows, vectors, rows_held: whether the rows' floats stay in registers while the
--- vectors come one after the other, fetches: whether it asks for weights ahead }.
function strip.name(shape)
  return ("strip_%dx%d%s%s"):format(shape.rows, shape.vectors, shape.rows_held and "_held" or "",
    shape.fetches and "_ahead" or "")
end

-- Columns of a line of C.
local WIDTH = 110

local function at(pointer, vector) return ("%s + %d * ATTN2C_LANES"):format(pointer, vector) end

-- Vector v of a row at `pointer`; the last may be cut to its first lanes.
local function load(shape, pointer, v, lanes)
  if v < shape.vectors - 1 then return ("attn2c_load(%s)"):format(at(pointer, v)) end
  return ("attn2c_load_first(%s, %s)"):format(at(pointer, v), lanes)
end

local function store(shape, pointer, v, value)
  if v < shape.vectors - 1 then return ("attn2c_store(%s, %s);"):format(at(pointer, v), value) end
  return ("attn2c_store_first(%s, %s, c_lanes);"):format(at(pointer, v), value)
end

local function sum(row, vector) return ("c%d_%d"):format(row, vector) end

-- Lines of C, in blocks.
local Text = {}
Text.__index = Text

function Text:add(...) self[#self + 1] = self.indent .. string.format(...) end

-- Statements made by make(0), make(1), ..., as many to a line as fit.
function Text:add_each(count, make)
  local line = make(0)
  for i = 1, count - 1 do
    local statement = make(i)
    if #self.indent + #line + 1 + #statement <= WIDTH then
      line = line .. " " .. statement
    else
      self:add("%s", line)
      line = statement
    end
  end
  self:add("%s", line)
end

function Text:open(...)
  self:add(...)
  self.indent = self.indent .. "  "
end

function Text:close()
  self.indent = self.indent:sub(3)
  self:add("}")
end

-- One step: for each row and vector, its sum and a multiply-add more.
local function step_lines(text, shape)
  local function multiply_add(row, vector)
    return ("%s = attn2c_multiply_add(w%s, x%s, %s);"):format(sum(row, vector), shape.rows_held and "" or vector,
      shape.rows_held and row or "", sum(row, vector))
  end
  local function splat(row) return ("attn2c_splat(b[%d * ldb])"):format(row) end
  if shape.rows_held then
    for row = 0, shape.rows - 1 do text:add("attn2c_vector x%d = %s;", row, splat(row)) end
    text:add_each(shape.rows, function(row) return ("ATTN2C_HOLD(x%d);"):format(row) end)
    for vector = 0, shape.vectors - 1 do
      text:add("%sw = %s;", vector == 0 and "attn2c_vector " or "", load(shape, "a", vector, "a_lanes"))
      text:add_each(shape.rows, function(row) return multiply_add(row, vector) end)
    end
    return
  end
  for vector = 0, shape.vectors - 1 do
    text:add("attn2c_vector w%d = %s;", vector, load(shape, "a", vector, "a_lanes"))
  end
  text:add_each(shape.vectors, function(vector) return ("ATTN2C_HOLD(w%d);"):format(vector) end)
  for row = 0, shape.rows - 1 do
    text:add("%sx = %s;", row == 0 and "attn2c_vector " or "", splat(row))
    text:add_each(shape.vectors, function(vector) return multiply_add(row, vector) end)
  end
end

--- A strip's function as C.
function strip.text(shape)
  local text = setmetatable({ indent = "" }, Text)
  text:add("/* %d rows by %d vectors of outputs%s%s. */", shape.rows, shape.vectors,
    shape.rows_held and ", the rows in registers" or "",
    shape.fetches and ", asking for `lines` lines from `ahead` on every `every` inputs" or "")
  text:add("ATTN2C_STRIP %s(const float *a, const float *b, float *c, int k, ptrdiff_t lda, ptrdiff_t ldb,",
    strip.name(shape))
  text:open("    ptrdiff_t ldc, int adds, int a_lanes, int c_lanes%s) {",
    shape.fetches and ", const float *ahead, int every, int lines" or "")
  for row = 0, shape.rows - 1 do
    text:add_each(shape.vectors, function(vector)
      return ("attn2c_vector %s = attn2c_zero();"):format(sum(row, vector))
    end)
  end
  text:open("if (adds) {")
  for row = 0, shape.rows - 1 do
    local c = ("c + %d * ldc"):format(row)
    text:add_each(shape.vectors, function(vector)
      return ("%s = %s;"):format(sum(row, vector), load(shape, c, vector, "c_lanes"))
    end)
  end
  text:close()
  if shape.fetches then
    text:open("for (int i = 0; i < k;) {")
    text:add("const int stop = i + every < k ? i + every : k;")
    text:add("ahead = attn2c_ask(ahead, lines);")
  end
  text:open("for (%s; i++, a += lda, b++) {", shape.fetches and "; i < stop" or "int i = 0; i < k")
  step_lines(text, shape)
  text:close()
  if shape.fetches then text:close() end
  for row = 0, shape.rows - 1 do
    local c = ("c + %d * ldc"):format(row)
    text:add_each(shape.vectors, function(vector) return store(shape, c, vector, sum(row, vector)) end)
  end
  text:close()
  return table.concat(text, "\n")
end

return strip
