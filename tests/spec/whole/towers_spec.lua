-- towers_spec.lua: models of pictures and texts: each folder of tests/hf/towers becomes both models with one build.
-- Its program scores texts for pictures as transformers does; then formats, files, faults, and other models.
local dkjson = require("dkjson")
local helper = require("tests.spec.helper")
local serving = require("tests.spec.serving")
local files = require("common.files")

local root = helper.absolute_root()
local folder = root .. "/out/spec/towers"
local goldens = root .. "/tests/hf/towers"
local shell = helper.shell

local names = { "cmyk.jpg", "exif6.jpg", "grey16.png", "one_pixel.png", "palette4.png", "progressive.jpg",
  "rgb420.jpg", "rgba8.png" }

local function sh(command) return helper.succeeds(command, folder) end

-- Returns the numbers of an .npy file of float32 or int32.
local function numbers(path)
  local text = helper.read(path)
  local at, form = 11 + string.unpack("<I2", text, 9), "<f"
  if text:sub(1, at):find("'<i4'", 1, true) then form = "<i4" else assert(text:sub(1, at):find("'<f4'", 1, true)) end
  local list = {}
  for i = at, #text - 3, 4 do list[#list + 1] = string.unpack(form, text, i) end
  return list
end

local function assert_near(expected, got, allowed)
  assert.equal(#expected, #got)
  for i, want in ipairs(expected) do
    assert.is_true(math.abs(want - got[i]) <= allowed, ("number %d: %g, but %g is expected"):format(i, got[i], want))
  end
end

local function of(case, name) return ("%s/%s/%s"):format(goldens, case, name) end

-- The words of a run on a picture, or on all of them.
local function run_words(case, picture)
  local words = { ("%s/%s run --weights %s"):format(case, case, shell(goldens .. "/" .. case)) }
  for _, name in ipairs(picture and { picture } or names) do
    words[#words + 1] = "--image " .. shell(root .. "/tests/pictures/files/" .. name)
  end
  return table.concat(words, " ") .. " "
end

local function build(words)
  return ("lua5.4 %s build %s 2>&1"):format(shell(root .. "/gen/attn2c"), words)
end

describe("a model of pictures and texts", function()
  local said = {}

  setup(function()
    os.execute("rm -rf " .. shell(folder))
    files.make_folder(folder)
    for _, case in ipairs { "clip", "siglip", "siglip2" } do
      said[case] = sh(build(("%s -o %s kernels=c batch=3 %s"):format(shell(goldens .. "/" .. case), case,
        case == "clip" and "--serve" or "")))
    end
  end)

  it("serves embeddings of pictures beside those of texts", function()
    local function vector(program, options)
      return dkjson.decode(sh(("clip/%s run --weights %s --format jsonl %s"):format(program, shell(goldens .. "/clip"),
        options))).embedding
    end
    local picture = root .. "/tests/pictures/files/cmyk.jpg"
    local url = "data:image/jpeg;base64," .. sh("base64 -w0 " .. shell(picture))
    local server = serving.start(folder, "clip/clip serve --weights " .. shell(goldens .. "/clip"))
    local status, got = server:ask("/v1/embeddings", { input = { "a cat", url, { text = "two dogs" },
      { image = url } } })
    assert.equal(200, status)
    local want = { vector("clip_text", "--text-string 'a cat'"), vector("clip", "--image " .. shell(picture)),
      vector("clip_text", "--text-string 'two dogs'") }
    want[4] = want[2]
    for i, each in ipairs(got.data) do assert.same({ i - 1, want[i] }, { each.index, each.embedding }) end
    assert.same({ 4, 12 }, { #got.data, got.usage.prompt_tokens })
    local _, one = server:ask("/v1/embeddings", { input = "a cat" })
    assert.same(want[1], one.data[1].embedding)
    local long = ("a cat "):rep(50)
    status, got = server:ask("/v1/embeddings", { input = { "a", long } })
    assert.same({ 400, 'input: 1 of the texts have more tokens than a call of the model takes, 12; "truncate": true '
      .. "cuts them" }, { status, got.error.message })
    assert.equal(200, (server:ask("/v1/embeddings", { input = { "a", long }, truncate = true })))
    for _, wrong in ipairs { { input = {} }, { input = { 5 } }, { input = "a", dimensions = 4 } } do
      assert.equal(400, (server:ask("/v1/embeddings", dkjson.encode(wrong))))
    end
    server:stop()
  end)

  for _, case in ipairs { "clip", "siglip", "siglip2" } do
    it("scores texts as transformers does: " .. case, function()
      assert.matches(("^%s/%s_text, .*\n%s/%s, "):format(case, case, case, case), said[case])
      assert.matches(" %-%-image picture%.jpg %-%-text 'a photo of a cat' %-%-text 'a photo of a dog'\n$", said[case])
      local texts = "--text-file " .. shell(of(case, "texts.txt"))
      local expected = numbers(of(case, "out_logits_per_image.npy"))
      local line = sh(run_words(case) .. texts .. " --output logits_per_image=l.npy --output image_embeds=e.npy")
      assert.equal(case .. ": 2 of 6 texts were cut to 12 tokens\n", line)
      assert_near(expected, numbers(folder .. "/l.npy"), 2e-5)
      sh(run_words(case) .. texts .. " --format npy >n.npy 2>&1")
      local probabilities, seen = numbers(of(case, "out_probabilities.npy")), 0
      for text in sh(run_words(case, names[1]) .. texts .. " --format jsonl"):gmatch('{"number".-}') do
        local number, logit, score = text:match('^{"number":(%d+),"text":".*","logit":(%S-),"score":(%S-)}$')
        number, seen = tonumber(number), seen + 1
        assert_near({ expected[number], probabilities[number] }, { tonumber(logit), tonumber(score) }, 2e-5)
      end
      assert.equal(6, seen)
    end)

    it("has the tokens of transformers' tokenizer: " .. case, function()
      sh(("%s/%s_text run --weights %s --text-file %s --output input_ids=ids.npy 2>&1"):format(case, case,
        shell(goldens .. "/" .. case), shell(of(case, "texts.txt"))))
      local expected, got = numbers(of(case, "out_input_ids.npy")), numbers(folder .. "/ids.npy")
      for i, id in ipairs(expected) do if id >= 0 then assert.equal(id, got[i]) end end
      assert.equal(#expected, #got)
    end)
  end

  for _, case in ipairs(helper.is_long and { "clip", "siglip" } or { "siglip" }) do
    it("scores texts as transformers does, and passes its check, on AVX2: " .. case, function()
      local own = shell(goldens .. "/" .. case)
      sh(build(("%s -o avx2/%s kernels=c batch=3 target=avx2"):format(own, case)))
      for _, tower in ipairs { case, case .. "_text" } do
        assert.matches(" 0 failed\n$", sh(("avx2/%s/%s check --weights %s"):format(case, tower, own)))
      end
      local texts = "--text-file " .. shell(of(case, "texts.txt"))
      sh("avx2/" .. run_words(case) .. texts .. " --output logits_per_image=avx2.npy")
      assert_near(numbers(of(case, "out_logits_per_image.npy")), numbers(folder .. "/avx2.npy"), 2e-5)
    end)
  end

  -- The tokens that SiglipTokenizer of transformers 5.23 gives, with those that fill the text up to 12.
  local alone = { ["a cat"] = "7 19", ["  a cat"] = "4 7 19", [" A Photo"] = "4 7 17 26 11 8", ["! a"] = "4 7",
    ["   "] = "", ["a▁cat"] = "7 19", ["?!"] = "", ["İstanbul ΑΣ"] = "4 6 2 27 11 28 5 2 43 41 4",
    ["a\u{a0}b\u{3000}c"] = "7 4 2 4 30", ["a\x1cb"] = "7 4 2" }

  it("has the same tokens if there is spiece.model and no tokenizer.json", function()
    sh(("mkdir -p spiece && cp %s/siglip/* spiece && rm spiece/tokenizer.json"):format(shell(goldens)))
    assert.not_matches("SentencePiece", sh(("lua5.4 %s spiece spiece/built --text --answers --notes name=s tower=text "
      .. "kernels=c batch=3 2>&1"):format(shell(root .. "/tests/program.lua"))))
    local list, lines = {}, {}
    for text in helper.read(of("siglip", "texts.txt")):gmatch("([^\n]*)\n") do list[#list + 1] = text end
    for text in pairs(alone) do list[#list + 1] = text end
    for i, text in ipairs(list) do lines[i] = text .. "\n" end
    files.write_all(folder, { { name = "list.txt", text = table.concat(lines) } })
    sh("spiece/built/s run --weights spiece --text-file list.txt --output input_ids=ids.npy 2>&1")
    local expected, got = numbers(of("siglip", "out_input_ids.npy")), numbers(folder .. "/ids.npy")
    for i, id in ipairs(expected) do assert.equal(id, got[i]) end
    assert.equal(12 * #list, #got)
    for i, text in ipairs(list) do
      local ids = alone[text] and { table.unpack(got, 12 * i - 11, 12 * i) } or {}
      while ids[#ids] == 1 do ids[#ids] = nil end
      if alone[text] then assert.equal(alone[text], table.concat(ids, " "), text) end
    end
  end)

  it("answers in lines, with the best texts first", function()
    local run = run_words("clip", "cmyk.jpg")
    local all = sh(run .. "--text 'a cat' --text 'a dog'")
    assert.matches("^a dog\t0%.6343\ta cat\t0%.3657\n$", all)
    assert.equal("a dog\t0.6343\n", sh(run .. "--text 'a cat' --text 'a dog' --top 1"))
    assert.equal(all, sh("printf 'a cat\\na dog\\n' | " .. run .. "--text -"))
    local two = sh(run_words("siglip", "cmyk.jpg") .. "--text \"$(printf 'a\\tcat')\" --image "
      .. shell(root .. "/tests/pictures/files/exif6.jpg"))
    assert.matches("cmyk%.jpg\ta[^\n]-\t0%.%d%d%d%d\n[^\n]*exif6%.jpg\t[^\n]*\n$", two)
  end)

  it("takes packed weights of both models", function()
    sh(("clip/clip pack --weights %s -o i.weights && clip/clip_text pack --weights %s -o t.weights"):format(
      shell(goldens .. "/clip"), shell(goldens .. "/clip")))
    local packed = "clip/clip run --weights i.weights --image " .. shell(root .. "/tests/pictures/files/cmyk.jpg")
      .. " --text 'a cat' --text 'a dog'"
    assert.equal("a dog\t0.6343\ta cat\t0.3657\n", sh(packed .. " --text-weights t.weights"))
    local code, why = helper.run(packed, folder)
    assert.equal(3, code)
    assert.matches("clip: %-%-text%-weights gives clip_text weights of its own", why)
  end)

  it("is one static file with both models' weights", function()
    sh(build(shell(goldens .. "/clip") .. " -o static kernels=c --static --embed=f32"))
    assert.equal("a dog\t0.6343\ta cat\t0.3657\n", sh("static/clip run --text 'a cat' --text 'a dog' --image "
      .. shell(root .. "/tests/pictures/files/cmyk.jpg")))
    local licences = sh("static/clip info --licenses")
    for _, word in ipairs { "utf8proc", "PCRE2", "libpng" } do assert.is_truthy(licences:find(word, 1, true), word) end
  end)

  it("refuses options that do not go together", function()
    local run = run_words("clip", "cmyk.jpg")
    for _, each in ipairs {
      { run .. "--text a --similar", "--text: does not go with --against and --similar" },
      { run .. "--text a --against x.npy", "--text: does not go with --against and --similar" },
      { run .. "--text a --text-pair b", "--text-pair, --query: do not go with --image" },
      { run .. "--text-weights x", "--text-weights: goes with --text" },
      { run .. "--top 2", "--top: goes with --text or --against" },
      { run .. "--text a --output logits_per_image=-",
        "--output logits_per_image=-: arrays of pictures are written to files; --format npy prints the array of the "
          .. "answers" },
      { "clip/clip run --weights x --text a", "run: --text goes with --image: texts are scored for pictures; the "
        .. "program clip_text embeds texts by themselves" },
    } do
      local code, why = helper.run(each[1], folder)
      assert.equal(2, code, each[1])
      assert.equal("clip: " .. each[2] .. "\n", why)
    end
  end)

  it("is refused if the models do not go together", function()
    local pipeline = require("pipeline")
    local function fault(path, overrides)
      local value = helper.fault(pipeline.run, helper.root, path, overrides, nil,
        { with_text = true, with_texts = true })
      return value and value.lines[1] or "built"
    end
    assert.matches("texts: .*towers/clip embeds in 12 numbers, but pictures have 24$",
      fault(goldens .. "/siglip", { "texts='" .. goldens .. "/clip'" }))
    assert.matches("texts: .*clip has the same name, \"clip\"$", fault(goldens .. "/clip", { "texts.name=clip" }))
    assert.matches("takes no text: it has no tokenizer$", fault(goldens .. "/clip", { "texts.tokenizer=false" }))
  end)

  it("leaves no trace in other models of pictures", function()
    local pipeline = require("pipeline")
    local state = pipeline.run(helper.root, goldens .. "/clip", { "texts=false" }, nil,
      { with_text = true, with_texts = true })
    assert.is_nil(state.texts)
    for _, file in ipairs(state.files) do assert.is_nil(file.text:find("attn2c_the_texts", 1, true), file.name) end
  end)
end)
