-- captions_spec.lua: models that write about pictures: each folder of tests/hf/captions is built, given PNG and JPEG
-- files, and compared with what transformers' `generate` writes; then how answers come, and what is refused.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")
local serving = require("tests.spec.serving")

local shell = helper.shell
local root = helper.absolute_root()
local folder, goldens, pictures = root .. "/out/spec/captions", root .. "/tests/hf/captions", root
  .. "/tests/pictures/files"

local function sh(command) return helper.succeeds(command, folder) end

local cases = { "blip", "deit_trocr", "vit_gpt2" }

local words = { num_beams = "beams", num_return_sequences = "n-best", length_penalty = "length-penalty",
  no_repeat_ngram_size = "no-repeat-ngram" }

-- Returns the line that writes about pictures with a line of captions.jsonl, as JSON.
local function line(case, golden)
  local list = { ("%s/%s generate --weights %s --tokens 7 --format jsonl"):format(case, case,
    shell(goldens .. "/" .. case)) }
  for key, value in pairs(golden.options) do list[#list + 1] = ("--%s %g"):format(assert(words[key], key), value) end
  if not golden.options.num_beams then list[#list + 1] = "--greedy" end
  local prompt = {}
  for i, id in ipairs(golden.prompt) do prompt[i] = "t" .. id end
  if #prompt > 0 then list[#list + 1] = "--prompt " .. shell(table.concat(prompt, " ")) end
  for _, each in ipairs(golden.answers) do list[#list + 1] = "--image " .. shell(pictures .. "/" .. each.image) end
  return table.concat(list, " ")
end

-- Returns the JSON objects of the lines of a text.
local function objects(text)
  local list = {}
  for each in text:gmatch("[^\n]+") do list[#list + 1] = assert(dkjson.decode(each)) end
  return list
end

describe("a model that writes about pictures", function()
  setup(function()
    files.make_folder(folder)
    for _, case in ipairs(cases) do
      local command = "%s/gen/attn2c build %s kernels=c sequences=6 name=%s %s -o %s >%s.log 2>&1 "
        .. "|| { cat %s.log; exit 1; }"
      local more = case == "blip" and "--serve" or ""
      sh(command:format(shell(root), shell(goldens .. "/" .. case), case, more, case, case, case))
    end
  end)

  for _, case in ipairs(cases) do
    for number, golden in ipairs(objects(helper.read(("%s/%s/captions.jsonl"):format(goldens, case)))) do
      it(("writes what transformers does: %s %d"):format(case, number), function()
        local said, at = objects(sh(line(case, golden))), 0
        for _, expected in ipairs(golden.answers) do
          for rank, ids in ipairs(expected.ids) do
            at = at + 1
            assert.equal(pictures .. "/" .. expected.image, said[at].image)
            assert.same(ids, said[at].ids)
            assert.equal(1 + #golden.prompt, said[at].prompt_tokens)
            local want = expected.scores and expected.scores[rank]
            assert.is_true(not want or math.abs(want - said[at].score) < 1e-3, tostring(said[at].score))
          end
        end
        assert.equal(at, #said)
      end)
    end
  end

  it("serves chats about pictures", function()
    local picture = pictures .. "/cmyk.jpg"
    local url = "data:image/jpeg;base64," .. sh("base64 -w0 " .. shell(picture))
    local server = serving.start(folder, "blip/blip serve --weights " .. shell(goldens .. "/blip"))
    local function generated(options)
      return dkjson.decode(sh(("blip/blip generate --weights %s --format jsonl --image %s %s"):format(
        shell(goldens .. "/blip"), shell(picture), options)))
    end
    local function ask(text, fields)
      local image = { type = "image_url", image_url = { url = url } }
      fields.messages = { { role = "system", content = "x" },
        { role = "user", content = text and { { type = "text", text = text }, image } or { image } } }
      return server:ask("/v1/chat/completions", fields)
    end
    local want = generated("--prompt 'a picture' --greedy --tokens 6")
    local status, said = ask("a picture", { max_tokens = 6, temperature = 0 })
    assert.same({ 200, want.text, "length", want.prompt_tokens, #want.ids }, { status, said.choices[1].message.content,
      said.choices[1].finish_reason, said.usage.prompt_tokens, said.usage.completion_tokens })
    want = generated("--temperature 2 --seed 5 --top-p 0.9 --tokens 9")
    said = select(2, ask(nil, { max_completion_tokens = 9, temperature = 2, seed = 5, top_p = 0.9 }))
    assert.equal(want.text, said.choices[1].message.content)
    local _, _, text = ask(nil, { max_tokens = 9, temperature = 2, seed = 5, top_p = 0.9, stream = true })
    local first = dkjson.decode(text:match("^data: ([^\n]*)\n\n"))
    assert.equal(want.text, first.choices[1].delta.content)
    assert.matches("data: %[DONE%]\n\n$", text)
    for _, wrong in ipairs { { n = 2 }, { stop = "x" }, { temperature = -1 } } do
      assert.equal(400, (ask(nil, wrong)))
    end
    status, said = server:ask("/v1/chat/completions", { messages = { { role = "user", content = "x" } } })
    assert.same({ 400, "messages" }, { status, said.error.param })
    if helper.is_long then
      helper.write(folder .. "/steps", ("hidden\tchat\nfile\tpicture-file\t%s\nfocus\tpicture-file\nkey\tTab\n"
        .. "key\tEnter\nsee\tpicture\tt\\d+\n"):format(picture))
      sh(("timeout 120 python3 %s/tests/serve/page.py %s steps"):format(shell(root), server.address))
    end
    server:stop()
  end)

  local function generate(more)
    return ("blip/blip generate --weights %s --tokens 3 --greedy %s"):format(shell(goldens .. "/blip"), more)
  end

  it("has the names of several pictures and of a folder's in front of its lines", function()
    local one = shell(pictures .. "/rgba8.png")
    local text = sh(generate("--image " .. one))
    assert.truthy(text:find("^ ?t%d+[t%d ]*\n$"), text)
    assert.equal(text, sh(generate("--image - <" .. one)))
    assert.equal(pictures .. "/rgba8.png\t" .. text, sh(generate(("--image %s --image %s"):format(one, one))):match(
      "^[^\n]*\n"))
    sh("rm -rf some && mkdir some && cp " .. one .. " some/b.png && cp " .. one .. " some/a.png")
    assert.equal(("some/a.png\t%ssome/b.png\t%s"):format(text, text), sh(generate("--image some")))
  end)

  it("is checked against the reference, and by NaN", function()
    sh("blip/blip check --weights " .. shell(goldens .. "/blip"))
    sh("vit_gpt2/vit_gpt2 check --nan")
    assert.truthy(sh("blip/blip info"):find("input      pixel_values: float32 [sequences, 3, 16, 16]", 1, true))
  end)

  local refused = {
    { "--prompt t5", "generate: --image FILE is needed: this model writes about pictures, and goes on from the text of "
      .. "--prompt" },
    { "--image a.png --prompt t5 --prompt t6",
      "--prompt: one TEXT is allowed with --image: all answers go on from it" },
    { "--image some --output some/a.png", "--output some/a.png: this file is read, or would be next time" },
    { "--image some --output generated=some/new.jpg",
      "--output some/new.jpg: this file is read, or would be next time" },
    { "--image a.png --prefix t5", "--prefix, --source-language, --split: go with models that read texts" },
    { "--image a.png --input ids=a.npy", "--input: does not go with a model that writes about pictures" },
  }
  for _, each in ipairs(refused) do
    it("refuses in one line: " .. each[1], function()
      local code, said = helper.run(generate(each[1]), folder)
      assert.same({ 2, "blip: " .. each[2] .. "\n" }, { code, said })
    end)
  end

  it("is refused by its parts", function()
    sh(("rm -rf other && cp -r %s other"):format(shell(goldens .. "/vit_gpt2")))
    local config = helper.read(goldens .. "/vit_gpt2/config.json")
    for from, to in pairs { ['"model_type": "gpt2"'] = '"model_type": "bert"', ['"model_type": "vit"'] =
      '"model_type": "swin"' } do
      helper.write(folder .. "/other/config.json", (config:gsub(from, to, 1)))
      local code, said = helper.run(("%s/gen/attn2c import other"):format(shell(root)), folder)
      assert.equal(2, code)
      assert.truthy(said:find("coder: model_type: \"?%w+\"? is not supported; supported are "), said)
    end
  end)
end)
