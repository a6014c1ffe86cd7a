-- twin_type.lua NAME WORD TARGET: prints all that the compiler makes of a model whose products and tables have the type
-- WORD. Beside the types of data/types.lua there is "twin", with the record, the instructions and the strips of the
-- type NAME, and entries of the rule of tiles. No pass is told of it.
package.path = "gen/?.lua;./?.lua;" .. package.path
local files = require("common.files")

local name, asked, target = table.unpack(arg)
local record = '(  { name = "' .. name .. '".-bit = %d+ },\n)'
local source, count = files.read("gen/data/types.lua"):gsub(record, function(row)
  local twin = row:gsub('name = "%w+"', 'name = "twin"'):gsub('word = "%w+", also = %b{}', 'word = "twin", also = {}')
  return row .. twin:gsub("bit = %d+", "bit = 1024")
end)
assert(count == 1)
package.preload["data.types"] = assert(load(source, "=types"))

local word, forms, targets = require("data.types").all[name].word, require("kernels.forms").all, require("data.targets")
for _, each in ipairs(targets.list) do
  each.twin, each.twin_rows = each[word], each[word .. "_rows"]
  local products = {} -- the rule's entries for the type, and the same for its twin
  for _, entry in ipairs(each.products or {}) do
    products[#products + 1] = entry
    if entry.weights == word then
      products[#products + 1] = setmetatable({ weights = "twin" }, { __index = entry })
    end
  end
  each.products = products
end
for _, form in ipairs(require("common.words").sorted_keys(forms)) do
  local way = form:match("^" .. word .. "(_.*)")
  if way then forms["twin" .. way] = forms[form] end
end

local helper = require("tests.spec.helper")
local pipeline = require("pipeline")
local state = helper.state { name = "small", input = { stage = "tokens", vocab = 30 }, seq = { 8, 20 }, batch = 2,
  d_model = 48, heads = 2, layers = 2, d_ff = 96, activation = "gelu", norm = "pre", final_norm = true,
  precision = asked, target = target }
for _, pass in ipairs(pipeline.passes) do
  if pass ~= "describe" and pass ~= "emit" then print(pipeline.dump(state, pass)) end
end
for _, file in ipairs(state.files) do print(file.name .. "\n" .. file.text) end
