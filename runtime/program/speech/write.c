/* write.c - writes what is said: as text, as lines or cues with times, or as JSON. */
#include "program/answers/json_line.h"
#include "program/answers/safe.h"
#include "program/output.h"
#include "program/sound/cues.h"
#include "program/speech/job.h"

/* Returns the seconds of a time in a window that begins at a row of a part. */
static double seconds(const attn2c_speech_part *part, int64_t row, int32_t time) {
  return part->begin + (double)(row / ATTN2C_TIMESTAMP_ROWS + time) / ATTN2C_TIMESTAMPS_A_SECOND;
}

static int write_json(attn2c_speech_job *job, const attn2c_heard *heard, const attn2c_segment *segment,
                      const attn2c_cue *cue) {
  json_t *object = attn2c_cue_json("text", cue), *ids = json_array();
  int failed = json_object_set_new(object, "audio", attn2c_json_text(job->name, strlen(job->name)));
  for (int32_t i = 0; i < segment->count; i++)
    failed |= json_array_append_new(ids, json_integer(heard->ids[segment->first + i]));
  failed |= json_object_set_new(object, "ids", ids);
  if (heard->language >= 0)
    failed |=
        json_object_set_new(object, "language", json_string(job->speech->languages[heard->language].code));
  failed |= json_object_set_new(object, "temperature", attn2c_json_number(heard->temperature));
  failed |= json_object_set_new(object, "score", attn2c_json_number(heard->score));
  failed |= json_object_set_new(object, "compression", attn2c_json_number(heard->compression));
  failed |= json_object_set_new(object, "silence", attn2c_json_number(heard->silence));
  return attn2c_json_line(object, failed, job->out);
}

/* Begins a line with the name of the sound. */
static void begin_line(attn2c_speech_job *job) {
  if (!job->has_names) return;
  attn2c_safe_write(job->name, strlen(job->name), job->out);
  fputc('\t', job->out);
}

/* Writes the text of a line as it comes. */
static void write_text(attn2c_speech_job *job, const attn2c_cue *cue) {
  size_t from = 0;
  if (job->written == 0) {
    begin_line(job);
    while (from < cue->length && cue->text[from] == ' ') from++;
  }
  attn2c_safe_write(cue->text + from, cue->length - from, job->out);
  job->written += cue->length;
}

int attn2c_speech_write(attn2c_speech_job *job, const attn2c_speech_part *part, const attn2c_heard *heard,
                        const attn2c_segment *segment, int64_t row, const attn2c_shown *shown) {
  const attn2c_answer_format format = job->options.format;
  attn2c_cue cue = {seconds(part, row, segment->begin), seconds(part, row, segment->end), shown->text,
                    shown->length};
  int status = ATTN2C_OK;
  if (format == ATTN2C_ANSWERS_TEXT && !job->options.is_timed) {
    write_text(job, &cue);
  } else {
    while (cue.length > 0 && *cue.text == ' ') cue.text++, cue.length--;
    if (format == ATTN2C_ANSWERS_JSONL)
      status = write_json(job, heard, segment, &cue);
    else
      attn2c_cue_write(format, &cue, ++job->cues, job->has_names ? job->name : NULL, job->out);
  }
  return status == ATTN2C_OK ? attn2c_output_flush(job->out, job->message) : status;
}

void attn2c_speech_end_line(attn2c_speech_job *job) {
  if (job->options.format != ATTN2C_ANSWERS_TEXT || job->options.is_timed) return;
  if (job->written == 0 && job->is_by_line) return;
  if (job->written == 0) begin_line(job);
  fputc('\n', job->out);
  job->written = 0;
}
