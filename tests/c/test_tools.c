/* test_tools.c - calls of tools in the answers of a server's chats: each form of the table, read at once and
 * as it comes, what is no call, texts damaged at random, and the grammar of answers that must be calls. */
#include "program/serve/generate/tools.h"

#include "allows.h"
#include "generate/draw.h"
#include "long.h"

#define DRAW(limit) attn2c_draw_below(attn2c_draw_bits(11, n++), (limit))

#define TOOLS                                                                                                \
  "[{\"type\":\"function\",\"function\":{\"name\":\"add\",\"parameters\":{\"type\":\"object\","              \
  "\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}},\"required\":[\"a\"],\"$defs\":{\"n\":{\"type\":"         \
  "\"number\"}}}}},{\"type\":\"function\",\"function\":{\"name\":\"no-w.1\"}},{\"type\":\"function\","       \
  "\"function\":{\"name\":\"put\",\"parameters\":{\"type\":\"object\",\"properties\":{\"t\":{\"type\":"      \
  "\"string\"},\"n\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]},\"f\":{\"type\":\"boolean\"}," \
  "\"l\":{\"type\":\"array\"},\"e\":{\"enum\":[\"1\",\"x\"]},\"s\":{\"type\":[\"string\",\"integer\"]}},"    \
  "\"required\":[\"t\"]}}}]"

/* Returns the form of a template whose words are separated by '|'. */
static const attn2c_tool_form *form_of(const char *signs) {
  attn2c_chat_word words[4];
  attn2c_chat_template template = {.words = words};
  while (*signs) {
    const size_t length = strcspn(signs, "\v");
    words[template.word_count++] = (attn2c_chat_word){signs, (uint32_t)length};
    signs += length + (signs[length] != '\0');
  }
  return attn2c_tool_form_of(&template);
}

typedef struct {
  char content[1000], reasoning[1000];
  attn2c_tool_news news;
  attn2c_tool_place place;
} reading;

static void take(reading *r, const attn2c_tools *tools, const char *text, size_t length, int is_whole) {
  char *copy = malloc(length + 1);
  memcpy(copy, text, length);
  r->news.content = r->content, r->news.reasoning = r->reasoning;
  attn2c_tools_take(tools, 5, copy, length, is_whole, &r->place, &r->news);
  free(copy);
}

/* Returns "CONTENT|name arguments|...", with "{REASONING}" in front if there is some. */
static const char *shown(reading *r) {
  static char text[4000];
  const attn2c_tool_news *n = &r->news;
  size_t i, used = 0;
  json_t *call;
  if (n->reasoning_length > 0)
    used = (size_t)snprintf(text, sizeof text, "{%.*s}", (int)n->reasoning_length, n->reasoning);
  used += (size_t)snprintf(text + used, sizeof text - used, "%.*s", (int)n->content_length, n->content);
  json_array_foreach(n->calls, i, call) {
    const json_t *f = json_object_get(call, "function");
    used += (size_t)snprintf(text + used, sizeof text - used, "|%s %s",
                             json_string_value(json_object_get(f, "name")),
                             json_string_value(json_object_get(f, "arguments")));
    cr_assert_eq(json_string_length(json_object_get(call, "id")), 9);
  }
  json_decref(n->calls);
  return text;
}

static const char *read_whole(const attn2c_tools *tools, const char *text) {
  reading r = {.news = {.calls = json_array()}};
  take(&r, tools, text, strlen(text), 1);
  cr_assert_eq(r.place.at, strlen(text));
  return shown(&r);
}

/* Reads a text in pieces of drawn lengths, whose ends are ends of characters. */
static const char *read_pieces(const attn2c_tools *tools, const char *text, uint64_t most, uint64_t *draws) {
  const size_t length = strlen(text);
  reading r = {.news = {.calls = json_array()}};
  uint64_t n = *draws;
  for (size_t at = 0; at < length;) {
    at += 1 + (size_t)DRAW(most);
    if (at > length) at = length;
    while (((unsigned char)text[at] & 0xc0) == 0x80) at++;
    take(&r, tools, text, at, 0);
  }
  take(&r, tools, text, length, 1);
  *draws = n;
  return shown(&r);
}

#define HARMONY  "<|channel|>\v<|message|>"
#define CODER    "\n<tool_call>\n<function="
#define GLM      "\n<tool_call>\v<arg_key>"
#define GEMMA    "<|tool_call>call:"
#define PYTHON   "Use [func_name1(param1=value1)]."
#define LFM      "<|im_start|>\vList of tools: "
#define OLMO     "<function_calls>"
#define HERMES   "\n<tool_call>\n{\"name\": \""
#define MISTRAL  "[TOOL_CALLS] ["
#define LLAMA    "{\"name\": \"\v\"parameters\": "
#define DEEPSEEK "<｜tool▁call▁begin｜>\v```json"
#define ONE      "{\"name\": \"add\", \"arguments\": {\"a\": 1}}"
#define TWO      "{\"name\": \"no-w.1\", \"arguments\": {}}"
#define BOTH     "|add {\"a\":1}|no-w.1 {}"

static const struct {
  const char *signs, *text, *shown;
} cases[] = {
    {HERMES, "no call", "no call"},
    {HERMES, " a \n", " a \n"},
    {HERMES, "a <tool_cal", "a <tool_cal"},
    {HERMES, "<tool_call>\n" ONE "\n</tool_call>", "|add {\"a\":1}"},
    {HERMES, "Let me.\n\n<tool_call>\n" ONE "\n</tool_call>\n<tool_call>" TWO "</tool_call>\n",
     "Let me." BOTH},
    {HERMES, "<tool_call>\n" ONE "\n</tool_call>\nSo, é!", "So, é!|add {\"a\":1}"},
    {HERMES, "<tool_call>\n" ONE, "|add {\"a\":1}"},
    {HERMES, "<tool_call>[" ONE "," TWO "]</tool_call>", BOTH},
    {HERMES, "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1}",
     "<tool_call>\n{\"name\": \"add\", "
     "\"arguments\": {\"a\": 1}"},
    {HERMES, "a <tool_call>{\"name\": \"sub\"}</tool_call> b",
     "a <tool_call>{\"name\": \"sub\"}</tool_call> b"},
    {HERMES, "<tool_call>é" ONE "</tool_call>", "<tool_call>é" ONE "</tool_call>"},
    {HERMES, "<tool_call>{\"name\": 5}<tool_call>" ONE, "<tool_call>{\"name\": 5}|add {\"a\":1}"},
    {HERMES, "<tool_call>{\"name\": \"add\", \"arguments\": [1]}",
     "<tool_call>{\"name\": \"add\", \"arguments\": [1]}"},
    {HERMES, "<tool_call>{\"name\": \"add\"}</tool_call>", "|add {}"},
    {HERMES, "<tool_call>{\"name\": \"add\", \"arguments\": \"{\\\"a\\\": 0.1}\"}", "|add {\"a\":0.1}"},
    {HERMES, "<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": \"\\\"}</tool_call>\"}}</tool_call>",
     "|add {\"a\":\"\\\"}</tool_call>\"}"},
    {HERMES, "<tool_call>" ONE "," TWO "</tool_call>", "," TWO "</tool_call>|add {\"a\":1}"},
    {HERMES, "<tool_call>[]</tool_call>", "<tool_call>[]</tool_call>"},
    {MISTRAL, "[TOOL_CALLS] [" ONE ", " TWO "]", BOTH},
    {MISTRAL, "[TOOL_CALLS][" ONE ", {}]", "[TOOL_CALLS][" ONE ", {}]"},
    {MISTRAL "\v[ARGS]", "[TOOL_CALLS]add[ARGS]{\"a\": 1}[TOOL_CALLS]no-w.1[CALL_ID]abc123DEF[ARGS]{}", BOTH},
    {MISTRAL "\v[ARGS]", "[TOOL_CALLS]add{\"a\": 1}", "[TOOL_CALLS]add{\"a\": 1}"},
    {LLAMA, "{\"name\": \"add\", \"parameters\": {\"a\": 1}}", "|add {\"a\":1}"},
    {LLAMA, "\n<|python_tag|>{\"name\": \"add\", \"parameters\": {\"a\": 1}}; {\"name\": \"no-w.1\"}", BOTH},
    {LLAMA, "As JSON: {\"name\": \"add\"}", "As JSON: {\"name\": \"add\"}"},
    {LLAMA, "{\"name\": \"Ada\", \"age\": 36}", "{\"name\": \"Ada\", \"age\": 36}"},
    {LLAMA, "<|python_tag|>print(1)", "<|python_tag|>print(1)"},
    {DEEPSEEK,
     "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n{\"a\": "
     "1}\n```<｜tool▁call▁end｜>\n"
     "<｜tool▁call▁begin｜>function<｜tool▁sep｜>no-w.1\n```json\n{}\n```<｜tool▁call▁end｜><"
     "｜tool▁calls▁end｜>",
     BOTH},
    {"<｜tool▁call▁begin｜>",
     "So.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{\"a\": "
     "1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
     "So.|add {\"a\":1}"},
    {"<｜tool▁call▁begin｜>", "<｜tool▁calls▁begin｜> x", "<｜tool▁calls▁begin｜> x"},
    {"<|START_ACTION|>",
     "<|START_ACTION|>[\n {\"tool_call_id\": \"0\", \"tool_name\": \"add\", \"parameters\": {\"a\": 1}},\n"
     "{\"tool_name\": \"no-w.1\", \"parameters\": {}}]<|END_ACTION|>",
     BOTH},
    {"<|tool_call|>", "<|tool_call|>[" ONE "," TWO "]<|/tool_call|>", BOTH},
    {"x functools[{", "functools[" ONE ", " TWO "]", BOTH},
    {"<TOOLCALL>", "<TOOLCALL>[" ONE ", " TWO "]</TOOLCALL>", BOTH},
    {"<tool_calls>", "<tool_calls>[" ONE ", " TWO "]</tool_calls>", BOTH},
    {"<function_call>", "<function_call> " ONE "<function_call> " TWO, BOTH},
    {"<tool_call>[", "<tool_call>[" ONE ", " TWO "]", BOTH},
    {CODER,
     "So.\n\n<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>\n"
     "<tool_call>\n<function=no-w.1>\n</function>\n</tool_call>",
     "So." BOTH},
    {CODER,
     "<function=put>\n<parameter=t>\n a\n\n</parameter>\n<parameter=f>\nTrue\n</parameter>\n<parameter=l>\n"
     "[1, {'b': None}]\n</parameter>\n<parameter=n>null</parameter>\n</function>",
     "|put {\"t\":\" a\\n\",\"f\":true,\"l\":[1,{\"b\":null}],\"n\":null}"},
    {CODER,
     "<function=put>\n<parameter=t>\n5\n</parameter><parameter=e>1</parameter><parameter=s>1</parameter>"
     "<parameter=n>true</parameter><parameter=o>2.5</parameter></function>",
     "|put {\"t\":\"5\",\"e\":\"1\",\"s\":1,\"n\":\"true\",\"o\":2.5}"},
    {CODER, "<tool_call>\n<function=sub>\n</function>\n</tool_call>",
     "<tool_call>\n<function=sub>\n</function>\n</tool_call>"},
    {CODER, "<function=add>\n<parameter=a>\n1\n</parameter>\n",
     "<function=add>\n<parameter=a>\n1\n</parameter>\n"},
    {CODER, "<function=add>\n<parameter=a>1</parameter><parameter=a>2</parameter></function>",
     "<function=add>\n<parameter=a>1</parameter><parameter=a>2</parameter></function>"},
    {"<seed:tool_call>\v<function=",
     "<seed:tool_call>\n<function=put>\n<parameter=t>\na</parameter>\n</function>\n</seed:tool_call>",
     "|put {\"t\":\"\\na\"}"},
    {"<minimax:tool_call>",
     "a\n<minimax:tool_call>\n<invoke name=\"add\">\n<parameter name=\"a\">1</parameter>\n</invoke>\n"
     "<invoke name=\"no-w.1\">\n</invoke>\n</minimax:tool_call>",
     "a" BOTH},
    {GLM,
     "\n<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n<tool_call>no-w.1\n"
     "</tool_call>",
     BOTH},
    {GLM, "<tool_call>put<arg_key>t</arg_key><arg_value>a\n</arg_value></tool_call>",
     "|put {\"t\":\"a\\n\"}"},
    {GLM, "<tool_call>" ONE "</tool_call>", "<tool_call>" ONE "</tool_call>"},
    {GEMMA, "So.<|tool_call>call:add{a:1}<tool_call|><|tool_call>call:no-w.1{}<tool_call|>", "So." BOTH},
    {GEMMA,
     "<|tool_call>call:put{l:[{b:<|\"|>c}<|\"|>,d:-1.5e1}],t:<|\"|>a, \"b\"\n<|\"|>,f:true}<tool_call|>",
     "|put {\"l\":[{\"b\":\"c}\",\"d\":-15.0}],\"t\":\"a, \\\"b\\\"\\n\",\"f\":true}"},
    {GEMMA, "<|tool_call>call:put{t:<|\"|>a<tool_call|>", "<|tool_call>call:put{t:<|\"|>a<tool_call|>"},
    {"<start_function_call>call:", "<start_function_call>call:put{t:<escape>1<escape>}<end_function_call>",
     "|put {\"t\":\"1\"}"},
    {PYTHON, "[add(a=1), no-w.1()]", BOTH},
    {PYTHON, "<|python_start|>[add(a=\"1\"),no-w.1()]<|python_end|>", BOTH},
    {PYTHON, "[put(t='it\\'s \\u00e9\\ud83d\\ude00\\x41 \\q', n=None, l=[True, {\"b\": 'c'}],)]",
     "|put {\"t\":\"it's é😀A \\\\q\",\"n\":null,\"l\":[true,{\"b\":\"c\"}]}"},
    {PYTHON, "See [add(a=1)]", "See [add(a=1)]"},
    {PYTHON, "[put(s='5', o=\"null\", t='\"a\"', n='6', $x='y')]",
     "|put {\"s\":\"5\",\"o\":\"null\",\"t\":\"\\\"a\\\"\",\"n\":6,\"$x\":\"y\"}"},
    {PYTHON, "[1] is what [add says", "[1] is what [add says"},
    {PYTHON, "[add(a=1), add(b]", "[add(a=1), add(b]"},
    {PYTHON, "[add(a=1) no", "[add(a=1) no"},
    {PYTHON, "[add(1)]", "[add(1)]"},
    {PYTHON, "[add(a=1 a=2)]", "[add(a=1 a=2)]"},
    {LFM, "Now: <|tool_call_start|>[add(a=1), no-w.1()]<|tool_call_end|>Wait.", "Now:Wait." BOTH},
    {LFM, "Now: <|tool_call_start|>[" ONE ", " TWO "]<|tool_call_end|>Wait.", "Now:Wait." BOTH},
    {LFM, "<|tool_call_start|>" ONE "<|tool_call_end|>\n<|tool_call_start|>[no-w.1()]<|tool_call_end|>",
     BOTH},
    {LFM, "<|tool_call_start|>[" ONE ", {}]<|tool_call_end|>",
     "<|tool_call_start|>[" ONE ", {}]<|tool_call_end|>"},
    {LFM, "<|tool_call_start|>[" ONE, "<|tool_call_start|>[" ONE},
    {OLMO, "<function_calls>\nadd(a=1)\nno-w.1()\n</function_calls>", BOTH},
    {OLMO, "<function_calls>\nput(t='a', f=false)\n</function_calls>", "|put {\"t\":\"a\",\"f\":false}"},
    {HARMONY,
     "<|channel|>analysis<|message|>Hm <b>.<|end|><|start|>assistant<|channel|>commentary to=functions.add "
     "<|constrain|>json<|message|>{\"a\": 1}<|call|>",
     "{Hm <b>.}|add {\"a\":1}"},
    {HARMONY,
     " to=functions.no-w.1<|channel|>commentary json<|message|>{}<|call|><|start|>assistant<|channel|>final"
     "<|message|>So, a < b.<|return|>",
     "So, a < b.|no-w.1 {}"},
    {HARMONY, "<|channel|>final<|message|>Yes <|", "Yes <|"},
    {HARMONY, "Plain text.", "Plain text."},
    {HARMONY, "<|channel|>analysis", ""},
    {HARMONY, "<|channel|>commentary to=functions.sub<|message|>{}<|call|>", "{}"},
    {HARMONY, "<|channel|>commentary<|message|>First.<|end|><|start|>assistant<|channel|>final<|message|> b",
     "First. b"},
};

static attn2c_tools tools_of(const char *signs) {
  const attn2c_tools tools = {.form = form_of(signs), .list = json_loads(TOOLS, 0, NULL), .is_parallel = 1};
  cr_assert(tools.form && tools.list, "%s", signs);
  return tools;
}

Test(tools, forms) {
  uint64_t draws = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const attn2c_tools tools = tools_of(cases[i].signs);
    cr_expect_str_eq(read_whole(&tools, cases[i].text), cases[i].shown, "%s", cases[i].text);
    for (uint64_t most = 1; most < 40; most++)
      cr_assert_str_eq(read_pieces(&tools, cases[i].text, most, &draws), cases[i].shown, "%s", cases[i].text);
    json_decref(tools.list);
  }
}

Test(tools, forms_of_templates) {
  static const char *const none[] = {"", "[AVAILABLE_TOOLS]", "{\"name\": \"", "\"parameters\": "};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) cr_expect_null(form_of(none[i]), "%s", none[i]);
}

/* Without parallel calls, what follows the first is left out. */
Test(tools, one) {
  static const char *const texts[] = {"<tool_call>" ONE "</tool_call>\n<tool_call>" TWO "</tool_call>",
                                      "<tool_call>[" ONE "," TWO "]</tool_call> more", ("<tool_call>" ONE)};
  uint64_t draws = 0;
  attn2c_tools tools = tools_of(HERMES);
  tools.is_parallel = 0;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cr_expect_str_eq(read_whole(&tools, texts[i]), "|add {\"a\":1}");
    cr_expect_str_eq(read_pieces(&tools, texts[i], 3, &draws), "|add {\"a\":1}");
  }
  json_decref(tools.list);
}

/* Damaged texts: pieces give the same as the whole, and nothing is lost but calls and white space. */
Test(tools, damaged) {
  static const char *const pieces[] = {
      "<tool_call>", "</tool_call>", "{", "}",      "\"", "\\", " ", "\n", ONE, "é", "[", "'", ")",
      ",",           "a=",           "<", "<|end|>"};
  uint64_t n = 0, draws = 1 << 20;
  static const char *const signs[] = {
      HERMES, MISTRAL, LLAMA, MISTRAL "\v[ARGS]", DEEPSEEK, CODER, GLM, GEMMA, PYTHON, LFM, OLMO, HARMONY};
  enum { COUNT = sizeof signs / sizeof *signs };
  attn2c_tools all[COUNT];
  for (int i = 0; i < COUNT; i++) all[i] = tools_of(signs[i]);
  for (int i = 0; i < (is_long() ? 20000 : 5000); i++) {
    char text[1000];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", cases[DRAW(sizeof cases / sizeof *cases)].text),
           used = length;
    for (uint64_t changes = 1 + DRAW(4); changes > 0; changes--) {
      size_t at = (size_t)DRAW(length + 1);
      while (((unsigned char)text[at] & 0xc0) == 0x80) at--;
      const char *piece = pieces[DRAW(sizeof pieces / sizeof *pieces)];
      used = strlen(piece);
      memmove(text + at + used, text + at, length - at + 1);
      memcpy(text + at, piece, used);
      length += used;
    }
    const attn2c_tools *tools = &all[DRAW(COUNT)];
    char whole[4000];
    snprintf(whole, sizeof whole, "%s", read_whole(tools, text));
    cr_assert_str_eq(read_pieces(tools, text, 1 + DRAW(30), &draws), whole, "%s", text);
    if (!strchr(whole, '|') && !strchr(text, '|') && !tools->form->has_channels)
      cr_assert_str_eq(whole, text);
  }
  for (int i = 0; i < COUNT; i++) json_decref(all[i].list);
}

/* Answers of many beginnings without ends, and long calls that come in small pieces, are read in a time that
 * grows as they do. */
Test(tools, long_answers, .timeout = 60) {
  static const struct {
    const char *signs, *begin, *again, *end;
    int32_t calls;
  } texts[] = {
      {HERMES, "", "<tool_call>{\"a\": ", "", 0},
      {CODER, "", "<tool_call><function=put><parameter=t>", "", 0},
      {HERMES, "<tool_call>{\"name\": \"put\", \"arguments\": {\"t\": \"", "words [and", "\"}}</tool_call>",
       1},
      {PYTHON, "[put(t='", "words [and", "')]", 1},
      {GEMMA, "<|tool_call>call:put{t:<|\"|>", "words {and", "<|\"|>}<tool_call|>", 1},
      {HARMONY, "<|channel|>commentary to=functions.put<|message|>{\"t\":\"", "words <and", "\"}<|call|>", 1},
      {HERMES, "", "\n\n\n\n\n\n\n\n\n\n", "", 0}};
  enum { TIMES = 40000 };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const attn2c_tools tools = tools_of(texts[i].signs);
    const size_t width = strlen(texts[i].again), first = strlen(texts[i].begin), last = strlen(texts[i].end);
    const size_t length = first + TIMES * width + last;
    char *text = malloc(length + 1), *content = malloc(2 * length);
    memcpy(text, texts[i].begin, first);
    for (size_t k = 0; k < TIMES; k++) memcpy(text + first + k * width, texts[i].again, width);
    memcpy(text + length - last, texts[i].end, last + 1);
    attn2c_tool_place place = {0};
    attn2c_tool_news news = {.content = content, .reasoning = content + length, .calls = json_array()};
    for (size_t at = first; at < length; at += 5) attn2c_tools_take(&tools, 5, text, at, 0, &place, &news);
    attn2c_tools_take(&tools, 5, text, length, 1, &place, &news);
    cr_expect_eq(place.calls, texts[i].calls, "%s", texts[i].signs);
    cr_expect_eq(news.content_length, texts[i].calls ? 0 : length);
    json_decref(news.calls);
    json_decref(tools.list);
    free(content);
    free(text);
  }
}

/* Returns 1 if the grammar of required calls allows a text. */
static int allows(const attn2c_tools *tools, const char *text) {
  char note[500] = "", *written = NULL;
  attn2c_message message = attn2c_message_make(note, sizeof note);
  cr_assert_eq(attn2c_tools_grammar(tools, &written, &message), ATTN2C_OK, "%s", note);
  return grammar_allows(written, text, "tools");
}

/* Each text that the grammar allows is read as calls. */
Test(tools, required) {
  static const struct {
    const char *signs, *opening, *one, *both;
  } forms[] = {
      {HERMES, "<tool_call>", "\n" ONE "\n</tool_call>",
       "\n" ONE "\n</tool_call>\n<tool_call>\n" TWO "\n</tool_call>"},
      {MISTRAL, "[TOOL_CALLS]", " [" ONE "]", " [" ONE ", " TWO "]"},
      {MISTRAL "\v[ARGS]", "[TOOL_CALLS]", "add[ARGS]{\"a\": 1}",
       "add[ARGS]{\"a\": 1}[TOOL_CALLS]no-w.1[ARGS]{}"},
      {LLAMA, "", "{\"name\": \"add\", \"parameters\": {\"a\": 1}}", NULL},
      {DEEPSEEK, "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>",
       "add\n```json\n{\"a\": 1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
       "add\n```json\n{\"a\": "
       "1}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>no-w.1\n```json\n"
       "{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"},
      {CODER, "<tool_call>\n<function=", "add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
       "add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=no-w.1>"
       "\n</function>\n</tool_call>"},
      {"<minimax:tool_call>", "<minimax:tool_call>\n<invoke name=\"",
       "add\">\n<parameter name=\"a\">1</parameter>\n</invoke>\n</minimax:tool_call>",
       "add\">\n<parameter name=\"a\">1</parameter>\n</invoke>\n<invoke name=\"no-w.1\">\n</invoke>\n"
       "</minimax:tool_call>"},
      {GLM, "<tool_call>", "add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
       "add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n<tool_call>no-w.1\n</tool_call>"},
      {GEMMA, "<|tool_call>call:", "add{a:1}<tool_call|>",
       "add{a:1}<tool_call|><|tool_call>call:no-w.1{}<tool_call|>"},
      {PYTHON, "[", "add(a=1)]", "add(a=1), no-w.1()]"},
      {LFM, "<|tool_call_start|>[", "add(a=1)]<|tool_call_end|>", "add(a=1), no-w.1()]<|tool_call_end|>"},
      {OLMO, "<function_calls>", "\nadd(a=1)\n</function_calls>", "\nadd(a=1)\nno-w.1()\n</function_calls>"},
      {HARMONY, "<|channel|>commentary to=functions.", "add <|constrain|>json<|message|>{\"a\": 1}", NULL}};
  uint64_t draws = 0;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    attn2c_tools tools = tools_of(forms[i].signs);
    char opening[200];
    tools.is_forced = 1;
    cr_expect_str_eq(attn2c_tools_opening(&tools, opening, sizeof opening), forms[i].opening);
    cr_expect(allows(&tools, forms[i].one), "%s", forms[i].one);
    cr_expect_not(allows(&tools, "") || allows(&tools, "a"));
    cr_expect_str_eq(read_whole(&tools, forms[i].one), "|add {\"a\":1}", "%s", forms[i].one);
    cr_expect_str_eq(read_pieces(&tools, forms[i].one, 4, &draws), "|add {\"a\":1}");
    if (forms[i].both) cr_expect(allows(&tools, forms[i].both), "%s", forms[i].both);
    if (forms[i].both) cr_expect_str_eq(read_whole(&tools, forms[i].both), BOTH);
    tools.is_parallel = 0;
    cr_expect(allows(&tools, forms[i].one));
    if (forms[i].both) cr_expect_not(allows(&tools, forms[i].both));
    tools.only = "no-w.1";
    cr_expect_not(allows(&tools, forms[i].one));
    json_decref(tools.list);
  }
}

#define HUE(value) "hue>\n<parameter=$h>\n" value "\n</parameter>\n</function>\n</tool_call>"

/* Arguments that are no JSON: required ones come first, and texts are as they are. */
Test(tools, required_arguments) {
  static const struct {
    const char *signs, *text;
    int is_allowed;
    const char *shown;
  } texts[] = {
      {CODER,
       "put>\n<parameter=t>\na < "
       "b\"\n</parameter>\n<parameter=e>\nx\n</parameter>\n</function>\n</tool_call>",
       1, "|put {\"t\":\"a < b\\\"\",\"e\":\"x\"}"},
      {CODER,
       "put>\n<parameter=t>\n\n</parameter>\n<parameter=n>\nnull\n</parameter>\n<parameter=s>\n\"5\"\n"
       "</parameter>\n</function>\n</tool_call>",
       1, "|put {\"t\":\"\",\"n\":null,\"s\":\"5\"}"},
      {CODER, "put>\n<parameter=n>\n1\n</parameter>\n</function>\n</tool_call>", 0, NULL},
      {CODER,
       "put>\n<parameter=t>\na\n</parameter>\n<parameter=e>\ny\n</parameter>\n</function>\n</tool_call>", 0,
       NULL},
      {CODER,
       "put>\n<parameter=t>\na\n</parameter>\n<parameter=n>\nx\n</parameter>\n</function>\n</tool_call>", 0,
       NULL},
      {GEMMA, "put{t:<|\"|>a<|\"|>,f:true}<tool_call|>", 1, "|put {\"t\":\"a\",\"f\":true}"},
      {GEMMA, "put{f:true}<tool_call|>", 0, NULL},
      {PYTHON, "put(t=\"a\", n=5, l=[1,{}])]", 1, "|put {\"t\":\"a\",\"n\":5,\"l\":[1,{}]}"},
      {PYTHON, "put(t=5)]", 0, NULL},
      {PYTHON, "pick()]", 1, "|pick {}"},
      {PYTHON, "pick(b=1)]", 1, "|pick {\"b\":1}"},
      {PYTHON, "pick(a=true, b=1)]", 1, "|pick {\"a\":true,\"b\":1}"},
      {PYTHON, "pick(b=1, a=true)]", 0, NULL},
      {PYTHON, "pick(, b=1)]", 0, NULL},
      {PYTHON, "hue($h=\"red\")]", 1, "|hue {\"$h\":\"red\"}"},
      {CODER, HUE("red"), 1, "|hue {\"$h\":\"red\"}"},
      {CODER, HUE("blue"), 0, NULL},
      {GEMMA, "hue{$h:<|\"|>red<|\"|>,c:<|\"|>k<|\"|>}<tool_call|>", 1, "|hue {\"$h\":\"red\",\"c\":\"k\"}"},
      {GEMMA, "hue{$h:<|\"|>red<|\"|>,c:<|\"|>j<|\"|>}<tool_call|>", 0, NULL},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    attn2c_tools tools = tools_of(texts[i].signs);
    json_array_append_new(tools.list,
                          json_loads("{\"function\":{\"name\":\"pick\",\"parameters\":{\"properties\":{"
                                     "\"a\":{\"type\":\"boolean\"},\"b\":{\"type\":\"integer\"}}}}}",
                                     0, NULL));
    json_array_append_new(
        tools.list,
        json_loads(
            "{\"function\":{\"name\":\"hue\",\"parameters\":{\"properties\":{\"$h\":{\"$ref\":\"#/$defs/"
            "hue\"},"
            "\"c\":{\"type\":\"string\",\"const\":\"k\"}},\"required\":[\"$h\"],\"$defs\":{\"hue\":{\"type\":"
            "\"string\",\"enum\":[\"red\",\"green\"]}}}}}",
            0, NULL));
    tools.is_forced = 1;
    cr_expect_eq(allows(&tools, texts[i].text), texts[i].is_allowed, "%s", texts[i].text);
    if (texts[i].shown) cr_expect_str_eq(read_whole(&tools, texts[i].text), texts[i].shown);
    json_decref(tools.list);
  }
}

Test(tools, required_of_an_unsupported_schema) {
  static const struct {
    const char *signs, *parameters, *note;
  } faults[] = {
      {HERMES, "{\"properties\":{\"a\":{\"not\":{}}}}", "f: at /properties/a: not: is not supported"},
      {GLM, "{\"oneOf\":[]}", "f: oneOf: is not supported in this form of calls"},
      {GLM, "{\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"b\"}}}",
       "f: at /properties/a: pattern: is not supported in this form of calls"},
      {PYTHON, "{\"properties\":{\"a b\":{\"type\":\"string\"}}}",
       "f: at /properties/a b: its name: is not supported in this form of calls"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    char note[300] = "", *text = NULL;
    attn2c_message message = attn2c_message_make(note, sizeof note);
    const attn2c_tools tools = {.form = form_of(faults[i].signs),
                                .list = json_pack("[{s:{s:s, s:o}}]", "function", "name", "f", "parameters",
                                                  json_loads(faults[i].parameters, 0, NULL))};
    cr_expect_eq(attn2c_tools_grammar(&tools, &text, &message), ATTN2C_FORMAT);
    cr_expect_str_eq(note, faults[i].note);
    json_decref(tools.list);
  }
}

Test(tools, names) {
  static const char *const right[] = {"a", "get_weather-2.x"}, *const wrong[] = {"", "a b", "é", "a\"b",
                                                                                 "a\n"};
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) cr_expect(attn2c_tool_name(right[i]));
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) cr_expect_not(attn2c_tool_name(wrong[i]));
}
