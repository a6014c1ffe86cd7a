-- writer.lua: writes the C function of strips that differ in their number of rows alone.
-- The function has the code of the most rows. Its parameter `rows` is a constant of each call, into which the compiler
-- puts the function, so a strip of fewer rows has no code of the others.
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

--- Calls body() between a line that opens a block and the brace that closes it.
function Writer:block(opening, body)
  self:add("%s{", opening == "" and "" or opening .. " ")
  local indent = self.indent
  self.indent = indent .. "  "
  body()
  self.indent = indent
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

--- Returns the rows of the strips as text.
function Writer:rows_text()
  local most = self.shape.rows
  return self.least == most and tostring(most) or ("%d to %d"):format(self.least, most)
end

--- Returns parameters { type, name } as text; they come after others.
function Writer.asks_text(asks)
  local parts = {}
  for i, ask in ipairs(asks) do parts[i] = ", " .. ask[1] .. ask[2] end
  return table.concat(parts)
end

--- Writes the line that uses the parameter `rows`, if no other does.
function Writer:use_rows() if self.least == self.shape.rows then self:add("(void)rows;") end end

return Writer
