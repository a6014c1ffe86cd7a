-- kept.lua: the part of list.lua that concerns what commands keep and show: the files of `tune` and `calibrate`, facts
-- and times that other work disturbed, embeddings of a run that is ended, and progress. of and spec: as in list.lua.
return function(of, spec)
  of("gen/commands/companion.lua", spec .. "commands/companion_spec.lua") {
    { name = "companion_checkpoint", old = "return not paths.is_checkpoint(description) and (", new = "return (",
      filter = "is a checkpoint", wrong = "files are written next to a checkpoint, and found there" },
    { name = "companion_access", old = "(path and uv.fs_access(folder_of(path), \"W\"))", new = "path",
      filter = "cannot be written", wrong = "a folder that cannot be written ends the command" },
    { name = "companion_kind", old = "begins:sub(1, #wanted) ~= wanted then", new = "false then",
      filter = "place of their kind", wrong = "any file is written over" },
    { name = "companion_shell", old = "words.map(list, words.shell)", new = "list",
      filter = "as a shell reads it", wrong = "the next command is taken apart at blanks" },
  }

  of("gen/commands/machine/facts.lua", spec .. "commands/machine/facts_spec.lua") {
    { name = "facts_disturbed", old = "return known, again == true or is_due", new = "return known, again == true",
      filter = "other work has disturbed", wrong = "facts that were measured under load stay" },
    { name = "facts_patience", old = "again == \"disturbed\" and OF_COMMAND or OF_BUILD", new = "OF_COMMAND",
      filter = "other work has disturbed", wrong = "on a busy machine each build measures" },
  }

  of("gen/commands/quality/cost.lua", spec .. "commands/quality_spec.lua") {
    { name = "cost_again", old = "quiet + (disturbed and 0 or 1)", new = "quiet + 1",
      filter = "cost of two variants", wrong = "times that were disturbed are not measured again" },
    { name = "cost_said", old = "disturbed = quiet < TURNS and why or nil", new = "disturbed = nil",
      filter = "cost of two variants", wrong = "nobody says that times were disturbed" },
  }

  of("gen/commands/tune.lua", spec .. "passes/common/tuning_spec.lua") {
    { name = "tune_disturbed", old = "and not choice.is_disturbed and fits", new = "and fits",
      filter = "measures choices again", wrong = "a choice that was measured under load stays" },
  }

  of("runtime/program/text/cache.c", spec .. "whole/similar_spec.lua") {
    { name = "cache_rest", old = "if (cache->is_found[i] || !cache->keys[i].is_kept) continue;", new = "continue;",
      filter = "ended before its last", wrong = "a run that is ended forgets the texts that it did not reach" },
    { name = "cache_again", old = "const int status = cache->next_write > 0 ? write_part(cache, message) : ATTN2C_OK;",
      new = "const int status = ((void)message, ATTN2C_OK);",
      filter = "ended before its last", wrong = "a run that is killed keeps nothing" },
  }

  of("runtime/program/text/command.c", spec .. "whole/similar_spec.lua") {
    { name = "cache_ended", old = "attn2c_cache_write(job->cache, status == ATTN2C_OK, job->message)",
      new = "(status == ATTN2C_OK ? attn2c_cache_write(job->cache, 1, job->message) : 0)",
      filter = "ended before its last", wrong = "a run that is interrupted keeps nothing" },
  }

  of("runtime/program/progress.c", "c:progress") {
    { name = "progress_terminal", old = " || !attn2c_progress_is_seen()) return;", new = ") return;",
      filter = "progress/is_not*", wrong = "a file gets lines of progress" },
    { name = "progress_early", old = "now - line.begun < SHOWN_AFTER", new = "now < line.begun",
      filter = "progress/is_shown*", wrong = "short work is shown" },
    { name = "progress_hidden", old = "line.is_shown = 0, line.drawn = 0;", new = "line.drawn = 0;",
      filter = "progress/is_shown*", wrong = "an erased line is erased again, after other text" },
    { name = "progress_anew", old = " || (done == 0 && line.done > 0)", new = "", filter = "progress/begins*",
      wrong = "the time of earlier work counts" },
  }
end
