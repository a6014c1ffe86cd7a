-- grammar.lua: the part of list.lua that concerns grammars and JSON schemas. of, spec: as in list.lua.
return function(of, spec)
  of("runtime/grammar/gbnf.c", "c:grammar") {
    { name = "gbnf_negated", old = "if (from < taken.low)", new = "if (from <= taken.low)", filter = "grammar/texts",
      wrong = "a negated class has a range that goes down" },
    { name = "gbnf_twice", old = "if (r->tree->rules[number].tree != UINT32_MAX) {", new = "if (0) {",
      filter = "grammar/malformed", wrong = "the second rule of a name takes the place of the first" },
    { name = "gbnf_optional", old = "high = c == '?' ? 1 : TREE_ANY;", new = "high = TREE_ANY;",
      filter = "grammar/texts", wrong = "? allows any number" },
  }
  of("runtime/grammar/compile.c", "c:grammar") {
    { name = "grammar_surrogates", old = "|| (from >= 0xd800 && to <= 0xdfff)) return 0;", new = ") return 0;",
      filter = "grammar/texts", wrong = "a surrogate is a character" },
    { name = "grammar_least", old = "i < node->low && m->status", new = "i + 1 < node->low && m->status",
      filter = "grammar/texts", wrong = "one repetition too few is demanded" },
    { name = "grammar_alike", old = "first + grammar_spans[span] * stride;", new = "first + 2 * stride;",
      filter = "grammar/masks_of_long*", wrong = "the last copies of a repetition are like those before" },
    { name = "grammar_small", old = "    if (m.weights[i] == UNKNOWN) m.weights[i]", new = "    if (0) m.weights[i]",
      filter = "grammar/characters*", wrong = "a rule of one character is called" },
  }
  of("runtime/grammar/grammar.c", "c:grammar") {
    { name = "grammar_dead_call",
      old = "node->is_whole = nodes[node->next].is_whole & nodes[g->starts[node->other]].is_whole;",
      new = "node->is_whole = nodes[node->next].is_whole;", filter = "grammar/texts",
      wrong = "a text goes on where no end is reached" },
    { name = "grammar_hidden_recursion",
      old = "node->kind == GRAMMAR_CALL && g->nodes[g->starts[node->other]].is_empty)",
      new = "0)", filter = "grammar/malformed",
      wrong = "left recursion after a rule that may be empty is not found" },
  }
  of("runtime/grammar/states.c", "c:grammar") {
    { name = "states_join", old = "made[count].stacks = join(s, left[i].stacks, right[k].stacks);", new = "{}",
      filter = "grammar/texts", wrong = "one of two ways to a rule is forgotten" },
    { name = "states_dead", old = "if (!n->is_whole || s->is_full) return;", new = "if (s->is_full) return;",
      filter = "grammar/texts", wrong = "a text goes on where no end is reached" },
  }
  of("runtime/grammar/masks.c", "c:grammar") {
    { name = "masks_places", old = "state_is_open(s, state)) m->places", new = "0) m->places",
      filter = "grammar/masks*",
      wrong = "no token goes on after the end of a rule" },
    { name = "masks_run", old = "    allow(m, t->order + node->first, node[1].first - node->first);\n", new = "",
      filter = "grammar/masks*", wrong = "a token that ends one byte after a rule is left out" },
    { name = "masks_first", old = "return is_first && m->vocabulary->begins_apart ?", new = "return is_first < 0 ?",
      filter = "rule/the_first*", wrong = "the first token's space counts" },
  }
  of("runtime/grammar/masks.c", "c:grammar") {
    { name = "masks_prepared", old = "if (bytes < MANY_BYTES ||", new = "if (bytes >= MANY_BYTES ||",
      filter = "grammar/masks_that*", wrong = "nodes that read many bytes are met without their tokens" },
    { name = "masks_forced", old = "if (ways != 1) break;", new = "if (ways == 0) break;",
      filter = "rule/foresees*", wrong = "a byte that need not follow is foreseen" },
    { name = "masks_forced_end", old = "if (length == 0 || at == end) break;", new = "if (length == 0) break;",
      filter = "rule/foresees*", wrong = "a token is foreseen that may go on otherwise" },
  }
  of("runtime/grammar/vocabulary.c", "c:grammar") {
    { name = "vocabulary_longest", old = "if (length > p->longest) p->longest", new = "p->longest",
      filter = "grammar/masks*", wrong = "the path of a walk is too short for a token" },
    { name = "vocabulary_ends", old = "for (uint32_t d = same + 1; d <= depth; d++)",
      new = "for (uint32_t d = same + 2; d <= depth; d++)", filter = "grammar/masks*",
      wrong = "a node of the tree has no end" },
  }
  of("runtime/grammar/rule.c", "c:grammar") {
    { name = "rule_after_end",
      old = "return state == ENDED || state_accepts(&r->masks.states, state) ? ENDED : STATE_DEAD;",
      new = "return ENDED;", filter = "rule/ends*", wrong = "an answer may end anywhere" },
    { name = "rule_prefix", old = "memcmp(p->ids, ids, (size_t)p->count * sizeof *ids) == 0)", new = "ids)",
      filter = "rule/ends*", wrong = "an answer goes on in the state of another" },
    { name = "rule_forget", old = "r->places[i].count = -1;", new = ";", filter = "rule/memory",
      wrong = "states that are forgotten are used" },
  }
  of("runtime/program/grammar/schema.c", "c:schema") {
    { name = "schema_required", old = 'if (!must) schema_put(&rules, "| r%zu-A-%zu "',
      new = 'schema_put(&rules, "| r%zu-A-%zu "', filter = "schema/texts",
      wrong = "a property that is demanded may be missing" },
    { name = "schema_enum_length", old = "|| !allows_type(type, each) ||\n        !allows_length(each, least, most))",
      new = "|| !allows_type(type, each))", filter = "schema/texts",
      wrong = "values of enum may be longer than maxLength" },
    { name = "schema_leap", old = '"\\"11\\") \\"-\\" (', new = '"\\"12\\") \\"-\\" (', filter = "schema/texts",
      wrong = "November has no days" },
    { name = "schema_others", old = 'is_name ? "" : "| ")', new = 'is_name > 1 ? "" : "| ")', filter = "schema/texts",
      wrong = "another property has the name of one that is described" },
  }
  of("runtime/program/grammar/merge.c", "c:schema") {
    { name = "schema_bounds", old = "json_number_value(a) > json_number_value(b) ? a : b", new = "a",
      filter = "schema/texts", wrong = "the first of two bounds counts" },
    { name = "schema_disjoint", old = "if (depth > 8 ||", new = "if (depth > 8 || 1) return 1;\n  if (",
      filter = "schema/refused", wrong = "values may fit two schemas of oneOf" },
    { name = "schema_closed", old = "  check_closed(r, sides[0], sides[1]);\n", new = "", filter = "schema/refused",
      wrong = "a property is written that another schema forbids" },
  }
  of("runtime/program/grammar/range.c", "c:schema") {
    { name = "range_first", old = "is_least ? *digits < '9' : *digits > '0'", new = "1", filter = "schema/integers",
      wrong = "a digit after 9, or before 0" },
  }
  of("runtime/program/grammar/pattern.c", "c:schema") {
    { name = "pattern_quote", old = "const uint32_t holes[] = {0x1f, '\"', '\\\\', LAST + 1};",
      new = "const uint32_t holes[] = {0x1f, '\\'', '\\\\', LAST + 1};", filter = "schema/texts",
      wrong = "a quote is not escaped" },
    { name = "pattern_search", old = 'if (is_outer && !is_end) schema_put', new = "if (0) schema_put",
      filter = "schema/texts", wrong = "a pattern without $ ends the text" },
  }
  of("runtime/program/grammar/open.c", spec .. "whole/grammar_spec.lua") {
    { name = "grammar_nul", old = "strlen(*text) < *length", new = "0", filter = "place of what is wrong",
      wrong = "a grammar ends at a NUL" },
  }
end
