-- writer.lua: writes the C function of a strip, or of strips that only differ in their number of rows.
-- The latter has the code of the most rows. Its parameter `rows` is a constant of each call, into which the compiler
-- puts the function, so a strip of fewer rows has no code of the others.
local types = require("data.types")
local words = require("common.words")

local Writer = {}
Writer.__index = Writer

-- Maximum columns of a line of emitted C.
local WIDTH = 116

--- Gives a writer its shape { rows: the most, least: the fewest rows, nil: the same }, and no lines; returns it.
function Writer:begin(shape)
  self.shape, self.least, self.lines, self.indent = shape, shape.least or shape.rows, {}, ""
  return self
end

--- Appends a line. A line of several statements that is too long becomes several lines.
function Writer:add(format, ...)
  local line = self.indent .. format:format(...)
  local indent = line:match("^ *")
  while #line > WIDTH do
    local cut
    for at in line:gmatch("(); ") do if at <= WIDTH then cut = at end end
    if not cut then break end
    self.lines[#self.lines + 1] = line:sub(1, cut)
    line = indent .. line:sub(cut + 2)
  end
  self.lines[#self.lines + 1] = line
end

--- Calls body() between a line that opens a block and the brace that closes it; then otherwise(), if it is given, in
--- the block of an else.
function Writer:block(opening, body, otherwise)
  self:add("%s{", opening == "" and "" or opening .. " ")
  local indent = self.indent
  self.indent = indent .. "  "
  body()
  self.indent = indent
  if otherwise then return self:block("} else", otherwise) end
  self:add("}")
end

--- Writes the lines of each row, which lines_of(row) returns. Rows that not every strip has depend on `rows`.
function Writer:each_row(lines_of)
  local function add_all(lines) for _, line in ipairs(lines) do self:add("%s", line) end end
  for row = 0, self.shape.rows - 1 do
    local lines = lines_of(row)
    if row < self.least then
      add_all(lines)
    elseif #lines == 1 and not lines[1]:find("; ", 1, true) then
      self:add("if (rows > %d) %s", row, lines[1])
    else
      self:block(("if (rows > %d)"):format(row), function() add_all(lines) end)
    end
  end
end

function Writer:rows_text()
  local most = self.shape.rows
  return self.least == most and tostring(most) or ("%d to %d"):format(self.least, most)
end

--- Returns parameters { type, name } as text; they come after others.
function Writer.asks_text(asks)
  return table.concat(words.map(asks, function(ask) return ", " .. ask[1] .. ask[2] end))
end

--- Returns `count` texts, made by make(0), make(1), ..., with separators between them.
function Writer.join(count, separator, make)
  local list = {}
  for i = 0, count - 1 do list[#list + 1] = make(i) end
  return table.concat(list, separator)
end

function Writer.sum(row, vector) return ("c%d_%d"):format(row, vector) end

function Writer.times(factor, pointer) return factor == 1 and pointer or ("%d * %s"):format(factor, pointer) end

--- Returns the address of vector v of a row at `pointer`; a lane has `elements` elements.
function Writer.vector_at(pointer, v, elements)
  return v == 0 and pointer or ("%s + %s"):format(pointer, Writer.times(v * elements, "ATTN2C_LANES"))
end

-- Writes a statement for each sum, a row's on a line: whole(sum, address in C), and of a row's last vector
-- last(sum, address in C). Row 0 names ldc too, so that a strip of one row uses all its parameters.
function Writer:each_sum(whole, last)
  local vectors = self.shape.vectors
  self:each_row(function(row)
    return { self.join(vectors, " ", function(vector)
      return (vector < vectors - 1 and whole or last)(self.sum(row, vector),
        self.vector_at(("c + %d * ldc"):format(row), vector, 1))
    end) }
  end)
end

--- Writes the beginning of the function: its parameters, and its sums, which are zero or begin with those in C. of: the
--- product's types; asks: parameters { type, name } for prefetching; form: of kernels/forms.lua.
function Writer:head(name, of, asks, form)
  self:add("ATTN2C_STRIP %s(int rows, const %s *a, const %s *b, %s *c, int k, ptrdiff_t lda, ptrdiff_t ldb,",
    name, types.c(of.a), types.c(of.b), types.c(of.c))
  self:add("    ptrdiff_t ldc, int adds, int a_lanes, int c_lanes%s) {", self.asks_text(asks))
  self.indent = "  "
  if self.least == self.shape.rows then self:add("(void)rows;") end
  for row = 0, self.shape.rows - 1 do
    self:add("%s %s;", form.sum, self.join(self.shape.vectors, ", ", function(vector)
      return ("%s = %s"):format(self.sum(row, vector), form.zero)
    end))
  end
  self:block("if (adds)", function()
    self:each_sum(function(sum, at) return ("%s = %s(%s);"):format(sum, form.c_load, at) end,
      function(sum, at) return ("%s = %s(%s, c_lanes);"):format(sum, form.c_first, at) end)
  end)
end

--- Writes the end of the function, which stores its sums; returns all of it.
function Writer:finish(form)
  self:each_sum(function(sum, at) return ("%s(%s, %s);"):format(form.c_store, at, sum) end,
    function(sum, at) return ("%s(%s, %s, c_lanes);"):format(form.c_store_first, at, sum) end)
  self.indent = ""
  self:add("}")
  return table.concat(self.lines, "\n")
end

return Writer
