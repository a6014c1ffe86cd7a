/* test_chat.c - chat templates: what a caller gives and gets, faults, budgets, memory that runs out. The
 * texts that templates write are compared with transformers' in tests/spec/whole/chat_spec.lua. */
#include "faults.h"
#include "chat/chat_template.h"
#include "chat_templates.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static attn2c_chat_message message_of(const char *role, const char *content) {
  return (attn2c_chat_message){role, strlen(role), content, content ? strlen(content) : 0, NULL, 0};
}

/* A call with one message. Returns the status; `text` and `fault` receive what it gives. */
typedef struct call {
  attn2c_chat_work *work;
  const char *text;
  size_t length;
  char fault[256];
} call;

static int render(call *to, const attn2c_chat_template *template, const char *content,
                  const attn2c_chat_options *options) {
  const attn2c_chat_message message = message_of("user", content);
  return template->render(template, &to->work, &message, 1, options, &to->text, &to->length, to->fault,
                          sizeof to->fault);
}

static void expect_text(const call *made, const char *text) {
  cr_assert(made->length == strlen(text) && memcmp(made->text, text, made->length) == 0, "%.*s %s",
            (int)made->length, made->text, made->fault);
}

Test(chat, a_work_serves_one_call_after_the_other) {
  call made = {0};
  const attn2c_chat_message messages[] = {message_of("user", "hi"), message_of("assistant", NULL)};
  const attn2c_chat_options prompt = {.add_generation_prompt = 1};
  const attn2c_chat_template *plain = &plain_chat_template;
  for (int round = 0; round < 3; round++) {
    cr_assert_eq(render(&made, plain, "one", NULL), ATTN2C_OK);
    expect_text(&made, "<s>[user] one\n");
    cr_assert_eq(
        plain->render(plain, &made.work, messages, 2, &prompt, &made.text, &made.length, made.fault, 256),
        ATTN2C_OK);
    expect_text(&made, "<s>[user] hi\n[assistant] \n>");
    cr_assert_eq(render(&made, &raises_chat_template, "x", NULL), ATTN2C_FORMAT);
    cr_assert_eq(made.length, 0);
  }
  plain->release(made.work);
  plain->release(NULL);
}

Test(chat, flags_are_texts_booleans_and_integers) {
  call made = {0};
  attn2c_chat_value flags[] = {{"x", ATTN2C_CHAT_TEXT, "a\0b", 3, 0}, {"y", ATTN2C_CHAT_FLAG, NULL, 0, 1}};
  attn2c_chat_options options = {.flags = flags, .flag_count = 2};
  cr_assert_eq(render(&made, &plain_chat_template, "", &options), ATTN2C_OK);
  cr_assert(made.length == 17 && memcmp(made.text, "<s>[user] \na\0b1.5", 17) == 0);
  flags[0] = (attn2c_chat_value){"x", ATTN2C_CHAT_INTEGER, NULL, 0, INT64_MIN};
  flags[1] = (attn2c_chat_value){"bos_token", ATTN2C_CHAT_TEXT, "", 0, 0};
  cr_assert_eq(render(&made, &plain_chat_template, "", &options), ATTN2C_OK);
  expect_text(&made, "[user] \n-9223372036854775808");
  attn2c_chat_release(made.work);
}

Test(chat, malformed_text_counts_as_replacements) {
  call made = {0};
  attn2c_chat_value flag = {"x", ATTN2C_CHAT_TEXT, "\xc3", 1, 0};
  attn2c_chat_options options = {.flags = &flag, .flag_count = 1};
  cr_assert_eq(render(&made, &plain_chat_template, "a\xff\xe4\xb8 b\xf0\x9f\x98\x80", &options), ATTN2C_OK);
  expect_text(&made, "<s>[user] a\xef\xbf\xbd\xef\xbf\xbd b\xf0\x9f\x98\x80\n\xef\xbf\xbd");
  attn2c_chat_release(made.work);
}

Test(chat, values_of_callers_that_are_not_allowed_are_named) {
  static const char *const names[] = {"messages", "tools", "documents", "add_generation_prompt", "\xff"};
  call made = {0};
  for (size_t i = 0; i < 5; i++) {
    attn2c_chat_value flag = {names[i], ATTN2C_CHAT_TEXT, "x", 1, 0};
    attn2c_chat_options options = {.flags = &flag, .flag_count = 1};
    cr_assert_eq(render(&made, &plain_chat_template, "a", &options), ATTN2C_USAGE);
    cr_assert(i == 4 || strstr(made.fault, names[i]), "%s", made.fault);
  }
  attn2c_chat_value more = {"content", ATTN2C_CHAT_TEXT, "x", 1, 0};
  attn2c_chat_message message = message_of("user", "a");
  message.more = &more, message.more_count = 1;
  const attn2c_chat_template *plain = &plain_chat_template;
  cr_assert_eq(plain->render(plain, &made.work, &message, 1, NULL, &made.text, &made.length, made.fault, 256),
               ATTN2C_USAGE);
  cr_assert_str_eq(made.fault, "chat template, line 1: \"content\" is the name of another value");
  cr_assert_eq(plain->render(plain, &made.work, &message, 0, NULL, &made.text, &made.length, made.fault, 256),
               ATTN2C_USAGE);
  cr_assert_str_eq(made.fault, "chat template, line 1: a chat has at least one message");
  attn2c_chat_release(made.work);
}

Test(chat, a_refusal_is_one_line_that_a_terminal_shows) {
  call made = {0};
  cr_assert_eq(render(&made, &raises_chat_template, "on", NULL), ATTN2C_FORMAT);
  cr_assert_str_eq(made.fault, "chat template, line 2: no\\n\\u{1B}[31m way\\tto \\u{202E}go on");
  char longer[2000];
  memset(longer, 'x', sizeof longer);
  longer[sizeof longer - 1] = 0;
  cr_assert_eq(render(&made, &raises_chat_template, longer, NULL), ATTN2C_FORMAT);
  cr_assert_eq(strlen(made.fault), 255);
  const attn2c_chat_message message = message_of("user", "x");
  char small[30];
  memset(small, 1, sizeof small);
  for (size_t size = 0; size <= 29; size++) {
    cr_assert_eq(raises_chat_template.render(&raises_chat_template, &made.work, &message, 1, NULL, &made.text,
                                             &made.length, small, size),
                 ATTN2C_FORMAT);
    cr_assert(small[29] == 1 && (size == 0 || memchr(small, 0, size)), "%zu", size);
  }
  attn2c_chat_release(made.work);
}

Test(chat, what_grows_meets_a_budget, .timeout = 600) {
  static const struct {
    const attn2c_chat_template *template;
    const char *part;
  } cases[] = {{&doubles_chat_template, "the values of the template take more than"},
               {&lists_chat_template, "the values of the template take more than"},
               {&searches_chat_template, "steps for these messages"},
               {&writes_chat_template, "the text has more than"},
               {&recurs_chat_template, "more than 128 macros within each other"}};
  call made = {0};
  attn2c_chat_value depth = {"y", ATTN2C_CHAT_INTEGER, NULL, 0, 127};
  const attn2c_chat_options options = {.flags = &depth, .flag_count = 1};
  cr_assert_eq(render(&made, &recurs_chat_template, "x", &options), ATTN2C_OK, "%s", made.fault);
  depth.number = 128;
  for (size_t i = 0; i < 5; i++) {
    cr_assert_eq(render(&made, cases[i].template, "x", &options), ATTN2C_FORMAT, "%zu", i);
    cr_assert(strncmp(made.fault, "chat template, line 1: ", 23) == 0 && strstr(made.fault, cases[i].part),
              "%s", made.fault);
  }
  attn2c_chat_release(made.work);
}

Test(chat, values_within_each_other_are_limited) {
  call made = {0};
  for (int64_t which = 1; which <= 5; which++) {
    attn2c_chat_value flag = {"y", ATTN2C_CHAT_INTEGER, NULL, 0, which};
    attn2c_chat_options options = {.flags = &flag, .flag_count = 1};
    cr_assert_eq(render(&made, &deepens_chat_template, "x", &options), ATTN2C_FORMAT, "%d", (int)which);
    cr_assert(strstr(made.fault, which == 5 ? "a namespace cannot be written" : "values within each other"),
              "%s", made.fault);
  }
  attn2c_chat_release(made.work);
}

Test(chat, memory_that_runs_out_is_a_status) {
  static const char expected[] = "a:\xc3\x89;b:X;[1, 2.5]Hello[\n  \"a\",\n  \"b\",\n  \"c\"\n][3, 2, 1]1";
  long failures = 0;
  for (long nth = 1;; nth++) {
    call made = {0};
    faults_clear();
    faults_allocation(nth, 0);
    int status = render(&made, &works_chat_template, "hello", NULL);
    long met = faults_met();
    if (status == ATTN2C_OK) {
      cr_assert_eq(met, 0);
      expect_text(&made, expected);
      attn2c_chat_release(made.work);
      cr_assert_eq(faults_live_blocks(), 0);
      break;
    }
    failures++;
    cr_assert_eq(status, ATTN2C_MEMORY);
    cr_assert_str_eq(made.fault, attn2c_strerror(ATTN2C_MEMORY));
    faults_clear();
    cr_assert_eq(render(&made, &works_chat_template, "hello", NULL),
                 ATTN2C_OK); /* the work can be used again */
    expect_text(&made, expected);
    attn2c_chat_release(made.work);
  }
  cr_assert(failures >= 4, "%ld", failures);
}

Test(chat, dates_are_checked) {
  static const char *const bad[] = {"",
                                    "2026",
                                    "2026-13-01",
                                    "2026-00-10",
                                    "2026-02-29",
                                    "2026-1-01",
                                    "2026-11-23T24:00:00",
                                    "2026-11-23T10:60:00",
                                    "2026-11-23T",
                                    "0000-01-01",
                                    "2026-11-23T10:00:0x"};
  call made = {0};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    const attn2c_chat_options options = {.date = bad[i]};
    cr_assert_eq(render(&made, &dates_chat_template, "x", &options), ATTN2C_FORMAT, "%s", bad[i]);
    cr_assert(strstr(made.fault, "the date is not one such as 2026-11-23"), "%s", made.fault);
  }
  attn2c_chat_options options = {.date = "2024-02-29 23:59:58"};
  cr_assert_eq(render(&made, &dates_chat_template, "x", &options), ATTN2C_OK);
  expect_text(&made, "2024-02-29 23:59:58 Thursday 060");
  options.date = "1900-12-31";
  cr_assert_eq(render(&made, &dates_chat_template, "x", &options), ATTN2C_OK);
  expect_text(&made, "1900-12-31 00:00:00 Monday 365");
  cr_assert_eq(render(&made, &dates_chat_template, "x", NULL), ATTN2C_OK);
  cr_assert(made.length > 24 && made.text[4] == '-');
  attn2c_chat_release(made.work);
}
