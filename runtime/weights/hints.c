/* hints.c - recognises common checkpoints by the ends of their tensors' names. It also finds names that
 * differ from a missing one only by a prefix. */
#include "weights/weights.h"
#include "base/shape.h"

/* Faults with lines of their own. The lines on the kind, the count and unused tensors make it eleven. */
enum { MOST_FAULTS = 8 };

/* Number of tensors that the line of unused tensors names. */
enum { MOST_UNUSED = 5 };

/* Known checkpoints; the first match is used. ends: ends of tensor names, all of which the file has. */
static const struct {
  const char *what, *names;
  const char *ends[2];
} looks[] = {
    {"MPNetModel", "mpnet", {"attention.attn.q.weight", "relative_attention_bias.weight"}},
    {"DebertaV2Model", "deberta_v2", {"attention.self.query_proj.weight", "encoder.rel_embeddings.weight"}},
    {"DistilBertModel", "distilbert", {"attention.q_lin.weight", "ffn.lin1.weight"}},
    {"AlbertModel", "albert", {"embedding_hidden_mapping_in.weight", "full_layer_layer_norm.weight"}},
    {"DeiTModel", "deit", {"distillation_token", "patch_embeddings.projection.weight"}},
    {"ViTModel", "vit", {"cls_token", "patch_embeddings.projection.weight"}},
    {"GPT2Model", "gpt2", {"attn.c_attn.weight", "mlp.c_fc.weight"}},
    {"ModernBertModel", "modernbert", {"attn.Wqkv.weight", "mlp.Wi.weight"}},
    {"NomicBertModel", "nomic_bert", {"attn.Wqkv.weight", "mlp.fc11.weight"}},
    {"GteModel", "gte", {"attention.qkv_proj.weight", "mlp.up_gate_proj.weight"}},
    {"JinaBertModel", "jina_bert", {"attention.self.query.weight", "mlp.gated_layers.weight"}},
    {"GPTNeoXModel", "gpt_neox", {"attention.query_key_value.weight", "mlp.dense_h_to_4h.weight"}},
    {"Phi3Model", "phi3", {"self_attn.qkv_proj.weight", "mlp.gate_up_proj.weight"}},
    {"PhiModel", "phi", {"self_attn.dense.weight", "mlp.fc1.weight"}},
    {"Starcoder2Model", "starcoder2", {"self_attn.q_proj.weight", "mlp.c_fc.weight"}},
    {"Gemma3TextModel", "gemma3", {"self_attn.q_norm.weight", "pre_feedforward_layernorm.weight"}},
    {"Gemma2Model", "gemma2", {"self_attn.q_proj.weight", "pre_feedforward_layernorm.weight"}},
    {"Olmo2Model", "olmo2", {"self_attn.q_norm.weight", "post_feedforward_layernorm.weight"}},
    {"Qwen3Model", "qwen3", {"self_attn.q_norm.weight", "mlp.gate_proj.weight"}},
    {"Qwen2Model", "qwen2", {"self_attn.q_proj.bias", "mlp.gate_proj.weight"}},
    {"LlamaModel", "llama", {"self_attn.q_proj.weight", "mlp.gate_proj.weight"}},
    {"T5EncoderModel", "t5", {"SelfAttention.q.weight", "DenseReluDense.wo.weight"}},
    {"BertModel", "bert", {"attention.self.query.weight", "attention.output.dense.weight"}},
};

/* True if `end` is a whole name, or follows one of its dots. */
static int ends_with(const char *name, const char *end) {
  const size_t length = strlen(name), rest = strlen(end);
  if (length < rest || strcmp(name + length - rest, end) != 0) return 0;
  return length == rest || name[length - rest - 1] == '.';
}

static int begins_with(const char *name, const char *start) {
  return strncmp(name, start, strlen(start)) == 0;
}

static const char *find_end(const attn2c_checkpoint *file, const char *end) {
  for (int i = 0; i < attn2c_checkpoint_count(file); i++) {
    const char *name = attn2c_checkpoint_tensor(file, i)->name;
    if (ends_with(name, end)) return name;
  }
  return NULL;
}

/* True if the model looks for tensors of this end itself: its description has their scheme already. */
static int is_wanted(const attn2c_hints *hints, const char *end) {
  for (int i = 0; i < hints->model->stored_count; i++)
    for (const char *const *name = hints->model->stored[i].names; *name; name++)
      if (ends_with(*name, end)) return 1;
  return 0;
}

/* True if the file has tensors of this end, and the model looks for none. */
static int has_other(const attn2c_hints *hints, const char *end) {
  return find_end(hints->file, end) && !is_wanted(hints, end);
}

/* Says which tensors the file has, and the scheme of their names. A model of a folder has one already. */
static void say_kind(const attn2c_hints *hints, const char *of, const char *what, const char *names) {
  if (hints->model->checkpoint)
    attn2c_say(hints->message, "the file has tensors of %s%s; this model was built from %s", of, what,
               hints->model->checkpoint);
  else
    attn2c_say(hints->message, "tensors of %s%s: names = \"%s\"", of, what, names);
}

#define A_HUGGING_FACE "a Hugging Face "

/* Names a model of BERT's form, by the name of the whole. */
static void say_bert(const attn2c_hints *hints, const char *name) {
  static const char *const others[][3] = {{"roberta.", "RobertaModel", "roberta"},
                                          {"electra.", "ElectraModel", "electra"}};
  const char *what = "BertModel", *names = "bert";
  for (int i = 0; i < 2; i++)
    if (begins_with(name, others[i][0])) what = others[i][1], names = others[i][2];
  say_kind(hints, A_HUGGING_FACE, what, names);
}

int attn2c_hints_shape_fits(const attn2c_file_tensor *tensor, const attn2c_stored *stored) {
  int64_t shape[ATTN2C_FILE_MAX_RANK] = {0}, want[ATTN2C_MAX_RANK] = {0}, row = 1;
  int rank = 0, want_rank = 0;
  if (tensor->rank == stored->rank && stored->rank > 0 && stored->shape[0] < 0)
    return attn2c_shape_equal(tensor->rank - 1, tensor->shape + 1, stored->rank - 1, stored->shape + 1);
  for (int d = 0; d < tensor->rank; d++)
    if (tensor->shape[d] != 1) shape[rank++] = tensor->shape[d];
  for (int d = 0; d < stored->rank; d++)
    if (stored->shape[d] != 1) want[want_rank++] = stored->shape[d];
  if (attn2c_shape_equal(rank, shape, want_rank, want)) return 1;
  if (want_rank != 2 || rank <= 2 || shape[0] != want[0]) return 0;
  for (int d = 1; d < rank; d++)
    if (__builtin_mul_overflow(row, shape[d], &row)) return 0;
  return row == want[1];
}

void attn2c_hints_say(const attn2c_hints *hints) {
  int missing = 0;
  for (int i = 0; i < hints->model->stored_count; i++) missing += hints->found[i] < 0;
  if (missing > 0 && !hints->model->readers->coding &&
      (find_end(hints->file, "qweight") || find_end(hints->file, "weight_packed")))
    attn2c_say(hints->message, "the file has quantised tensors: build the model from its folder, whose "
                               "config.json says how they are stored");
  if (2 * missing < hints->model->stored_count) return;
  for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
    const char *name = find_end(hints->file, looks[i].ends[0]);
    if (!name || !find_end(hints->file, looks[i].ends[1])) continue;
    if (is_wanted(hints, looks[i].ends[0])) return;
    if (strcmp(looks[i].names, "bert") == 0)
      say_bert(hints, name);
    else
      say_kind(hints, A_HUGGING_FACE, looks[i].what, looks[i].names);
    return;
  }
  if (has_other(hints, "token_embd.weight"))
    attn2c_say(hints->message,
               "tensors of a GGUF file: names = \"gguf-llama\" and the like, as import writes it");
  else if (has_other(hints, "self_attn.in_proj_weight"))
    say_kind(hints, "", "torch.nn.TransformerEncoder or TransformerDecoder", "torch");
  else if (has_other(hints, "attn.qkv.weight") && find_end(hints->file, "patch_embed.proj.weight"))
    say_kind(hints, "", "timm's VisionTransformer", "timm");
  else if (has_other(hints, "l0.attn.q.weight"))
    say_kind(hints, "", "attn2c's own names", "attn2c");
}

/* Returns a tensor of the file whose name differs from the missing one only by a prefix, or NULL. */
static const char *find_near(const attn2c_hints *hints, const attn2c_stored *stored) {
  for (int i = 0; stored->names[i]; i++) {
    const char *near = find_end(hints->file, stored->names[i]);
    if (near) return near;
    for (int j = 0; j < attn2c_checkpoint_count(hints->file); j++) {
      const char *name = attn2c_checkpoint_tensor(hints->file, j)->name;
      if (strchr(name, '.') && ends_with(stored->names[i], name)) return name;
    }
  }
  return NULL;
}

static int is_used(const attn2c_hints *hints, int tensor) {
  for (int i = 0; i < hints->model->stored_count; i++)
    if (hints->found[i] == tensor) return 1;
  return 0;
}

/* Returns the only unused tensor with the shape of a missing one, or NULL. */
static const char *find_shape(const attn2c_hints *hints, const attn2c_stored *stored) {
  const char *found = NULL;
  for (int i = 0; i < attn2c_checkpoint_count(hints->file); i++) {
    const attn2c_file_tensor *tensor = attn2c_checkpoint_tensor(hints->file, i);
    if (!attn2c_hints_shape_fits(tensor, stored) || is_used(hints, i)) continue;
    if (found) return NULL;
    found = tensor->name;
  }
  return found;
}

/* Returns the stage of the output that a name of PyTorch's refers to, as in "output.0.weight", or -1. */
static int stage_of(const char *name) {
  int number, end = 0;
  if (sscanf(name, "output.%6d.%n", &number, &end) != 1 || end == 0) return -1;
  return strchr(name + end, '.') ? -1 : number + 1;
}

void attn2c_hints_unused(const attn2c_hints *hints) {
  char list[600] = "";
  size_t used = 0;
  int missing = 0, unused = 0;
  for (int i = 0; i < hints->model->stored_count; i++) missing += hints->found[i] < 0;
  for (int i = 0; missing > 0 && i < attn2c_checkpoint_count(hints->file); i++) {
    const attn2c_file_tensor *tensor = attn2c_checkpoint_tensor(hints->file, i);
    if (is_used(hints, i) || unused++ >= MOST_UNUSED) continue;
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%.60s %s", used ? ", " : "", tensor->name,
                             attn2c_shape_write(tensor->rank, tensor->shape).text);
    if (used >= sizeof list) used = sizeof list - 1;
  }
  if (unused > MOST_UNUSED)
    attn2c_say(hints->message, "the file's unused tensors: %s and %d more", list, unused - MOST_UNUSED);
  else if (unused > 0)
    attn2c_say(hints->message, "the file's unused tensor%s: %s", unused == 1 ? "" : "s", list);
}

static void say_missing(const attn2c_hints *hints, const attn2c_stored *stored) {
  char more[1024] = "";
  size_t used = 0;
  for (int i = 1; stored->names[i] && used < sizeof more; i++)
    used += (size_t)snprintf(more + used, sizeof more - used, "%s%s", i > 1 ? ", " : " (also looked for ",
                             stored->names[i]);
  const char *near = find_near(hints, stored), *alike = near ? NULL : find_shape(hints, stored);
  const int stage = stage_of(stored->names[0]);
  char counted[80] = "";
  if (stage >= 0)
    snprintf(counted, sizeof counted, " (stage %d of output: PyTorch's names count from 0)", stage);
  attn2c_say(hints->message, "%s: missing%s%s%s%s%s%s%s", stored->names[0], counted, more, used ? ")" : "",
             near ? "; the file has " : "", near ? near : "",
             alike ? "; the file has an unused tensor of its shape, " : "", alike ? alike : "");
}

int attn2c_hints_fault(const attn2c_hints *hints, int index, int said) {
  const attn2c_stored *stored = &hints->model->stored[index];
  if (said == MOST_FAULTS && hints->faults > MOST_FAULTS + 1) {
    attn2c_say(hints->message, "and %d more of %d tensors do not fit", hints->faults - said,
               hints->model->stored_count);
    return 0;
  }
  if (hints->found[index] < 0) {
    say_missing(hints, stored);
    return 1;
  }
  const attn2c_file_tensor *tensor = attn2c_checkpoint_tensor(hints->file, hints->found[index]);
  if (!attn2c_is_readable(tensor->type))
    attn2c_say(hints->message, "%s: type %s, but %s is expected", tensor->name, tensor->type->name,
               tensor->type->readable);
  if (!attn2c_hints_shape_fits(tensor, stored))
    attn2c_say(hints->message, "%s: shape %s, but %s is expected", tensor->name,
               attn2c_shape_write(tensor->rank, tensor->shape).text,
               attn2c_shape_write(stored->rank, stored->shape).text);
  return 1;
}
