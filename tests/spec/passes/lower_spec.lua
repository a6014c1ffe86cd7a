-- lower_spec: the steps of tiny models, and what a trace adds.
local helper = require("tests.spec.helper")

-- The texts of the shipped (1) or traced (2) steps, without notes.
local function texts(more, index) return helper.step_texts(helper.tiny(more, "lower").programs[index or 1]) end

-- Returns the texts of a list that contain a word.
local function having(list, word)
  local found = {}
  for _, text in ipairs(list) do if text:find(word, 1, true) then found[#found + 1] = text end end
  return found
end

local head = { layers = 0, input = { stage = "linear", from = 5 } }

-- `head` with more keys.
local function with(more)
  local result = {}
  for key, value in pairs(head) do result[key] = value end
  for key, value in pairs(more) do result[key] = value end
  return result
end

describe("a linear", function()
  it("is a product a panel, with the packed weight as A, the rows as B, and its bias on the hot tile", function()
    -- 8 rows, 80 outputs in panels of 48 and 32, K = 5; the second panel begins after 5 x 48 floats.
    assert.same({
      "product m48 n8 k5 lda48 ldb5 ldc80 beta0  input.linear.weight+0  in.features+0  input.linear+0",
      "bias 8x48 ld80  input.linear+0  input.linear.bias+0",
      "product m32 n8 k5 lda32 ldb5 ldc80 beta0  input.linear.weight+960  in.features+0  input.linear+192",
      "bias 8x32 ld80  input.linear+192  input.linear.bias+192",
    }, texts(with { d_model = 80 }))
  end)

  it("is one product whose strips know what they may read and what they ask for", function()
    local function kernel(more)
      for _, step in ipairs(helper.steps(helper.tiny(more, "lower").programs[1])) do
        if step.form == "product" then return step.kernel end
      end
    end
    -- Rows of the panel have room for whole vectors.
    local more = { layers = 0, input = { stage = "linear", from = 19, bias = false }, seq = 40, d_model = 40,
      plan = { fetch = 2, stream = 640 } }
    local k = kernel(more)
    assert.same({ 40, 40, 19, 48, 19, 40, 0, true }, { k.m, k.n, k.k, k.lda, k.ldb, k.ldc, k.beta, k.a_room })
    assert.same({ { count = 1, size = 3 } }, k.strips.groups)
    assert.same({ { count = 5, size = 8 } }, k.strips.strips)
    assert.equal(2 * 19 * 48 * 4, k.fetch.from)
    more.plan.call_rows = 5
    assert.same({ { count = 8, size = 5 } }, kernel(more).strips.strips)
    more.plan.fetch = 0
    assert.is_nil(kernel(more).fetch)
    more.seq = 5 -- one strip
    assert.equal(640, kernel(more).fetch.from)
    more.plan.stream = 0
    assert.is_nil(kernel(more).fetch)
  end)

  it("runs over blocks of rows", function()
    local list = having(texts(with { plan = { token_block = 5 } }), "product")
    assert.same({
      "product m16 n4 k5 lda16 ldb5 ldc16 beta0  input.linear.weight+0  in.features+0  input.linear+0",
      "product m16 n4 k5 lda16 ldb5 ldc16 beta0  input.linear.weight+0  in.features+80  input.linear+256",
    }, list)
  end)

  it("packs a panel's rows to whole cache lines", function()
    local list = having(texts(with { d_model = 17, heads = 1 }), "product")
    assert.matches("^product m17 n8 k5 lda32 ", list[1])
  end)
end)

describe("elementwise ops", function()
  it("are the product's epilogue as one map", function()
    local list = having(texts(), "bias+")
    assert.equal("bias+gelu 8x64 ld64  l0.ff.act+0  l0.ff.up.bias+0", having(list, "gelu")[1])
    assert.equal("bias+add 8x16 ld16  l0.attn.sum+0  l0.attn.out.bias+0  in.hidden+0", having(list, "l0.attn.sum+0")[1])
  end)

  it("multiply the integers of each row by the row's own scale", function()
    local list = having(texts({ precision = "int8", input = { stage = "tokens", vocab = 9 },
      plan = { token_block = 4 } }), "l0.attn.q.sums@unit")
    local map = "load_integers+scale_row+scale_column+bias 4x16 ld16  l0.attn.q+%d  l0.attn.q.sums@unit+0  "
      .. "input.states.scale+%d  l0.attn.q.weight.scales+0  l0.attn.q.bias+0"
    -- A row of 16 floats, and a cache line for each scale.
    assert.same({ map:format(0, 0), map:format(4 * 64, 4 * 64) }, having(list, "scale_row"))
  end)

  it("split where a table of positions begins anew with the next sequence", function()
    local list = having(texts({ batch = 3, seq = 2, layers = 0, positions = "learned" }), "add")
    local rows = 0
    for _, text in ipairs(list) do
      assert.matches("^load%+add 2x16 ld16 .* input.positions.weight%+0$", text)
      rows = rows + 2
    end
    assert.equal(6, rows)
  end)
end)

describe("a batch", function()
  it("of a micro-batch of several sequences moves external tensors by s, and those of a sequence by b", function()
    local list = texts({ batch = 3, plan = { group_tokens = 16 }, mask = "padding" }) -- 2 sequences at a time, 2 heads
    assert.equal(1, #having(list, "for b < 2"))
    assert.equal(1, #having(list, "end b"))
    assert.matches("in.hidden%+0%+s%*512", having(list, "l0.attn.q.weight")[1])
    assert.matches("valid=%[in.lengths%+0%+s%*4%+b%*4%]%+0$", having(list, "mask_length")[1])
    assert.matches("y=l0.norm2%+0%+s%*512$", having(list, "x=l0.ff.sum")[1])
  end)

  it("of one has neither", function()
    for _, text in ipairs(texts({ mask = "padding" })) do
      assert.is_nil(text:find("s*", 1, true))
      assert.is_nil(text:find("b*", 1, true))
      assert.is_nil(text:find("for ", 1, true))
    end
  end)
end)

describe("stages after the layers", function()
  it("pool what the lengths say, or all rows", function()
    local function pool(over, mask)
      return having(texts({ mask = mask, output = { { stage = "pool", over = over } } }), "pool_")[1]
    end
    assert.equal("pool_mean cols=16 ldx=16  rows=8  x=l0.norm2+0  y=output.1.pool+0", pool("mean"))
    assert.equal("pool_max cols=16 ldx=16  rows=[in.lengths+0]+0  x=l0.norm2+0  y=output.1.pool+0",
      pool("max", "padding"))
    local first = "pool_row cols=16 ldx=16  row=0  x=in.hidden+0  y=in.hidden.first_query+0"
    assert.equal(first, pool("first"))
    assert.equal("pool_row cols=16 ldx=16  row=7  x=in.hidden+0  y=in.hidden.last_query+0", pool("last"))
    assert.equal("pool_row cols=16 ldx=16  row=[in.lengths+0]-1  x=in.hidden+0  y=in.hidden.last_query+0",
      pool("last", "padding"))
    for _, over in ipairs { "mean", "max", "last", "root", "weighted" } do
      assert.equal("pool_kept_" .. over .. " cols=16 keeps=1 ldx=16 rows=8  mask=in.attention_mask+0  x=l0.norm2+0  "
        .. "y=output.1.pool+0", pool(over, "attention_mask"))
    end
    assert.equal(first, pool("first", "attention_mask"))
  end)

  it("copy and take the index of the largest", function()
    assert.same({ "copy cols=16 ldx=16 ldy=16 rows=8  x=in.hidden+0  y=output.hidden+0" }, texts({ layers = 0 }))
    local list = texts({ layers = 0, output = { { stage = "argmax" } } })
    assert.equal("argmax cols=16 ldx=16 rows=8  x=in.hidden+0  y=output.1.argmax+0", list[1])
  end)
end)

describe("the trace", function()
  it("writes out every tensor that the shipped steps do not store whole", function()
    for _, more in ipairs { {}, { plan = { token_block = 3 } },
      { norm = "pre", mask = "causal", positions = "learned" },
      { batch = 3, plan = { group_tokens = 16 } } } do
      local state = helper.tiny(more, "lower")
      local program = state.programs[2]
      assert.equal("trace", program.variant)
      local copied = {}
      for _, step in ipairs(helper.steps(program)) do
        if step.form == "row" and step.fn == "copy" then copied[step.arguments.y.buffer] = true end
      end
      for _, op in ipairs(state.graph.entry.ops) do
        local form = state.plan.storage[op.result.name].form
        if form ~= "full" and form ~= "external" then
          assert.is_true(copied[op.result.name .. "@trace"], op.result.name)
        end
      end
    end
  end)

  it("splits a map after each op and keeps what each made", function()
    local list = {}
    for _, text in ipairs(texts({}, 2)) do if text:find("l0.ff.act+0", 1, true) then list[#list + 1] = text end end
    assert.matches("^product ", list[1])
    assert.equal("bias 8x64 ld64  l0.ff.act+0  l0.ff.up.bias+0", list[2])
    assert.equal("copy cols=64 ldx=64 ldy=64 rows=8  x=l0.ff.act+0  y=l0.ff.up@trace+0", list[3])
    assert.equal("gelu 8x64 ld64  l0.ff.act+0", list[4])
  end)

  it("makes the same products in the same order", function()
    for _, more in ipairs { {}, { mask = "causal" }, { batch = 3, plan = { group_tokens = 16 } } } do
      local state = helper.tiny(more, "lower")
      local lists = {}
      for index = 1, 2 do
        lists[index] = {}
        for _, step in ipairs(helper.steps(state.programs[index])) do
          if step.form == "product" then
            local k = step.kernel
            table.insert(lists[index], table.concat({ k.m, k.n, k.k, k.lda, k.ldb, k.ldc, k.beta }, " "))
          end
        end
      end
      assert.same(lists[1], lists[2])
    end
  end)
end)
