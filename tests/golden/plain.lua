-- plain.lua: hashes of what is emitted for models that use no option of attention, version aside, for
-- each target: what others gain must leave no trace in them. Run it from the top of the repository
-- to write plain.txt anew, where plain models themselves are to change, and say why in the commit.
local plain = {}

local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
local root = here .. "/../.."
package.path = root .. "/gen/?.lua;" .. package.path

plain.file = here .. "/plain.txt"

--- Descriptions with their overrides.
plain.models = {
  { "models/small.lua" }, { "models/bert_base.lua" }, { "models/speaker.lua" }, { "tests/golden/post.lua" },
  { "tests/golden/causal.lua" }, { "tests/golden/window.lua" },
  { "models/small.lua", "threads=2", "seq=60", "mask=padding", "batch=3" },
  { "models/small.lua", "norm=pre", "final_norm=true", "bias=false", "output={ pool \"mean\", linear { to = 5 } }" },
}

--- One line a file: hash, target, description with overrides, file.
function plain.make()
  local hash, pipeline, version = require("hash"), require("pipeline"), require("version")
  local lines = {}
  for _, target in ipairs { "avx512", "avx2" } do
    for _, model in ipairs(plain.models) do
      local overrides = { table.unpack(model, 2) }
      overrides[#overrides + 1] = "target=" .. target
      local state = pipeline.run(root, root .. "/" .. model[1], overrides)
      for _, file in ipairs(state.files) do
        local text = file.text:gsub(version.generator:gsub("%p", "%%%0"), "VERSION")
        lines[#lines + 1] = ("%s %s %s: %s"):format(hash.text(text), target, table.concat(model, " "), file.name)
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

if arg and arg[0] and arg[0]:match("plain%.lua$") then
  require("files").write_all(here, { { name = "plain.txt", text = plain.make() } })
end

return plain
