-- golden_cases.lua: runs the cases of a golden of tests/text with tables, for specs of tokenizers. The folder has what
-- tests/text/compile.lua made of the golden.
local files = require("common.files")
local helper = require("tests.spec.helper")

--- Returns what the runner of the cases of the golden `name` in a folder prints with these tables.
return function(folder, name, tables)
  files.write_all(folder, { { name = "spec.tables", text = tables } })
  assert(os.execute(("make -s -C %s -f tests/c/build.mk out/test/bin/text_cases"):format(helper.shell(helper.root))))
  local words = { helper.root .. "/out/test/bin/text_cases", folder .. "/spec.tables", folder .. "/texts",
    folder .. "/" .. name .. ".cases" }
  for i, word in ipairs(words) do words[i] = helper.shell(word) end
  local _, output = helper.run(table.concat(words, " "))
  return output
end
