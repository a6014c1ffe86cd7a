-- serve.lua: the part of list.lua that concerns programs that serve. of, spec: as in list.lua.
return function(of, spec)
  local suite = spec .. "whole/serve_spec.lua"
  of("runtime/program/serve/generate/writer.c", suite) {
    { name = "serve_seed", old = "sampling.seed += (uint64_t)answer->number;", new = "",
      filter = "completes a prompt", wrong = "all answers to a request are drawn alike" },
    { name = "serve_cancelled", old = "if (!ask || !atomic_load(&ask->job.is_cancelled)) return 0;",
      new = "if (!ask || ask) return 0;", filter = "frees the sequence",
      wrong = "an answer goes on after its client has gone" },
  }
  of("runtime/program/serve/generate/writer.c", spec .. "whole/serve_fuzz_spec.lua") {
    { name = "serve_paused", old = "return p->answer && is_behind(p->answer->ask) && !reads(w, p);",
      new = "return (void)w, (void)p, 0;", filter = "lets others pass",
      wrong = "streams that nobody reads are written on" },
    { name = "serve_parked", old = "own[count] = p->last;", new = "own[count] = own[0];", filter = "lets others pass",
      wrong = "an answer goes on with another token in its new sequence" },
  }
  of("runtime/program/serve/text/work.c", spec .. "whole/serve_calls_spec.lua") {
    { name = "serve_cut_first", old = "work->cuts_first ? ATTN2C_TEXT_ONLY_FIRST : ATTN2C_TEXT_LONGEST_FIRST",
      new = "ATTN2C_TEXT_LONGEST_FIRST", filter = "labels that come",
      wrong = "a label's sentence is cut with a long text" },
  }
  of("runtime/program/serve/generate/tool_parts.c", "c:tools") {
    { name = "tools_name", old = "&& attn2c_tools_find(a->tools, name)", new = "", filter = "tools/forms",
      wrong = "a tool is called that the request does not have" },
    { name = "tools_late", old = "if (end == a->length) return tool_at_end(a);",
      new = "if (end == a->length) return TOOL_NO;", filter = "tools/forms",
      wrong = "the beginning of a mark is shown before the rest of it comes" },
  }
  of("runtime/program/serve/generate/tools.c", "c:tools") {
    { name = "tools_text", old = "if (is_text && c == '\\\\')", new = "if (0)", filter = "tools/forms",
      wrong = "an escaped quote ends a text, and the object around it" },
    { name = "tools_more", old = "while (!a->tools->is_parallel && json_array_size(calls) > count + 1)",
      new = "while (0)", filter = "tools/one", wrong = "several calls come where one is allowed" },
    { name = "tools_lines", old = "if (form->has_lines && end > from && a->text[end - 1] == '\\n') end--;", new = "",
      filter = "tools/forms", wrong = "a text in a call ends with the line end of its mark" },
    { name = "tools_cut", old = "return from.is_cut ? tool_at_end(a) : TOOL_NO;", new = "return TOOL_NO;",
      filter = "tools/forms", wrong = "a call in Python is a text if a value is cut" },
    { name = "tools_quoted", old = "name && !about.takes_text", new = "name", filter = "tools/forms",
      wrong = "a text in quotes is a number where the schema allows both" },
    { name = "tools_failed", old = "place->failed += after > at + 1;", new = "", filter = "tools/long_answers",
      wrong = "each of many beginnings is read to the end of the answer" },
  }
  of("runtime/program/serve/generate/tool_values.c", "c:tools") {
    { name = "tools_types", old = "(types >> json_typeof(value) & 1)", new = "1", filter = "tools/forms",
      wrong = "a text that looks like a number is one, whatever the schema says" },
    { name = "tools_enum", old = "read_text(schema_expand(&r, schema), about)", new = "read_text(schema, about)",
      filter = "tools/required_arguments", wrong = "an enum of a $ref is not kept to" },
    { name = "tools_pair", old = "point >> 10 == 0xd800 >> 10", new = "0", filter = "tools/forms",
      wrong = "two escapes of one character are two characters" },
  }
  of("runtime/program/serve/generate/tool_forms.c", "c:tools") {
    { name = "tools_required", old = "if (!is_required(parameters, key)) continue;", new = "",
      filter = "tools/required_arguments", wrong = "arguments that are not required must be there" },
  }
  of("runtime/program/serve/generate/tool_channels.c", "c:tools") {
    { name = "channels_cut", old = "if (*is_ended || !a->is_whole) return i;", new = "if (*is_ended) return i;",
      filter = "tools/forms", wrong = "the beginning of a mark is shown before the rest of it comes" },
  }
  of("runtime/program/serve/generate/chat.c", suite) {
    { name = "serve_choice", old = "return number != 1;", new = "return 1;", filter = "calls tools",
      wrong = "tools are called though tool_choice is none" },
  }
  of("runtime/python/chat.py", suite) {
    { name = "python_left_out", old = "if found.value < call.count:", new = "if False:",
      filter = "gives the model all messages", wrong = "Python leaves out a message without a word" },
  }
  of("runtime/model/text/left_out.c", suite) {
    { name = "serve_left_out", old = "if (status == ATTN2C_OK && bytes == length &&", new = "if (0 &&",
      filter = "all messages", wrong = "messages that a template leaves out are lost" },
  }
  of("runtime/program/serve/request.c", suite) {
    { name = "serve_unread", old = "json_object_del(r->exchange->unread, name);", new = "",
      filter = "names the fields", wrong = "fields that are read are said to be ignored" },
  }
  of("runtime/program/serve/generate/reply.c", suite) {
    { name = "serve_index", old = "json_integer(n->answer->read.calls - (json_int_t)(json_array_size(n->calls) - i))",
      new = "json_integer((json_int_t)i)", filter = "calls tools", wrong = "each event numbers its calls anew" },
  }
  of("runtime/program/serve/picture.c", spec .. "whole/captions_spec.lua") {
    { name = "serve_described", old = "if (generate->greedy) generate->temperature.is_given = 0;", new = "",
      filter = "serves chats", wrong = "temperature 0 is refused beside greedy" },
  }
  of("runtime/program/serve/media.c", spec .. "whole/towers_spec.lua") {
    { name = "serve_vectors", old = "of_texts += width;", new = "", filter = "serves embeddings",
      wrong = "all texts beside pictures have the vector of the first" },
  }
  of("runtime/program/serve/route.c", suite) {
    { name = "serve_key", old = "unsigned differs = length != other;", new = "unsigned differs = 0;",
      filter = "asks for its key", wrong = "a key that begins alike is taken" },
  }
  of("runtime/program/serve/linux.c", suite) {
    { name = "serve_stale", old = "is_socket && !answers && errno == ECONNREFUSED", new = "is_socket && answers",
      filter = "takes a socket file", wrong = "a socket file that nobody listens on is kept" },
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
  of("runtime/program/serve/http.c", suite) {
    { name = "serve_page", old = "evbuffer_search(output, end, strlen(end), NULL).pos >= 0", new = "!*end",
      filter = "limits of bytes", wrong = "clients get pages of HTML for errors" },
    { name = "serve_lengths", old = "if (is_ambiguous(request)) {", new = "if (0 && is_ambiguous(request)) {",
      filter = "limits of bytes", wrong = "the server and a proxy see other requests" },
  }
  of("runtime/program/serve/http.c", spec .. "whole/serve_fuzz_spec.lua") {
    { name = "serve_refused", old = "    keep_refused(coming, stream);\n", new = "", filter = "survives wrong requests",
      wrong = "a client that sends all of a large body sees a reset connection in place of the reply" },
    { name = "serve_chunks", old = "exchange.status == 413 && is_damaged(coming)", new = "0", wrong =
      "a damaged chunk is called too long", filter = "survives wrong requests" },
  }
  of("runtime/program/serve/numbers.c", "c:serve") {
    { name = "serve_digits", old = "enum { DIGITS = 9 };", new = "enum { DIGITS = 8 };", filter = "numbers/*",
      wrong = "another float is read than was written" },
  }
end
