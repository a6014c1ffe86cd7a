-- join.lua: finds the map of each product that the plan has fused with it: the step after it.
local programs = require("passes.common.programs")

--- Sets the fields of a scheduled program:
---   fused_kernels  product -> { map, is_local: true if its sums are on the stack, else they are in the map's result }
---   fused_maps     the maps of these
---   unstored       step -> its operand on the stack: the sums of a product, and the same as its map loads them
return function(program)
  program.fused_kernels, program.fused_maps, program.unstored = {}, {}, {}
  programs.each_list(program, function(list)
    for i, step in ipairs(list) do
      if step.fused_sums then
        local map, is_local = list[i + 1], step.fused_sums == "stack"
        program.fused_kernels[step], program.fused_maps[map] = { map = map, is_local = is_local }, true
        if is_local then
          program.unstored[step] = step.arguments.c
          program.unstored[map] = map.arguments[map.elementwise[1].argument]
        end
      end
    end
  end)
end
