-- strip_spec: the C function of a strip: its name says what tells it from others, its sums are variables
-- of their own, each of which gets one multiply-add a step, and only its last vectors may be cut.
require("tests.spec.helper")
local forms = require("kernels.forms")
local strip = require("kernels.strip")
local types = require("data.types")

local function shape(rows, vectors, rows_held, fetches)
  return { rows = rows, vectors = vectors, rows_held = rows_held or false, fetches = fetches or false, form = "f32",
    types = types.f32_product, cut = false }
end

local function count(text, pattern)
  local n = 0
  for _ in text:gmatch(pattern) do n = n + 1 end
  return n
end

local SHAPES = {}
for _, size in ipairs { { 1, 1 }, { 4, 1 }, { 9, 3 }, { 6, 2 }, { 2, 7 }, { 1, 16 } } do
  for held = 0, 1 do
    for fetches = 0, 1 do
      for _, least in ipairs { 1, size[1] } do
        local each = shape(size[1], size[2], held == 1, fetches == 1)
        each.least = least
        SHAPES[#SHAPES + 1] = each
      end
    end
  end
end

local ASKS = "attn2c_ask%(ahead, lines, nth, far %* %(ptrdiff_t%)sizeof %*ahead%);"

describe("a strip", function()
  it("has a name for all that its text depends on", function()
    local texts = {}
    for _, each in ipairs(SHAPES) do
      local name, text = strip.name(each), strip.text(each)
      name = ("%s %d %d"):format(name, each.rows, each.least)
      assert.is_true(texts[name] == nil or each.rows == 1, name)
      texts[name] = text
      name = strip.name(each)
      assert.equal(1, count(text, "ATTN2C_STRIP " .. name .. "%("))
    end
    assert.equal("strip_x3", strip.name(shape(9, 3)))
    assert.equal("strip_x3_ahead_loop", strip.name(shape(9, 3, false, true)))
    local copied = shape(1, 16, true, true)
    copied.copies = true
    assert.equal("strip_x16_held_ahead", strip.name(copied))
  end)

  it("has the code of the fewest rows always, and of each further row where the constant says so", function()
    for _, held in ipairs { false, true } do
      for _, vectors in ipairs { 1, 3 } do
        local each = shape(5, vectors, held)
        each.least = 2
        local guards, text = {}, strip.text(each)
        for row in text:gmatch("if %(rows > (%d)%)") do guards[row] = (guards[row] or 0) + 1 end
        -- Sums that C has, a step (the row's inputs if they are held, and each vector's sum), stores.
        local of_row = 2 + (held and 1 + vectors or 1)
        assert.same({ ["2"] = of_row, ["3"] = of_row, ["4"] = of_row }, guards)
        assert.equal(0, count(text, "%(void%)rows;"))
        each.least = 5
        assert.equal(0, count(strip.text(each), "rows >"))
        assert.equal(1, count(strip.text(each), "%(void%)rows;"))
      end
    end
  end)

  -- Where vector `vector` of a row begins in A, or of row `row` in C.
  local function in_a(vector)
    return vector == 0 and "a" or vector == 1 and "a + ATTN2C_LANES" or ("a + %d * ATTN2C_LANES"):format(vector)
  end
  local function in_c(row, vector) return (in_a(vector):gsub("a", ("c + %d * ldc"):format(row), 1)) end

  -- Calls visit(shape, text, once) for each shape; once(format, ...) asserts that the text has this once.
  local function each_text(visit)
    for _, each in ipairs(SHAPES) do
      local text = strip.text(each)
      visit(each, text, function(...)
        local wanted = string.format(...)
        assert.equal(1, count(text, (wanted:gsub("%p", "%%%0"))), wanted .. " in\n" .. text)
      end)
    end
  end

  -- True if the inputs of a strip are operands in memory: each is used once.
  local function is_at(each) return each.vectors == 1 and not each.rows_held end

  it("has a sum for each row and vector: begun, added to, multiplied into once a step, and stored", function()
    each_text(function(each, text, once)
      for row = 0, each.rows - 1 do
        for vector = 0, each.vectors - 1 do
          local sum, is_last = ("c%d_%d"):format(row, vector), vector == each.vectors - 1
          once("%s = attn2c_zero()", sum)
          once(is_last and "%s = attn2c_load_first(%s, c_lanes)" or "%s = attn2c_load(%s)", sum, in_c(row, vector))
          once(is_last and "attn2c_store_first(%s, %s, c_lanes);" or "attn2c_store(%s, %s);", in_c(row, vector), sum)
          local w, x = each.rows_held and "w" or "w" .. vector, each.rows_held and "x" .. row or "x"
          if is_at(each) then
            once("%s = attn2c_multiply_add_at(w0, b + %d * ldb, %s);", sum, row, sum)
          else
            once("%s = attn2c_multiply_add(%s, %s, %s);", sum, w, x, sum)
          end
        end
      end
      for name, number in pairs { multiply_add = each.vectors, load_first = 1, store_first = 1 } do
        assert.equal(each.rows * number + (name == "load_first" and 1 or 0), count(text, "attn2c_" .. name))
      end
    end)
  end)

  it("reads the signs of a split panel from memory for each row, and holds the sizes", function()
    local text = strip.text { rows = 5, vectors = 2, form = "int8_split", types = types.product("i8") }
    assert.equal(5, count(text, "ATTN2C_AGAIN%(a%); x ="))
    for row = 0, 4 do
      assert.equal(1, count(text, ("c%d_0 = attn2c_int8_signs%%(attn2c_words_load%%(a %%+ 64%%), w0, x,"):format(row)))
      assert.equal(1, count(text, ("c%d_1 = attn2c_int8_signs%%(attn2c_words_load%%(a %%+ 64 %%+ 4 %%* [%%w_]+%%), w1,")
        :format(row)))
    end
  end)

  it("multiplies half of its last vector where that is enough", function()
    local half = shape(2, 3)
    half.half = true
    local text = strip.text(half)
    assert.equal("strip_x3_half", strip.name(half))
    assert.equal(2, count(text, "attn2c_multiply_add_half"))
    for row = 0, 1 do
      assert.equal(1, count(text, ("c%d_2 = attn2c_multiply_add_half%%(w2, x, c%d_2%%);"):format(row, row)))
    end
    assert.equal(4, count(text, "attn2c_multiply_add%("))
  end)

  it("reads each vector of A and each float of B once a step, of A's last vector only a_lanes", function()
    each_text(function(each, text, once)
      for vector = 0, each.vectors - 1 do
        once(vector == each.vectors - 1 and "= attn2c_load_first(%s, a_lanes)" or "= attn2c_load(%s)", in_a(vector))
      end
      for row = 0, each.rows - 1 do
        once(is_at(each) and "b + %d * ldb" or "attn2c_splat(b[%d * ldb])", row)
      end
      assert.equal(each.rows_held and each.rows or each.vectors, count(text, "ATTN2C_HOLD"))
    end)
  end)

  it("of f32 prefetches weights before every four inputs, where it is told to, with copies if it may", function()
    for _, each in ipairs(SHAPES) do
      local text = strip.text(each)
      assert.equal(each.fetches and 1 or 0, count(text, ASKS .. "\n +ahead %+= pace;"))
      assert.equal(each.fetches and 1 or 0, count(text, "for %(int i = 0; i %+ 4 <= k; i %+= 4%)"))
      local asks = ", const float %*ahead, int pace, int lines, ptrdiff_t far, int nth%) {"
      assert.equal(each.fetches and 1 or 0, count(text, asks))
      assert.equal(each.fetches and 1 or 0, count(text, "ATTN2C_NO_COPIES"))
      local copied = strip.text(setmetatable({ copies = true }, { __index = each }))
      assert.equal(each.fetches and 1 or 0, count(copied, "ATTN2C_FOUR_COPIES"))
    end
    local rest = shape(3, 2, false, true)
    rest.rest = true
    assert.equal("strip_x2_rest_ahead_loop", strip.name(rest))
    assert.equal(1, count(strip.text(rest), "for %(int i = k %- k %% 4; i < k; i%+%+, a %+= lda, b%+%+%) {"))
  end)

  it("of other types prefetches before every `every` inputs", function()
    local typed = shape(3, 2, false, true)
    typed.form, typed.types = "int8_quads", types.product("i8")
    local text = strip.text(typed)
    assert.equal(1, count(text, ASKS .. "\n +ahead %+= 64 %* lines;"))
    assert.equal(1, count(text, "i %+ every < k %? i %+ every : k"))
    assert.equal(1, count(text, ", const char %*ahead, int every, int lines, ptrdiff_t far, int nth%) {"))
  end)

  it("prefetches weights in each step, where it is told to", function()
    for form, of in pairs { f32 = "f32", bf16_halves = "bf16" } do
      local streams = setmetatable({ streams = true, form = form, types = types.product(of) },
        { __index = shape(3, 4) })
      local text = strip.text(streams)
      assert.truthy(strip.name(streams):find("^strip_x4.*_stream$"))
      assert.equal(1, count(text, ASKS))
      assert.equal(1, count(text, ", ahead %+= step%) {"))
      assert.equal(1, count(text, "const char %*ahead, ptrdiff_t far, ptrdiff_t step, int lines, int nth%) {"))
    end
  end)

  it("prefetches the rows that it reads soon, where it is told to", function()
    local near = setmetatable({ near = true }, { __index = shape(3, 4) })
    local text = strip.text(near)
    assert.equal("strip_x4_near", strip.name(near))
    assert.equal(1, count(text, "attn2c_ask_near%(a %+ near %* lda, %(4 %* ATTN2C_LANES %+ 15%) / 16%);"))
    assert.equal(1, count(text, "int a_lanes, int c_lanes, int near%) {"))
    assert.equal(0, count(strip.text(shape(3, 4)), "near"))
  end)

  -- Strips of bf16 and int8, in every form.
  local function each_typed(visit)
    for name, form in pairs(forms.all) do
      if form.in_tiles or form.in_blocks then goto continue end
      local of = name:find("int8") and types.product("i8") or name == "bf16_floats" and types.product("bf16", "f32")
        or types.product("bf16")
      for held = 0, name == "f32" and -1 or 1 do
        for cut = 0, 1 do
          local each = shape(3, 2, held == 1, cut == 1)
          each.form, each.types, each.cut, each.rest = name, of, cut == 1, cut == 1 and form.paced
          visit(each, form, strip.text(each))
        end
      end
      ::continue::
    end
  end

  it("of bf16 or int8 takes a group of inputs a step, every sum once in each part", function()
    local names = {}
    each_typed(function(each, form, text)
      names[strip.name(each)] = true
      local times = #form.parts * (each.cut and (form.paced and 3 or 2) or 1)
      assert.equal(6 * times, count(text, "= " .. form.multiply_add .. "%("))
      local group = types.group(each.types.a)
      assert.equal(1, count(text, ("i %%+= %d, a %%+= %d %%* lda, b %%+= %d%%)"):format(group, group, group)))
      for row = 0, 2 do
        for vector = 0, 1 do
          local sum = ("c%d_%d"):format(row, vector)
          assert.equal(times, count(text, ("%s = %s%%("):format(sum, form.multiply_add)))
          assert.equal(1, count(text, form.c_store .. "%w*%([^;]*, " .. sum .. "[,)]"
            ) + count(text, form.c_store_first .. "%([^;]*, " .. sum .. ","))
        end
      end
    end)
    assert.is_true(names.strip_x2_bf16 and names.strip_x2_int8_held_cut_ahead and names.strip_x2_bf16_floats)
  end)

  it("of bf16 with rows of floats keeps its mask in a register, and reads it in each step if none is left", function()
    local floats = shape(3, 2)
    floats.form, floats.types = "bf16_floats", types.product("bf16", "f32")
    local text = strip.text(floats)
    assert.equal(1, count(text, "const attn2c_words mask = attn2c_bf16_upper%(%);"))
    assert.equal(2, count(text, "attn2c_bf16_masked%([^;]*, mask%);"))
    floats.full = true
    text = strip.text(floats)
    assert.equal(0, count(text, "mask = "))
    assert.equal(2, count(text, "attn2c_bf16_masked%([^;]*, attn2c_bf16_upper%(%)%);"))
  end)

  it("reads no further than the last input of a row", function()
    each_typed(function(each, form, text)
      local last = text:match("const int whole = k %- k %% %d;.*$")
      assert.equal(each.cut, last ~= nil)
      local reads = 0
      for _, part in ipairs(form.parts) do reads = reads + (part.beside and 4 or 2) end
      assert.equal(each.cut and reads or 0, count(text, form.load_cut .. "%("))
    end)
  end)

  it("of int8 begins with what lies before the groups", function()
    each_typed(function(_, form, text)
      assert.equal(form.start and 2 or 0, count(text, "= attn2c_int8_start%("))
      assert.equal(form.start and 1 or 0, count(text, "a %+= 8 %* lda;"))
    end)
  end)
end)
