/* tool_forms.c - the known forms of calls of tools are a table; and the grammar of answers that must be
 * calls. */
#define _GNU_SOURCE
#include "program/grammar/schema.h"
#include "program/serve/generate/tool_parts.h"
#include "program/system.h"

/* LFM2 writes calls in JSON if its prompt asks for it. */
static const attn2c_tool_form lfm_json = {
    .begin = "<|tool_call_start|>", .end = "<|tool_call_end|>", .is_list = 1};

/* Parts that several forms share. */
#define IN_TAGS                                                                                              \
  .begin = "\n<function=", .middle = ">", .key = "<parameter=", .assign = ">", .value_end = "</parameter>",  \
  .end = "\n</function>"
#define IN_PYTHON .middle = "(", .assign = "=", .value_end = ")", .between = ", ", .is_list = 1
#define IN_BRACES .middle = "{", .assign = ":", .value_end = "}", .between = ","
#define IN_BLOCKS                                                                                            \
  .open = "<｜tool▁calls▁begin｜>", .close = "<｜tool▁calls▁end｜>", .is_block = 1, .takes_text = 1

/* A template has the first form whose signs are in it. */
static const attn2c_tool_form forms[] = {
    /* gpt-oss */
    {.signs = {"<|channel|>", "<|message|>"},
     .begin = "<|channel|>commentary to=functions.",
     .middle = " <|constrain|>json<|message|>",
     .end = "<|call|>",
     .shown = "<|start|><|end|><|return|>",
     .has_channels = 1},
    /* Seed-OSS, Qwen3-Coder and Nemotron 3, MiniMax M2, GLM 4.5 to 4.7 */
    {.signs = {"<seed:tool_call>"}, .open = "<seed:tool_call>", IN_TAGS, .close = "\n</seed:tool_call>"},
    {.signs = {"<function="}, .open = "<tool_call>", IN_TAGS, .close = "\n</tool_call>", .has_lines = 1},
    {.signs = {"<minimax:tool_call>"},
     .open = "<minimax:tool_call>",
     .begin = "\n<invoke name=\"",
     .middle = "\">",
     .key = "<parameter name=\"",
     .assign = "\">",
     .value_end = "</parameter>",
     .end = "\n</invoke>",
     .close = "\n</minimax:tool_call>",
     .is_block = 1},
    {.signs = {"<arg_key>"},
     .begin = "<tool_call>",
     .middle = "",
     .key = "<arg_key>",
     .assign = "</arg_key>\n<arg_value>",
     .value_end = "</arg_value>",
     .end = "\n</tool_call>"},
    /* Gemma 4, FunctionGemma */
    {.signs = {"<|tool_call>call:"},
     .begin = "<|tool_call>call:",
     IN_BRACES,
     .end = "<tool_call|>",
     .quote = "<|\"|>"},
    {.signs = {"<start_function_call>call:"},
     .begin = "<start_function_call>call:",
     IN_BRACES,
     .end = "<end_function_call>",
     .quote = "<escape>"},
    /* LFM2, OLMo 3, Llama 3.2 and 4 and Gemma 3 with calls in Python */
    {.signs = {"List of tools: ", "<|im_start|>"},
     .begin = "<|tool_call_start|>[",
     IN_PYTHON,
     .next = ", ",
     .end = "]<|tool_call_end|>",
     .also = &lfm_json},
    {.signs = {"<function_calls>"},
     .begin = "<function_calls>",
     .lead = "\n",
     IN_PYTHON,
     .next = "\n",
     .end = "\n</function_calls>"},
    {.signs = {"[func_name1("},
     .open = "<|python_start|>",
     .begin = "[",
     IN_PYTHON,
     .next = ", ",
     .end = "]",
     .close = "<|python_end|>",
     .is_first = 1},
    /* DeepSeek V3, R1 and its distilled models; V3.1 */
    {.signs = {"<｜tool▁call▁begin｜>", "```json"},
     .begin = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
     .middle = "\n```json\n",
     .end = "\n```<｜tool▁call▁end｜>",
     IN_BLOCKS},
    {.signs = {"<｜tool▁call▁begin｜>"},
     .begin = "<｜tool▁call▁begin｜>",
     .middle = "<｜tool▁sep｜>",
     .end = "<｜tool▁call▁end｜>",
     IN_BLOCKS},
    /* Mistral from v11 of its tokenizer on; before */
    {.signs = {"[TOOL_CALLS]", "[ARGS]"}, .begin = "[TOOL_CALLS]", .id = "[CALL_ID]", .middle = "[ARGS]"},
    {.signs = {"[TOOL_CALLS]"}, .begin = "[TOOL_CALLS]", .lead = " ", .is_list = 1},
    /* Command R7B */
    {.signs = {"<|START_ACTION|>"},
     .begin = "<|START_ACTION|>",
     .end = "<|END_ACTION|>",
     .name = "tool_name",
     .arguments = "parameters",
     .is_list = 1},
    /* Granite 3.2, Phi 4 mini, Nemotron, Jamba and Hunyuan, Granite 3.0 */
    {.signs = {"<|tool_call|>"}, .begin = "<|tool_call|>", .end = "<|/tool_call|>", .is_list = 1},
    {.signs = {"functools["}, .begin = "functools", .is_list = 1},
    {.signs = {"<TOOLCALL>"}, .begin = "<TOOLCALL>", .end = "</TOOLCALL>", .is_list = 1},
    {.signs = {"<tool_calls>"}, .begin = "<tool_calls>", .end = "</tool_calls>", .is_list = 1},
    {.signs = {"<tool_call>["}, .begin = "<tool_call>", .is_list = 1},
    /* Granite 20B, Hermes and Qwen, Llama 3.1 to 3.3 */
    {.signs = {"<function_call>"}, .begin = "<function_call>", .lead = " "},
    {.signs = {"<tool_call>"}, .begin = "<tool_call>", .end = "\n</tool_call>", .lead = "\n"},
    {.signs = {"{\"name\": ", "\"parameters\": "},
     .begin = "<|python_tag|>",
     .arguments = "parameters",
     .is_bare = 1},
};

static int has_text(const attn2c_chat_template *template, const char *text) {
  const size_t length = strlen(text);
  for (int32_t i = 0; i < template->word_count; i++)
    if (memmem(template->words[i].text, template->words[i].length, text, length)) return 1;
  return 0;
}

const attn2c_tool_form *attn2c_tool_form_of(const attn2c_chat_template *template) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    int count = 0;
    while (count < 2 && forms[i].signs[count] && has_text(template, forms[i].signs[count])) count++;
    if (count == 2 || !forms[i].signs[count]) return &forms[i];
  }
  return NULL;
}

int attn2c_tools_have(const attn2c_tools *tools, const char *text, size_t length) {
  const attn2c_tool_form *form = tools->form;
  const char *const all[] = {form->begin,  form->end, form->open,  form->close,
                             form->middle, form->id,  form->quote, form->shown};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i] && memmem(all[i], strlen(all[i]), text, length)) return 1;
  return 0;
}

const char *attn2c_tools_opening(const attn2c_tools *tools, char *buffer, size_t size) {
  const attn2c_tool_form *form = tools->form;
  const int is_there = tools->is_forced && !form->is_bare;
  snprintf(buffer, size, "%s%s", is_there && form->open && !form->is_first ? form->open : "",
           is_there ? form->begin : "");
  return buffer;
}

/* The grammar of required calls, while it is made. */
typedef struct {
  const attn2c_tool_form *form;
  schema_text call;
  attn2c_named_schema *schemas;
  size_t count;
  json_t *any;                  /* a schema for tools without one */
  const char *argument, *fault; /* that is not supported in this form; NULL: none */
} writing;

static void put_text(schema_text *to, const char *text) {
  if (text && *text) schema_put_literal(to, text, strlen(text));
}

/* Puts a value that a schema allows. */
static void put_schema(writing *w, const json_t *schema, const json_t *root, const char *name) {
  schema_put(&w->call, "schema%zu ", w->count);
  w->schemas[w->count++] = (attn2c_named_schema){schema, name, root};
}

/* Puts an argument, with `before` it. */
static void put_argument(writing *w, const json_t *parameters, const char *key, const json_t *schema,
                         const char *before, const char *tool) {
  const attn2c_tool_form *form = w->form;
  const tool_argument about = tool_argument_of(parameters, key);
  const char *line = form->has_lines ? "\n" : NULL, *end = key;
  const json_t *each;
  size_t i;
  while (*end && !tool_ends_key(form, *end)) end++;
  if (*end || end == key) w->argument = key, w->fault = "its name";
  if (form->key && about.other) w->argument = key, w->fault = about.other;
  put_text(&w->call, before);
  put_text(&w->call, form->key);
  put_text(&w->call, key);
  put_text(&w->call, form->assign);
  put_text(&w->call, line);
  if (about.is_text && (form->key || (form->quote && !about.other))) {
    put_text(&w->call, form->quote);
    schema_put(&w->call, about.values ? "(" : form->quote ? "[^<]* " : "([^<] | \"<\"+ [^/<])* ");
    json_array_foreach(about.values, i, each) {
      schema_put(&w->call, i ? " | " : " ");
      schema_put_literal(&w->call, json_string_value(each), json_string_length(each));
    }
    schema_put(&w->call, about.values ? ") " : "");
    put_text(&w->call, form->quote);
  } else {
    put_schema(w, schema, parameters, tool);
  }
  json_decref(about.values);
  put_text(&w->call, line);
  if (form->key) put_text(&w->call, form->value_end);
}

static int is_required(const json_t *parameters, const char *key) {
  size_t i;
  json_t *each;
  json_array_foreach(json_object_get(parameters, "required"), i,
                     each) if (json_is_string(each) && strcmp(json_string_value(each), key) == 0) return 1;
  return 0;
}

/* Puts the arguments that are not required, from number `first` on. */
static void put_others(writing *w, const json_t *parameters, size_t first, const char *before,
                       const char *tool) {
  size_t number = 0;
  const char *key;
  json_t *schema;
  json_object_foreach(json_object_get(parameters, "properties"), key, schema) {
    if (is_required(parameters, key) || number++ < first) continue;
    schema_put(&w->call, "(");
    put_argument(w, parameters, key, schema, before, tool);
    schema_put(&w->call, ")? ");
  }
}

/* Puts arguments that are no JSON: the required ones, then others, each at most once. */
static void put_arguments(writing *w, const json_t *parameters, const char *tool) {
  const char *before = w->form->key ? "\n" : w->form->between, *key;
  size_t number = 0;
  json_t *schema;
  json_object_foreach(json_object_get(parameters, "properties"), key, schema) {
    if (!is_required(parameters, key)) continue;
    put_argument(w, parameters, key, schema, number++ || w->form->key ? before : NULL, tool);
  }
  if (number > 0 || w->form->key) {
    put_others(w, parameters, 0, before, tool);
    return;
  }
  schema_put(&w->call, "(");
  json_object_foreach(json_object_get(parameters, "properties"), key, schema) {
    schema_put(&w->call, number ? "| " : "");
    put_argument(w, parameters, key, schema, NULL, tool);
    put_others(w, parameters, ++number, before, tool);
  }
  schema_put(&w->call, number ? ")? " : "\"\") ");
}

/* Returns a key of a tool's parameters that says what no form but JSON can be held to; NULL: there is none.
 */
static const char *unsupported(const json_t *parameters) {
  static const char *const known[] = {"type",  "properties", "required", "additionalProperties",
                                      "$defs", "definitions"};
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)parameters, key, value) {
    size_t i = 0;
    while (i < sizeof known / sizeof *known && strcmp(known[i], key) != 0) i++;
    if (i == sizeof known / sizeof *known && !schema_is_note(key)) return key;
  }
  return NULL;
}

/* Puts a call of a tool. */
static int put_call(writing *w, const char *name, const json_t *parameters, attn2c_message *message) {
  const attn2c_tool_form *form = w->form;
  const int is_own = form->assign != NULL;
  const char *fault = is_own ? unsupported(parameters) : NULL;
  if (fault)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: %s: is not supported in this form of calls", name, fault);
  if (form->middle) {
    put_text(&w->call, name);
    put_text(&w->call, form->middle);
    if (is_own)
      put_arguments(w, parameters, name);
    else
      put_schema(w, parameters, NULL, name);
    if (!form->key) put_text(&w->call, form->value_end);
    if (w->fault)
      return attn2c_fail(message, ATTN2C_FORMAT,
                         "%s: at /properties/%s: %s: is not supported in this form of calls", name,
                         w->argument, w->fault);
    return ATTN2C_OK;
  }
  schema_text head = {0};
  schema_put(&head, "{\"%s\": \"%s\", \"%s\": ", attn2c_tool_name_key(form), name,
             attn2c_tool_arguments_key(form));
  put_text(&w->call, head.bytes);
  w->call.failed |= head.failed;
  free(head.bytes);
  put_schema(w, parameters, NULL, name);
  schema_put(&w->call, "\"}\" ");
  return ATTN2C_OK;
}

/* Puts what is around calls. */
static void put_root(schema_text *root, const attn2c_tool_form *form, int is_parallel) {
  const int is_json_list = form->is_list && !form->assign;
  put_text(root, form->lead);
  schema_put(root, is_json_list ? "\"[\" call " : "call ");
  if (form->is_list && is_parallel) {
    schema_put(root, "(");
    put_text(root, is_json_list ? ", " : form->next);
    schema_put(root, "call)* ");
  }
  if (is_json_list) schema_put(root, "\"]\" ");
  if (is_json_list || form->has_channels) return;
  put_text(root, form->end);
  if (!form->is_block && !form->is_first) put_text(root, form->close);
  if (is_parallel && !form->is_bare && !form->is_list) {
    schema_put(root, "(\"\\n\"? ");
    if (!form->is_block) put_text(root, form->open);
    put_text(root, form->begin);
    put_text(root, form->lead);
    schema_put(root, "call ");
    put_text(root, form->end);
    if (!form->is_block) put_text(root, form->close);
    schema_put(root, ")* ");
  }
  if (form->is_block) put_text(root, form->close);
}

/* Returns the most schemas of a tool. Others may begin with each argument that is not required. */
static size_t most_schemas(const json_t *parameters) {
  const size_t count = json_object_size(json_object_get(parameters, "properties")) + 1;
  return count * count;
}

int attn2c_tools_grammar(const attn2c_tools *tools, char **text, attn2c_message *message) {
  size_t i, most = 0, count = 0;
  json_t *tool;
  json_array_foreach(tools->list, i, tool) most +=
      most_schemas(json_object_get(json_object_get(tool, "function"), "parameters"));
  writing w = {.form = tools->form,
               .schemas = calloc(most, sizeof *w.schemas),
               .any = json_pack("{s:s, s:{}}", "type", "object", "properties")};
  schema_text root = {0};
  int status = w.schemas && w.any ? ATTN2C_OK : ATTN2C_MEMORY;
  put_root(&root, tools->form, tools->is_parallel);
  json_array_foreach(tools->list, i, tool) {
    const json_t *function = json_object_get(tool, "function"),
                 *schema = json_object_get(function, "parameters");
    const char *name = json_string_value(json_object_get(function, "name"));
    if (status != ATTN2C_OK || (tools->only && strcmp(tools->only, name) != 0)) continue;
    const int is_none = !schema || json_is_null(schema) || json_object_size(schema) == 0;
    schema_put(&w.call, count++ ? "| " : "");
    status = put_call(&w, name, is_none ? w.any : schema, message);
  }
  schema_put(&root, "\ncall ::= %s", w.call.bytes ? w.call.bytes : "");
  if (root.failed || w.call.failed) status = ATTN2C_MEMORY;
  if (status == ATTN2C_OK) status = attn2c_schema_rules(w.schemas, w.count, root.bytes, text, message);
  ATTN2C_FREE(root.bytes, w.call.bytes, w.schemas);
  json_decref(w.any);
  return status;
}
