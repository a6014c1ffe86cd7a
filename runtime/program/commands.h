/* commands.h - the commands that need only a program, its arguments and streams. Each returns any
 * attn2c_status, with one line a fault. */
#pragma once

#include "program/arguments.h"
#include "base/sound_facts.h"
#include "base/speech_facts.h"
#include "base/picture_facts.h"
#include "formats/place.h"

typedef struct json_t json_t; /* jansson.h has it */

/* Prints what a model is, from nothing but its descriptor: --licenses, --json or the table. The caller checks
 * the stream for errors. */
int attn2c_info_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                        attn2c_message *message);

/* Prints the notices that the licences of the linked libraries require. */
void attn2c_licenses(FILE *out);

/* Compares every tensor with the reference (check.h), on given or random inputs. ATTN2C_MISMATCH: not all. */
int attn2c_check_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                         attn2c_message *message);

/* Computes the outputs of the arguments' inputs, as `run` does, and compares each with the array that is
 * expected. Integers must be equal. A float may differ by the tolerance of the arguments or the model's,
 * times the root mean square of its array plus its own size. Rows that the inputs declare to be padding are
 * left out. Writes a report to `out`, and advice to `notes`. Returns ATTN2C_MISMATCH if an output differs. */
int attn2c_expect_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                          FILE *notes, attn2c_message *message);

/* Writes a model's weights in their layout in memory, or verifies such a file. */
int attn2c_pack_command(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out,
                        attn2c_message *message);

/* The command `run --text`: answers lines in their order, as they come; arrays of all at the end. */

struct attn2c_text_commands {
  attn2c_model_command *run;
};

/* `run --audio`: sounds are read, resampled, turned into features, computed and answered in their order. */

struct attn2c_sound_commands {
  int (*run)(const attn2c_descriptor *model, const attn2c_sound_facts *facts,
             const attn2c_arguments *arguments, FILE *out, FILE *notes, attn2c_message *message);
  /* True if a file is read as a sound, or would be if it existed. */
  int (*reads)(const attn2c_arguments *arguments, const attn2c_place *place);
};

/* `generate` of models that write down speech: windows of sound become segments of text. */

struct attn2c_speech_commands {
  attn2c_model_command *generate;
};

/* `run --image`: pictures are decoded, computed and answered in order; also of `generate --image`. */

/* The pictures of a command line, one after the other. */
typedef struct attn2c_pictures attn2c_pictures;

struct attn2c_picture_commands {
  int (*run)(const attn2c_descriptor *model, const attn2c_picture_facts *facts,
             const attn2c_arguments *arguments, FILE *out, FILE *notes, attn2c_message *message);
  /* Lists the pictures. The caller closes them in every case. */
  int (*open)(const attn2c_picture_facts *facts, const attn2c_arguments *arguments, attn2c_pictures **made,
              attn2c_message *message);
  void (*close)(attn2c_pictures *pictures);
  /* True if a file is read as a picture, or would be if it existed. */
  int (*reads)(const attn2c_arguments *arguments, const attn2c_place *place);
  /* True if answers have the names of their pictures. */
  int (*are_several)(const attn2c_pictures *pictures);
  /* Reads the next picture. Sets *image to the input that it has become, until the next one is read, or to
   * NULL after the last, and *name to its name. */
  int (*next)(attn2c_pictures *pictures, const float **image, const char **name, attn2c_message *message);
  /* Writes the input that the bytes of a file become. Returns ATTN2C_OK, _FORMAT or _MEMORY, with the reason.
   */
  int (*make)(const attn2c_picture_facts *facts, const uint8_t *bytes, size_t size, float *image,
              int32_t shape[2], char *fault);
  void (*write_name)(const char *name, FILE *out);
  json_t *(*json_name)(const char *text, size_t length);
};
