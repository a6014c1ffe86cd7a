-- written.lua: texts with the ids that a specification expects, in the format of tests/text/cases.py, and what
-- out/test/bin/text_cases says of them.
local helper = require("tests.spec.helper")
local files = require("common.files")
local slots = require("text.slots")

local written = {}

local folder = helper.root .. "/out/test/written"
local START = 0x811c9dc5

local function varint(n)
  local parts = {}
  while n >= 128 do parts[#parts + 1], n = string.char(n & 127 | 128), n >> 7 end
  return table.concat(parts) .. string.char(n)
end

--- Runs text_cases: the line that it ends with, or what it says of tables that it cannot open. list: { text, ids,
--- places: { first, last } in characters, for each id; decoded: the ids' text, by default the text itself }.
function written.run(tables, list)
  local texts, cases = {}, {}
  for i, case in ipairs(list) do
    local ids, places, decoded = {}, {}, slots.hash(START, case.decoded or case.text)
    for t, id in ipairs(case.ids) do
      ids[t], places[t] = varint(id), string.pack("<I4I4I4", 0, case.places[t][1], case.places[t][2])
    end
    texts[i] = varint(#case.text) .. case.text
    cases[i] = varint(i - 1) .. "\0\1\0\0" .. varint(#ids) .. table.concat(ids)
      .. string.pack("<I4I4I4", slots.hash(START, table.concat(places)), decoded, decoded)
  end
  files.make_folder(folder)
  files.write_all(folder, { { name = "tables", text = tables }, { name = "texts", text = table.concat(texts) },
    { name = "cases", text = table.concat(cases) } })
  assert(os.execute(("make -s -C %s -f tests/c/build.mk out/test/bin/text_cases"):format(helper.shell(helper.root))))
  local words = { helper.root .. "/out/test/bin/text_cases" }
  for i, name in ipairs { "tables", "texts", "cases" } do words[i + 1] = folder .. "/" .. name end
  for i, word in ipairs(words) do words[i] = helper.shell(word) end
  local handle <close> = assert(io.popen(table.concat(words, " ")))
  return handle:read("a")
end

return written
