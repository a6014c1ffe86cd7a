-- team.lua: the part of list.lua that concerns the division of a call among workers. of and spec: as in list.lua.
return function(of, spec)
  of("gen/passes/schedule.lua", spec .. "passes/schedule_spec.lua") {
    { name = "schedule_halves", old = "middle = before + atom.cost / 2", new = "middle = before + atom.cost",
      filter = "like parts", wrong = "of two like parts one worker has both" },
    { name = "schedule_least", old = "segment_cost(segment, cost_of) / #phases >= parameters.least_phase and",
      new = "#phases >= parameters.least_phase and", filter = "the same calls",
      wrong = "phases are divided by number" },
    { name = "schedule_rest", old = "(segment.repeats + 1) // 2", new = "segment.repeats",
      filter = "second worker pays", wrong = "micro-batches of two workers count as of one" },
    { name = "schedule_chunks", old = "threads * parameters.chunks, phase", new = "threads, phase",
      filter = "several chunks", wrong = "workers have fixed parts" },
  }

  of("gen/passes/checks/flow.lua", spec .. "passes/checks/flow_spec.lua") {
    { name = "flow_chunks", old = "if is_own and #record.values > 0 then", new = "if false then",
      filter = "may have left", wrong = "a worker reads what another has in its own memory" },
  }

  of("gen/passes/plan/partition.lua", spec .. "passes/plan/partition_spec.lua") {
    { name = "plan_apart", old = "return batch % segment.micro_batch == 0 or last >= 2", new = "return true",
      filter = "divides micro%-batches", wrong = "two workers have a sequence in common" },
    { name = "partition_write_after_read", old = "if touched[name] then return true end", new = "",
      filter = "filled again", wrong = "a block overwrites what another worker still reads" },
    { name = "partition_read_after_write", old = "if written[name] and not task.writes[name] then return true end",
      new = "", filter = "reads what others write", wrong = "a worker reads what another has not written" },
    { name = "partition_own", old = "if not task.goes_on then", new = "if false then",
      filter = "go on with their rows", wrong = "a product begins while others still make its rows" },
    { name = "partition_own_product", old = "and before and not ops.class(before.leading).product or false)",
      new = "and before and true or false)", filter = "go on with their rows",
      wrong = "rows begin while others still make panels of them" },
  }

  of("gen/passes/checks/meetings.lua", spec .. "passes/checks/meetings_spec.lua") {
    { name = "meetings_superfluous", old = "expect(needs, ", new = "expect(true, ", filter = "nobody needs",
      wrong = "a barrier without a reason passes" },
  }

  of("runtime/model/balance.c", "c:balance") {
    { name = "balance_wait", old = "gained - call->waited,", new = "gained,", filter = "balance/*",
      wrong = "waiting costs nothing" },
    { name = "balance_interest", old = "call->alone / most(1, balance->lost / LOSS)", new = "call->alone",
      filter = "balance/*", wrong = "a team that never pays is tried as often as one that mostly does" },
    { name = "balance_lost", old = "const int64_t loss = net > 0 ? -net :", new = "const int64_t loss = net > 0 ? 0 :",
      filter = "balance/*", wrong = "what sharing gains never makes up for what it cost" },
  }

  of("runtime/model/team.c", "c:team") {
    { name = "team_phases", old = "work(team->call, (size_t)(phase - team->first), chunk",
      new = "work(team->call, (size_t)phase, chunk",
      filter = "team/does_every*", wrong = "the phases of a later call go on after the phases of the one before" },
    { name = "team_debt", old = "account->waited += time - worked", new = "account->waited += 0",
      filter = "team/works_alone*", wrong = "waiting costs nothing" },
    { name = "team_runs", old = "stop_of(team, worker, chunks_of", new = "stop_of(team, 0, chunks_of",
      filter = "team/does_every*", wrong = "all workers claim the chunks of the first" },
    { name = "team_lends", old = "&m->allowed, core, 1, &m->kept", new = "&m->allowed, core, 0, &m->kept",
      filter = "team/lends*", wrong = "the caller waits for a thread whose core others have" },
  }

  of("runtime/system/posix.h", "c:team") {
    { name = "team_signals", old = "  pthread_sigmask(SIG_SETMASK, &all, &before);\n", new =
      "  pthread_sigmask(SIG_SETMASK, NULL, &before);\n", filter = "team/threads_take*",
      wrong = "a signal of the process is handled on a thread of ours" },
  }

  of("gen/passes/lower/rows.lua", spec .. "passes/checks/schedule_spec.lua") {
    { name = "rows_slices", old = 'of_fusion.within = { "slice" }', new = "of_fusion.within = nil",
      filter = "pass", wrong = "chunks of rows of a block are all its first rows" },
  }

  of("gen/passes/memory.lua", spec .. "passes/checks/schedule_spec.lua") {
    { name = "memory_stretches", old = "stretches[stretch], loops[#loops + 1] = loop, loop",
      new = "stretches[stretch] = loop",
      filter = "later block", wrong = "rows that a later block reads are overwritten by an earlier one" },
  }
end
