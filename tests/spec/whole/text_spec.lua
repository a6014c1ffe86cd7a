-- text_spec.lua: tokenizers of every kind against the real library (tests/text/cases.py), tables damaged at random,
-- and tokenizer.json damaged at random: compiled, or refused in plain lines.
local helper = require("tests.spec.helper")
local faults = require("common.faults")
local files = require("common.files")
local lfs = require("lfs")
local from_text = require("tests.text.from_text")

local folder = helper.root .. "/out/test/text"
local bin = helper.root .. "/out/test/bin/"

local function run(...)
  local words = {}
  for i, word in ipairs { ... } do words[i] = helper.shell(word) end
  local handle = assert(io.popen(table.concat(words, " ") .. " 2>&1"))
  local output = handle:read("a")
  local _, _, code = handle:close()
  return code, output
end

local has_tables = {}

-- Makes the files of a golden that tests/text/compile.lua makes, once. The first is made by that program, which also
-- makes `texts`. Returns the path of the tables.
local function tables_of(name)
  if not next(has_tables) then
    assert.same({ 0, "" }, { run("lua5.4", helper.root .. "/tests/text/compile.lua", name, folder) })
  elseif not has_tables[name] then
    local list = {}
    for i, ending in ipairs { ".json", ".cases" } do
      local code, text = run("gzip", "-dc", ("%s/tests/text/goldens/%s%s.gz"):format(helper.root, name, ending))
      assert.equal(0, code)
      list[i] = { name = name .. ending, text = text }
    end
    list[3] = { name = name .. ".tables", text = (from_text(list[1].text, name .. ".json")) }
    files.write_all(folder, list)
  end
  has_tables[name] = true
  return folder .. "/" .. name .. ".tables"
end

local names = {}
for name in lfs.dir(helper.root .. "/tests/text/goldens") do
  names[#names + 1] = name:match("^(.*)%.json%.gz$")
end
table.sort(names)

describe("text", function()
  setup(function()
    assert.equal(0, (run("make", "-s", "-C", helper.root, "-f", "tests/c/build.mk", "out/test/bin/text_cases",
      "out/test/bin/text_fuzz")))
  end)

  it("has goldens of every kind", function() assert.is_true(#names >= 35) end)

  for _, name in ipairs(names) do
    it(name .. " gives the library's ids, places and texts", function()
      local code, output = run(bin .. "text_cases", tables_of(name), folder .. "/texts", folder .. "/" .. name
        .. ".cases")
      assert.matches("^%d+ cases, 0 failed\n$", output)
      assert.equal(0, code)
    end)

    it(name .. " survives damaged tables", function()
      local rounds = helper.is_long and "150" or "60"
      local code, output = run(bin .. "text_fuzz", tables_of(name), "1", rounds)
      assert.matches("^" .. rounds .. " rounds, %d+ opened\n$", output)
      assert.equal(0, code)
    end)
  end
end)

describe("threads", function()
  setup(function()
    local list = { "runtime/base/attn2c.c", "runtime/base/utf8.c", "runtime/system/linux.c", "tests/c/text_threads.c" }
    for _, room in ipairs { "runtime/text/", "runtime/text/cut/", "runtime/text/normalize/" } do
      for name in lfs.dir(helper.root .. "/" .. room) do
        if name:find("%.c$") then list[#list + 1] = room .. name end
      end
    end
    local code, output = run("sh", "-c", ("cd %s && cc -std=c11 -g1 -O0 %s -Iruntime %s -o out/test/bin/text_threads "
      .. "-lutf8proc -lpcre2-8 -lm -lpthread"):format(helper.shell(helper.root), helper.races,
      table.concat(list, " ")))
    assert.equal("", output)
    assert.equal(0, code)
  end)

  -- llama3 and roberta cut and join as gpt2 does.
  for _, name in ipairs { "added", "bert_uncased", "gpt2", "llama_old", "xlmr", helper.is_long and "llama3" or nil,
    helper.is_long and "roberta" or nil } do
    it("that use " .. name .. " at once have no races, and the same tokens", function()
      local code, output = run("env", "TSAN_OPTIONS=halt_on_error=1", bin .. "text_threads", tables_of(name))
      assert.equal("same\n", output)
      assert.equal(0, code)
    end)
  end
end)

-- Bytes that JSON, numbers and names are made of, and some that they are not.
local replacements = { "", "\"", "{", "}", "[", "]", ",", ":", "0", "-1", "1e999", "null", "true", "\\", "\\u0000",
  "\\ud800", "\0", "\255", "é", "Sequence", "[[[[[[[[", "99999999999", "4294967295", "0.5", "(", "[", "\\\\p{Foo}",
  "{2,1}", "<0x00>", "##" }

local function damaged(text)
  for _ = 1, math.random(3) do
    local at, replacement = math.random(#text), replacements[math.random(#replacements)]
    -- The components stand before the vocabulary.
    if math.random(3) > 1 then at = math.random(math.min(#text, 1500)) end
    text = text:sub(1, at - 1) .. replacement .. text:sub(at + math.random(0, 6))
  end
  return text
end

describe("a damaged tokenizer.json", function()
  for _, name in ipairs { "bert_uncased", "llama3", "xlmr", "split_inverted", "llama_old", "added" } do
    it("is compiled or refused in plain lines: " .. name, function()
      tables_of(name)
      local text = helper.read(folder .. "/" .. name .. ".json")
      math.randomseed(7)
      local compiled, refused = 0, 0
      for round = 1, 40 do
        local changed = round % 10 == 0 and text:sub(1, math.random(#text)) or damaged(text)
        local ok, value = pcall(from_text, changed, "t.json")
        if ok then
          compiled = compiled + 1
          assert.equal("string", type(value))
          if compiled % 5 == 0 then
            files.write_all(folder, { { name = "fuzzed.tables", text = value } })
            local code, output = run(bin .. "text_fuzz", folder .. "/fuzzed.tables", tostring(round), "4")
            -- Added tokens of which normalizing leaves nothing are only refused when the tables are opened.
            if code ~= 0 then assert.matches("good tables are refused: tokenizer tables: ", output) end
          end
        else
          refused = refused + 1
          if not faults.is(value) then error(value, 0) end
          assert.equal(faults.code.format, value.code)
          assert.is_true(#value.lines >= 1 and #value.lines <= 20)
          for _, line in ipairs(value.lines) do
            assert.matches("^t%.json: ", line)
            assert.is_nil(line:find("[%c\128-\255]"))
          end
        end
      end
      assert.is_true(refused > 5)
    end)
  end
end)
