-- emit_spec: the C text: the same bytes every time, names and comments that cannot inject
-- anything, nothing of a model's options where they are not asked for, and true numbers.
local helper = require("tests.spec.helper")
local files = require("common.files")
local pipeline = require("pipeline")
local panel_loops = require("passes.common.panel_loops")
local programs = require("passes.common.programs")

-- C text without its comments and strings.
local function code_of(text)
  return (text:gsub("/%*.-%*/", " "):gsub('"[^"\n]*"', '""'))
end

-- Calls of kernels and row operations in a text of steps.
local function calls(state, text)
  local names = {}
  for _, fn in ipairs(state.functions) do names[fn.name] = true end
  local n = 0
  for name in code_of(text):gmatch("%f[%w_]([%w_]+)[%[%d%]]*%(") do
    if name == "k" or names[name] then n = n + 1 end
  end
  return n
end

describe("emitted C", function()
  after_each(helper.clean)

  it("is the same bytes in ten runs of the compiler", function()
    local expected
    for _ = 1, 10 do
      local folder = helper.folder()
      local code = helper.command { "gen", "tests/golden/window.lua", "-o", folder }
      assert.equal(0, code)
      local texts = {}
      for name in require("lfs").dir(folder) do
        if name:match("^%w") then texts[name] = files.read(folder .. "/" .. name) end
      end
      assert.is_string(texts["window.c"])
      expected = expected or texts
      assert.same(expected, texts)
    end
  end)

  it("is the same bytes from another working directory and by another path", function()
    local here, there = helper.folder(), helper.folder()
    local path = helper.absolute_root() .. "/tests/golden/causal.lua"
    assert.equal(0, (helper.command { "gen", "tests/golden/causal.lua", "-o", here }))
    assert.equal(0, (helper.command({ "gen", path, "-o", there }, "/tmp")))
    for name in require("lfs").dir(here) do
      if name:match("^%w") then
        local text = files.read(here .. "/" .. name)
        helper.same_text(text, files.read(there .. "/" .. name), name)
        assert.is_nil(text:find(helper.absolute_root(), 1, true), name)
        assert.is_nil(text:find(here, 1, true), name)
      end
    end
  end)

  it("moves the last micro-batch back to end with the batch", function()
    local function first(batch)
      local state = helper.tiny { batch = batch, plan = { group_tokens = 16 } }
      return helper.emitted(state, "tiny.c"):match("const size_t s = ([^;]*);")
    end
    assert.equal("i * 2", first(4))
    assert.equal("i * 2 < 3 ? i * 2 : 3", first(5))
  end)

  it("cannot be broken out of by a description's file name", function()
    local text = 'return { name = "evil", seq = 4, d_model = 8, heads = 1, layers = 1, target = "avx2" }'
    local plain = pipeline.run(helper.root, helper.file(text, "plain.lua"), {})
    for _, name in ipairs { "a*/ int x; /*.lua", 'a"; int x; ".lua', "a\nint x;\n.lua", "a\\", "a\\\n.lua", "??/", "*",
      "%d${name}",
      "a\rb", "a\27[0m" } do
      local state = pipeline.run(helper.root, helper.file(text, (name:gsub("/", "_"):gsub("%*_", "*"))), {})
      for i, file in ipairs(state.files) do
        assert.equal(code_of(plain.files[i].text), code_of(file.text), file.name)
        assert.equal(select(2, plain.files[i].text:gsub("\n", "")), select(2, file.text:gsub("\n", "")), file.name)
      end
    end
    -- A path's last part is all that is shown; a comment's end in it is split.
    local state = helper.tiny()
    state.file = "a*/b*/"
    require("passes.emit").run(state)
    for _, file in ipairs(state.files) do assert.is_nil(file.text:find("a*/", 1, true)) end
  end)

  it("of a plain model says nothing of masks, lengths, tokens, positions, loops or a second output", function()
    local state = helper.tiny({ layers = 2 })
    for _, file in ipairs(state.files) do
      local code = code_of(file.text):lower()
      -- But for why its program refuses shorter sequences.
      if file.name == "tiny_program.c" then code = code:gsub("static const attn2c_axes.*$", "") end
      if file.name:match("^attn2c_%d") then code = "" end -- the same for all models
      for _, word in ipairs { "mask", "length", "causal", "window", "padd", "token", "ids", "embed", "position", "pool",
        "argmax", "repair", "within", "shadow" } do
        -- The descriptor gives each op's attributes, and those of an unmasked attention are there by name only.
        assert.is_nil(code:find("%f[%a]" .. word), file.name .. " says " .. word)
      end
    end
    assert.is_nil(helper.emitted(state, "tiny.c"):find("for (", 1, true))
  end)

  it("has as many calls as its banner says", function()
    for _, more in ipairs { {}, { layers = 3, mask = "causal", seq = 40 }, { batch = 3, mask = "padding" },
      { input = { stage = "tokens", vocab = 9 }, output = { { stage = "pool", over = "mean" },
        { stage = "argmax" } } } } do
      local state = helper.tiny(more)
      local text = helper.emitted(state, "tiny.c")
      local said = text:match(" ([%d,]+) steps, "):gsub(",", "")
      assert.equal(state.plan.lines, math.tointeger(tonumber(said)))
      assert.equal(state.plan.lines, calls(state, text))
    end
  end)

  it("shows users no type of the runtime", function()
    for _, more in ipairs { {}, { layers = 2, target = { "avx2", "avx512" } }, { seq = { any = 24 } } } do
      assert.is_nil(helper.emitted(helper.tiny(more), "tiny.h"):match("[^\n]*attn2c_%l[^\n]*"))
    end
  end)

  it("has true numbers in its banner", function()
    local function text_of(kernels) return helper.emitted(helper.tiny({ kernels = kernels }), "tiny.c") end
    -- 4 x (16 x 16 + 16) + 2 x 2 x 16 + 64 x 16 + 64 + 16 x 64 + 16 parameters; 8 x 2 x (4 x 256 + 2048) + 4 x 64 x 16
    -- flops
    assert.matches("1 layers, 3,280 parameters, 53,248 flops a call, 21 steps, 5 kernels,", text_of("libxsmm"), 1, true)
    assert.matches("1 layers, 3,280 parameters, 53,248 flops a call, 21 steps, 5 kernels,", text_of("c"), 1, true)
    local open = helper.emitted(helper.tiny({ seq = { any = 24 } }), "tiny.c")
    assert.matches(" flops a call of 24 rows, ", open, 1, true)
    assert.matches(", flops a call of 24 rows ", helper.emitted(helper.tiny({ seq = { any = 24 } }), "tiny.h"), 1, true)
    assert.matches("k[] are kernels of libxsmm", text_of("libxsmm"), 1, true)
    assert.matches("product_NxMxK(A, B, C) is", text_of("libxsmm"), 1, true)
    assert.matches("product_NxMxK(A, B, C) is", text_of("c"), 1, true)
    assert.not_matches("libxsmm", text_of("c"), 1, true)
  end)

  it("is one function a layer, each operation under a comment with its tensors' names", function()
    local text = helper.emitted(helper.tiny({ layers = 2 }), "tiny.c")
    assert.matches("\nstatic void layer_0(", text, 1, true)
    assert.matches("\nstatic void layer_1(", text, 1, true)
    assert.matches("/* l1.ff.act = gelu(l1.norm1 · l1.ff.up.weight + l1.ff.up.bias)   64 x 8 x 16 */", text, 1, true)
  end)

  it("checks integers that come in, and only where they do", function()
    local text = helper.emitted(helper.tiny({ batch = 2, mask = "padding", input = { stage = "tokens", vocab = 9 } }),
      "tiny.c")
    assert.matches("if (!attn2c_within(in->ids, 16, 0, 9)) return ATTN2C_FORMAT;", text, 1, true)
    assert.matches("if (!attn2c_within(in->lengths, 2, 1, 9)) return ATTN2C_FORMAT;", text, 1, true)
  end)

  it("insists on the runtime's version", function()
    local version = require("common.version")
    local text = files.read(helper.root .. "/runtime/base/attn2c.h")
    assert.matches("#define ATTN2C_RUNTIME_VERSION%s+" .. version.runtime .. "%f[%D]", text)
    assert.matches(("#if ATTN2C_RUNTIME_VERSION ~= %d\n#error"):format(version.runtime):gsub("~", "!"),
      helper.emitted(helper.tiny(), "tiny_ops.h"), 1, true)
  end)

  it("passes NULL for a norm's missing bias", function()
    local text = helper.emitted(helper.tiny({ bias = { norm = false } }), "tiny_ops.c")
    assert.matches("attn2c_layer_norm(y, x, gain, NULL, ", text, 1, true)
  end)

  it("takes the sequences of a call whose blocks workers divide, even if no function needs these", function()
    local text = helper.emitted(helper.tiny { layers = 0, seq = { any = 8 }, threads = 2 }, "tiny.c")
    assert.matches("for (ptrdiff_t row = 0; row < n->rows; ", text, 1, true)
    assert.matches("const attn2c_sequences *n = call->sequences;", text, 1, true)
  end)

  -- Models that together use most forms of steps and all ways of dividing work.
  local models = {
    plain = { layers = 2 },
    masked = { seq = 70, mask = { "causal", window = { 9, 5 }, "padding" }, batch = 3, layers = 2,
      attention_output = { kind = "heads", layers = { 0 } }, softcap = 5.5, plan = { query_block = 16 } },
    relative = { seq = 40, positions = "relative_key_query", kv_heads = 1, plan = { fetch = 1 } },
    rotated = { positions = "rope", past = 4, mask = "causal", bias_kv = true, scoring = "additive" },
    pooled = { input = { stage = "tokens", vocab = 9 }, batch = 4, mask = "padding", threads = 2,
      output = { { stage = "pool", over = "mean" }, { stage = "argmax" } } },
    divided = { layers = 2, threads = 2, d_model = 64, seq = 48, mask = "causal" },
    groups = { threads = 2, d_model = 64, seq = 16, batch = 5 },
    deep = { d_model = 256, heads = 4, d_ff = 1024, seq = 100, mask = "causal" },
    norms = { norm = "pre", norm_kind = "rms", bias = false, final_norm = true },
  }

  -- Returns the comment above a function.
  local function sentence_of(text, name)
    local at = assert(text:find(" */\nvoid " .. name .. "(", 1, true), name)
    return text:sub(1, at - 1):match(".*/%* (.*)$")
  end

  -- `more` with the kernels of one maker.
  local function made_by(kernels, more)
    local all = { kernels = kernels }
    for key, value in pairs(more) do all[key] = value end
    return all
  end

  it("has no two functions with the same sentence", function()
    for _, kernels in ipairs { "c", "libxsmm" } do
      for name, more in pairs(models) do
        local state, seen = helper.tiny(made_by(kernels, more)), {}
        for _, fn in ipairs(state.functions) do
          local is_product = fn.step.form == "product"
          assert.equal(is_product and kernels == "libxsmm", fn.calls ~= nil)
          local sentence = sentence_of(helper.emitted(state, is_product and "tiny_kernels.c" or "tiny_ops.c"), fn.name)
          assert.is_nil(seen[sentence], ("%s: %s and %s"):format(name, fn.name, seen[sentence] or ""))
          seen[sentence] = fn.name
        end
      end
    end
  end)

  -- The weight that a line's first address lies in: the last that begins before it.
  local function read_by(state, line)
    local at, name, first = 4 * tonumber(line:match("%(w %+ (%d+)") or line:match("%(w,") and 0 or -1), nil, -1
    for each, offset in pairs(state.weights.offsets) do
      if offset <= at and offset > first then name, first = each, offset end
    end
    return name
  end

  -- Gives each function of panels what is known of its product, by name.
  local function as_products(state, known)
    for _, each in ipairs(state.panel_loops) do known[each.name] = known[each.calls[1].step.function_name] end
  end

  for _, kernels in ipairs { "c", "libxsmm" } do
    it("says of a product by " .. kernels .. " how it is divided, and where it is called whose weights it prefetches",
      function()
      local state, behind = helper.tiny(made_by(kernels, models.deep)), {}
      local text = helper.emitted(state, "tiny_kernels.c")
      for _, fn in ipairs(state.functions) do
        if fn.step.form == "product" then
          local k, comment = fn.step.kernel, sentence_of(text, fn.name)
          assert.matches(("lda %d, ldb %d, ldc %d"):format(k.lda, k.ldb, k.ldc), comment, 1, true)
          for _, rows in ipairs(k.strips.strips) do
            local share = (rows.count > 1 and "%d x " or " "):format(rows.count) .. rows.size
            assert.matches(share, comment, 1, true)
          end
          assert.equal(k.fetch ~= nil, comment:find("prefetches ", 1, true) ~= nil)
          behind[fn.name] = k.fetch and k.fetch.each < 4 * k.k * k.lda
        end
      end
      as_products(state, behind)
      local remarks = 0
      for line in helper.emitted(state, "tiny.c"):gmatch("[^\n]+") do
        local name = line:match("^%s*(p%l+_[%w_]+)%(")
        if name then
          assert.is_true(behind[name] or not line:find("/* prefetches ", 1, true), line)
          local only = line:match("/%* prefetches ([%w_.]+) %*/")
          assert.is_true(not only or only ~= read_by(state, line), line)
          local what = line:match("/%* prefetches u?p? ?t?o? ?(l0.-) %*/")
          if what then
            assert.truthy(state.weights.offsets[what], what)
            assert.is_true(#line < 2 * #line:match("^.-;"), line) -- the remark is no longer than the call
            remarks = remarks + 1
          end
        end
      end
      assert.is_true(remarks > 0)
    end)
  end

  it("has a map of the arena, with every buffer at its offset and for the steps that use it", function()
    local operands = require("data.operands")
    for name, more in pairs(models) do
      local state = helper.tiny(more)
      for _, program in ipairs(state.programs) do
        local rows, count = {}, 0
        local text = helper.emitted(state, program.variant == "trace" and "tiny_trace.c" or "tiny.c")
        for base, offset, bytes, first, last, buffer in
          text:gmatch("\n %*   ([ap]) %+ (%d+) +(%d+) +(%d+) to (%d+) +([^\n]+)") do
          local before, from, after, final = buffer:match("^(%S*l)(%d+)(%.%S+) to %S*l(%d+)%.%S+")
          local all = { not from and buffer or nil }
          local layers = tonumber(buffer:match(", (%d+) layers$"))
          local distance = layers and (final - from) // (layers - 1) or 1
          for layer = tonumber(from or 1), tonumber(final or 0), distance do
            all[#all + 1] = before .. layer .. after
          end
          for i, own in ipairs(all) do
            assert.is_nil(rows[own], own)
            rows[own] = { first = tonumber(first), last = i == 1 and tonumber(last) or math.huge }
            count = count + 1
            assert.equal(program.offsets[own], 4 * tonumber(offset), own)
            assert.equal(program.buffers[own].bytes, tonumber(bytes), own)
            assert.equal(program.own[own] and "p" or "a", base, own)
          end
        end
        for _ in pairs(program.offsets) do count = count - 1 end
        assert.equal(0, count, name)
        local number = 0
        programs.each(program, function(step)
          if not programs.is_call(step) then return end
          operands.each(step, function(operand)
            local row = operand.buffer and rows[operand.buffer]
            if row and (number + 1 < row.first or number + panel_loops.count(step) > row.last) then
              error(("%s from step %d on"):format(operand.buffer, number + 1))
            end
          end)
          number = number + panel_loops.count(step)
        end)
        assert.equal(program.lines, number)
        assert.matches(("[po] %d %%*/\n"):format(number), text) -- "step 9", or "steps 1 to 9"
      end
    end
  end)

  it("declares no parameter that is not used, adds no nothing, and is its own profile", function()
    for name, more in pairs(models) do
      local state, folder = helper.tiny(more), helper.folder()
      files.write_all(folder, state.files)
      for _, file in ipairs { "tiny.c", "tiny_trace.c", "tiny_ops.c" } do
        local code = code_of(helper.emitted(state, file))
        for _, noise in ipairs { "%(void%)[%w_(]", " %+ 0%f[^%w.]", " %* 1%f[^%w.]", " < 1; " } do
          assert.is_nil(code:match(noise), ("%s: %s has %s"):format(name, file, noise))
        end
        for _, define in ipairs(file == "tiny.c" and { "-UATTN2C_PROFILE", "-DATTN2C_PROFILE" } or { "-UX" }) do
          local pipe = assert(io.popen(("gcc -std=c11 -mavx2 -mfma -fopenmp-simd -fsyntax-only -Wall -Wextra -Werror "
            .. "-Wunused-parameter -iquote '%s/runtime' %s %s/%s 2>&1"):format(helper.absolute_root(), define, folder,
            file)))
          local said = pipe:read("a")
          assert.is_true(pipe:close(), name .. ": " .. said)
        end
      end
      for _, file in ipairs(state.files) do assert.is_nil(file.name:find("_profile", 1, true)) end
    end
  end)

  it("prints integral floats as floats", function()
    local text = helper.emitted(helper.tiny({ scale = 2 }), "tiny_ops.c")
    assert.matches("attn2c_softmax(s, 8, 8, 16, 2.0f)", text, 1, true)
  end)
end)
