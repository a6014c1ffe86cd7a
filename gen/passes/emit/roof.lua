-- roof.lua: writes the products in C whose rate is the roof of `bench`, which the plan has decided.
local forms = require("kernels.forms")
local product = require("kernels.product")
local targets = require("data.targets")
local types = require("data.types")

local roof = {}

--- Returns the values of roof.c.in: roof = shapes with their code, strips = the functions that they need.
function roof.values(build)
  local target, list = targets.by_name[build.spec.target], {}
  for i, planned in ipairs(build.entries[1].plan.roof) do
    list[i] = setmetatable({ code = product.body(planned, target.vector, 0, "a", "b") }, { __index = planned })
  end
  local of, form = list[1].types, forms.all[list[1].strips.form]
  return { roof = list, strips = product.strips(list), includes = product.includes(list),
    casts = { a = types.c(of.a), b = types.c(of.b), c = types.c(of.c) }, flushes = types.all[of.a].flushes or false,
    peak = form.peak or false, sum = form.sum, in_tiles = form.in_tiles or false }
end

return roof
