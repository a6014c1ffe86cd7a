-- serve.lua: the part of list.lua that concerns programs that serve. of, spec: as in list.lua.
return function(of, spec)
  local suite = spec .. "whole/serve_spec.lua"
  of("runtime/program/serve/generate/writer.c", suite) {
    { name = "serve_seed", old = "sampling.seed += (uint64_t)answer->number;", new = "",
      filter = "completes a prompt", wrong = "all answers to a request are drawn alike" },
    { name = "serve_cancelled", old = "if (!ask || !atomic_load(&ask->job.is_cancelled)) continue;",
      new = "if (!ask || ask) continue;", filter = "frees the sequence",
      wrong = "an answer goes on after its client has gone" },
  }
  of("runtime/program/serve/route.c", suite) {
    { name = "serve_key", old = "unsigned differs = length != other;", new = "unsigned differs = 0;",
      filter = "asks for its key", wrong = "a key that begins alike is taken" },
  }
  of("runtime/program/serve/engine.c", suite) {
    { name = "serve_waiting", old = "e->waiting_count >= e->most_waiting ||", new = "",
      filter = "refuses more than may wait", wrong = "any number of requests waits" },
  }
  of("runtime/program/serve/text/work.c", spec .. "whole/serve_calls_spec.lua") {
    { name = "serve_cut", old = "!has_windows && !work->cuts)", new = "!has_windows && work->cuts)",
      filter = "are refused with the field", wrong = "a text that is too long is cut without being asked" },
  }
  of("runtime/program/serve/multipart.c", "c:serve") {
    { name = "serve_form", old = "if (is_quoted && text->at == text->end) return 0;", new = "", filter = "forms/*",
      wrong = "a quoted boundary without an end is taken" },
  }
  of("runtime/program/serve/numbers.c", "c:serve") {
    { name = "serve_digits", old = "enum { DIGITS = 9 };", new = "enum { DIGITS = 8 };", filter = "numbers/*",
      wrong = "another float is read than was written" },
  }
end
