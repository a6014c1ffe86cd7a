-- loops_spec.lua: the blocks of rows that loops of any length have, and the locals of loops.
require("tests.spec.helper")
local loops = require("data.loops")

-- Returns the blocks of `rows` rows as { row, rows }.
local function blocks_of(rows, step, multiple)
  local list, symbols = {}, {}
  loops.forms.rows.run({ step = step, multiple = multiple }, { rows = rows }, symbols, function()
    list[#list + 1] = { symbols.row, symbols.rows }
  end)
  return list
end

describe("blocks of rows", function()
  it("are equal, but for the last, and as few as can be", function()
    assert.same({ { 0, 80 }, { 80, 50 } }, blocks_of(130, 128, 16))
    assert.same({ { 0, 128 } }, blocks_of(128, 128, 16))
    assert.same({ { 0, 96 }, { 96, 96 }, { 192, 66 } }, blocks_of(258, 128, 16))
    assert.same({ { 0, 5 }, { 5, 4 } }, blocks_of(9, 5, 16))
    assert.same({}, blocks_of(0, 5, 16))
  end)

  it("have every row of a call once, for any number of rows", function()
    for _, step in ipairs { 1, 5, 16, 48, 128, 208 } do
      for rows = 1, 700 do
        local list, next_row = blocks_of(rows, step, 16), 0
        for i, block in ipairs(list) do
          -- assert.equal would take six seconds for 320,000 blocks
          assert(next_row == block[1] and block[2] > 0 and block[2] <= step, rows)
          assert(i == #list or block[2] == list[1][2], rows)
          next_row = next_row + block[2]
        end
        assert.same({ rows, (rows + step - 1) // step }, { next_row, #list })
      end
    end
  end)

  it("are those of the emitted loop", function()
    local step = loops.begin("rows", { step = 128, multiple = 16, count = 4 })
    assert.same({ "step", ", step = attn2c_even(n->rows, 128, 16)" }, { step.by, step.size })
    step = loops.begin("wanted", { step = 128, multiple = 16, count = 4 })
    assert.same({ "step", ", step = attn2c_even(n->rows - n->wanted, 128, 16)" }, { step.by, step.size })
    step = loops.begin("pooled", { step = 64, multiple = 16, count = 1 })
    assert.same({ 64, "" }, { step.by, step.size })
  end)
end)

describe("the one query that is asked for", function()
  it("sees all keys of its sequence", function()
    local symbols, count = { keys = 21, fresh = 21, past = 0 }, 0
    loops.forms.asked.run({ lanes = 16 }, nil, symbols, function() count = count + 1 end)
    assert.same({ 1, 1, 0, 21, 21, 32 },
      { count, symbols.queries, symbols.from, symbols.seen, symbols.width, symbols.columns })
  end)
end)

describe("the locals of a loop", function()
  it("are those that its body and other locals name, not members of structures of the same names", function()
    local function locals(form, used)
      local names = {}
      local filled = function(text) return (text:gsub("%${slot}", "n->slot[sequence]")) end
      local list = loops.locals({ loop = form }, used, filled)
      for i, each in ipairs(list) do names[i] = each[1] end
      return names
    end
    assert.same({ "rows", "answer" }, locals("block", { rows = true, answer = true }))
    assert.same({ "slice", "row", "answer" }, locals("slices", { answer = true }))
    assert.same({ "sequence", "slot" }, locals("each", { slot = true }))
  end)

  it("have the place of a source's keys, which sequences share", function()
    assert.equal("n->slot[sequence]", loops.begin("sequences", { continues = true }).slot)
    assert.equal("n->origin[sequence]", loops.begin("sequences", { of_source = true }).slot)
  end)
end)
