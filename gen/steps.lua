-- steps.lua: the forms that a step can take once ops are lowered, declared once: what a
-- row operation is called, its constants, its arguments and how each is used, the call of
-- the runtime's body, its equation. lower makes steps, kernels names them, emit writes them.
--
-- access: "r" read, "w" written, "rw" both, "value" an integer that only a call knows.
-- In body, ${name} is a constant; arguments go by their own names.
local steps = {}

steps.rows = {
  softmax = {
    constants = { "rows", "cols", "ld", "scale" }, arguments = { { "s", "rw" } },
    body = "attn2c_softmax(s, ${rows}, ${cols}, ${ld}, ${scale})",
    equation = "s[i][j] = exp(${scale} (s[i][j] - max)) / sum over j",
  },
  softmax_nan = {
    constants = { "rows", "cols", "ld", "scale" }, arguments = { { "s", "rw" } },
    body = "attn2c_softmax_nan(s, ${rows}, ${cols}, ${ld}, ${scale})",
    equation = "s[i][j] = exp(${scale} (s[i][j] - max)) / sum over j, NaN where all are -inf",
  },
  add_length = {
    constants = { "rows", "cols", "ld", "value" }, arguments = { { "s", "rw" }, { "valid", "value" } },
    body = "attn2c_add_length(s, ${rows}, ${cols}, ${ld}, ${value}, valid)",
    equation = "s[i][j] += ${value} where j >= valid",
  },
  additive_scores = {
    constants = { "rows", "cols", "head_dim", "lds", "ldq", "ldk" },
    arguments = { { "s", "w" }, { "q", "r" }, { "keys", "r" }, { "score", "r" } },
    body = "attn2c_additive_scores(s, q, keys, score, ${rows}, ${cols}, ${head_dim}, ${lds}, ${ldq}, ${ldk})",
    equation = "s[i][j] = sum over d of score[d] tanh(q[i][d] + keys[d][j])",
  },
  fill = {
    constants = { "rows", "cols", "ldy", "value" }, arguments = { { "y", "w" } },
    body = "attn2c_fill(y, ${rows}, ${cols}, ${ldy}, ${value})",
    equation = "y[i][j] = ${value}",
  },
  mask_band_prefix = {
    constants = { "rows", "cols", "ld", "lo", "hi", "keep" }, arguments = { { "s", "rw" } },
    body = "attn2c_mask_band_prefix(s, ${rows}, ${cols}, ${ld}, ${lo}, ${hi}, ${keep})",
    equation = "s[i][j] = -inf unless j < ${keep} or ${lo} + i <= j < ${hi} + i",
  },
  context_repair_nonzero = {
    constants = { "rows", "head_dim", "ldc", "ldp", "ldv", "spans", "count", "cols" },
    arguments = { { "c", "rw" }, { "p", "r" }, { "v", "r" } },
    body = "attn2c_context_repair_nonzero(c, p, v, ${rows}, ${head_dim}, ${ldc}, ${ldp}, ${ldv}, "
      .. "(const int[][3]){${spans}}, ${count})",
    equation = "c[i] = p[i] · v over keys whose weight is not 0, for rows that are not finite",
  },
  rms_norm = {
    constants = { "rows", "cols", "ldx", "ldy", "eps" }, arguments = { { "y", "w" }, { "x", "r" }, { "gain", "r" } },
    body = "attn2c_rms_norm(y, x, gain, ${rows}, ${cols}, ${ldx}, ${ldy}, ${eps})",
    equation = "y[i] = x[i] / sqrt(mean of x[i]^2 + ${eps}) * gain",
  },
  normalise = {
    constants = { "rows", "cols", "ldx", "ldy", "eps" }, arguments = { { "y", "w" }, { "x", "r" } },
    body = "attn2c_normalise(y, x, ${rows}, ${cols}, ${ldx}, ${ldy}, ${eps})",
    equation = "y[i] = x[i] / max(|x[i]|, ${eps})",
  },
  rotate = {
    constants = { "rows", "heads", "head_dim", "dimension", "pairs", "ldx", "ldy", "cols" },
    arguments = { { "y", "w" }, { "x", "r" }, { "cosines", "r" }, { "sines", "r" } },
    body = "attn2c_rotate(y, x, cosines, sines, ${rows}, ${heads}, ${head_dim}, ${dimension}, ${pairs}, ${ldx}, "
      .. "${ldy})",
    equation = "y[i] = x[i] with its pairs of dimensions turned by the angles of row i",
  },
  patches = {
    constants = { "channels", "height", "width", "patch", "first", "rows", "ldy", "cols" },
    arguments = { { "y", "w" }, { "x", "r" } },
    body = "attn2c_patches(y, x, ${channels}, ${height}, ${width}, ${patch}, ${first}, ${rows}, ${ldy})",
    equation = "y[i] = patch ${first} + i of the image",
  },
  mean_heads = {
    constants = { "heads", "rows", "cols", "stride", "ldx", "ldy" }, arguments = { { "y", "w" }, { "x", "r" } },
    body = "attn2c_mean_heads(y, x, ${heads}, ${rows}, ${cols}, ${stride}, ${ldx}, ${ldy})",
    equation = "y[i][j] = mean over ${heads} heads of x[head][i][j]",
  },
  bucket_table = {
    constants = { "buckets", "rows", "cols", "ldy" },
    arguments = { { "y", "w" }, { "table", "r" }, { "index", "r" } },
    body = "attn2c_bucket_table(y, table, index, ${buckets}, ${rows}, ${cols}, ${ldy})",
    equation = "y[head][distance] = table[index[distance]][head]",
  },
  mask_band = {
    constants = { "rows", "cols", "ld", "lo", "hi" }, arguments = { { "s", "rw" } },
    body = "attn2c_mask_band(s, ${rows}, ${cols}, ${ld}, ${lo}, ${hi})",
    equation = "s[i][j] = -inf unless ${lo} + i <= j < ${hi} + i",
  },
  mask_length = {
    constants = { "rows", "cols", "ld" }, arguments = { { "s", "rw" }, { "valid", "value" } },
    body = "attn2c_mask_length(s, ${rows}, ${cols}, ${ld}, valid)",
    equation = "s[i][j] = -inf where j >= valid",
  },
  softmax_begin = {
    constants = { "rows", "cols", "ld", "scale" }, arguments = { { "s", "rw" }, { "state", "w" } },
    body = "attn2c_softmax_block(s, state, ${rows}, ${cols}, ${ld}, ${scale}, 1)",
    equation = "s[i][j] = exp(${scale} (s[i][j] - max)); the state keeps max and sum",
  },
  softmax_more = {
    constants = { "rows", "cols", "ld", "scale" }, arguments = { { "s", "rw" }, { "state", "rw" } },
    body = "attn2c_softmax_block(s, state, ${rows}, ${cols}, ${ld}, ${scale}, 0)",
    equation = "s[i][j] = exp(${scale} (s[i][j] - max so far)); the state keeps max, sum, and what shrinks older sums",
  },
  softmax_add = {
    constants = { "rows", "cols", "ldy", "ldx" }, arguments = { { "y", "rw" }, { "x", "r" }, { "state", "r" } },
    body = "attn2c_softmax_add(y, x, state, ${rows}, ${cols}, ${ldy}, ${ldx})",
    equation = "y[i][j] = factor[i] y[i][j] + x[i][j]",
  },
  softmax_end = {
    constants = { "rows", "cols", "ldy" }, arguments = { { "y", "rw" }, { "state", "r" } },
    body = "attn2c_softmax_end(y, state, ${rows}, ${cols}, ${ldy})",
    equation = "y[i][j] = y[i][j] / sum[i]",
  },
  softmax_of = { -- in a trace
    constants = { "rows", "cols", "ldy", "ldx", "scale" },
    arguments = { { "y", "w" }, { "x", "r" }, { "state", "r" } },
    body = "attn2c_softmax_of(y, x, state, ${rows}, ${cols}, ${ldy}, ${ldx}, ${scale})",
    equation = "y[i][j] = exp(${scale} (x[i][j] - max[i])) / sum[i]",
  },
  context_repair = {
    constants = { "rows", "cols", "head_dim", "ldc", "ldp", "ldv", "lo", "hi" },
    arguments = { { "c", "rw" }, { "p", "r" }, { "v", "r" }, { "valid", "value" } },
    body = "attn2c_context_repair(c, p, v, ${rows}, ${cols}, ${head_dim}, ${ldc}, ${ldp}, ${ldv}, ${lo}, ${hi}, valid)",
    equation = "c[i] = p[i] · v over unmasked keys only, for rows that a masked key's NaN or infinity reached",
  },
  transpose = {
    constants = { "rows", "cols", "ldx", "ldy" }, arguments = { { "y", "w" }, { "x", "r" } },
    body = "attn2c_transpose(y, x, ${rows}, ${cols}, ${ldx}, ${ldy})",
    equation = "y[j][i] = x[i][j]",
  },
  layer_norm = {
    constants = { "rows", "cols", "ldx", "ldy", "eps" },
    arguments = { { "y", "w" }, { "x", "r" }, { "gain", "r" }, { "bias", "r" } },
    body = "attn2c_layer_norm(y, x, gain, bias, ${rows}, ${cols}, ${ldx}, ${ldy}, ${eps})",
    equation = "y[i] = (x[i] - mean) / sqrt(variance + ${eps}) * gain + bias",
  },
  copy = {
    constants = { "rows", "cols", "ldx", "ldy" }, arguments = { { "y", "w" }, { "x", "r" } },
    body = "attn2c_copy(y, x, ${rows}, ${cols}, ${ldx}, ${ldy})",
    equation = "y = x",
  },
  embed = {
    constants = { "rows", "cols", "ldy" }, arguments = { { "y", "w" }, { "table", "r" },
      { "ids", "r", type = "int32_t" } },
    body = "attn2c_embed(y, table, ids, ${rows}, ${cols}, ${ldy})",
    equation = "y[i] = table[ids[i]]",
  },
  pool_mean = {
    constants = { "cols", "ldx" }, arguments = { { "y", "w" }, { "x", "r" }, { "rows", "value" } },
    body = "attn2c_pool_mean(y, x, rows, ${cols}, ${ldx})",
    equation = "y[j] = mean of x[i][j] over i < rows",
  },
  pool_max = {
    constants = { "cols", "ldx" }, arguments = { { "y", "w" }, { "x", "r" }, { "rows", "value" } },
    body = "attn2c_pool_max(y, x, rows, ${cols}, ${ldx})",
    equation = "y[j] = max of x[i][j] over i < rows",
  },
  pool_row = {
    constants = { "cols", "ldx" }, arguments = { { "y", "w" }, { "x", "r" }, { "row", "value" } },
    body = "attn2c_pool_row(y, x + (size_t)row * ${ldx}, ${cols})",
    equation = "y[j] = x[row][j]",
  },
  argmax = {
    constants = { "rows", "cols", "ldx" }, arguments = { { "y", "w", type = "int32_t" }, { "x", "r" } },
    body = "attn2c_argmax(y, x, ${rows}, ${cols}, ${ldx})",
    equation = "y[i] = the index of the largest x[i][j]",
  },
}

-- Elementwise parts, which run one after the other on each element of a tile while it is hot: v is the element,
-- i its row, j its column, %s the part's argument, ${ld} its leading dimension. type: of the argument, if not float.
steps.parts = {
  load = { argument = true, code = "float v = %s[i * ${ld} + j];", equation = "%s" },
  bias = { argument = true, code = "v = v + %s[j];", equation = "v + %s[j]" },
  add = { argument = true, code = "v = v + %s[i * ${ld} + j];", equation = "v + %s[i][j]" },
  multiply = { argument = true, code = "v = v * %s[i * ${ld} + j];", equation = "v * %s[i][j]" },
  activate = { code = "v = attn2c_${fn}(v);", equation = "${fn}(v)" },
  -- of scores and weights
  scale = { code = "v = v * ${factor};", equation = "${factor} v" },
  softcap = { code = "v = ${factor} * attn2c_tanh(v / ${factor});", equation = "${factor} tanh(v / ${factor})" },
  scale_by = { argument = true, code = "v = v * %s[0];", equation = "%s[0] v" },
  add_band = { argument = true, code = "v = v + %s[(ptrdiff_t)j - (ptrdiff_t)i];", equation = "v + %s[j - i]" },
  add_reversed = { argument = true, code = "v = v + %s[(ptrdiff_t)(i * ${ld}) - (ptrdiff_t)j];",
    equation = "v + %s[i * ${ld} - j]" },
  block = { argument = true, type = "int32_t", code = "v = %s[i * ${ld} + j] ? -__builtin_inff() : v;",
    equation = "(%s[i][j] ? -inf : v)" },
  add_where = { argument = true, type = "int32_t", code = "v = %s[i * ${ld} + j] ? v + ${value} : v;",
    equation = "(%s[i][j] ? v + ${value} : v)" },
  weigh = { code = "v = v == -__builtin_inff() ? 0.0f : v * ${factor};", equation = "${factor} v, 0 where -inf" },
  weigh_relu = { code = "v = attn2c_relu(v * ${factor});", equation = "max(${factor} v, 0)" },
}

--- Fills ${name} from a table; every name must be there. Floats print as C floats that read back exactly.
function steps.fill(text, values)
  return (text:gsub("%${([%w_]+)}", function(name)
    local value = values[name]
    assert(value ~= nil, name)
    if value == math.huge or value == -math.huge then return (value < 0 and "-" or "") .. "__builtin_inff()" end
    if math.type(value) == "float" then
      local digits = ("%.9g"):format(value)
      return digits:find("[%.e]") and digits .. "f" or digits .. ".0f"
    end
    return tostring(value)
  end))
end

return steps
