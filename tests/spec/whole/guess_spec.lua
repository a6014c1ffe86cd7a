-- guess_spec.lua: programs that verify guesses (`--guess`) write what they write without: greedy and drawn texts,
-- several prompts, chats, stop strings, processors, and models whose layers forget keys.
local helper = require("tests.spec.helper")
local serving = require("tests.spec.serving")
local files = require("common.files")

local of = require("tests.spec.generating").new("guess", { "llama" })
local folder, shell, sh, line, root = of.folder, helper.shell, of.sh, of.line, of.root

local tales = root .. "/models/tales"
-- Texts that repeat: the tales' own, and lists.
local prompts = {
  "Once upon a time there was a little mouse called Pip. Pip had a red ball. One day Pip lost the red ball. ",
  "A cat sat. A dog sat. A cat sat. A dog sat. A cat",
  "Once upon a time",
  "one two three four one two three four one two three four",
}

local clock

setup(function()
  of.build()
  clock = of.even_clock()
  sh(("rm -rf slide.model && cp -r %s slide.model && chmod -R u+w slide.model"):format(shell(tales)))
  local config = helper.read(tales .. "/config.json")
  config = config:gsub('"llama"', '"mistral"'):gsub("LlamaForCausalLM", "MistralForCausalLM")
    :gsub("{", '{\n  "sliding_window": 24,', 1)
  files.write_all(folder .. "/slide.model", { { name = "config.json", text = config } })
  files.write_all(folder, { { name = "prompts.txt", text = table.concat(prompts, "\n") .. "\n" } })
  -- All models here have one name, so that they share the objects of their kernels. They write some 60,000 tokens.
  sh(("%s %s build %s sequences=3 chunk=16 kernels=c name=tales -o tales >log 2>&1 || { cat log; exit 1; }"):format(
    helper.fast_kernels, shell(root .. "/gen/attn2c"), shell(tales)))
  sh(("rm -rf slide; %s %s slide.model slide --text --answers sequences=3 chunk=16 kernels=c name=tales"):format(
    helper.fast_kernels, shell(root .. "/tests/program.lua")))
end)

-- Checks that an option changes nothing of what a command writes.
local function same(folder_of, weights, words)
  local command = ("%s/tales generate --weights %s --format jsonl %s"):format(folder_of, shell(weights), words)
  local plain = sh(command)
  assert.is_true(#plain > 100)
  assert.equal(plain, sh(clock .. command .. " --guess prompt"), words)
  return plain
end

local options = {
  "--greedy --tokens 200",
  "--temperature 0.8 --seed 7 --tokens 200",
  "--temperature 1.3 --top-k 20 --top-p 0.9 --min-p 0.01 --seed 3 --tokens 120",
  "--greedy --repetition-penalty 1.2 --tokens 120",
  "--temperature 0.5 --presence-penalty 0.2 --frequency-penalty 0.1 --tokens 120",
  "--greedy --no-repeat-ngram 6 --min-tokens 60 --tokens 120",
  "--greedy --tokens 200 --stop ' the' --stop 'x y'",
  "--temperature 0.7 --tokens 200 --stop '. She'",
  "--greedy --tokens 100000",
  "--greedy --dry-multiplier 0.8 --tokens 120",
  "--mirostat 2 --mirostat-tau 2 --tokens 120",
  "--temperature 0.9 --xtc-probability 0.3 --sampler-order llama.cpp --tokens 120",
}
local fewer = options -- where others are tried with the same program's model
if not helper.is_long then -- processors and samplers are alike for guesses
  for _, i in ipairs { 12, 10, 5, 3 } do table.remove(options, i) end
  fewer = { options[1], options[2], options[5], options[6] }
end

describe("--guess prompt", function()
  it("changes no text of one prompt or several", function()
    for _, words in ipairs(options) do
      same("tales", tales, words .. " --prompt-file prompts.txt")
      same("tales", tales, words .. " --prompt " .. shell(prompts[2]))
    end
  end)

  it("changes no text of a model with a window", function()
    for _, words in ipairs(fewer) do same("slide", "slide.model", words .. " --prompt-file prompts.txt") end
  end)

  it("changes no chat", function()
    local lines = ("the cat the cat the cat\nthe dog\nthe cat the cat the cat\n"):rep(2)
    files.write_all(folder, { { name = "chat.txt", text = lines } })
    for _, words in ipairs { "--greedy", "--temperature 0.7", "--greedy --stop e" } do
      local command = line("llama", "chat", words .. " --tokens 40")
      assert.equal(sh(command .. " <chat.txt"), sh(clock .. command .. " --guess prompt <chat.txt"))
    end
  end)

  it("gives text and arrays as without", function()
    local command = "tales/tales generate --greedy --tokens 90 --prompt-file prompts.txt --weights " .. shell(tales)
    assert.equal(sh(command), sh(clock .. command .. " --guess prompt"))
    sh(command .. " --output generated=plain.npy")
    sh(clock .. command .. " --output generated=guessed.npy --guess prompt")
    assert.equal(helper.read(folder .. "/plain.npy"), helper.read(folder .. "/guessed.npy"))
  end)

  it("goes on with texts in C, as the example shows", function()
    sh(("cc -std=c11 -Wall -Wextra -Werror -I tales -o example %s/models/examples/tales.c tales/libtales.a -lutf8proc "
      .. "-lpcre2-8 -lpthread -lm"):format(shell(root)))
    for _, each in ipairs(prompts) do
      local plain = sh(("tales/tales generate --weights %s --greedy --tokens 150 --prompt %s"):format(shell(tales),
        shell(each)))
      assert.equal(plain:gsub("^ ", ""), (sh(("./example %s %s 150"):format(shell(tales .. "/model.safetensors"),
        shell(each))):gsub("^ ", "")))
    end
  end)

  it("is refused with beams and with other words", function()
    local code, said = of.refusal(line("llama", "generate", "--prompt x --beams 2 --guess prompt"))
    assert.same({ 2, "--beams: 2 do not go with --guess; --beams 1 turns them off\n" }, { code, said })
    code, said = of.refusal(line("llama", "generate", "--prompt x --guess model"))
    assert.same({ 2, "--guess: 'model', but prompt is allowed\n" }, { code, said })
  end)
end)

describe("--draft", function()
  local function build(words)
    local command = "%s %s build %s sequences=3 chunk=16 kernels=c %s"
    return helper.run(command:format(helper.fast_kernels, shell(root .. "/gen/attn2c"), shell(tales), words), folder)
  end

  -- The models that guess: itself, of a shorter context; and one whose layers forget keys, which guesses otherwise once
  -- these are gone, and so is enough in `make test`.
  local drafts = { same = helper.is_long and tales or nil, other = folder .. "/slide.model" }

  setup(function()
    for name, draft in pairs(drafts) do
      local code, said = build(("name=tales draft=%s draft.context=150 --serve -o %s"):format(shell(draft), name))
      assert(code == 0, said)
    end
  end)

  for name, draft in pairs(drafts) do
    it("changes no text, " .. name, function()
      for _, words in ipairs(fewer) do
        local command = ("%s/tales generate --weights %s --format jsonl %s --prompt-file prompts.txt"):format(name,
          shell(tales), words)
        assert.equal(sh(command), sh(clock .. command .. " --draft " .. shell(draft)), words)
      end
    end)
  end

  it("changes no answer of a server", function()
    local list = {}
    for i = 1, 9 do
      list[i] = { "/v1/completions", { prompt = i % 3 == 0 and { "one two", "a dog" } or ("the cat "):rep(i),
        max_tokens = 20 + 20 * i, seed = i, temperature = i % 2 == 0 and 0 or 0.6, logprobs = i % 4 == 0 and 2 or nil,
        n = 1 + i % 2, stop = i % 5 == 0 and "e" or nil } }
    end
    local texts = {}
    for _, words in ipairs { "--port 0", "--port 0 --draft " .. shell(folder .. "/slide.model"),
      "--port 0 --sequences 1 --draft " .. shell(folder .. "/slide.model") } do
      local server = serving.start(folder, clock .. "other/tales serve --weights " .. shell(tales), words)
      local said = server:ask_all(list)
      for i, text in ipairs(said) do
        said[i] = text:gsub('"id":"[^"]*"', ""):gsub('"created":%d+', ""):gsub('"cached_tokens":%d+', "")
      end
      texts[#texts + 1] = said
      server:stop()
    end
    assert.matches('"choices"', texts[1][1])
    assert.same(texts[1], texts[2])
    assert.same(texts[1], texts[3])
  end)

  it("is refused where it cannot guess", function()
    local code, said = of.refusal(line("llama", "generate", "--prompt x --draft F"))
    assert.same({ 2, "--draft: this program has no second model; build it with draft=PATH\n" }, { code, said })
    code, said = of.refusal(("other/tales generate --weights %s --prompt x --draft none"):format(shell(tales)))
    assert.same({ 4, "--draft: none: cannot be opened: No such file or directory\n" }, { code, said })
    for words, fault in pairs {
      ["--draft none"] = "--draft: none: cannot be opened: No such file or directory\n",
      ["--draft none --guess prompt"] = "--draft: does not go with --guess; one of them is allowed\n" } do
      assert.same(fault, select(2, of.refusal("timeout 20 other/tales serve --port 0 --weights " .. shell(tales) .. " "
        .. words)))
    end
    code, said = of.refusal("other/tales generate --prompt x --guess prompt --draft none --weights " .. shell(tales))
    assert.same({ 2, "--draft: does not go with --guess; one of them is allowed\n" }, { code, said })
    for words, fault in pairs {
      ["draft=" .. shell(of.places.llama)] = ("%s: draft: %s has another tokenizer\n"):format(tales,
        of.places.llama),
      ["context=false draft=" .. shell(tales)] = "",
    } do
      code, said = build(words .. " -o refused")
      assert.equal(2, code)
      assert.matches("draft: ", said)
      if fault ~= "" then assert.equal("attn2c: " .. fault, said) end
    end
  end)
end)
