-- storage_spec: each form of storage gives each element a place of its own within its buffer.
require("tests.spec.helper")
local storage = require("data.storage")
local types = require("data.types")

-- The storage of `rows` rows a sequence, `width` wide, in a form.
local function record(form, type, rows, width, more)
  local s = { form = form, type = type, width = width, rows_per_sequence = rows, tile_rows = rows, key_block = 16,
    leading_dimension = types.whole_lines(width, type) }
  for key, value in pairs(more or {}) do s[key] = value end
  return s
end

-- The least and greatest place of two sequences' elements; fails if two elements have one place.
local function places(place, s, sequences)
  local seen, least, most = {}, math.huge, -1
  for row = 0, sequences * s.rows_per_sequence - 1 do
    for column = 0, s.width - 1 do
      local at = place.where(s, row, column)
      assert(not seen[at], ("%s: row %d column %d has the place of another element"):format(s.form, row, column))
      seen[at], least, most = true, math.min(least, at), math.max(most, at)
    end
  end
  return least, most
end

describe("forms of storage", function()
  it("give every element of rows a place within the buffer", function()
    for name, form in pairs(storage.forms) do
      if form.rows and form.rows.elements then
        local sequences = form.rows.private and 1 or 2
        local s = record(name, "f32", 5, 20, { bounds = 4 })
        local least, most = places(form.rows, s, sequences)
        local elements = form.rows.elements(s, sequences, { shape = { 2, 5, s.leading_dimension } })
        local after = name == "groups" and s.bounds or 0
        assert.same({ 0, true, 0 }, { least, most < elements, (elements - after) % form.rows.pitch(s) }, name)
        assert.equal(form.rows.private == nil, form.rows.sequence ~= nil, name)
      end
    end
  end)

  it("give every element of keys and values a place within the packed buffer", function()
    local seen = 0
    for _, of in pairs(storage.read_as) do
      for type, name in pairs(of) do
        for _, rows in ipairs { 1, 5, 16, 35 } do
          for _, width in ipairs { 1, 7, 24 } do
            local s = record(name, type, rows, width, { head_dim = width == 24 and 8 or width })
            local place = storage.packed(s)
            local least, most = places(place, s, 2)
            local before = place.scales and place.scales(s) or 0 -- what is before the groups
            assert.is_true(least == before and most < 2 * place.sequence(s), name)
            assert.equal(0, place.sequence(s) % place.pitch(s), name)
            assert.is_true(most >= place.sequence(s), name)
            seen = seen + 1
          end
        end
      end
    end
    assert.equal(60, seen)
  end)

  it("move by equal distances from panel to panel of keys", function()
    for _, of in pairs(storage.read_as) do
      for type, name in pairs(of) do
        for _, width in ipairs { 1, 7, 24 } do
          local s = record(name, type, 67, width, { head_dim = width == 24 and 8 or width })
          local place = storage.packed(s)
          for key = 0, 66, s.key_block do
            for column = 0, width - 1 do
              assert.equal(place.where(s, 0, column) + key * place.each_key(s), place.where(s, key, column), name)
            end
          end
        end
      end
    end
  end)

  it("give every integer that a state keeps a place in its page, two of 4 bits a byte", function()
    for name, form in pairs(storage.forms) do
      for _, width in ipairs(form.bits and { 1, 7, 24, 66 } or {}) do
        local s = record(name, types.quantised, 32, 2 * width, { head_dim = width })
        local place, count, of_page = form.packed, {}, 16 * form.packed.each_key(s)
        for row = 0, 31 do
          for column = 0, 2 * width - 1 do
            local at = place.where(s, row, column)
            count[at] = (count[at] or 0) + 1
            assert.is_true(count[at] <= 8 // form.bits and at % of_page < of_page - 16 * 4, name)
            assert.is_true(at < place.sequence(s), name)
            assert.equal(place.where(s, row % 16, column) + row // 16 * of_page, at, name)
          end
        end
      end
    end
    assert.equal("state_key_nibbles", storage.kept_as { type = "i8", kept = { role = "keys", bits = 4 } })
    assert.equal("state_value_pairs", storage.kept_as { type = "bf16", kept = { role = "values" } })
  end)

  it("read rows that are by head where the input has them", function()
    local s = record("by_head", "f32", 3, 8, { leading_dimension = 4 })
    local place = storage.rows(s)
    assert.same({ 0, 23 }, { places(place, s, 1) })
    assert.same({ 24, 4, nil }, { place.sequence(s), place.run(s), place.elements })
    assert.equal(2 * 4 + 1, place.where(s, 2, 1))
    assert.equal(3 * 4 + 2 * 4 + 1, place.where(s, 2, 5))
  end)

  it("are traced unless a buffer of floats or integers has all rows", function()
    local function traced(form, type) return storage.is_traced({ form = form, type = type }) == true end
    assert.same({ false, false, true, true, true }, { traced("full", "f32"), traced("full", "i32"),
      traced("full", "bf16"), traced("tile", "f32"), traced("fused", "f32") })
    assert.same({ "f32", "i32" }, { storage.trace_type { type = "i8" }, storage.trace_type { type = "i32" } })
  end)

  it("belong to the caller or to the arena", function()
    assert.equal("in", storage.class({ kind = "input" }, { form = "external" }))
    assert.equal("out", storage.class({ kind = "output" }, { form = "external" }))
    assert.equal("arena", storage.class({ kind = "scratch" }, { form = "full" }))
  end)
end)
