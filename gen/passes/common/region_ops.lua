-- region_ops.lua: iterates over the operations of one region of a plan.

--- Calls visit(op) for each operation of a region: its fusions', or its own, then the one that rounds.
return function(region, visit)
  local function each(list) for _, op in ipairs(list) do visit(op) end end
  for _, fusion in ipairs(region.fusions) do
    visit(fusion.leading)
    each(fusion.epilogue)
    each(fusion.ends)
  end
  each(region.ops or {})
  each { region.round }
end
