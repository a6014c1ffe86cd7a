-- strip.lua: writes the C function of strips: some rows of a product by some vectors of its outputs.
-- Each sum of a strip is a variable of its own, so that it stays in a register over the loop of k.
local forms = require("kernels.forms")
local types = require("data.types")
local Writer = require("kernels.writer")

local strip = {}

local each, sum, times, vector_at = Writer.join, Writer.sum, Writer.times, Writer.vector_at

-- Steps between two requests of a paced strip (kernels/forms.lua) that prefetches.
strip.EVERY = 4

--- Returns the name of a function of strips, which differ only in their rows. shape: { rows: the most; least: the
--- fewest, nil: the same; vectors; rows_held: whether the rows' inputs stay in registers while the vectors come one
--- after the other; fetches: whether the strip prefetches weights; streams: whether it does so in each step (forms that
--- are not paced); near: whether it prefetches the rows of A that it reads soon; copies: whether a paced strip that
--- prefetches has copies of its step; form: a name in kernels/forms.lua; types: of its product; full: whether no
--- register is left for a mask; cut: whether its inputs may end within a group; some: whether only a call knows if they
--- do; rest: whether a paced strip that prefetches may have steps after the last four; half: whether half of its last
--- vector is enough }.
function strip.name(shape)
  local form = forms.all[shape.form]
  local is_masked = shape.full and form.parts[1].mask
  local ahead = shape.streams and "_stream" or shape.fetches and "_ahead" or shape.near and "_near" or ""
  return ("strip_x%d%s%s%s%s%s%s%s%s"):format(shape.vectors, form.label, shape.rows_held and "_held" or "",
    shape.half and "_half" or "", shape.some and "_some" or shape.cut and "_cut" or "", shape.rest and "_rest" or "",
    ahead, shape.fetches and form.paced and not shape.copies and "_loop" or "", is_masked and "_full" or "")
end

--- Returns the parameters of such a function that say how it prefetches: { type, name }.
function strip.asks(shape)
  if shape.streams then
    return { { "const char *", "ahead" }, { "ptrdiff_t ", "far" }, { "ptrdiff_t ", "step" }, { "int ", "lines" },
      { "int ", "nth" } }
  elseif shape.fetches then
    local is_paced = forms.all[shape.form].paced
    return { { ("const %s *"):format(is_paced and types.c(shape.types.a) or "char"), "ahead" },
      { "int ", is_paced and "pace" or "every" }, { "int ", "lines" }, { "ptrdiff_t ", "far" }, { "int ", "nth" } }
  end
  return shape.near and { { "int ", "near" } } or {}
end

local Strip = setmetatable({}, Writer)
Strip.__index = Strip

-- Returns the load of the groups of A in vector v; the last vector may be cut to its first lanes. is_cut: of the last
-- group, which is not whole.
function Strip:weights(v, is_cut)
  local form, at = self.form, vector_at("a", v, self.group)
  local text = v == self.shape.vectors - 1 and ("%s(%s, a_lanes)"):format(form.first, at)
    or ("%s(%s)"):format(form.load, at)
  return is_cut and ("%s(%s, k %% %d * (int)sizeof *a)"):format(form.load_cut, text, self.group) or text
end

-- Returns the load of the group of B of a row into every lane.
function Strip:inputs(part, row, is_cut)
  local form, cut = self.form, ""
  if self.group == 1 then return ("%s(b[%d * ldb])"):format(form.splat, row) end
  local splat = is_cut and (part.splat_cut or form.splat_cut) or part.splat or form.splat
  if is_cut and not part.splat_cut then cut = (", k %% %d * (int)sizeof *b"):format(self.group) end
  return ("%s(b + %d * ldb%s)"):format(splat, row, cut)
end

-- Returns `text` as the argument of fn, or unchanged if fn is nil.
local function made(fn, text) return fn and ("%s(%s)"):format(fn, text) or text end

-- Returns the factors of A in vector v. A strip has its mask in a register if one is left, else it reads it each time.
function Strip:factor(part, v, is_cut)
  if not part.mask then return made(part.a, self:weights(v, is_cut)) end
  return ("%s(%s, %s)"):format(part.a, self:weights(v, is_cut), self.shape.full and part.mask .. "()" or "mask")
end

-- Writes a statement for each row, which statement(row) returns; those that all strips have are next to each other.
function Strip:each_in_line(statement)
  self:add("%s", each(self.least, " ", statement))
  self:each_row(function(row) return row >= self.least and { statement(row) } or {} end)
end

-- Writes one part of a step: for each row and vector, a multiply-add to its sum.
function Strip:part(part, is_cut)
  local shape, form = self.shape, self.form
  local function multiply_adds(row, vector)
    local of_vector = shape.rows_held and "" or vector
    local factors = "w" .. of_vector .. (part.beside and ", u" .. of_vector or "")
    if form.signs then
      factors = ("attn2c_words_load(%s), w%s"):format(
        vector_at(("a + %d"):format(form.signs * self.group), vector, self.group), of_vector)
    end
    local is_half = shape.half and vector == shape.vectors - 1
    return ("%s = %s(%s, x%s, %s);"):format(sum(row, vector), is_half and form.half or form.multiply_add, factors,
      shape.rows_held and row or "", sum(row, vector))
  end
  local function hold(name, value)
    self:add("%s %s = %s;", form.factor, name, value)
    self:add("ATTN2C_HOLD(%s);", name)
  end
  if shape.vectors == 1 and form.at and not (shape.rows_held or shape.half or is_cut) then
    hold("w0", self:weights(0, false))
    self:each_in_line(function(row)
      return ("%s = %s(w0, b + %d * ldb, %s);"):format(sum(row, 0), form.at, row, sum(row, 0))
    end)
    return
  end
  self:add("%s %s;", form.factor, shape.rows_held and (part.beside and "w, u" or "w") or "x")
  if shape.rows_held then
    self:add("%s %s;", form.factor, each(shape.rows, ", ", function(row) return "x" .. row end))
    self:each_row(function(row)
      local name = "x" .. row
      return { ("%s = %s;"):format(name, made(part.b, self:inputs(part, row, is_cut))),
        ("ATTN2C_HOLD(%s);"):format(name) }
    end)
    for vector = 0, shape.vectors - 1 do
      self:add("w = %s;", self:factor(part, vector, is_cut))
      if part.beside then self:add("u = %s;", made(part.beside, self:weights(vector, is_cut))) end
      self:each_in_line(function(row) return multiply_adds(row, vector) end)
    end
    return
  end
  for vector = 0, shape.vectors - 1 do
    hold("w" .. vector, self:factor(part, vector, is_cut))
    if part.beside then hold("u" .. vector, made(part.beside, self:weights(vector, is_cut))) end
  end
  self:each_row(function(row)
    return { (form.signs and "ATTN2C_AGAIN(a); " or "")
      .. ("x = %s;"):format(made(part.b, self:inputs(part, row, is_cut))),
      each(shape.vectors, " ", function(vector) return multiply_adds(row, vector) end) }
  end)
end

-- Writes a step of all rows and vectors. is_cut: the step takes the last inputs, fewer than a group.
function Strip:step(is_cut)
  local parts = self.form.parts
  if #parts == 1 then return self:part(parts[1], is_cut) end
  for i, part in ipairs(parts) do
    if i < #parts then
      self:block("", function() self:part(part, is_cut) end)
    else
      self:add("ATTN2C_AGAIN(a);")
      self:add("ATTN2C_AGAIN(b);")
      self:part(part, is_cut)
    end
  end
end

-- Writes the prefetching of weights from `ahead` on.
function Strip:ask() self:add("attn2c_ask(ahead, lines, nth, far * (ptrdiff_t)sizeof *ahead);") end

-- Writes a strip's loop over its inputs; each iteration takes a group.
function Strip:loop()
  local shape, group = self.shape, self.group
  local is_cut = shape.cut
  local limit = is_cut and "whole" or "k"
  local more = shape.streams and ", ahead += step" or ""
  local function head(first, stop)
    return group == 1 and ("for (%s; i < %s; i++, a += lda, b++%s)"):format(first, stop, more)
      or ("for (%s; i < %s; i += %d, a += %d * lda, b += %d%s)"):format(first, stop, group, group, group, more)
  end
  local is_paced = shape.fetches and self.form.paced
  if is_cut and (shape.rest or shape.some or not is_paced) then self:add("const int whole = k - k %% %d;", group) end
  if is_paced then
    local inputs = strip.EVERY * group
    local forward = group == 1 and "a += lda, b++" or ("a += %d * lda, b += %d"):format(group, group)
    self:block(("for (int i = 0; i + %d <= k; i += %d)"):format(inputs, inputs), function()
      self:ask()
      self:add("ahead += pace;")
      self:add("ATTN2C_%s_COPIES", shape.copies and (#self.form.parts > 1 and "TWO" or "FOUR") or "NO")
      self:block(("for (int j = 0; j < %d; j++, %s)"):format(strip.EVERY, forward), function() self:step(false) end)
    end)
    if shape.rest then
      self:block(head(("int i = k - k %% %d"):format(inputs), limit), function() self:step(false) end)
    end
  elseif shape.fetches then
    self:block(("for (int i = 0; i < %s;)"):format(limit), function()
      self:add("const int stop = i + every < %s ? i + every : %s;", limit, limit)
      self:ask()
      self:add("ahead += 64 * lines;")
      self:block(head("", "stop"), function() self:step(false) end)
    end)
  else
    self:block(head("int i = 0", limit), function()
      if shape.streams then self:ask() end
      if shape.near then
        self:add("attn2c_ask_near(a + near * %s, (%d * ATTN2C_LANES + 15) / 16);", times(group, "lda"), shape.vectors)
      end
      self:step(false)
    end)
  end
  if is_cut then self:block(shape.some and "if (whole < k)" or "", function() self:step(true) end) end
end

-- Returns the lines of a strip's comment that say what it prefetches; none if it prefetches nothing.
local function prefetching(shape, form, group)
  if shape.near then return { " * It prefetches the rows of A that are `near` steps ahead." } end
  if not (shape.streams or shape.fetches) then return {} end
  local when, moves = "Every `every` inputs", "continues after these lines"
  if shape.streams then when, moves = "In each step", "then moves by `step`" end
  if shape.fetches and form.paced then
    when, moves = ("Every %d inputs"):format(strip.EVERY * group), "then moves by `pace`"
  end
  return { (" * %s it prefetches each nth of `lines` cache lines from `ahead` on, and, if `far` is not 0, from"):format(
    when), (" * `ahead + far` on. `ahead` %s."):format(moves) }
end

function strip.text(shape)
  local form, of = forms.all[shape.form], shape.types
  local group = types.group(of.a)
  local self = setmetatable({ form = form, group = group }, Strip):begin(shape)
  local comment = { ("/* %s rows by %d vectors of outputs%s%s%s."):format(self:rows_text(), shape.vectors,
    shape.half and ", half of the last" or "",
    shape.rows_held and ", the rows in registers" or "",
    shape.some and ", of any number of inputs" or (shape.cut or shape.rest)
      and (", of inputs that %d does not divide"):format(shape.cut and group or strip.EVERY * group) or ""),
    table.unpack(prefetching(shape, form, group)) }
  self:add("%s */", table.concat(comment, "\n"))
  self:head(strip.name(shape), of, strip.asks(shape), form)
  if form.start then
    for vector = 0, shape.vectors - 1 do
      self:add("const %s start%d = %s(%s, lda, %s);", form.sum, vector, form.start, vector_at("a", vector, group),
        vector < shape.vectors - 1 and "ATTN2C_LANES" or "a_lanes")
      self:each_in_line(function(row) return ("%s += start%d;"):format(sum(row, vector), vector) end)
    end
    self:add("a += %d * lda;", types.all[of.a].start * group)
  end
  for _, part in ipairs(form.parts) do
    if part.mask and not shape.full then self:add("const attn2c_words mask = %s();", part.mask) end
  end
  self:loop()
  return self:finish(form)
end

return strip
