-- emit_spec: the C text: the same bytes every time, names and comments that cannot inject
-- anything, nothing of a model's options where they are not asked for, and true numbers.
local helper = require("tests.spec.helper")
local files = require("files")
local pipeline = require("pipeline")

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
    require("emit").run(state)
    for _, file in ipairs(state.files) do assert.is_nil(file.text:find("a*/", 1, true)) end
  end)

  it("of a plain model says nothing of masks, lengths, tokens, positions, loops or a second output", function()
    local state = helper.tiny({ layers = 2 })
    for _, file in ipairs(state.files) do
      local code = code_of(file.text):lower()
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
      assert.equal(state.plan.entries[1].lines, math.tointeger(tonumber(said)))
      assert.equal(state.plan.entries[1].lines, calls(state, text))
    end
  end)

  it("has true numbers in its banner", function()
    local text = helper.emitted(helper.tiny(), "tiny.c")
    -- 4 x (16 x 16 + 16) + 2 x 2 x 16 + 64 x 16 + 64 + 16 x 64 + 16 parameters; 8 x 2 x (4 x 256 + 2048) + 4 x 64 x 16
    -- flops
    assert.matches("1 layers, 3,280 parameters, 53,248 flops a call, 21 steps, 5 kernels,", text, 1, true)
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
    local version = require("version")
    local text = files.read(helper.root .. "/runtime/attn2c.h")
    assert.matches("#define ATTN2C_RUNTIME_VERSION%s+" .. version.runtime .. "%f[%D]", text)
    assert.matches(("#if ATTN2C_RUNTIME_VERSION ~= %d\n#error"):format(version.runtime):gsub("~", "!"),
      helper.emitted(helper.tiny(), "tiny_ops.h"), 1, true)
  end)

  it("passes NULL for a norm's missing bias", function()
    local text = helper.emitted(helper.tiny({ bias = { norm = false } }), "tiny_ops.c")
    assert.matches("attn2c_layer_norm(y, x, gain, NULL, ", text, 1, true)
  end)

  it("prints integral floats as floats", function()
    local text = helper.emitted(helper.tiny({ scale = 2 }), "tiny_ops.c")
    assert.matches("attn2c_softmax(s, 8, 8, 16, 2.0f)", text, 1, true)
  end)
end)
