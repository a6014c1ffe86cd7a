-- lower_attention_spec: the steps of attention: no mask, no mask's work; edges only where a
-- block is cut; no product that leaves the row of its tile.
local encoded = require("tests.spec.encoded")
local helper = require("tests.spec.helper")

local function texts(more) return helper.step_texts(helper.tiny(more, "lower").programs[1]) end

local function count(list, word)
  local n = 0
  for _, text in ipairs(list) do if text:find(word, 1, true) then n = n + 1 end end
  return n
end

describe("attention", function()
  it("without a mask is scores, softmax and context a head and block", function()
    local list = texts()
    assert.equal(0, count(list, "mask_"))
    assert.equal(0, count(list, "context_repair"))
    local first
    for i, text in ipairs(list) do if not first and text:find("scores@tile", 1, true) then first = i end end
    assert.same({ -- head 1's keys and values begin at column 8; its transposed keys after 8 columns of 64
      "product m16 n8 k8 lda64 ldb16 ldc16 beta0  l0.attn.k@transposed+0  " ..
        "l0.attn.q+0  l0.attn.scores@tile+0",
      "softmax cols=8 ld=16 rows=8 scale=0.353553391  s=l0.attn.scores@tile+0",
      "product m8 n8 k8 lda16 ldb16 ldc16 beta0  l0.attn.v+0  l0.attn.scores@tile+0  l0.attn.context+0",
      "product m16 n8 k8 lda64 ldb16 ldc16 beta0  l0.attn.k@transposed+2048  " ..
        "l0.attn.q+32  l0.attn.scores@tile+0",
      "softmax cols=8 ld=16 rows=8 scale=0.353553391  s=l0.attn.scores@tile+0",
      "product m8 n8 k8 lda16 ldb16 ldc16 beta0  l0.attn.v+32  l0.attn.scores@tile+0  l0.attn.context+32",
    }, table.move(list, first, first + 5, 1, {}))
  end)

  it("masks only blocks that are cut", function()
    -- Causal, 64 queries in blocks of 16: each of the 4 blocks has an edge, in each of 2 heads.
    assert.equal(8, count(texts({ seq = 64, mask = "causal", plan = { query_block = 16 } }), "mask_band"))
    -- A window that sees everything cuts nothing.
    assert.equal(0, count(texts({ mask = { window = { 8, 8 } } }), "mask_band"))
  end)

  it("never multiplies what a mask removes whole", function()
    local function pairs_of(more)
      local n = 0
      for _, step in ipairs(helper.steps(helper.tiny(more, "lower").programs[1])) do
        if step.form == "product" and step.arguments.c.buffer == "l0.attn.scores@tile" then
          n = n + step.kernel.m * step.kernel.n
        end
      end
      return n
    end
    local plan = { query_block = 16, key_block = 16 }
    assert.equal(2 * 64 * 64, pairs_of({ seq = 64, plan = plan }))
    assert.equal(2 * 16 * (16 + 32 + 48 + 64), pairs_of({ seq = 64, plan = plan, mask = "causal" }))
  end)

  it("with lengths masks each block, and repairs what a masked NaN reached", function()
    local list = texts({ mask = "padding" })
    assert.same({ 2, 0, 2 }, { count(list, "mask_length"), count(list, "mask_band"), count(list, "context_repair") })
    list = texts({ mask = { "padding", "causal" } })
    assert.same({ 2, 2, 2 }, { count(list, "mask_length"), count(list, "mask_band"), count(list, "context_repair") })
  end)

  it("counts a block's valid keys from its own first key", function()
    -- Queries 32 to 63 begin at key 16, and those of the other blocks at 0, 48 and 80.
    local function firsts(more, step)
      local found = {}
      for _, text in ipairs(texts(more)) do
        local first = text:match("^" .. step .. " .*valid=%[in%.lengths%+0%]([-+]%d+)$")
        if first then found[#found + 1] = -tonumber(first) end
      end
      return found
    end
    local padded = { seq = 128, mask = { "padding", window = { 8, 8 } } }
    local both_heads = { 0, 16, 48, 80, 0, 16, 48, 80 }
    assert.same(both_heads, firsts(padded, "mask_length"))
    assert.same(both_heads, firsts(padded, "context_repair"))
    padded.mask_value = -5
    assert.same(both_heads, firsts(padded, "add_length"))
  end)

  it("takes the context over all keys at once", function()
    local list = {}
    for _, text in ipairs(texts { seq = 40, plan = { key_block = 16, query_block = 64 } }) do
      if text:find("l0.attn.context+0", 1, true) and text:match("^product.* l0.attn.v") then list[#list + 1] = text end
    end
    assert.same({
      "product m8 n40 k40 lda16 ldb48 ldc16 beta0  l0.attn.v+0  l0.attn.scores@tile+0  l0.attn.context+0",
    }, list)
  end)

  it("adds the context of keys that all queries see to that of the others", function()
    local list = {}
    for _, text in ipairs(texts { zero_attn = true }) do
      if text:match("^product.*l0.attn.context%+0$") then list[#list + 1] = text:match("k%d+ .*beta%d") end
    end
    assert.same({ "k8 lda16 ldb16 ldc16 beta0", "k1 lda16 ldb16 ldc16 beta1" }, list)
  end)

  it("in C reads whole vectors of transposed keys, but not of values, and asks for nothing ahead", function()
    local seen = {}
    local state = helper.tiny({ d_model = 24, plan = { pad = 1, fetch = 1 } }, "lower")
    for _, step in ipairs(helper.steps(state.programs[1])) do
      local a = step.form == "product" and step.arguments.a
      if a and a.class == "arena" then
        seen[a.buffer] = { step.kernel.m, step.kernel.a_room, step.kernel.fetch or "nothing" }
      end
    end
    assert.same({ ["l0.attn.k@transposed"] = { 8, true, "nothing" }, ["l0.attn.v"] = { 12, false, "nothing" } }, seen)
  end)

  it("never leaves the rows of a tile, whatever the padding and alignment", function()
    for _, target in ipairs { "avx512", "avx2", "x86_64" } do
      for _, plan in ipairs { {}, { key_align = 1 }, { key_align = 5, key_block = 16 },
        { key_align = 3, query_block = 7 },
        { key_align = 1, key_block = 16, window_block = 3, pad = 16 }, { pad = 16 }, { key_align = 7, pad = 8 } } do
        for _, mask in ipairs { "none", "causal", "window" } do
          for _, seq in ipairs { 5, 21, 37, 70 } do
            local more = { target = target, seq = seq, plan = plan, mask = mask, window = mask == "window" and { 4, 6 }
              or nil,
              d_model = 22, heads = 2, d_ff = 33 }
            for _, program in ipairs(helper.tiny(more, "memory").programs) do
              for _, step in ipairs(helper.steps(program)) do
                if step.form == "product" and step.arguments.c.class == "arena" then
                  local k = step.kernel
                  assert.is_true(step.arguments.c.offset // 4 % k.ldc + k.m <= k.ldc,
                    require("data.step_text").of(step))
                end
              end
            end
          end
        end
      end
    end
  end)
end)

describe("an attention over the keys of a source", function()
  -- Returns how often a variant's steps have each form of a loop.
  local function loops_of(variant, more)
    local _, state = encoded.states(nil, more, "lower")
    local found = {}
    for _, program in ipairs(state.programs) do
      for _, step in ipairs(program.variant == variant and helper.steps(program) or {}) do
        if step.form == "begin" then found[step.loop] = (found[step.loop] or 0) + 1 end
      end
    end
    return found
  end

  it("takes neighbours with one source together, and a trace each by itself", function()
    local ship, trace = loops_of("ship", { layers = 1 }), loops_of("trace", { layers = 1 })
    assert.same({ 1, 1 }, { ship.sources, ship.sequences })
    assert.same({ nil, 2 }, { trace.sources, trace.sequences })
  end)

  it("is that of one sequence after the other where these have sources of their own", function()
    local form, seen = require("data.loops").forms.sources, {}
    local call = { first = { 0, 1, 2, 4 }, source = { 5, 5, 3 }, origin = { 1, 1, 2 } }
    local symbols = {}
    local function note() seen[#seen + 1] = { symbols.sequence, symbols.first, symbols.fresh, symbols.keys } end
    form.run({ of_source = true }, call, symbols, note)
    assert.same({ { 0, 0, 2, 5 }, { 2, 2, 2, 3 } }, seen)
    call.origin, seen = nil, {}
    form.run({ of_source = true }, call, symbols, note)
    assert.same({ { 0, 0, 1, 5 }, { 1, 1, 1, 5 }, { 2, 2, 2, 3 } }, seen)
  end)
end)
