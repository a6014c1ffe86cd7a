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
      {"root ::= \"x\" a\na ::= b a\nb ::= \"y\"?",
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
static void draw_texts(const char *golden, const char *text, uint64_t seed) {
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
    for (int k = 0; k < 12; k++) {
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
    draw_texts(goldens[i], json, i);
    draw_texts(goldens[i],
               "root ::= [ A-Za-z.,]* | \"\xe2\x82\xac\" | line{1,3}\nline ::= \" \"? [^\\n]+ \"\\n\"",
               i + 100);
    draw_texts(goldens[i], "root ::= \"a\" root | root-2 root \"b\" | \"\"\nroot-2 ::= [a-z\xc3\xa4 ]",
               i + 200);
  }
}
