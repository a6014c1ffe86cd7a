-- try_spec: the line at the end of `build`. builds_spec and bindings_spec run it.
local helper = require("tests.spec.helper")
local libuv = require("common.libuv")
local pipeline = require("pipeline")
local try = require("commands.build.try")

local texts = helper.root .. "/tests/hf/texts/"
local generating = helper.root .. "/tests/generate/llama"

-- Returns the line for a folder of tests/hf/texts; folder: where the weights are, or nil.
local function line_of(name, folder, is_embedded, override)
  local state = pipeline.run(helper.root, texts .. name, { "kernels=c", override }, "graph", { with_text = true })
  return try.line(state, "out/x/x", folder, is_embedded)
end

describe("the line to try", function()
  after_each(helper.clean)

  it("runs a model that takes text as its answers need it", function()
    for name, expected in pairs {
      sequence = "--text 'This is a sentence to try.'",
      question = "--text 'Where is the key?' --text-pair 'The key is under the mat.'",
      sentence = "--text 'A cat sleeps.' --text 'A kitten is asleep.' --similar",
      reranker = "--text 'Where is the key?' --text-pair 'A cat sleeps.' --text-pair 'The key is under the mat.' "
        .. "--rank",
      masked = "--text 'I drink a cup of <mask>.'",
      ["../pages/form"] = "--text 'Total: 12.50' --boxes '102 80 190 95 400 80 470 95'",
      ["../pages/asked"] = "--text 'What is the total?' --text-pair 'Total: 12.50' --boxes "
        .. "'102 80 190 95 400 80 470 95'",
    } do
      assert.equal(("out/x/x run --weights %s %s"):format(texts .. name, expected), line_of(name, texts .. name))
    end
    assert.equal(("out/x/x generate --weights %s --prompt 'Once upon a time'"):format(texts .. "next"),
      line_of("next", texts .. "next"))
    assert.matches(" generate %-%-weights %S+/numbers %-%-prompt 'Where is the station%?'$",
      line_of("../../../models/numbers", helper.root .. "/models/numbers"))
  end)

  it("gives no sound to a model that has another input, too", function()
    local moonshine = helper.root .. "/tests/hf/speech/moonshine"
    local function of(override) return line_of("../speech/moonshine", moonshine, false, override) end
    assert.matches(" generate %-%-weights %S+ %-%-audio sound%.wav$", of("threads=1"))
    assert.equal("out/x/x info", of("batch=3"))
  end)

  it("starts the ranks of a model that is divided among them", function()
    local function of(name, folder) return line_of(name, folder, false, "ranks=2") end
    assert.equal(("mpirun -n 2 out/x/x generate --weights %s --prompt 'Once upon a time'"):format(texts .. "next"),
      of("next", texts .. "next"))
    assert.equal("out/x/x info", of("next", nil)) -- of one process
  end)

  it("names no weights that are linked in, and asks what is needed where none are known", function()
    assert.equal("out/x/x run --text 'This is a sentence to try.'", line_of("sequence", nil, true))
    assert.equal("out/x/x info", line_of("sequence", nil))
    assert.equal("out/x/x info", line_of("sequence", helper.folder()))
    assert.matches("^out/x/x run %-%-weights .*/m.gguf ", line_of("sequence", helper.file("GGUF", "m.gguf")))
    assert.equal("out/x/x info", try.line(helper.tiny({ target = "x86_64", kernels = "c" }, "validate"), "out/x/x"))
  end)

  it("says what keys and values take, and what halves it if nobody has chosen their type", function()
    local function of(...)
      return try.kept(pipeline.run(helper.root, generating, { "kernels=c", "target=avx512bf16", ... }, nil,
        { with_text = true }))
    end
    local said = of("sequences=32", "context=2048")
    assert.matches("^keys and values: up to [%d.]+ MB for 32 sequences of 2048 tokens; cache=bf16 about halves this$",
      said)
    local whole, half = tonumber(said:match("([%d.]+) MB")), of("sequences=32", "context=2048", "cache=bf16")
    assert.matches("tokens$", half)
    assert.is_true(tonumber(half:match("([%d.]+) MB")) < whole)
    assert.matches("for 32 sequences of 2048 tokens$", of("sequences=32", "context=2048", "cache=f32"))
    assert.matches("for 32 sequences of 2048 tokens$", of("sequences=32", "context=2048", "precision=bf16"))
    assert.is_nil(of("sequences=2", "context=32")) -- a few kilobytes
    assert.is_nil(of("ranks=2"))
    assert.is_nil(try.kept(helper.tiny({ target = "x86_64", kernels = "c" }, "validate")))
  end)

  it("quotes for a shell, and says nothing of a program that does not run here", function()
    local state = helper.tiny({ target = "x86_64", kernels = "c" }, "validate")
    if libuv.os_uname().machine ~= "x86_64" then return assert.is_nil(try.line(state, "x/x")) end
    assert.equal("'a b;'\\''$(c)/x' info", try.line(state, "a b;'$(c)/x"))
    assert.equal("./a=b/x info", try.line(state, "a=b/x"))
    assert.equal("$'\\033[31m/x' info", try.line(state, "\27[31m/x"))
    assert.is_nil(try.line(helper.tiny({ target = "aarch64", kernels = "c" }, "validate"), "x/x"))
  end)
end)
