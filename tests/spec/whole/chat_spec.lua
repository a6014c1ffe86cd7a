-- chat_spec.lua: chat templates against transformers' apply_chat_template (tests/chat/goldens.py): families of models,
-- and short templates about one part of Jinja each; then templates damaged at random.
local helper = require("tests.spec.helper")
local files = require("common.files")
local json = require("common.json")
local lfs = require("lfs")
local tables = require("tests.chat.tables")
local template = require("text.chat.template")

local here = helper.root .. "/tests/chat"
local folder = helper.root .. "/out/test/chat"
local bin = helper.root .. "/out/test/bin/chat_cases"

local goldens = json.decode(helper.read(here .. "/goldens.json"), json.null)
local chats = json.decode(helper.read(here .. "/chats.json"), json.null)

local tokens = {}
for name, text in pairs(goldens.tokens) do tokens[#tokens + 1] = { name = name, text = text } end
table.sort(tokens, function(a, b) return a.name < b.name end)

-- Renders the first `count` chats with compiled templates. Returns a list of results for each.
local function render(made, count)
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
  return results
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
end)
