/* checkpoint.c - finds and opens a checkpoint's files, and makes one list of their tensors. No file may be
 * outside the checkpoint's folder. */
#include "reading/checkpoint.h"
#include "formats/safetensors_index.h"
#include "reading/adapter.h"
#include "reading/coded.h"
#include "reading/kinds.h"
#include "system/system.h"

#include <errno.h>

enum { MOST_MODULES = 9, PREFIX = 72 };

typedef struct {
  attn2c_tensor_file *file;
  const attn2c_format *format;
  int first;           /* the number of its first tensor */
  char prefix[PREFIX]; /* of the tensor names: "2_Dense/", a module of sentence-transformers;
                          "sparse_linear."; "NAME/", an adapter */
} one_file;

struct attn2c_checkpoint {
  const attn2c_readers *readers;
  int file_count, count; /* files; tensors of all files */
  attn2c_coded *coded;   /* NULL: none */
  attn2c_merged *merged; /* NULL: no adapter changes its tensors */
  int shown_count;       /* tensors of the files that are no parts of coded ones */
  int *shown;            /* if there are coded tensors: the numbers of these */
  int *number;           /* and for each tensor of the files its number among them, or -1 */
  one_file files[];
};

/* A path of at most PATH_MAX bytes. */
typedef struct {
  char text[PATH_MAX];
} path_text;

static int join(const char *folder, const char *name, path_text *path) {
  return snprintf(path->text, sizeof path->text, "%s/%s", folder, name) < (int)sizeof path->text;
}

static attn2c_checkpoint *make(const attn2c_readers *readers, int files) {
  attn2c_checkpoint *made = calloc(1, sizeof *made + (size_t)files * sizeof made->files[0]);
  if (made) made->readers = readers, made->file_count = files;
  return made;
}

/* True if a folder's file is in the folder, all links followed. It may be in the store of Hugging Face's
 * cache that the folder belongs to: snapshots/REVISION/model.safetensors is a link to ../../blobs/HASH. */
static int is_within(const char *folder, const char *path) {
  path_text blobs, root, file;
  if (!attn2c_system_real_path(path, file.text)) return 1; /* the opening reports the fault */
  const char *places[] = {folder, blobs.text};
  if (!join(folder, "../../blobs", &blobs)) return 0;
  for (int i = 0; i < 2; i++) {
    if (!attn2c_system_real_path(places[i], root.text)) continue;
    const size_t length = strlen(root.text);
    if (strncmp(file.text, root.text, length) == 0 &&
        (file.text[length] == '/' || root.text[length - 1] == '/'))
      return 1;
  }
  return 0;
}

/* Replaces a fault of the format by a line that says what the file is, if that is known. `said`: the
 * message's length before the fault. */
static int say_kind(const char *path, size_t said, attn2c_message *message) {
  const char *kind = attn2c_kind_said(path);
  if (message && kind) message->used = said;
  if (kind) attn2c_say(message, "%s: %s", path, kind);
  return ATTN2C_FORMAT;
}

/* Finds the format of a file by its first bytes; *format is NULL if the model opens no such files. */
static int probe(const attn2c_checkpoint *checkpoint, const char *path, const attn2c_format **format,
                 attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_file_close) attn2c_file file = {.descriptor = -1};
  char start[4] = {0};
  int status = attn2c_file_open(path, &file, message);
  if (status) return status;
  if (file.size >= (int64_t)sizeof start) status = attn2c_file_read(&file, 0, start, sizeof start, message);
  *format = attn2c_format_of(checkpoint->readers->formats, start, sizeof start);
  return status;
}

/* Refuses a file, or bytes, of a format that the model does not open. */
static int say_format(const attn2c_checkpoint *checkpoint, const char *path, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_FORMAT, "%s: is not %s, and the model opens no other checkpoints", path,
                     checkpoint->readers->formats[0]->said);
}

/* Opens one file as number `number`; its tensors are numbered after the earlier files' tensors. */
static int open_one(attn2c_checkpoint *checkpoint, int number, const char *path, attn2c_message *message) {
  const size_t said = message ? message->used : 0;
  one_file *one = &checkpoint->files[number];
  ATTN2C_TRY(probe(checkpoint, path, &one->format, message));
  int status = one->format ? attn2c_tensor_file_open(one->format, path, &one->file, message)
                           : say_format(checkpoint, path, message);
  if (status == ATTN2C_FORMAT && !(one->format && one->format->magic)) return say_kind(path, said, message);
  if (status) return status;
  one->first = checkpoint->count;
  const int64_t count = (int64_t)checkpoint->count + one->file->count;
  if (count > INT_MAX) return attn2c_fail(message, ATTN2C_FORMAT, "%s: too many tensors", path);
  checkpoint->count = (int)count;
  return ATTN2C_OK;
}

static int open_in_folder(attn2c_checkpoint *checkpoint, int number, const char *folder, const char *name,
                          attn2c_message *message) {
  path_text path;
  if (!join(folder, name, &path)) return attn2c_fail(message, ATTN2C_IO, "%s: the path is too long", folder);
  if (!is_within(folder, path.text))
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: is a link that leads out of its folder", path.text);
  return open_one(checkpoint, number, path.text, message);
}

/* Checks that no tensor is in two files, or parts. */
static int check_names(const char *path, const attn2c_checkpoint *checkpoint, const char *of,
                       attn2c_message *message) {
  for (int i = 1; i < checkpoint->count; i++) {
    const char *name = attn2c_checkpoint_plain(checkpoint, i)->name;
    if (attn2c_checkpoint_find_plain(checkpoint, name) != i)
      return attn2c_fail(message, ATTN2C_FORMAT, "%s: \"%.100s\" is in two of its %s", path, name, of);
  }
  return ATTN2C_OK;
}

/* Checks that every tensor is in the file that the index names, and in no other. */
static int check_index(const char *path, const attn2c_safetensors_index *index,
                       const attn2c_checkpoint *checkpoint, attn2c_message *message) {
  for (int i = 0; i < index->entry_count; i++) {
    const attn2c_index_entry *entry = &index->entries[i];
    if (attn2c_tensor_file_find(checkpoint->files[entry->file].file, entry->tensor) < 0)
      return attn2c_fail(message, ATTN2C_FORMAT, "%s: \"%.100s\" is not in %s", path, entry->tensor,
                         index->files[entry->file]);
  }
  return check_names(path, checkpoint, "files", message);
}

static int open_files(const attn2c_readers *readers, const char *folder, const char *path,
                      const attn2c_safetensors_index *index, attn2c_checkpoint **checkpoint,
                      attn2c_message *message) {
  attn2c_checkpoint *made = make(readers, index->file_count);
  if (!made) return attn2c_file_no_memory(path, message);
  int status = ATTN2C_OK;
  for (int i = 0; i < index->file_count && !status; i++)
    status = open_in_folder(made, i, folder, index->files[i], message);
  if (!status) status = check_index(path, index, made, message);
  if (status)
    attn2c_checkpoint_close(made);
  else
    *checkpoint = made;
  return status;
}

static int open_index(const attn2c_readers *readers, const char *path, attn2c_checkpoint **checkpoint,
                      attn2c_message *message) {
  attn2c_safetensors_index index;
  path_text folder;
  const char *slash = attn2c_system_slash(path);
  const int length = slash ? (int)(slash - path) : 0;
  const size_t said = message ? message->used : 0;
  int status = attn2c_safetensors_index_read(path, &index, message);
  /* an index is JSON, so its own fault is reported */
  if (status == ATTN2C_FORMAT && !attn2c_kind_is_json(path)) return say_kind(path, said, message);
  if (status) return status;
  if (snprintf(folder.text, sizeof folder.text, "%.*s", length, path) >= (int)sizeof folder.text) {
    status = attn2c_fail(message, ATTN2C_IO, "%s: the path is too long", path);
  } else {
    if (!slash) strcpy(folder.text, ".");
    if (slash == path) strcpy(folder.text, "/");
    status = open_files(readers, folder.text, path, &index, checkpoint, message);
  }
  attn2c_safetensors_index_free(&index);
  return status;
}

static int open_single(const attn2c_readers *readers, const char *folder, const char *name,
                       attn2c_checkpoint **checkpoint, attn2c_message *message) {
  attn2c_checkpoint *made = make(readers, 1);
  if (!made) return attn2c_file_no_memory(name, message);
  const int status =
      folder ? open_in_folder(made, 0, folder, name, message) : open_one(made, 0, name, message);
  if (status)
    attn2c_checkpoint_close(made);
  else
    *checkpoint = made;
  return status;
}

enum { MODULE_NAME = 40 };

/* Kinds of modules of sentence-transformers that have tensors. */
static const char *const module_kinds[] = {"Dense", "LayerNorm"};

/* Linear layers of BGE-M3, in files of their names next to the model. */
static const char *const layers_of_tokens[] = {"sparse_linear", "colbert_linear"};
enum { LAYERS_OF_TOKENS = 2 };

/* Names of a model's files, the one to take first; every other one is the index of several files. */
static const char *const main_files[] = {"model.safetensors", "model.safetensors.index.json",
                                         "pytorch_model.bin", "pytorch_model.bin.index.json"};
enum { MAIN_FILES = 4 };

/* Returns the kind of the module that sentence-transformers adds after a model as module `number`, and writes
 * the name of its file; NULL: there is none with tensors. */
static const char *module_file(const char *folder, int number, char name[MODULE_NAME], path_text *path) {
  for (int i = 0; i < MAIN_FILES; i += 2)
    for (size_t k = 0; k < sizeof module_kinds / sizeof *module_kinds; k++) {
      snprintf(name, MODULE_NAME, "%d_%s/%s", number, module_kinds[k], main_files[i]);
      if (join(folder, name, path) && attn2c_system_exists(path->text)) return module_kinds[k];
    }
  return NULL;
}

/* Writes the name of file number `number` after the model, and the prefix of its tensors. 0: no such file. */
static int file_after(const char *folder, int number, char name[MODULE_NAME], char prefix[PREFIX]) {
  path_text path;
  if (number > MOST_MODULES) {
    snprintf(prefix, PREFIX, "%s.", layers_of_tokens[number - MOST_MODULES - 1]);
    for (int i = 0; i < 2; i++) {
      snprintf(name, MODULE_NAME, "%s%s", prefix, i ? "pt" : "safetensors");
      if (join(folder, name, &path) && attn2c_system_exists(path.text)) return 1;
    }
    return 0;
  }
  const char *kind = module_file(folder, number, name, &path);
  if (kind) snprintf(prefix, PREFIX, "%d_%s/", number, kind);
  return kind != NULL;
}

/* Adds the files after the model, if there are any: modules, and layers of tokens. */
static int open_modules(const char *folder, attn2c_checkpoint **checkpoint, attn2c_message *message) {
  char name[MODULE_NAME], prefix[PREFIX];
  int count = 0;
  for (int i = 1; i <= MOST_MODULES + LAYERS_OF_TOKENS; i++) count += file_after(folder, i, name, prefix);
  if (count == 0) return ATTN2C_OK;
  const int files = (*checkpoint)->file_count + count;
  attn2c_checkpoint *grown = realloc(*checkpoint, sizeof *grown + (size_t)files * sizeof grown->files[0]);
  if (!grown) return attn2c_file_no_memory(folder, message);
  *checkpoint = grown;
  for (int i = 1; i <= MOST_MODULES + LAYERS_OF_TOKENS; i++) {
    if (!file_after(folder, i, name, prefix)) continue;
    const int number = grown->file_count++;
    memset(&grown->files[number], 0, sizeof grown->files[number]);
    strcpy(grown->files[number].prefix, prefix);
    ATTN2C_TRY(open_in_folder(grown, number, folder, name, message));
  }
  return ATTN2C_OK;
}

static int open_main(const attn2c_readers *readers, const char *folder, attn2c_checkpoint **checkpoint,
                     attn2c_message *message) {
  path_text path;
  for (int i = 0; i < MAIN_FILES; i++) {
    if (!join(folder, main_files[i], &path) || !attn2c_system_exists(path.text)) continue;
    if (i % 2 == 0) return open_single(readers, folder, main_files[i], checkpoint, message);
    if (is_within(folder, path.text)) return open_index(readers, path.text, checkpoint, message);
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: is a link that leads out of its folder", path.text);
  }
  /* The name of a folder in itself is found only by who may look into it. */
  attn2c_about about;
  if (join(folder, ".", &path) && attn2c_system_about(path.text, 0, &about) != 0)
    return attn2c_fail(message, ATTN2C_IO, "%s: cannot be opened: %s", folder, strerror(errno));
  return attn2c_fail(message, ATTN2C_IO, "%s: the folder has none of %s, %s and %s", folder, main_files[0],
                     main_files[1], main_files[2]);
}

/* Folders in which a folder of sentence-transformers may hold the model; of several, that of documents. */
static const char *const inner_folders[] = {"0_Transformer", "document_0_Transformer",
                                            "document_0_MLMTransformer"};

static int open_folder(const attn2c_readers *readers, const char *folder, attn2c_checkpoint **checkpoint,
                       attn2c_message *message) {
  path_text main;
  int within = 0;
  for (size_t i = 0; i < sizeof inner_folders / sizeof *inner_folders && !within; i++)
    within = join(folder, inner_folders[i], &main) && attn2c_system_exists(main.text);
  int status = open_main(readers, within ? main.text : folder, checkpoint, message);
  if (!status) status = open_modules(folder, checkpoint, message);
  if (status) {
    attn2c_checkpoint_close(*checkpoint);
    *checkpoint = NULL;
  }
  return status;
}

enum { MOST_PARTS = 99999 };

/* Opens part `number` of a model, and checks that it is that part. */
static int open_part(attn2c_checkpoint *checkpoint, int number, int count, const char *first,
                     attn2c_message *message) {
  path_text path;
  if (!checkpoint->files[0].format->part(first, number, count, path.text, sizeof path.text))
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: is part 1 of %d, but its name does not end in -00001-of-%05d.gguf", first, count,
                       count);
  ATTN2C_TRY(open_one(checkpoint, number, path.text, message));
  const attn2c_split split = checkpoint->files[number].file->split;
  if (split.number == number && split.count == count) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_FORMAT, "%s: is not part %d of %d of %s", path.text, number + 1, count,
                     first);
}

/* Checks that no tensor is in two parts, and that none is missing. */
static int check_parts(const char *path, const attn2c_checkpoint *checkpoint, int64_t tensors,
                       attn2c_message *message) {
  if (tensors >= 0 && tensors != checkpoint->count)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: its parts have %d tensors, but %lld are expected", path,
                       checkpoint->count, (long long)tensors);
  return check_names(path, checkpoint, "parts", message);
}

/* Opens the other parts of a model, if the file at `path` is the first of several. */
static int open_parts(const char *path, attn2c_checkpoint **checkpoint, attn2c_message *message) {
  const attn2c_split split = (*checkpoint)->files[0].file->split;
  int status = ATTN2C_OK;
  if (split.number == 0 && split.count <= 1) return ATTN2C_OK;
  if (split.number != 0 || split.count > MOST_PARTS) {
    status = attn2c_fail(message, ATTN2C_FORMAT, "%s: is part %lld of %lld of a model: give the first part",
                         path, (long long)split.number + 1, (long long)split.count);
  } else {
    attn2c_checkpoint *grown =
        realloc(*checkpoint, sizeof *grown + (size_t)split.count * sizeof grown->files[0]);
    if (grown) {
      *checkpoint = grown;
      memset(grown->files + 1, 0, (size_t)(split.count - 1) * sizeof grown->files[0]);
      grown->file_count = (int)split.count;
    }
    status = grown ? ATTN2C_OK : attn2c_file_no_memory(path, message);
  }
  for (int i = 1; i < split.count && !status; i++)
    status = open_part(*checkpoint, i, (int)split.count, path, message);
  if (!status) status = check_parts(path, *checkpoint, split.tensors, message);
  if (!status) return ATTN2C_OK;
  attn2c_checkpoint_close(*checkpoint);
  *checkpoint = NULL;
  return status;
}

/* Adds the files of the adapters that are kept next to the weights. */
static int open_kept(attn2c_checkpoint **checkpoint, attn2c_message *message) {
  const attn2c_kept_adapter *kept = (*checkpoint)->readers->kept;
  int count = (*checkpoint)->file_count, status = ATTN2C_OK;
  for (int i = 0; kept && kept[i].prefix; i++) count++;
  if (count == (*checkpoint)->file_count) return ATTN2C_OK;
  attn2c_checkpoint *grown = realloc(*checkpoint, sizeof *grown + (size_t)count * sizeof grown->files[0]);
  if (!grown) return attn2c_say_no_memory(message);
  *checkpoint = grown;
  for (; kept->prefix && !status; kept++) {
    one_file *one = &grown->files[grown->file_count++];
    *one = (one_file){.format = kept->format, .first = grown->count};
    snprintf(one->prefix, PREFIX, "%s", kept->prefix);
    status = attn2c_tensor_file_open_memory(kept->format, kept->begin, (size_t)(kept->end - kept->begin),
                                            &one->file, message);
    if (!status) grown->count += one->file->count;
  }
  return status;
}

/* Returns the length of a name before its end, or -1 if it ends otherwise. */
static int base_length(const char *name, const char *end) {
  if (!end) return -1;
  const size_t length = strlen(name), rest = strlen(end);
  return length > rest && strcmp(name + length - rest, end) == 0 ? (int)(length - rest) : -1;
}

int attn2c_coded_part(attn2c_coded *coded, const attn2c_checkpoint *file, const char *name, int length,
                      const char *end, int is_needed, attn2c_message *message) {
  char whole[600];
  if (!end) return -1;
  const int bytes = snprintf(whole, sizeof whole, "%.*s%s", length, name, end);
  const int found = bytes < (int)sizeof whole ? attn2c_checkpoint_find_plain(file, whole) : -1;
  if (found < 0 && is_needed)
    attn2c_say(message, "%.*s%s: missing, but the tensor is one of %s", length, name, end,
               coded->coding->word);
  if (found >= 0) coded->is_part[found] = 1;
  return found;
}

static int compare_coded(const void *left, const void *right) {
  return strcmp(((const coded_tensor *)left)->tensor.name, ((const coded_tensor *)right)->tensor.name);
}

static void close_coded(attn2c_coded *coded) {
  if (!coded) return;
  for (int i = 0; i < 4; i++) free(coded->memory[i]);
  for (int i = 0; i < coded->count; i++) free((char *)(uintptr_t)coded->tensors[i].tensor.name);
  pthread_mutex_destroy(&coded->lock);
  ATTN2C_FREE(coded->tensors, coded->is_part, coded);
}

/* Adds the coded tensor that the files' tensor number `plain` begins. */
static int add_coded(attn2c_coded *coded, const attn2c_checkpoint *file, int plain, int length, int is_bytes,
                     attn2c_message *message) {
  const char *weight = coded->coding->weight;
  if (ATTN2C_MORE(coded->tensors, coded->count) != ATTN2C_OK) return attn2c_say_no_memory(message);
  coded_tensor *made = &coded->tensors[coded->count++];
  char *name = malloc((size_t)length + strlen(weight) + 1);
  *made = (coded_tensor){.tensor = {.name = name}, .packed = plain, .scales = -1, .zeros = -1, .order = -1};
  if (!name) return attn2c_say_no_memory(message);
  memcpy(name, attn2c_checkpoint_plain(file, plain)->name, (size_t)length);
  strcpy(name + length, weight);
  coded->is_part[plain] = 1;
  ATTN2C_TRY(coded->coding->reader->find(coded, file, made, length, is_bytes, message));
  const int other = attn2c_checkpoint_find_plain(file, name);
  if (other < 0 || other == plain) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_FORMAT, "%s: is in the file as numbers and as codes", name);
}

/* Finds the files' coded tensors. *coded NULL: none. */
static int find_coded(const attn2c_checkpoint *file, const attn2c_coding *coding, attn2c_coded **coded,
                      attn2c_message *message) {
  attn2c_coded *made = calloc(1, sizeof *made);
  if (!made) return attn2c_say_no_memory(message);
  pthread_mutex_init(&made->lock, NULL);
  made->coding = coding, made->held = -1, made->is_part = calloc((size_t)file->count + 1, 1);
  int status = made->is_part ? ATTN2C_OK : attn2c_say_no_memory(message);
  for (int i = 0; i < file->count && !status; i++) {
    const attn2c_file_tensor *tensor = attn2c_checkpoint_plain(file, i);
    const int packed = base_length(tensor->name, coding->packed);
    const int bytes = strcmp(tensor->type->name, "I8") == 0 ? base_length(tensor->name, coding->bytes) : -1;
    if (packed > 0 || bytes > 0)
      status = add_coded(made, file, i, packed > 0 ? packed : bytes, packed <= 0, message);
  }
  if (status || made->count == 0) {
    close_coded(made);
    return status;
  }
  qsort(made->tensors, (size_t)made->count, sizeof *made->tensors, compare_coded);
  *coded = made;
  return ATTN2C_OK;
}

/* Finds an open checkpoint's coded tensors, numbers the others, and opens adapters. A failure closes it. */
static int open_coded(attn2c_checkpoint **checkpoint, attn2c_message *message) {
  int status = open_kept(checkpoint, message);
  attn2c_checkpoint *made = *checkpoint;
  const attn2c_coding *coding = made->readers->coding;
  if (!status) status = coding ? find_coded(made, coding, &made->coded, message) : ATTN2C_OK;
  if (!status && made->coded) {
    made->shown = malloc(((size_t)made->count + 1) * sizeof *made->shown);
    made->number = malloc(((size_t)made->count + 1) * sizeof *made->number);
    if (!made->shown || !made->number) status = attn2c_file_no_memory("weights", message);
    for (int i = 0; i < made->count && !status; i++) {
      made->number[i] = made->coded->is_part[i] ? -1 : made->shown_count;
      if (made->number[i] >= 0) made->shown[made->shown_count++] = i;
    }
  }
  const attn2c_adapter *adapter = made->readers->adapter;
  if (!status && adapter) status = adapter->reader->open(made, adapter, &made->merged, message);
  if (!status) return ATTN2C_OK;
  attn2c_checkpoint_close(made);
  *checkpoint = NULL;
  return status;
}

static int open_path(const attn2c_readers *readers, const char *path, attn2c_checkpoint **checkpoint,
                     attn2c_message *message) {
  attn2c_about about;
  const size_t length = strlen(path);
  if (attn2c_system_about(path, 0, &about) == 0 && about.kind == ATTN2C_FOLDER)
    return open_folder(readers, path, checkpoint, message);
  if (length > 5 && strcmp(path + length - 5, ".json") == 0)
    return open_index(readers, path, checkpoint, message);
  const int status = open_single(readers, NULL, path, checkpoint, message);
  return status ? status : open_parts(path, checkpoint, message);
}

int attn2c_checkpoint_open(const char *path, const attn2c_readers *readers, attn2c_checkpoint **checkpoint,
                           attn2c_message *message) {
  *checkpoint = NULL;
  const int status = open_path(readers, path, checkpoint, message);
  return status ? status : open_coded(checkpoint, message);
}

int attn2c_checkpoint_open_memory(const void *bytes, size_t size, const attn2c_readers *readers,
                                  attn2c_checkpoint **checkpoint, attn2c_message *message) {
  static const char name[] = "weights in memory";
  *checkpoint = NULL;
  attn2c_checkpoint *made = make(readers, 1);
  if (!made) return attn2c_file_no_memory(name, message);
  one_file *one = &made->files[0];
  one->format = attn2c_format_of(readers->formats, bytes, size);
  int status = one->format ? attn2c_tensor_file_open_memory(one->format, bytes, size, &one->file, message)
                           : say_format(made, name, message);
  if (!status && one->file->split.count > 1)
    status = attn2c_fail(message, ATTN2C_FORMAT,
                         "%s: are one part of several of a model, which is not supported", name);
  if (status) {
    attn2c_checkpoint_close(made);
    return status;
  }
  made->count = one->file->count;
  *checkpoint = made;
  return open_coded(checkpoint, message);
}

void attn2c_checkpoint_close(attn2c_checkpoint *checkpoint) {
  if (!checkpoint) return;
  close_coded(checkpoint->coded);
  if (checkpoint->merged) checkpoint->readers->adapter->reader->close(checkpoint->merged);
  ATTN2C_FREE(checkpoint->shown, checkpoint->number);
  for (int i = 0; i < checkpoint->file_count; i++) attn2c_tensor_file_close(checkpoint->files[i].file);
  free(checkpoint);
}

const attn2c_readers *attn2c_checkpoint_readers(const attn2c_checkpoint *checkpoint) {
  return checkpoint->readers;
}

/* Tensors as the files have them. */

int attn2c_checkpoint_plain_count(const attn2c_checkpoint *checkpoint) { return checkpoint->count; }

/* Returns the file that tensor number `index` is in. */
static const one_file *file_of(const attn2c_checkpoint *checkpoint, int index) {
  int file = checkpoint->file_count - 1;
  while (file > 0 && checkpoint->files[file].first > index) file--;
  return &checkpoint->files[file];
}

const attn2c_tensor_file *attn2c_checkpoint_place(const attn2c_checkpoint *checkpoint, int plain, int *index,
                                                  const char **prefix) {
  const one_file *of = file_of(checkpoint, plain);
  *index = plain - of->first, *prefix = of->prefix;
  return of->file;
}

const attn2c_file_tensor *attn2c_checkpoint_plain(const attn2c_checkpoint *checkpoint, int index) {
  const one_file *of = file_of(checkpoint, index);
  return &of->file->tensors[index - of->first];
}

int attn2c_checkpoint_find_plain(const attn2c_checkpoint *checkpoint, const char *name) {
  for (int i = 0; i < checkpoint->file_count; i++) {
    const one_file *file = &checkpoint->files[i];
    const size_t length = strlen(file->prefix);
    if (strncmp(name, file->prefix, length) != 0) continue;
    const int found = attn2c_tensor_file_find(file->file, name + length);
    if (found >= 0) return file->first + found;
  }
  return -1;
}

int attn2c_checkpoint_plain_read(const attn2c_checkpoint *checkpoint, int index, int64_t first, int64_t count,
                                 float *values, attn2c_message *message) {
  const one_file *of = file_of(checkpoint, index);
  return attn2c_tensor_file_read(of->file, index - of->first, first, count, values, message);
}

int attn2c_checkpoint_bytes(const attn2c_checkpoint *checkpoint, int plain, int64_t offset, size_t bytes,
                            void *to, attn2c_message *message) {
  const one_file *of = file_of(checkpoint, plain);
  return attn2c_tensor_file_bytes(of->file, plain - of->first, offset, bytes, to, message);
}

/* Tensors as a model sees them. */

static const attn2c_coded_reader *reader_of(const attn2c_checkpoint *checkpoint) {
  return checkpoint->readers->coding->reader;
}

int attn2c_checkpoint_count(const attn2c_checkpoint *checkpoint) {
  return checkpoint->coded ? checkpoint->shown_count + checkpoint->coded->count : checkpoint->count;
}

/* True if a number is that of a coded tensor in groups. These come after all tensors. */
static int is_in_groups(const attn2c_checkpoint *checkpoint, int index) {
  return checkpoint->coded && index >= attn2c_checkpoint_count(checkpoint);
}

/* Returns the number of a tensor among the coded ones, or -1. */
static int coded_number(const attn2c_checkpoint *checkpoint, int index) {
  if (!checkpoint->coded || index < checkpoint->shown_count) return -1;
  return (index - checkpoint->shown_count) % checkpoint->coded->count;
}

int attn2c_checkpoint_in_groups(const attn2c_checkpoint *checkpoint, int index) {
  const int coded = coded_number(checkpoint, index);
  return coded < 0 ? index : attn2c_checkpoint_count(checkpoint) + coded;
}

int attn2c_checkpoint_order(const attn2c_checkpoint *checkpoint, int index, int64_t columns, int32_t *inputs,
                            attn2c_message *message) {
  const int coded = coded_number(checkpoint, index);
  if (coded >= 0 && checkpoint->coded->tensors[coded].tensor.shape[1] == columns)
    return reader_of(checkpoint)->order(checkpoint->coded, checkpoint, coded, inputs, message);
  for (int64_t i = 0; i < columns; i++) inputs[i] = (int32_t)i;
  return ATTN2C_OK;
}

int attn2c_checkpoint_coded(const attn2c_checkpoint *checkpoint, int coded, attn2c_coded_facts *facts,
                            attn2c_message *message) {
  return reader_of(checkpoint)->facts(checkpoint->coded, checkpoint, coded, facts, message);
}

/* Returns the number of a tensor that is not coded among the files' tensors. */
static int plain_number(const attn2c_checkpoint *checkpoint, int index) {
  return checkpoint->coded ? checkpoint->shown[index] : index;
}

int attn2c_checkpoint_plain_number(const attn2c_checkpoint *checkpoint, int index, int *coded) {
  *coded = coded_number(checkpoint, index);
  return *coded >= 0 ? -1 : plain_number(checkpoint, index);
}

const attn2c_file_tensor *attn2c_checkpoint_tensor(const attn2c_checkpoint *checkpoint, int index) {
  const int coded = coded_number(checkpoint, index);
  return coded >= 0 ? &checkpoint->coded->tensors[coded].tensor
                    : attn2c_checkpoint_plain(checkpoint, plain_number(checkpoint, index));
}

int attn2c_checkpoint_same(const attn2c_checkpoint *checkpoint, int a, int b, int *same,
                           attn2c_message *message) {
  enum { BLOCK = 1 << 12 }; /* on the stack, which may be small */
  char one[BLOCK], other[BLOCK];
  int coded;
  const int first = attn2c_checkpoint_plain_number(checkpoint, a, &coded);
  const int second = attn2c_checkpoint_plain_number(checkpoint, b, &coded);
  *same = a == b;
  if (*same || first < 0 || second < 0) return ATTN2C_OK;
  const attn2c_file_tensor *x = attn2c_checkpoint_plain(checkpoint, first);
  const attn2c_file_tensor *y = attn2c_checkpoint_plain(checkpoint, second);
  if (x->type != y->type || x->rank != y->rank || x->end - x->begin != y->end - y->begin ||
      memcmp(x->shape, y->shape, (size_t)x->rank * sizeof *x->shape) != 0)
    return ATTN2C_OK;
  *same = file_of(checkpoint, first)->file == file_of(checkpoint, second)->file && x->begin == y->begin;
  if (*same) return ATTN2C_OK;
  for (int64_t done = 0; done < x->end - x->begin; done += BLOCK) {
    const size_t some = (size_t)(x->end - x->begin - done < BLOCK ? x->end - x->begin - done : BLOCK);
    ATTN2C_TRY(attn2c_checkpoint_bytes(checkpoint, first, done, some, one, message));
    ATTN2C_TRY(attn2c_checkpoint_bytes(checkpoint, second, done, some, other, message));
    if (memcmp(one, other, some) != 0) return ATTN2C_OK;
  }
  *same = 1;
  return ATTN2C_OK;
}

int attn2c_checkpoint_find(const attn2c_checkpoint *checkpoint, const char *name) {
  const attn2c_coded *coded = checkpoint->coded;
  const coded_tensor wanted = {.tensor = {.name = name}};
  const coded_tensor *found =
      coded ? bsearch(&wanted, coded->tensors, (size_t)coded->count, sizeof *coded->tensors, compare_coded)
            : NULL;
  if (found) return checkpoint->shown_count + (int)(found - coded->tensors);
  const int plain = attn2c_checkpoint_find_plain(checkpoint, name);
  return coded && plain >= 0 ? checkpoint->number[plain] : plain;
}

/* True if the adapter changes a tensor of the files. */
static int is_changed(const attn2c_checkpoint *checkpoint, int plain) {
  return checkpoint->merged && checkpoint->readers->adapter->reader->changes(checkpoint->merged, plain);
}

int attn2c_checkpoint_read(const attn2c_checkpoint *checkpoint, int index, int64_t first, int64_t count,
                           float *values, attn2c_message *message) {
  const int coded = coded_number(checkpoint, index);
  const attn2c_file_tensor *tensor = attn2c_checkpoint_tensor(checkpoint, index);
  if (coded >= 0 && (first < 0 || count < 0 || first > tensor->elements || count > tensor->elements - first))
    return attn2c_fail(message, ATTN2C_FORMAT, "\"%s\": %lld elements from element %lld are beyond its %lld",
                       tensor->name, (long long)count, (long long)first, (long long)tensor->elements);
  if (coded >= 0)
    return reader_of(checkpoint)
        ->read(checkpoint->coded, checkpoint, coded, is_in_groups(checkpoint, index), first, count, values,
               message);
  const int plain = plain_number(checkpoint, index);
  const int status = attn2c_checkpoint_plain_read(checkpoint, plain, first, count, values, message);
  return status || !is_changed(checkpoint, plain)
             ? status
             : checkpoint->readers->adapter->reader->apply(checkpoint->merged, checkpoint, plain, first,
                                                           count, values, message);
}

int attn2c_checkpoint_has_blocks(const attn2c_checkpoint *checkpoint, int index, int64_t first, int64_t step,
                                 int64_t columns) {
  const attn2c_element_type *type = attn2c_checkpoint_tensor(checkpoint, index)->type;
  const int coded = coded_number(checkpoint, index);
  if (coded >= 0)
    return reader_of(checkpoint)
        ->has_blocks(checkpoint->coded, coded, is_in_groups(checkpoint, index), first, step, columns);
  return type->split && !is_changed(checkpoint, plain_number(checkpoint, index)) &&
         first % type->elements == 0 && step % type->elements == 0 && columns % type->elements == 0;
}

int attn2c_checkpoint_read_blocks(const attn2c_checkpoint *checkpoint, int index, int64_t first,
                                  int64_t count, attn2c_scale_block *blocks, attn2c_message *message) {
  const int coded = coded_number(checkpoint, index);
  if (coded >= 0)
    return reader_of(checkpoint)
        ->read_blocks(checkpoint->coded, checkpoint, coded, is_in_groups(checkpoint, index), first, count,
                      blocks, message);
  const int plain = plain_number(checkpoint, index);
  const one_file *of = file_of(checkpoint, plain);
  return attn2c_tensor_file_read_blocks(of->file, plain - of->first, first, count, blocks, message);
}
