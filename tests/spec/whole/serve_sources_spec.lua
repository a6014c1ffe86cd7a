-- serve_sources_spec.lua: programs that serve a model with an encoder, asked by curl: completions of sources, adapters
-- and languages are those of `generate`.
local dkjson = require("dkjson")
local generating = require("tests.spec.generating")
local helper = require("tests.spec.helper")
local serving = require("tests.spec.serving")

local own = generating.new("serve_sources", {})
local shell = helper.shell
local tried = helper.is_long and it or pending

describe("a program that serves a model with an encoder", function()
  it("completes sources", function()
    local model = own.root .. "/tests/hf/translations/t5"
    own.sh(("%s build %s kernels=c sequences=3 adapters.sql=%s/adapters/sql adapters.tone=%s/adapters/tone --serve "
      .. "-o t5 >log 2>&1 || cat log"):format(shell(own.root .. "/gen/attn2c"), shell(model), shell(model),
      shell(model)))
    local prompts, words = { "the cat sat", "a dog", "where is it?" }, {}
    for i, each in ipairs(prompts) do words[i] = "--prompt " .. shell(each) end
    local line = "t5/t5 %s --weights " .. shell(model)
    local expected = own.lines_of(own.sh(line:format("generate") .. " --greedy --tokens 10 --format jsonl "
      .. table.concat(words, " ")))
    local other = serving.start(own.folder, line:format("serve"))
    local _, said = other:ask("/v1/completions", { prompt = prompts, n = 2, max_tokens = 10, temperature = 0 })
    for i, choice in ipairs(said.choices) do
      assert.equal(dkjson.decode(expected[(i + 1) // 2]).text, choice.text)
    end
    assert.equal(6, #said.choices)
    local status = other:ask("/v1/chat/completions", { messages = { { role = "user", content = "a" } } })
    assert.equal(404, status)
    local texts, asked = {}, {}
    for i, name in ipairs { "t5", "sql", "tone", "t5" } do -- places keep no source of another adapter
      asked[i] = { "/v1/completions", { model = name, prompt = prompts[1], max_tokens = 10, temperature = 0 } }
      texts[i] = select(2, other:ask(table.unpack(asked[i]))).choices[1].text
      local more = (" --greedy --tokens 10 --format jsonl %s --adapter %s"):format(words[1],
        i % 3 == 1 and "none" or name)
      assert.equal(dkjson.decode(own.sh(line:format("generate") .. more)).text, texts[i])
    end
    assert.is_true(texts[1] ~= texts[2] and texts[2] ~= texts[3] and texts[1] ~= texts[3])
    for i, each in ipairs(other:ask_all(asked)) do assert.equal(texts[i], dkjson.decode(each).choices[1].text) end
    -- An answer that lost its sequence reads its source again.
    assert.matches("calls of the model", own.sh(("python3 %s/tests/serve/slow.py slow %s"):format(shell(own.root),
      other.address)))
    other:stop()
    assert.equal("", own.sh(("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=t5:%s /usr/bin/python3 -W error %s t5 %s"):format(
      shell(own.root .. "/tests/bindings"), shell(own.root .. "/tests/bindings/source_adapters.py"), shell(model))))
  end)

  -- The languages of a folder of the goldens; a fault in the last.
  local translators = { nllb = { "eng_Latn", "fra_Latn" }, mbart_50 = { "en_XX", "de_DE" }, m2m_100 = { "en", "de" },
    mbart = { "en_XX", "ro_RO" }, marian = { false, "fra" } }

  tried("translates between languages that a request names", function()
    for name, languages in pairs(translators) do
      local model = own.root .. "/tests/hf/translations/" .. name
      own.sh(("%s build %s kernels=c sequences=3 --serve -o %s >log 2>&1 || cat log"):format(
        shell(own.root .. "/gen/attn2c"), shell(model), name))
      local line = ("%s/%s %%s --weights %s"):format(name, name, shell(model))
      local words = (languages[1] and "--source-language " .. languages[1] or "") .. " --target-language "
        .. languages[2]
      local want = dkjson.decode(own.sh(line:format("generate") .. " --greedy --tokens 8 --format jsonl --prompt 'a b' "
        .. words))
      local other = serving.start(own.folder, line:format("serve"))
      local function ask(fields)
        fields.max_tokens, fields.temperature = 8, 0
        return other:ask("/v1/completions", fields)
      end
      local _, said = ask { prompt = { "a b", "a b" }, source_language = languages[1] or nil,
        target_language = languages[2] }
      assert.same({ want.text, want.text }, { said.choices[1].text, said.choices[2].text }, name)
      local _, plain = ask { prompt = "a b" }
      local usual = dkjson.decode(own.sh(line:format("generate")
        .. " --greedy --tokens 8 --format jsonl --prompt 'a b'"))
      assert.equal(usual.text, plain.choices[1].text)
      local status, refused = ask { prompt = "a", target_language = "xx" }
      assert.same({ 400, "target_language" }, { status, refused.error.param })
      assert.matches("^target_language: no language is called xx", refused.error.message)
      if name == "marian" then
        status, refused = ask { prompt = { 1, 2 }, target_language = languages[2] }
        assert.same({ 400, "target_language: goes with prompts that are texts, as its token is in front of the "
          .. "source" }, { status, refused.error.message })
        status, refused = ask { prompt = "a", source_language = "fra" }
        assert.same({ 400, "source_language" }, { status, refused.error.param })
      end
      other:stop()
    end
  end)
end)
