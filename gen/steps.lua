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
-- i its row, j its column, %s the part's argument, ${ld} its leading dimension.
steps.parts = {
  load = { argument = true, code = "float v = %s[i * ${ld} + j];", equation = "%s" },
  bias = { argument = true, code = "v = v + %s[j];", equation = "v + %s[j]" },
  add = { argument = true, code = "v = v + %s[i * ${ld} + j];", equation = "v + %s[i][j]" },
  activate = { code = "v = attn2c_${fn}(v);", equation = "${fn}(v)" },
}

--- Fills ${name} from a table; every name must be there. Floats print as C floats that read back exactly.
function steps.fill(text, values)
  return (text:gsub("%${([%w_]+)}", function(name)
    local value = values[name]
    assert(value ~= nil, name)
    if math.type(value) == "float" then
      local digits = ("%.9g"):format(value)
      return digits:find("[%.e]") and digits .. "f" or digits .. ".0f"
    end
    return tostring(value)
  end))
end

return steps
