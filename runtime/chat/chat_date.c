/* chat_date.c - strftime_now: writes a date by a format of strftime, with the names of English. */
#include "chat/chat_calls.h"

#include <time.h>

static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};
static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                   "Thursday", "Friday", "Saturday"};

static int days_of(int year, int month) {
  static const int of[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const int is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return of[month] + (month == 1 && is_leap);
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
static int read_date(const char *text, struct tm *at) {
  size_t length = strlen(text);
  *at = (struct tm){0};
  if ((length != 10 && length != 19) || text[4] != '-' || text[7] != '-') return 0;
  const int year = number(text, 4), month = number(text + 5, 2) - 1;
  at->tm_year = year - 1900, at->tm_mon = month, at->tm_mday = number(text + 8, 2);
  if (length == 19) {
    if ((text[10] != 'T' && text[10] != ' ') || text[13] != ':' || text[16] != ':') return 0;
    at->tm_hour = number(text + 11, 2), at->tm_min = number(text + 14, 2), at->tm_sec = number(text + 17, 2);
  }
  if (year < 1 || month < 0 || month > 11 || at->tm_mday < 1 || at->tm_mday > days_of(year, month)) return 0;
  const long before = year - 1, all = before * 365 + before / 4 - before / 100 + before / 400;
  at->tm_yday = at->tm_mday - 1;
  for (int i = 0; i < month; i++) at->tm_yday += days_of(year, i);
  at->tm_wday = (int)((all + at->tm_yday + 1) % 7); /* 0001-01-01 was a Monday */
  return at->tm_hour >= 0 && at->tm_hour < 24 && at->tm_min >= 0 && at->tm_min < 60 && at->tm_sec >= 0 &&
         at->tm_sec < 60;
}

static int present(struct tm *at) {
  time_t seconds = time(NULL);
  if (seconds == (time_t)-1 || !localtime_r(&seconds, at)) return 0;
  if (at->tm_sec > 59) at->tm_sec = 59;
  return 1;
}

/* Writes one conversion. is_plain: numbers have no zeros or spaces before them (%-d). */
static int write_conversion(attn2c_chat_work *work, char letter, int is_plain, const struct tm *at) {
  const char *month = months[at->tm_mon], *day = days[at->tm_wday];
  const int year = at->tm_year + 1900;
  const char *one = "%d", *two = is_plain ? "%d" : "%02d", *spaced = is_plain ? "%d" : "%2d";
  const struct {
    char letter;
    const char *format;
    int numbers[3];
  } numbers[] = {{'Y', one, {year}},
                 {'y', two, {year % 100}},
                 {'m', two, {at->tm_mon + 1}},
                 {'d', two, {at->tm_mday}},
                 {'e', spaced, {at->tm_mday}},
                 {'H', two, {at->tm_hour}},
                 {'I', two, {at->tm_hour % 12 ? at->tm_hour % 12 : 12}},
                 {'M', two, {at->tm_min}},
                 {'S', two, {at->tm_sec}},
                 {'j', is_plain ? "%d" : "%03d", {at->tm_yday + 1}},
                 {'w', one, {at->tm_wday}},
                 {'u', one, {at->tm_wday ? at->tm_wday : 7}},
                 {'F', "%d-%02d-%02d", {year, at->tm_mon + 1, at->tm_mday}},
                 {'T', "%02d:%02d:%02d", {at->tm_hour, at->tm_min, at->tm_sec}},
                 {'R', "%02d:%02d", {at->tm_hour, at->tm_min}},
                 {'D', "%02d/%02d/%02d", {at->tm_mon + 1, at->tm_mday, year % 100}}};
  const struct {
    char letter;
    const char *word;
    size_t most; /* bytes */
  } words[] = {{'p', at->tm_hour < 12 ? "AM" : "PM", 2},
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
  struct tm at;
  size_t mark = work->output.length;
  if (format->kind != CHAT_STRING) return chat_refuse(work, "strftime_now takes a text");
  if (date ? !read_date(date, &at) : !present(&at))
    return chat_refuse(work, date ? "the date is not one such as 2026-11-23 or 2026-11-23T18:05:00"
                                  : "the time of this machine is not known");
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
