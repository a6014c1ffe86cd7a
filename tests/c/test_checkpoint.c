/* test_checkpoint.c - where a checkpoint's files are found and where not, and boxes of its tensors
 * as rows of weights, against the same boxes element by element. */
#define _DEFAULT_SOURCE
#include "readers.h"
#include "faults.h"
#include "safetensors_write.h"
#include "scratch.h"
#include "weights/weights.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 90, COLUMNS = 70 };

static const attn2c_tensor tensors[] = {
    {.name = "w", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {ROWS, COLUMNS}}};
static const char *first_names[] = {"first", NULL}, *const second_names[] = {"second", NULL};
static const attn2c_stored stored[] = {{.names = first_names, .rank = 2, .shape = {200, 200}},
                                       {.names = second_names, .rank = 2, .shape = {-1, 200}}};

static char text[4096];
static float values[2][200 * 200], got[ROWS * COLUMNS + 1], whole[ROWS * COLUMNS];

static void make_values(void) {
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < 200 * 200; i++) values[t][i] = (float)(i % 9973) + 0.25f * (float)t;
}

/* Writes some of the tensors (a set of bits) as a file. */
static void write_file(const char *path, int which) {
  static const int64_t shape[] = {200, 200};
  safetensors_item items[2];
  int count = 0;
  if (which & 1) items[count++] = (safetensors_item){"first", 2, shape, values[0]};
  if (which & 2) items[count++] = (safetensors_item){"second", 2, shape, values[1]};
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(safetensors_write(path, items, count, &message), ATTN2C_OK, "%s", text);
}

static char folder[4000];

static void make_folder(void) {
  scratch_open();
  make_values();
  snprintf(folder, sizeof folder, "%s", scratch_path("folder"));
  cr_assert_eq(mkdir(folder, 0700), 0);
}

static const char *in_folder(const char *name) {
  static char path[4100];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void remove_folder(void) {
  static const char *const names[] = {
      "model.safetensors", "model.safetensors.index.json", "a.safetensors", "b.safetensors",
      "pytorch_model.bin", "2_Dense/model.safetensors",    "2_Dense"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove(in_folder(names[i]));
  rmdir(folder);
  scratch_close();
}

TestSuite(checkpoint, .init = make_folder, .fini = remove_folder);

static const char *made_from; /* the folder that the model was built from, or NULL */

static int open_model(const char *path, const attn2c_view *views, int count, attn2c_source **source) {
  static attn2c_weight weight;
  static attn2c_descriptor model;
  weight = (attn2c_weight){.view_count = count, .random_deviation = 1};
  model = (attn2c_descriptor){.readers = &all_readers,
                              .checkpoint = made_from,
                              .tensors = tensors,
                              .weights = &weight,
                              .stored = stored,
                              .views = views,
                              .tensor_count = 1,
                              .weight_count = 1,
                              .stored_count = 2};
  attn2c_message message = attn2c_message_make(text, sizeof text);
  return attn2c_source_file(path, &model, source, &message);
}

/* The definition. */
static void expect(const attn2c_view *views, int count, float *want) {
  memset(want, 0, sizeof whole);
  for (int v = 0; v < count; v++)
    for (int64_t i = 0; i < views[v].rows; i++)
      for (int64_t j = 0; j < views[v].columns; j++) {
        float *to = &want[(views[v].row + i) * COLUMNS + views[v].column + j];
        const float from =
            values[views[v].stored][views[v].first + i * views[v].row_step + j * views[v].column_step];
        const float one = views[v].flags & ATTN2C_VIEW_PLUS_ONE ? 1 : 0;
        *to = (views[v].flags & ATTN2C_VIEW_ADDED ? *to : 0) + (float)views[v].factor * (from + one);
      }
}

static void check_views(const attn2c_view *views, int count, const char *what) {
  attn2c_source *source;
  static const int64_t pieces[] = {ROWS, 1, 7, 64};
  write_file(in_folder("model.safetensors"), 3);
  expect(views, count, whole);
  cr_assert_eq(open_model(folder, views, count, &source), ATTN2C_OK, "%s: %s", what, text);
  for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
    attn2c_message message = attn2c_message_make(text, sizeof text);
    memset(got, 0xff, sizeof got);
    for (int64_t row = 0; row < ROWS; row += pieces[p]) {
      const int64_t rows = ROWS - row < pieces[p] ? ROWS - row : pieces[p];
      cr_assert_eq(attn2c_source_read_rows(source, 0, row, rows, got + row * COLUMNS, &message), ATTN2C_OK,
                   "%s", text);
    }
    for (int i = 0; i < ROWS * COLUMNS; i++)
      cr_assert_eq(got[i], whole[i], "%s, %lld rows at a time: element %d is %g, not %g", what,
                   (long long)pieces[p], i, got[i], whole[i]);
  }
  attn2c_source_close(source);
}

#define BOX(row_, rows_, column_, columns_, first_, row_step_, column_step_)                                 \
  .row = row_, .rows = rows_, .column = column_, .columns = columns_, .first = first_,                       \
  .row_step = row_step_, .column_step = column_step_

Test(checkpoint, boxes_are_what_they_say) {
  const attn2c_view slice[] = {{BOX(0, ROWS, 0, COLUMNS, 10 * 200 + 3, 200, 1), .factor = 1}};
  check_views(slice, 1, "a slice");
  const attn2c_view turned[] = {{BOX(0, ROWS, 0, COLUMNS, 5, 1, 200), .factor = 1}};
  check_views(turned, 1, "a transposition");
  const attn2c_view pairs[] = {{BOX(0, 45, 0, COLUMNS, 0, 400, 1), .factor = 1},
                               {BOX(45, 45, 0, COLUMNS, 200, 400, 1), .factor = 1}};
  check_views(pairs, 2, "pairs to halves");
  const attn2c_view turned_pairs[] = {{BOX(0, 45, 0, COLUMNS, 0, 2, 200), .factor = 1},
                                      {BOX(45, 45, 0, COLUMNS, 1, 2, 200), .factor = 0.5}};
  check_views(turned_pairs, 2, "transposed pairs, one half of them scaled");
  const attn2c_view sum[] = {
      {BOX(0, ROWS, 0, COLUMNS, 0, 200, 1), .factor = 2},
      {BOX(0, ROWS, 0, COLUMNS, 400, 0, 1), .factor = 0.5, .stored = 1, .flags = ATTN2C_VIEW_ADDED}};
  check_views(sum, 2, "a table and one row of another");
  const attn2c_view beside[] = {{BOX(0, ROWS, 0, 30, 0, 200, 1), .factor = 1},
                                {BOX(0, ROWS, 30, 40, 7, 1, 200), .factor = 1, .stored = 1}};
  check_views(beside, 2, "two side by side, the second transposed");
  const attn2c_view turned_sum[] = {
      {BOX(0, ROWS, 0, COLUMNS, 0, 1, 200), .factor = 1},
      {BOX(0, ROWS, 0, COLUMNS, 9, 1, 200), .factor = 1, .stored = 1, .flags = ATTN2C_VIEW_ADDED}};
  check_views(turned_sum, 2, "a sum of two transpositions");
  const attn2c_view ones[] = {
      {BOX(0, 45, 0, COLUMNS, 0, 200, 1), .factor = 1, .flags = ATTN2C_VIEW_PLUS_ONE},
      {BOX(45, 45, 0, COLUMNS, 0, 1, 200), .factor = 0.5, .flags = ATTN2C_VIEW_PLUS_ONE},
      {BOX(0, ROWS, 0, COLUMNS, 0, 200, 1), .factor = 2, .flags = ATTN2C_VIEW_ADDED | ATTN2C_VIEW_PLUS_ONE}};
  check_views(ones, 3, "numbers plus one, before the factor");
}

static const attn2c_view plain[] = {{BOX(0, ROWS, 0, COLUMNS, 0, 200, 1), .factor = 1}};

static void refuse(const char *path, int status, const char *said) {
  attn2c_source *source;
  text[0] = '\0';
  cr_assert_eq(open_model(path, plain, 1, &source), status, "%s: %s", path, text);
  cr_assert_null(source);
  cr_assert_not_null(strstr(text, said), "%s", text);
}

static void accept(const char *path) {
  attn2c_source *source;
  cr_assert_eq(open_model(path, plain, 1, &source), ATTN2C_OK, "%s", text);
  attn2c_source_close(source);
}

static void write_index(const char *json) {
  scratch_put(in_folder("model.safetensors.index.json"), json, strlen(json));
}

Test(checkpoint, a_view_beyond_its_tensor) {
  const attn2c_view beyond[] = {
      {BOX(0, ROWS, 0, COLUMNS, 0, 200, 1), .factor = 1},
      {BOX(0, ROWS, 0, COLUMNS, 200 * 200, 0, 1), .factor = 1, .stored = 1, .flags = ATTN2C_VIEW_ADDED}};
  attn2c_source *source;
  write_file(in_folder("model.safetensors"), 3);
  cr_assert_eq(open_model(folder, beyond, 2, &source), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(text, "second: shape [200, 200], but element 40069 is expected"), "%s", text);
}

Test(checkpoint, shards_are_found_by_folder_and_by_index) {
  write_file(in_folder("a.safetensors"), 1);
  write_file(in_folder("b.safetensors"), 2);
  write_index("{\"metadata\": {\"total_size\": 1.5e3, \"x\": [null, {\"y\": true}]}, \"weight_map\": "
              "{\"second\": \"b.safetensors\", \"first\": \"a.safetensors\"}}");
  accept(folder);
  accept(in_folder("model.safetensors.index.json"));
  cr_assert_eq(chdir(folder), 0);
  accept("model.safetensors.index.json");
}

Test(checkpoint, an_index_that_lies) {
  write_file(in_folder("a.safetensors"), 3);
  write_file(in_folder("b.safetensors"), 2);
  static const struct {
    const char *index, *said;
    int status;
  } cases[] = {
      {"{\"weight_map\": {\"first\": \"../a.safetensors\"}}", "but a file next to the index is expected",
       ATTN2C_FORMAT},
      {"{\"weight_map\": {\"first\": \"/etc/passwd\"}}", "but a file next to the index is expected",
       ATTN2C_FORMAT},
      {"{\"weight_map\": {\"first\": \"..\"}}", "but a file next to the index is expected", ATTN2C_FORMAT},
      {"{\"weight_map\": {\"first\": \"\"}}", "but a file next to the index is expected", ATTN2C_FORMAT},
      {"{\"weight_map\": {\"first\": \"c.safetensors\"}}", "cannot be opened", ATTN2C_IO},
      {"{\"weight_map\": {\"third\": \"a.safetensors\"}}", "\"third\" is not in a.safetensors",
       ATTN2C_FORMAT},
      {"{\"weight_map\": {\"first\": \"a.safetensors\", \"second\": \"b.safetensors\"}}",
       "is in two of its files", ATTN2C_FORMAT},
      {"{\"weight_map\": {\"first\": \"a.safetensors\", \"first\": \"a.safetensors\"}}", "occurs twice",
       ATTN2C_FORMAT},
      {"{\"weight_map\": {}, \"weight_map\": {}}", "weight_map occurs twice", ATTN2C_FORMAT},
      {"{\"weight_map\": {}}", "no weight_map, or an empty one", ATTN2C_FORMAT},
      {"{}",
       "no weight_map, or an empty one: it is not an index of a checkpoint; give the checkpoint's folder",
       ATTN2C_FORMAT},
      {"", "'{' is expected", ATTN2C_FORMAT},
      {"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer", ATTN2C_FORMAT},
      {"{\"weight_map\": [1]}", "'{' is expected", ATTN2C_FORMAT},
      {"{\"weight_map\": {\"first\": 3}}", "a string is expected", ATTN2C_FORMAT},
      {"{\"weight_map\": {\"first\": \"a.safetensors\"}} x", "nothing more is expected", ATTN2C_FORMAT},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_index(cases[i].index);
    refuse(folder, cases[i].status, cases[i].said);
  }
  static char name[100100] = "{\"weight_map\": {\"first\": \"";
  const size_t before = strlen(name);
  memset(name + before, 'a', 100000);
  strcpy(name + before + 100000, "\"}}");
  write_index(name);
  refuse(folder, ATTN2C_FORMAT, "\"first\" is in \"aaaa");
  cr_assert_not_null(strstr(text, "aaa...\", a name of 100000 bytes, but at most 255 are allowed"), "%s",
                     text);
  char deep[500] = "{\"metadata\": ";
  memset(deep + strlen(deep), '[', 200);
  write_index(deep);
  refuse(folder, ATTN2C_FORMAT, "nests deeper than 100 levels");
}

Test(checkpoint, links_stay_in_the_folder) {
  write_file(scratch_path("outside"), 3);
  cr_assert_eq(symlink(scratch_path("outside"), in_folder("model.safetensors")), 0);
  refuse(folder, ATTN2C_FORMAT, "is a link that leads out of its folder");
  accept(in_folder("model.safetensors")); /* who names the file means it */
  remove(in_folder("model.safetensors"));
  write_file(in_folder("a.safetensors"), 3);
  cr_assert_eq(symlink("a.safetensors", in_folder("model.safetensors")), 0);
  accept(folder);
}

Test(checkpoint, files_that_are_no_weights) {
  static const struct {
    const char *bytes, *said;
    size_t count;
  } cases[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d\n", "is a Git LFS pointer", 57},
      {"GGUF\3\0\0\0........", "the file ends at byte 16", 16},
      {"\10\7\22\7pytorch........", "is an ONNX model, which is not supported", 18},
      {"\x93NUMPY\1\0........", "is an array of NumPy", 16},
      {"\177ELF\2\1\1........", "is a program or library", 15},
      {"<!DOCTYPE html><html>", "is a page of HTML", 21},
      {"hello, this is a text\n", "is a text, not weights", 22},
      {"{ \"model_type\": \"bert\" }", "is JSON, not weights", 24},
      {"\10\0\0\0\0\0\0\0 {\"a\": 1}", "its header does not start with", 17},
      {"\377\377\377\377\377\377\0\0", "header length", 8},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scratch_put(in_folder("model.safetensors"), cases[i].bytes, cases[i].count);
    refuse(folder, ATTN2C_FORMAT, cases[i].said);
    refuse(in_folder("model.safetensors"), ATTN2C_FORMAT, cases[i].said);
    cr_assert_null(strchr(text, '\n'), "%s", text);
  }
  scratch_put(in_folder("config.json"), "{ \"model_type\": \"bert\" }", 24);
  refuse(in_folder("config.json"), ATTN2C_FORMAT,
         "it is not an index of a checkpoint; give the checkpoint's folder");
  remove(in_folder("config.json"));
}

Test(checkpoint, folders_without_tensors) {
  refuse(folder, ATTN2C_IO,
         "has none of model.safetensors, model.safetensors.index.json and pytorch_model.bin");
  scratch_put(in_folder("pytorch_model.bin"), "PK\3\4........", 12);
  refuse(folder, ATTN2C_FORMAT, "is not a zip of torch.save(): its last record is missing");
  scratch_put(in_folder("pytorch_model.bin"), "\x80\2\x8a\12........", 12);
  refuse(in_folder("pytorch_model.bin"), ATTN2C_FORMAT, "is a pickle of PyTorch before 1.6");
  cr_assert_null(strchr(text, '\n'), "%s", text);
  refuse("/nowhere/at/all", ATTN2C_IO, "cannot be opened");
}

Test(checkpoint, a_dense_module_has_its_own_file) {
  static const char *const dense_names[] = {"2_Dense/first", NULL};
  static const attn2c_stored dense[] = {{.names = dense_names, .rank = 2, .shape = {200, 200}}};
  const attn2c_weight weight = {.view_count = 1};
  const attn2c_descriptor model = {.readers = &all_readers,
                                   .tensors = tensors,
                                   .weights = &weight,
                                   .stored = dense,
                                   .views = plain,
                                   .tensor_count = 1,
                                   .weight_count = 1,
                                   .stored_count = 1};
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source;
  write_file(in_folder("model.safetensors"), 2);
  cr_assert_eq(attn2c_source_file(folder, &model, &source, &message), ATTN2C_FORMAT);
  cr_assert_eq(mkdir(in_folder("2_Dense"), 0700), 0);
  write_file(in_folder("2_Dense/model.safetensors"), 1);
  cr_assert_eq(attn2c_source_file(folder, &model, &source, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_source_read(source, 0, got, &message), ATTN2C_OK);
  cr_assert_eq(got[COLUMNS], values[0][200]);
  attn2c_source_close(source);
}

/* Opens a folder of shards and reads a transposed weight. */
static int use_folder(void) {
  const attn2c_view turned[] = {{BOX(0, ROWS, 0, COLUMNS, 5, 1, 200), .factor = 1}};
  attn2c_source *source;
  attn2c_message message = attn2c_message_make(text, sizeof text);
  int status = open_model(folder, turned, 1, &source);
  if (!status) status = attn2c_source_read(source, 0, got, &message);
  attn2c_source_close(source);
  return status;
}

Test(checkpoint, the_nth_allocation_or_read_fails) {
  write_file(in_folder("a.safetensors"), 1);
  write_file(in_folder("b.safetensors"), 2);
  write_index("{\"weight_map\": {\"second\": \"b.safetensors\", \"first\": \"a.safetensors\"}}");
  for (int reads = 0; reads < 2; reads++) {
    int nth = 1;
    for (;; nth++) {
      faults_clear();
      if (reads)
        faults_read(nth, FAULT_ERROR, 0);
      else
        faults_allocation(nth, 0);
      const int status = use_folder();
      cr_assert_eq(faults_live_blocks(), 0, "%d leaks", nth);
      if (faults_met() == 0) break;
      cr_assert_eq(status, reads ? ATTN2C_IO : ATTN2C_MEMORY, "%d: %d, %s", nth, status, text);
    }
    faults_clear();
    cr_assert(nth > 8, "%d", nth - 1);
  }
}

static void write_names(const char *const *names, int count) {
  static const int64_t shape[] = {1};
  safetensors_item items[8];
  for (int i = 0; i < count; i++) items[i] = (safetensors_item){names[i], 1, shape, values[0]};
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(safetensors_write(in_folder("model.safetensors"), items, count, &message), ATTN2C_OK);
}

Test(checkpoint, says_what_it_looks_like) {
  static const struct {
    const char *names[3], *said;
  } cases[] = {
      {{"bert.encoder.layer.0.attention.self.query.weight",
        "bert.encoder.layer.0.attention.output.dense.weight"},
       "tensors of a Hugging Face BertModel: names = \"bert\""},
      {{"roberta.encoder.layer.0.attention.self.query.weight",
        "roberta.encoder.layer.0.attention.output.dense.weight"},
       "tensors of a Hugging Face RobertaModel: names = \"roberta\""},
      {{"h.0.attn.c_attn.weight", "h.0.mlp.c_fc.weight"},
       "tensors of a Hugging Face GPT2Model: names = \"gpt2\""},
      {{"model.layers.0.self_attn.q_proj.weight", "model.layers.0.mlp.gate_proj.weight"},
       "tensors of a Hugging Face LlamaModel: names = \"llama\""},
      {{"model.layers.0.self_attn.q_norm.weight", "model.layers.0.mlp.gate_proj.weight"},
       "tensors of a Hugging Face Qwen3Model: names = \"qwen3\""},
      {{"model.layers.0.self_attn.q_norm.weight", "model.layers.0.pre_feedforward_layernorm.weight"},
       "tensors of a Hugging Face Gemma3TextModel: names = \"gemma3\""},
      {{"gpt_neox.layers.0.attention.query_key_value.weight", "gpt_neox.layers.0.mlp.dense_h_to_4h.weight"},
       "tensors of a Hugging Face GPTNeoXModel: names = \"gpt_neox\""},
      {{"encoder.layers.0.self_attn.in_proj_weight", "x"}, "names = \"torch\""},
      {{"blocks.0.attn.qkv.weight", "patch_embed.proj.weight"}, "names = \"timm\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_names(cases[i].names, 2);
    refuse(folder, ATTN2C_FORMAT, cases[i].said);
    cr_assert_not_null(strstr(text, "first: missing"), "%s", text);
  }
  made_from = "mini";
  refuse(folder, ATTN2C_FORMAT,
         "the file has tensors of timm's VisionTransformer; this model was built from mini");
  made_from = NULL;
  /* A model that looks for such tensors itself has this scheme. */
  first_names[0] = "layers.9.self_attn.in_proj_weight";
  write_names(cases[7].names, 2);
  refuse(folder, ATTN2C_FORMAT, "in_proj_weight: missing");
  cr_assert_null(strstr(text, "names = \"torch\""), "%s", text);
  first_names[0] = "h.9.attn.c_attn.weight";
  write_names(cases[2].names, 2);
  refuse(folder, ATTN2C_FORMAT, "c_attn.weight: missing");
  cr_assert_null(strstr(text, "names = \"gpt2\""), "%s", text);
  first_names[0] = "first";
  const char *near[] = {"model.first", "b"};
  write_names(near, 2);
  refuse(folder, ATTN2C_FORMAT, "first: missing; the file has model.first");
}
