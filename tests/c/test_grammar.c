/* test_grammar.c - grammars: what their texts are, where malformed ones are, and that the tokens of a mask
 * are those whose bytes fit, one by one, for tokenizers of each kind. */
#include "golden_text.h"

#include "base/generation.h"
#include "faults.h"
#include "generate/draw.h"
#include "grammar/masks.h"
#include "grammar/rule.h"

#include <criterion/criterion.h>
#include <math.h>

#define DRAW(limit) attn2c_draw_below(attn2c_draw_bits(seed, n++), (limit))

static char note[2000];
static attn2c_message message;

static int read_grammar(const char *text, attn2c_grammar **grammar) {
  note[0] = '\0';
  message = attn2c_message_make(note, sizeof note);
  return attn2c_grammar_read(text, strlen(text), "g", grammar, &message);
}

static attn2c_grammar *grammar_of(const char *text) {
  attn2c_grammar *grammar;
  cr_assert_eq(read_grammar(text, &grammar), ATTN2C_OK, "%s", note);
  return grammar;
}

/* Returns 2 if a grammar has a text, 1 if it has a longer one that begins so, else 0. */
static int reads(const char *text, const char *bytes) {
  attn2c_grammar *grammar = grammar_of(text);
  grammar_states states;
  cr_assert_eq(grammar_states_create(&states, grammar, 1 << 20), ATTN2C_OK);
  uint32_t state = grammar_states_first(&states);
  for (; *bytes && state != STATE_DEAD; bytes++) {
    cr_assert_neq(state, STATE_FULL);
    state = state_step(&states, state, (uint8_t)*bytes);
  }
  const int result = state == STATE_DEAD ? 0 : state_accepts(&states, state) ? 2 : 1;
  grammar_states_free(&states);
  attn2c_grammar_free(grammar);
  return result;
}

Test(grammar, texts) {
  static const struct {
    const char *grammar, *text;
    int result;
  } rows[] = {
      {"root ::= \"ab\" | \"ac\" # either", "ab", 2},
      {"root ::= \"ab\" | \"ac\"", "a", 1},
      {"root ::= \"ab\" | \"ac\"", "ad", 0},
      {"root ::= \"ab\" | \"ac\"", "abc", 0},
      {"root ::=", "", 2},
      {"root ::= \"a\" |", "", 2},
      {"root ::= x+ \".\"\nx ::= [a-c]", "abc", 1},
      {"root ::= x+ \".\"\nx ::= [a-c]", "abc.", 2},
      {"root ::= x+ \".\"\nx ::= [a-c]", ".", 0},
      {"root ::= [^a-c\\n]*", "xyz-", 2},
      {"root ::= [^a-c\\n]*", "xb", 0},
      {"root ::= [^a-c\\n]*", "x\n", 0},
      {"root ::= [^\\x00-\\x1F]", "\n", 0},
      {"root ::= \"a\"? \"b\"", "aab", 0},
      {"root ::= [a-]*", "a-a", 2},
      {"root ::= [\\]\\[\\-]*", "][-", 2},
      {"root ::= \"\\x41\\u00e4\\U0001F600\\t\\r\\n\\\\\\\"\"", "A\xc3\xa4\xf0\x9f\x98\x80\t\r\n\\\"", 2},
      {"root ::= [\xc3\xa4-\xc3\xb6]+", "\xc3\xa5", 2},
      {"root ::= [\xc3\xa4-\xc3\xb6]+", "\xc3", 1},
      {"root ::= [\xc3\xa4-\xc3\xb6]+", "\xc3\xb7", 0},
      {"root ::= .", "\n", 2},
      {"root ::= .", "\xf4\x8f\xbf\xbf", 2},
      {"root ::= .", "\xf4\x90", 0},
      {"root ::= .", "\xed\xa0", 0},
      {"root ::= .", "\xe0\x9f", 0},
      {"root ::= .", "\xc1", 0},
      {"root ::= .", "\x80", 0},
      {"root ::= .", "ab", 0},
      {"root ::= \"\" | []", "", 2},
      {"root ::= \"a\"{2}", "aa", 2},
      {"root ::= \"a\"{2}", "aaa", 0},
      {"root ::= \"a\"{ 2 , }", "aaaa", 2},
      {"root ::= \"ab\"{1,2}", "abab", 2},
      {"root ::= \"ab\"{1,2}", "ababa", 0},
      {"root ::= \"a\"{0,0} \"b\"", "b", 2},
      {"root ::= \"a\"?*", "aaa", 2},
      {"root ::= (\"a\"?)* \"b\"", "ab", 2},
      {"root ::= (\n  \"a\" # one\n  | \"b\"\n)\n", "b", 2},
      {"root ::=\n \"a\" |\n \"b\"\nother ::= \"c\"", "b", 2},
      {"root ::= x\nx ::= \"(\" x* \")\"", "(()(()))", 2},
      {"root ::= x\nx ::= \"(\" x* \")\"", "(()", 1},
      {"root ::= x\nx ::= \"(\" x* \")\"", "())", 0},
      {"root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"\"", "aaabcb", 2},
      {"root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"\"", "aaabcbc", 0},
      {"root ::= \"a\" root | \"a\" root \"b\" | \"\"", "aaaabb", 2},
      {"root ::= \"a\" dead | \"b\"\ndead ::= \"x\" dead", "a", 0},
      {"root ::= \"a\" dead | \"b\"\ndead ::= \"x\" dead", "b", 2},
      {"root ::= a a a\na ::= b | \"xxxxxxxxxxxxxxxxxxxxxx\" a\nb ::= \"y\"?", "yy", 2},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    cr_assert_eq(reads(rows[i].grammar, rows[i].text), rows[i].result, "%s: %s", rows[i].grammar,
                 rows[i].text);
}

Test(grammar, malformed) {
  static const struct {
    const char *grammar, *message;
  } rows[] = {
      {"", "g: line 1, column 1: rule 'root' is not defined"},
      {"a ::= \"b\"", "g: line 1, column 10: rule 'root' is not defined"},
      {"root ::= x-1\n", "g: line 1, column 10: rule 'x-1' is not defined"},
      {"root = 1", "g: line 1, column 6: '=', but ::= is expected"},
      {"root ::= \"a", "g: line 1, column 12: the end, but '\"', the literal's end, is expected"},
      {"root ::= [a", "g: line 1, column 12: the end, but ']', the class's end, is expected"},
      {"root ::= \"a\"\nroot ::= \"b\"", "g: line 2, column 1: rule 'root' is defined twice"},
      {"root ::= (\"a\"", "g: line 1, column 14: the end, but ')', an item or '|' is expected"},
      {"root ::= \"a\")", "g: line 1, column 13: ')', but an item, '|' or the line's end is expected"},
      {"root ::= *", "g: line 1, column 10: '*', but an item before it is expected"},
      {"root ::= [b-a]", "g: line 1, column 11: the range goes down, but it must go up"},
      {"root ::= \"\\q\"",
       "g: line 1, column 12: 'q', but one of n r t \\ \" [ ] - x u U after a backslash is expected"},
      {"root ::= \"\\x4g\"",
       "g: line 1, column 14: 'g', but a hexadecimal digit: \\xHH, \\uHHHH or \\UHHHHHHHH is expected"},
      {"root ::= \"\\uD800\"", "g: line 1, column 13: U+D800 is no character"},
      {"root ::= \"a\"{2,1}", "g: line 1, column 13: {2,1}: the second number must be the larger one"},
      {"root ::= \"a\"{,2}", "g: line 1, column 14: ',', but a number is expected"},
      {"root ::= \"a\"{99999}",
       "g: line 1, column 14: a repetition of more than 10000, but no more are allowed"},
      {"root ::= <[5]>", "g: line 1, column 10: tokens such as <[10]>, <name> and !<[10]> are not supported"},
      {"root ::= \"\xff\"", "g: line 1, column 11: '?', but UTF-8 is expected"},
      {"root ::= a\na ::= b \"x\"\nb ::= \"\" a",
       "g: line 1, column 1: rule 'root' calls itself, or a rule that does, before a character is read (left "
       "recursion), but a character must come first"},
      {"root ::= \"x\" a\na ::= b a\nb ::= \"y\"*",
       "g: line 2, column 1: rule 'a' calls itself, or a rule that does, before a character is read (left "
       "recursion), but a character must come first"},
      {"root ::= \"a\" root", "g: line 1, column 1: no text that is whole is allowed by rule 'root'"},
      {"root ::= (\"a\"{10000}){100}",
       "g: more than 524288 states, but no more are allowed: repetitions are too large"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    attn2c_grammar *grammar;
    cr_assert_eq(read_grammar(rows[i].grammar, &grammar), ATTN2C_FORMAT, "%s", rows[i].grammar);
    cr_assert_str_eq(note, rows[i].message);
  }
}

/* Rules of few characters are part of those that call them, also within their repetitions. */
Test(grammar, characters_are_part_of_rules) {
  attn2c_grammar *grammar = grammar_of("root ::= s s\ns ::= \"'\" c* \"'\"\nc ::= [ab] | d d\nd ::= [cd]");
  int calls = 0;
  for (uint32_t i = 0; i < grammar->node_count; i++) calls += grammar->nodes[i].kind == GRAMMAR_CALL;
  cr_assert_eq(calls, 2);
  attn2c_grammar_free(grammar);
}

static const char json[] =
    "root ::= object\n"
    "value ::= object | array | string | number | (\"true\" | \"false\" | \"null\") ws\n"
    "object ::= \"{\" ws ( string \":\" ws value (\",\" ws string \":\" ws value)* )? \"}\" ws\n"
    "array ::= \"[\" ws ( value (\",\" ws value)* )? \"]\" ws\n"
    "string ::= \"\\\"\" ( [^\"\\\\\\x7F\\x00-\\x1F] | \"\\\\\" ([\"\\\\bfnrt] | \"u\" [0-9a-fA-F]{4}) )* "
    "\"\\\"\" ws\n"
    "number ::= (\"-\"? ([0-9] | [1-9] [0-9]{0,15})) (\".\" [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws\n"
    "ws ::= | \" \" | \"\\n\" [ \\t]{0,20}\n";

/* Compares a mask with the bytes of each token. Returns the number of tokens that fit. */
static int compare(grammar_masks *masks, uint32_t state, int is_first) {
  int count = 0;
  cr_assert(grammar_masks_find(masks, state, is_first));
  for (int32_t id = 0; id < masks->vocabulary->size; id++) {
    const uint32_t next = grammar_masks_advance(masks, state, id, is_first);
    cr_assert_neq(next, STATE_FULL);
    const int fits = next != STATE_DEAD, is_allowed = (int)(masks->allowed[id / 64] >> id % 64 & 1);
    cr_assert_eq(fits, is_allowed, "token %d", id);
    count += fits;
  }
  return count;
}

/* Draws texts of a grammar, token by token, and compares each mask. */
static void draw_texts(const char *golden, const char *text, int steps, uint64_t seed) {
  tokenizer t = open_golden(golden);
  attn2c_vocabulary *vocabulary;
  attn2c_grammar *grammar = grammar_of(text);
  grammar_masks masks;
  uint64_t n = 0;
  message = attn2c_message_make(note, sizeof note);
  cr_assert_eq(attn2c_vocabulary_create(t.text, 1000, "--grammar", &vocabulary, &message), ATTN2C_OK, "%s",
               note);
  cr_assert_eq(grammar_masks_create(&masks, grammar, vocabulary, 4 << 20), ATTN2C_OK);
  for (int i = 0; i < 4; i++) {
    uint32_t state = grammar_states_first(&masks.states);
    for (int k = 0; k < steps; k++) {
      int count = compare(&masks, state, k == 0), token = -1;
      if (count == 0) break;
      for (count = (int)DRAW((uint64_t)count) + 1; count > 0;
           count -= (int)(masks.allowed[token / 64] >> token % 64 & 1))
        token++;
      state = grammar_masks_advance(&masks, state, token, k == 0);
    }
  }
  grammar_masks_free(&masks);
  attn2c_vocabulary_free(vocabulary);
  attn2c_grammar_free(grammar);
  close_golden(&t);
}

Test(grammar, masks_are_the_tokens_that_fit) {
  static const char *const goldens[] = {"gpt2",  "llama_old", "llama_new",  "gemma",
                                        "qwen2", "albert",    "bert_cased", "plain"};
  for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
    draw_texts(goldens[i], json, 12, i);
    draw_texts(goldens[i],
               "root ::= [ A-Za-z.,]* | \"\xe2\x82\xac\" | line{1,3}\nline ::= \" \"? [^\\n]+ \"\\n\"", 12,
               i + 100);
    draw_texts(goldens[i], "root ::= \"a\" root | root-2 root \"b\" | \"\"\nroot-2 ::= [a-z\xc3\xa4 ]", 12,
               i + 200);
  }
}

/* Copies of a repetition are alike for the tokens of a span, but the last ones. */
Test(grammar, masks_of_long_repetitions) {
  static const char *const goldens[] = {"gpt2", "llama_new", "qwen2"};
  for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
    draw_texts(goldens[i], "root ::= \"'\" ([a-z\xc3\xa9 ] | \"\\\\\" [nt']){30,60} \"'\" .", 60, i + 300);
    draw_texts(goldens[i], "root ::= ((\"a\"?){40} \",\"){26,40} [^a]{28} [ab]{1,40}", 50, i + 400);
    draw_texts(goldens[i], "root ::= ([a-z] x){0,30}\nx ::= \"a\"* | \".\" x{27}", 40, i + 500);
  }
  draw_texts("gpt2", "root ::= \"'\" [a-z ]{120,140} \"'\" .", 60, 600);
  attn2c_grammar *grammar = grammar_of("root ::= \"b\" .{150}");
  const grammar_node *nodes = grammar->nodes;
  for (int span = 0; span < GRAMMAR_SPANS; span++) {
    const uint32_t own = grammar_spans[span] + 1; /* copies that have nodes of their own */
    uint32_t alike = 0;
    for (uint32_t i = 0; i < grammar->node_count; i++) {
      const uint32_t like = nodes[i].like[span];
      alike += like != i;
      cr_assert(nodes[like].kind == nodes[i].kind && like <= i);
    }
    cr_assert_eq(alike, (150 - own) * ((grammar->node_count - 3 - 1) / 150));
  }
  attn2c_grammar_free(grammar);
}

/* A vocabulary and a rule, with what an answer's step needs. */
typedef struct {
  tokenizer t;
  attn2c_vocabulary *vocabulary;
  attn2c_grammar *grammar;
  attn2c_grammar_rule *rule;
  float scores[1000];
} ruled;

static ruled open_rule(const char *golden, const char *text, size_t bytes) {
  static const int32_t ends[] = {0, 1};
  ruled r = {.t = open_golden(golden), .grammar = grammar_of(text)};
  message = attn2c_message_make(note, sizeof note);
  cr_assert_eq(attn2c_vocabulary_create(r.t.text, 1000, "--grammar", &r.vocabulary, &message), ATTN2C_OK);
  const attn2c_grammar_options options = {r.grammar, r.vocabulary, ends, 2, 2, 60, bytes};
  cr_assert_eq(attn2c_grammar_rule_create(&r.rule, &options), ATTN2C_OK);
  return r;
}

static void close_rule(ruled *r) {
  attn2c_grammar_rule_free(r->rule);
  attn2c_grammar_free(r->grammar);
  attn2c_vocabulary_free(r->vocabulary);
  close_golden(&r->t);
}

/* Returns the number of tokens that may follow ids[count], of which `prompt` are the prompt's; -1: none, and
 * the reason is in the note. */
static int allowed(ruled *r, const int32_t *ids, int32_t count, int32_t prompt) {
  const attn2c_history history = {ids, count, prompt, 60, attn2c_grammar_rule_of(r->rule)};
  int found = 0;
  for (int i = 0; i < 1000; i++) r->scores[i] = (float)i;
  const char *why = history.rule->apply(history.rule, &history, r->scores, 1000);
  snprintf(note, sizeof note, "%s", why ? why : "");
  for (int i = 0; i < 1000; i++) {
    found += r->scores[i] > -INFINITY;
    cr_assert(r->scores[i] == -INFINITY || r->scores[i] == (float)i);
  }
  cr_assert_eq(found == 0, why != NULL);
  return why ? -1 : found;
}

static int32_t token_of(const ruled *r, const char *bytes) {
  const vocabulary_pieces *p = &r->vocabulary->after;
  for (int32_t i = 0; i < 1000; i++)
    if (p->begins[i + 1] - p->begins[i] == strlen(bytes) &&
        memcmp(p->bytes + p->begins[i], bytes, strlen(bytes)) == 0)
      return i;
  cr_assert_fail("no token '%s'", bytes);
  return -1;
}

Test(rule, ends_and_what_is_after_them) {
  ruled r = open_rule("gpt2", "root ::= \"a\" (\"b\" \"a\")?", 0);
  int32_t ids[60] = {7, 8}, a = token_of(&r, "a"), b = token_of(&r, "b");
  cr_assert_eq(allowed(&r, ids, 2, 2), 1);
  cr_assert(r.scores[a] > 0);
  ids[2] = a;
  cr_assert_eq(allowed(&r, ids, 3, 2), 3); /* two ends */
  cr_assert(r.scores[0] == 0 && r.scores[1] == 1 && r.scores[b] > 0);
  ids[3] = b;
  cr_assert_eq(allowed(&r, ids, 4, 2), 1);
  ids[4] = 1;
  cr_assert_eq(allowed(&r, ids, 5, 2), -1); /* no text ends here */
  ids[3] = 1;
  cr_assert_eq(allowed(&r, ids, 4, 2), 2);
  ids[4] = 0;
  cr_assert_eq(allowed(&r, ids, 5, 2), 2);
  ids[5] = a;
  cr_assert_eq(allowed(&r, ids, 6, 2), -1);
  cr_assert_str_eq(note, "the answer's tokens do not fit the grammar");
  close_rule(&r);
}

Test(rule, no_token_goes_on) {
  ruled r = open_rule("llama_old", "root ::= \"a\" | \"\\U0010FFFD\"", 0);
  const int32_t ids[] = {7};
  cr_assert_eq(allowed(&r, ids, 1, 1), 1);
  close_rule(&r);
  r = open_rule("llama_old", "root ::= \"\\U0010FFFD\"", 0);
  cr_assert_eq(allowed(&r, ids, 1, 1), -1);
  cr_assert_str_eq(note, "no token of this model goes on as the grammar demands");
  close_rule(&r);
}

/* Words at the beginning of a text have no space, those after other text have one. */
Test(rule, the_first_token_of_a_text) {
  ruled r = open_rule("llama_old", "root ::= \"w\"+", 0);
  const int32_t special[] = {1}, text[] = {token_of(&r, "b")};
  const int32_t a = token_of(&r, "w"), spaced = token_of(&r, " w");
  allowed(&r, special, 1, 1);
  cr_assert(r.scores[a] > 0 && r.scores[spaced] > 0);
  allowed(&r, text, 1, 1);
  cr_assert(r.scores[a] > 0 && r.scores[spaced] == -INFINITY);
  const int32_t after[] = {1, spaced}, wrong[] = {text[0], spaced};
  allowed(&r, after, 2, 1);
  cr_assert(r.scores[a] > 0 && r.scores[spaced] == -INFINITY);
  cr_assert_eq(allowed(&r, wrong, 2, 1), -1);
  close_rule(&r);
}

/* Tokens are foreseen while a byte must follow: the longest ones, and none at the end of these bytes. */
Test(rule, foresees_what_must_follow) {
  ruled r = open_rule("gpt2", "root ::= [ab] \" and then the other\" \"s\"? [.,] \"the end\"", 0);
  const attn2c_rule *rule = attn2c_grammar_rule_of(r.rule);
  const vocabulary_pieces *p = &r.vocabulary->after;
  const int32_t text[] = {7}, a = token_of(&r, "a");
  const attn2c_history history = {.ids = text, .count = 1, .prompt = 1, .most = 60};
  int32_t ids[12];
  char said[40] = "";
  const int32_t count = rule->foresee(rule, &history, a, ids, 12);
  cr_assert(count > 1 && count < 12);
  for (int32_t i = 0; i < count; i++) {
    const uint32_t length = p->begins[ids[i] + 1] - p->begins[ids[i]];
    strncat(said, (const char *)p->bytes + p->begins[ids[i]], length);
  }
  cr_assert(strncmp(said, " and then the other", strlen(said)) == 0 && strlen(said) < 19, "%s", said);
  cr_assert_lt((size_t)count, strlen(said), "the longest tokens are taken");
  cr_assert_eq(rule->foresee(rule, &history, a, ids, 1), 1);
  cr_assert_eq(rule->foresee(rule, &history, token_of(&r, "c"), ids, 12), 0);
  close_rule(&r);
  r = open_rule("gpt2", "root ::= [ab]* \"the end\"", 0);
  rule = attn2c_grammar_rule_of(r.rule);
  cr_assert_eq(rule->foresee(rule, &history, token_of(&r, "b"), ids, 12), 0);
  cr_assert_eq(rule->foresee(rule, &history, token_of(&r, "t"), ids, 12) > 0, 1);
  close_rule(&r);
}

/* The tokens of nodes that read many bytes are found before the first step. */
Test(grammar, masks_that_are_prepared) {
  tokenizer t = open_golden("gpt2");
  attn2c_vocabulary *vocabulary;
  attn2c_grammar *grammar = grammar_of("root ::= \"'\" [^']{0,200} \"'\"");
  grammar_masks masks;
  cr_assert_eq(attn2c_vocabulary_create(t.text, 1000, "--grammar", &vocabulary, &message), ATTN2C_OK);
  cr_assert_eq(grammar_masks_create(&masks, grammar, vocabulary, 4 << 20), ATTN2C_OK);
  grammar_masks_prepare(&masks);
  uint32_t state = grammar_states_first(&masks.states);
  state = state_step(&masks.states, state, '\'');
  int known = 0;
  for (uint32_t i = 0; i < state_count(&masks.states, state); i++)
    known += masks.of_node[0][grammar->nodes[state_items(&masks.states, state)[i].node].like[0]] != 0;
  cr_assert_eq(known, 1, "the closing quote has a node of its own");
  compare(&masks, state, 0);
  grammar_masks_free(&masks);
  attn2c_vocabulary_free(vocabulary);
  attn2c_grammar_free(grammar);
  close_golden(&t);
}

/* A rule with little memory forgets all states but the answer's, and gives the same, also where no state
 * comes again: in a list of 80 items each has its own. */
Test(rule, memory) {
  static const struct {
    const char *grammar;
    size_t bytes, too_few;
  } rows[] = {{json, 3000, 40}, {"root ::= item{80}\nitem ::= \"a\" [bc]+ \"d\"", 700, 40}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ruled much = open_rule("gpt2", rows[i].grammar, 0),
          little = open_rule("gpt2", rows[i].grammar, rows[i].bytes),
          none = open_rule("gpt2", rows[i].grammar, rows[i].too_few);
    int32_t ids[2][60] = {{5}, {5}};
    uint64_t n = 0, seed = 3;
    for (int32_t count = 1; count < 60; count++)
      for (int k = 0; k < 2; k++) {
        int left = allowed(&much, ids[k], count, 1), token = -1;
        cr_assert(left > 0, "%s", note);
        cr_assert_eq(allowed(&little, ids[k], count, 1), left, "%s", note);
        cr_assert_arr_eq(little.scores, much.scores, sizeof much.scores);
        for (left = (int)DRAW((uint64_t)left) + 1; left > 0; left -= much.scores[token] > -INFINITY) token++;
        ids[k][count] = token;
      }
    cr_assert_eq(allowed(&none, ids[0], 1, 1), -1);
    cr_assert_str_eq(note, "the grammar needs more states than its memory has");
    close_rule(&much);
    close_rule(&little);
    close_rule(&none);
  }
}

Test(rule, tokenizers_whose_tokens_have_no_text_of_their_own) {
  tokenizer t = open_golden("suffix");
  attn2c_vocabulary *vocabulary;
  message = attn2c_message_make(note, sizeof note);
  cr_assert_eq(attn2c_vocabulary_create(t.text, 1000, "--grammar", &vocabulary, &message), ATTN2C_USAGE);
  cr_assert_str_eq(
      note, "--grammar: not supported for this tokenizer: the text of a token depends on those after it");
  close_golden(&t);
}
