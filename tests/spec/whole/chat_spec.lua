-- chat_spec.lua: chat templates against transformers' apply_chat_template (tests/chat/goldens.py): families of models,
-- and short templates about one part of Jinja each; then templates damaged at random.
local helper = require("tests.spec.helper")
local files = require("common.files")
local damage = require("tests.chat.damage")
local json = require("common.json")
local lfs = require("lfs")
local tables = require("tests.chat.tables")
local template = require("text.chat.template")

local here = helper.root .. "/tests/chat"
local folder = helper.root .. "/out/test/chat"
local bin = helper.root .. "/out/test/bin/chat_cases"

local goldens = json.decode(helper.read(here .. "/goldens.json"), json.null)
local chats = json.decode(helper.read(here .. "/chats.json"), json.null)

-- Rounds of damage: CHAT_SEED=3 CHAT_ROUNDS=5000 draws others.
local ROUNDS = { seed = tonumber(os.getenv("CHAT_SEED") or 1),
  count = tonumber(os.getenv("CHAT_ROUNDS") or helper.is_long and 3000 or 250) }

local tokens = {}
for name, text in pairs(goldens.tokens) do tokens[#tokens + 1] = { name = name, text = text } end
table.sort(tokens, function(a, b) return a.name < b.name end)

-- Renders the first `count` chats with compiled templates. Adds a list of results for each to `all`.
local function render_some(made, count, all)
  local words = { helper.shell(bin), helper.shell(here .. "/chats.json"), tostring(count), goldens.date }
  for i, each in ipairs(made) do
    local file = ("%s/%d.tables"):format(folder, i)
    helper.write(file, tables.pack(each, tokens))
    words[#words + 1] = helper.shell(file)
  end
  local handle = assert(io.popen(table.concat(words, " ") .. " 2>&1"))
  local results, lines = {}, 0
  for line in handle:lines() do
    local value = json.decode(line)
    assert(type(value) == "table", line)
    local group = lines // count + 1
    results[group] = results[group] or {}
    table.insert(results[group], value)
    lines = lines + 1
  end
  local _, _, code = handle:close()
  assert(code == 0 and lines == #made * count, ("%d results, status %s"):format(lines, code))
  table.move(results, 1, #results, #all + 1, all)
end

-- Renders the first `count` chats with compiled templates, some of these at a time: the system limits a command line.
-- Returns a list of results for each.
local function render(made, count)
  local all = {}
  for first = 1, #made, 200 do
    render_some(table.move(made, first, math.min(first + 199, #made), 1, {}), count, all)
  end
  return all
end

-- Compares results with expected texts; null is a fault. Returns a list of differences.
local function differences(name, results, texts, list)
  for i, result in ipairs(results) do
    local expected = texts[i] ~= json.null and texts[i] or nil
    if result.text ~= expected then
      list[#list + 1] = ("%s, chat %d: %s\n   expected %s"):format(name, i, result.text and ("%q"):format(result.text)
        or result.fault, expected and ("%q"):format(expected) or "a fault")
    end
  end
end

describe("chat templates", function()
  setup(function()
    assert(os.execute(("make -s -C %s -f tests/c/build.mk out/test/bin/chat_cases"):format(helper.shell(helper.root))))
    files.make_folder(folder)
  end)

  it("of families give transformers' texts", function()
    local names, made, list = {}, {}, {}
    for name in lfs.dir(here .. "/templates") do names[#names + 1] = name:match("^(.*)%.jinja$") end
    table.sort(names)
    for i, name in ipairs(names) do
      made[i] = assert(template.compile(helper.read(("%s/templates/%s.jinja"):format(here, name)), name))
    end
    for i, results in ipairs(render(made, #chats)) do
      differences(names[i], results, goldens.families[names[i]], list)
    end
    assert.is_true(#names >= 12)
    assert.same({}, list)
  end)

  it("of every part of Jinja give transformers' texts", function()
    local made, rows, list, refused = {}, {}, {}, 0
    for _, row in ipairs(goldens.snippets) do
      local compiled, problem = template.compile(row.template, "snippet")
      if compiled then
        made[#made + 1], rows[#rows + 1] = compiled, row
      else
        refused = refused + 1
        if row.texts[1] ~= json.null then list[#list + 1] = problem .. "\n   " .. row.template end
      end
    end
    for i, results in ipairs(render(made, 2)) do
      differences(rows[i].template, results, rows[i].texts, list)
    end
    assert.same({}, list)
    assert.is_true(#made > 150 and refused < 5)
  end)

  it("of every filter give transformers' texts for values of every type", function()
    local made, texts, list = {}, {}, {}
    for filter, row in pairs(goldens.filters) do
      for i, value in ipairs(goldens.values) do
        local text = ("{{ %s|%s }}"):format(value, filter)
        made[#made + 1], texts[#texts + 1] = assert(template.compile(text, "t")), { text, row[i] }
      end
    end
    for i, results in ipairs(render(made, 1)) do differences(texts[i][1], results, { texts[i][2] }, list) end
    assert.same({}, list)
    assert.is_true(#made > 500)
  end)

  -- Compiles templates, which must succeed or be refused with a line, and renders chats with those that are compiled.
  -- Returns the numbers of compiled and refused ones, and of chats that became text.
  local function try(texts)
    local made, refused, written = {}, 0, 0
    for _, text in ipairs(texts) do
      local ok, compiled, problem = pcall(template.compile, text, "t")
      assert.is_true(ok, ("%s\n%q"):format(compiled, text))
      if compiled then
        made[#made + 1] = compiled
      else
        assert.matches("^t: ", problem)
        refused = refused + 1
      end
    end
    for _, results in ipairs(render(made, 3)) do
      for _, result in ipairs(results) do
        if result.text then written = written + 1 else assert.matches("^chat template, line %d+: ", result.fault) end
      end
    end
    return #made, refused, written
  end

  it("that are damaged at random are compiled or refused, and never crash", function()
    local all, texts = {}, {}
    for name in pairs(goldens.families) do all[#all + 1] = helper.read(("%s/templates/%s.jinja"):format(here, name)) end
    for _, row in ipairs(goldens.snippets) do all[#all + 1] = row.template end
    table.sort(all)
    math.randomseed(ROUNDS.seed)
    for i = 1, ROUNDS.count do texts[i] = damage.apply(all[math.random(#all)], all) end
    local made, refused, written = try(texts)
    assert.is_true(made > ROUNDS.count / 10 and refused > ROUNDS.count / 10 and written > ROUNDS.count / 10)
  end)

  it("of random expressions give a text or a fault, and never crash", function()
    local texts = {}
    math.randomseed(ROUNDS.seed)
    for i = 1, ROUNDS.count do
      texts[i] = ("{%% for m in messages %%}{{ %s }}{%% endfor %%}"):format(damage.expression(math.random(1, 4)))
    end
    local made, _, written = try(texts)
    assert.is_true(made > ROUNDS.count * 0.9 and written > ROUNDS.count / 10)
  end)
end)

describe("a model with a chat template", function()
  local model, shell = folder .. "/next", helper.shell
  local from = helper.root .. "/tests/hf/texts/next"

  -- Runs the command in the top folder. Returns its exit code and its output.
  local function run(line)
    local handle = assert(io.popen(("cd %s && %s 2>&1"):format(shell(helper.root), line)))
    local said = handle:read("a")
    return select(3, handle:close()), said
  end

  -- Makes the folder of a model with a template.
  local function make_folder(text)
    files.make_folder(model)
    for name in lfs.dir(from) do
      if name:find("^[%w_]+%.json$") or name == "model.safetensors" then
        helper.write(model .. "/" .. name, helper.read(from .. "/" .. name))
      end
    end
    helper.write(model .. "/chat_template.jinja", text)
  end

  -- Emits the C of the folder. Returns the exit code, what was said, and the header.
  local function emit(options)
    os.remove(folder .. "/out/next.h")
    local code, said = run(("gen/attn2c gen %s -o %s %s"):format(shell(model), shell(folder .. "/out"), options or ""))
    return code, said, files.read(folder .. "/out/next.h") or ""
  end

  it("gives transformers' texts and ids in Python", function()
    make_folder(helper.read(here .. "/templates/tools_macro.jinja"))
    local code, said = run(("gen/attn2c build %s -o %s --libraries"):format(shell(model), shell(folder .. "/out")))
    assert.equal(0, code, said)
    code, said = run(("/usr/bin/python3 tests/chat/check_model.py %s next tools_macro"):format(shell(folder .. "/out")))
    assert.equal("22 texts\n", said)
    assert.equal(0, code)
  end)

  it("is built without one that is not supported, and a note says so", function()
    make_folder("\n{{ messages | batch(2) }}")
    local code, said, header = emit()
    assert.equal(0, code)
    assert.matches("chat_template.jinja: line 2: the filter \"batch\" is not supported; .*; the model is built without "
      .. "a chat template; %-%-chat%-template=FILE gives another\n", said)
    assert.is_nil(header:find("next_chat", 1, true))
  end)

  it("is built with one that is refused where it is reached, and a note says so", function()
    make_folder("{% if messages[0].role == 'tool' %}\n{{ messages.append(1) }}{% endif %}{{ messages[0].content }}")
    local code, said, header = emit()
    assert.equal(0, code)
    assert.matches("chat_template.jinja: line 2: the method \"append\" is not allowed in templates, which may not "
      .. "change values; chats that reach it are refused\n", said)
    assert.is_truthy(header:find("int next_chat(", 1, true))
  end)

  it("takes another one by --chat-template, which must be right", function()
    local file = folder .. "/it's.jinja"
    helper.write(file, "{{ messages[0].content }}")
    local code, said, header = emit("--chat-template " .. shell(file))
    assert.equal(0, code, said)
    assert.is_nil(said:find("note", 1, true))
    assert.is_truthy(header:find("int next_chat(", 1, true))
    helper.write(file, "{{ a b }}")
    code, said, header = emit("--chat-template " .. shell(file))
    assert.equal(3, code)
    assert.matches("it's.jinja: line 1: the end of the tag is expected\n$", said)
    assert.equal("", header)
    code, said = emit("--chat-template /nowhere/x.jinja")
    assert.equal(4, code)
    assert.matches("%-%-chat%-template: /nowhere/x.jinja: cannot be read: No such file or directory\n$", said)
    code, said, header = emit("--chat-template none")
    assert.equal(0, code, said)
    assert.is_nil(header:find("next_chat", 1, true))
    code, said = emit("tokenizer=false --chat-template " .. shell(file))
    assert.equal(2, code)
    assert.matches("%-%-chat%-template: goes with a model that takes text\n$", said)
  end)
end)
