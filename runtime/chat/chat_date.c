/* chat_date.c - strftime_now: writes a date by a format of strftime, with the names of English. */
#include "chat/chat_calls.h"

#include <time.h>

static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};
static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                   "Thursday", "Friday", "Saturday"};

typedef struct chat_moment {
  int year, month, day, hour, minute, second, weekday, yearday; /* month and day from 1, others from 0 */
} chat_moment;

static int is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

static int days_of(int year, int month) {
  static const int of[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return of[month - 1] + (month == 2 && is_leap(year));
}

static int number(const char *text, int digits) {
  int value = 0;
  for (int i = 0; i < digits; i++) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + text[i] - '0';
  }
  return value;
}

/* Reads "2026-11-23", or the same with "T18:05:00". Returns 0 if it is no date. */
static int read_date(const char *text, chat_moment *at) {
  size_t length = strlen(text);
  *at = (chat_moment){0};
  if ((length != 10 && length != 19) || text[4] != '-' || text[7] != '-') return 0;
  at->year = number(text, 4), at->month = number(text + 5, 2), at->day = number(text + 8, 2);
  if (length == 19) {
    if ((text[10] != 'T' && text[10] != ' ') || text[13] != ':' || text[16] != ':') return 0;
    at->hour = number(text + 11, 2), at->minute = number(text + 14, 2), at->second = number(text + 17, 2);
  }
  return at->year >= 1 && at->month >= 1 && at->month <= 12 && at->day >= 1 &&
         at->day <= days_of(at->year, at->month) && at->hour >= 0 && at->hour < 24 && at->minute >= 0 &&
         at->minute < 60 && at->second >= 0 && at->second < 60;
}

static int present(chat_moment *at) {
  time_t seconds = time(NULL);
  struct tm local;
  if (seconds == (time_t)-1 || !localtime_r(&seconds, &local)) return 0;
  *at = (chat_moment){.year = local.tm_year + 1900,
                      .month = local.tm_mon + 1,
                      .day = local.tm_mday,
                      .hour = local.tm_hour,
                      .minute = local.tm_min,
                      .second = local.tm_sec > 59 ? 59 : local.tm_sec};
  return 1;
}

static void find_days(chat_moment *at) {
  long before = at->year - 1, all = before * 365 + before / 4 - before / 100 + before / 400;
  at->yearday = at->day - 1;
  for (int month = 1; month < at->month; month++) at->yearday += days_of(at->year, month);
  at->weekday = (int)((all + at->yearday + 1) % 7); /* 0001-01-01 was a Monday */
}

/* Writes one conversion. is_plain: numbers have no zeros or spaces before them (%-d). */
static int write_conversion(attn2c_chat_work *work, char letter, int is_plain, const chat_moment *at) {
  const char *month = months[at->month - 1], *day = days[at->weekday];
  const char *one = "%d", *two = is_plain ? "%d" : "%02d", *spaced = is_plain ? "%d" : "%2d";
  const struct {
    char letter;
    const char *format;
    int numbers[3];
  } numbers[] = {{'Y', one, {at->year}},
                 {'y', two, {at->year % 100}},
                 {'m', two, {at->month}},
                 {'d', two, {at->day}},
                 {'e', spaced, {at->day}},
                 {'H', two, {at->hour}},
                 {'I', two, {at->hour % 12 ? at->hour % 12 : 12}},
                 {'M', two, {at->minute}},
                 {'S', two, {at->second}},
                 {'j', is_plain ? "%d" : "%03d", {at->yearday + 1}},
                 {'w', one, {at->weekday}},
                 {'u', one, {at->weekday ? at->weekday : 7}},
                 {'F', "%d-%02d-%02d", {at->year, at->month, at->day}},
                 {'T', "%02d:%02d:%02d", {at->hour, at->minute, at->second}},
                 {'R', "%02d:%02d", {at->hour, at->minute}},
                 {'D', "%02d/%02d/%02d", {at->month, at->day, at->year % 100}}};
  const struct {
    char letter;
    const char *word;
    size_t most; /* bytes */
  } words[] = {{'p', at->hour < 12 ? "AM" : "PM", 2},
               {'B', month, SIZE_MAX},
               {'b', month, 3},
               {'h', month, 3},
               {'A', day, SIZE_MAX},
               {'a', day, 3},
               {'%', "%", 1},
               {'n', "\n", 1},
               {'t', "\t", 1}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    char text[64];
    const int *of = numbers[i].numbers;
    if (numbers[i].letter != letter) continue;
    snprintf(text, sizeof text, numbers[i].format, of[0], of[1], of[2]);
    return chat_write(work, text, strlen(text));
  }
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const size_t length = strlen(words[i].word);
    if (words[i].letter == letter)
      return chat_write(work, words[i].word, length < words[i].most ? length : words[i].most);
  }
  return chat_refuse(work, "strftime_now: a conversion of its format is not supported");
}

int chat_now(attn2c_chat_work *work, const chat_value *format, const char *date, chat_value *made) {
  chat_moment at;
  size_t mark = work->output.length;
  if (format->kind != CHAT_STRING) return chat_refuse(work, "strftime_now takes a text");
  if (date ? !read_date(date, &at) : !present(&at))
    return chat_refuse(work, date ? "the date is not one such as 2026-11-23 or 2026-11-23T18:05:00"
                                  : "the time of this machine is not known");
  find_days(&at);
  for (size_t i = 0; i < format->length; i++) {
    const char *text = format->as.text;
    if (text[i] != '%') {
      ATTN2C_TRY(chat_write(work, text + i, 1));
      continue;
    }
    int is_plain = i + 1 < format->length && text[i + 1] == '-';
    i += 1 + (size_t)is_plain;
    ATTN2C_TRY(write_conversion(work, i < format->length ? text[i] : 0, is_plain, &at));
  }
  return chat_take(work, mark, made);
}
