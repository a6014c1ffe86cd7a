-- machine.lua: the part of list.lua that concerns the facts of a machine, and the target that is chosen by them. of and
-- spec: as in list.lua.
return function(of, spec)
  of("runtime/model/machine.c", "c:machine") {
    { name = "machine_clearly", old = "return own * clearly < other;", new = "return own * clearly / clearly < other;",
      filter = "machine/prefers_a*", wrong = "a variant is chosen by noise" },
    { name = "machine_right", old = "model->is_right && !model->is_right()", new = "0 && !model->is_right()",
      filter = "machine/passes*", wrong = "instructions that are wrong are used" },
  }

  of("gen/data/targets.lua", spec .. "commands/machine_spec.lua") {
    { name = "host_clearly", old = "time * CLEARLY < least", new = "time * CLEARLY < least * CLEARLY",
      filter = "difference is clear", wrong = "host changes from one measurement to the next" },
    { name = "host_tiles", old = "if not target.has_tiles then plain", new = "if true then plain",
      filter = "without facts as before", wrong = "tiles are used that were never tried here" },
  }

  of("gen/commands/machine/facts.lua", spec .. "commands/machine/facts_spec.lua") {
    { name = "facts_key", old = " or value.key ~= key then", new = " then", filter = "only for its key",
      wrong = "the facts of another machine are believed" },
  }
end
