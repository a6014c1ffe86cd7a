-- grammar_spec.lua: answers that are texts of a grammar or of a JSON schema, in programs that write; and random
-- schemas, whose texts python3-jsonschema checks.
local dkjson = require("dkjson")
local generating = require("tests.spec.generating")
local helper = require("tests.spec.helper")
local files = require("common.files")

local own = generating.new("grammar", { "llama" }, nil, { llama = true })
local line, refusal, sh, folder = own.line, own.refusal, own.sh, own.folder

local numbers = 'root ::= number (", " number)* "."\nnumber ::= "-"? [1-9] [0-9]{0,2}\n'
local person = dkjson.encode { type = "object", required = { "name", "age" }, properties = setmetatable({
  name = { type = "string", maxLength = 12 }, age = { type = "integer", minimum = 10, maximum = 99 },
  likes = { type = "array", items = { enum = { "tea", "coffee" } }, maxItems = 2 } },
  { __jsonorder = { "name", "age", "likes" } }) }

local function write(name, text) files.write_all(folder, { { name = name, text = text } }) end

-- True for a text of `numbers`.
local function is_numbers(text)
  for each in (text:match("^(.*)%.$") or "x"):gsub(", ", ","):gmatch("[^,]+") do
    if not each:match("^%-?[1-9]%d?%d?$") then return false end
  end
  return true
end

local function is_person(text)
  local value = dkjson.decode(text)
  return type(value) == "table" and type(value.name) == "string" and math.type(value.age) == "integer"
    and value.age >= 10 and value.age <= 99 and #(value.likes or {}) <= 2
end

local function answers(words)
  local list = own.lines_of(sh(line("llama", "generate", words .. " --format jsonl")))
  for i, each in ipairs(list) do list[i] = assert(dkjson.decode(each)) end
  return list
end

describe("answers with a grammar", function()
  setup(function()
    own.build()
    write("numbers.gbnf", numbers)
    write("person.json", person)
    write("prompts.txt", "one\ntwo\nthree\nfour\nfive\n")
  end)

  it("are its texts, whatever is drawn", function()
    local ended = 0
    for seed = 1, 3 do
      for _, answer in ipairs(answers("--prompt-file prompts.txt --grammar numbers.gbnf --tokens 60 --top-k 0 "
        .. "--temperature 2 --seed " .. seed)) do
        if answer["end"] == "stop_token" then
          ended = ended + 1
          assert.is_true(is_numbers(answer.text), answer.text)
        end
      end
    end
    assert.is_true(ended > 5)
  end)

  it("are the same beside others and alone", function()
    local words = "--grammar numbers.gbnf --tokens 60 --temperature 2 --seed "
    local together = answers("--prompt-file prompts.txt " .. words .. 7)
    assert.same(together[3].ids, answers("--prompt three " .. words .. 9)[1].ids)
  end)

  it("are JSON that its schema allows, also of beams", function()
    for _, words in ipairs { "--temperature 2 --top-k 0", "--beams 3 --n-best 3" } do
      local found = answers("--prompt one --prompt two --json-schema person.json --tokens 200 " .. words)
      for _, answer in ipairs(found) do
        if answer["end"] == "stop_token" then assert.is_true(is_person(answer.text), answer.text) end
      end
    end
  end)

  it("go on in a chat", function()
    write("yes.gbnf", 'root ::= "yes" | "no"\n')
    local said = sh("printf 'one\\ntwo\\n' | " .. line("llama", "chat", "--grammar yes.gbnf --seed 3"))
    for _, each in ipairs(own.lines_of(said)) do assert.is_true(each == "yes" or each == "no", each) end
    assert.equal(2, #own.lines_of(said))
  end)

  it("are refused with the place of what is wrong", function()
    local function refused(status, message, words)
      local code, said = refusal(line("llama", "generate", "--prompt x " .. words))
      assert.same({ status, message .. "\n" }, { code, said })
    end
    write("bad.gbnf", 'root ::= "a"\n  b\n')
    refused(3, "bad.gbnf: line 2, column 4: a line end, but ::= is expected", "--grammar bad.gbnf")
    refused(4, "none.gbnf: cannot be opened: No such file or directory", "--grammar none.gbnf")
    write("bad.json", '{"type": "object", "properties": {"a/b": {"not": {}}}}')
    refused(3, "bad.json: at /properties/a~1b: not: is not supported", "--json-schema bad.json")
    write("bad.json", '{"type":\n x}')
    refused(3, "bad.json: line 2, column 2: invalid token near 'x'", "--json-schema bad.json")
    write("bad.json", '{"$ref": "#"}')
    refused(3, "bad.json: the schema refers to itself without an end, or is too large", "--json-schema bad.json")
    write("nul.gbnf", 'root ::= "a"\0')
    refused(3, "nul.gbnf: byte 12 is NUL, but a text is expected", "--grammar nul.gbnf")
    refused(2, "--grammar: does not go with --json-schema", "--grammar numbers.gbnf --json-schema person.json")
    refused(2, "--allow: does not go with --grammar and --json-schema", "--grammar numbers.gbnf --allow 5")
  end)
end)

describe("a model's library", function()
  it("has nothing of grammars", function()
    assert.equal("", sh("nm llama/libllama.so llama/libllama.a | grep -i grammar || true"))
  end)
end)

describe("texts that are drawn from random schemas", function()
  it("are valid, and valid texts are accepted", function()
    local root = helper.shell(helper.root)
    helper.succeeds(("make -s -C %s -f tests/c/build.mk out/test/bin/grammar_cases"):format(root))
    files.make_folder(folder)
    for name, path in pairs { tokenizer = "models/tales/tokenizer.json", llama_old = "llama_old" } do
      helper.succeeds(("cd %s && lua5.4 tests/text/compile.lua %s %s"):format(root, path, helper.shell(folder)))
      local said = helper.succeeds(("cd %s && /usr/bin/python3 tests/fuzz/schemas.py out/test/bin/grammar_cases "
        .. "%s/%s.tables 1536 %d 1"):format(root, helper.shell(folder), name, helper.is_long and 50000 or 100))
      assert.matches("0 with faults\n$", said)
    end
  end)
end)
