-- hybrids.lua: the part of list.lua that concerns layers that convolve, that share keys, and that read tokens, and
-- their families. of and spec: as in list.lua.
return function(of, spec)
  local hybrids, values = spec .. "passes/graph/hybrids_spec.lua", spec .. "checkpoints/values_spec.lua"
  local folder = "gen/checkpoints/families/decoders/"

  of("runtime/ops/gather.h", "c:rowops_rows_base") {
    { name = "convolve_first", old = "const int row = before + i - kernel + 1 + t;",
      new = "const int row = 0 * before + i - kernel + 1 + t;", filter = "convolve_columns*",
      wrong = "rows of earlier calls are not read" },
    { name = "convolve_bias", old = "out[j] = bias ? bias[j] : 0.0f;", new = "out[j] = bias ? 0.0f : 0.0f;",
      filter = "convolve_columns*", wrong = "a convolution has no bias" },
  }

  of("runtime/reference/rows.c", "c:reference_rows") {
    { name = "reference_convolve_taps", old = "weight[t * width + c];", new = "weight[(kernel - 1 - t) * width + c];",
      filter = "convolve_columns*", wrong = "the last tap is for the first row" },
    { name = "reference_multiply_repeats", old = "!= 0 ? product_plus_one : product);",
      new = "== 0 ? product_plus_one : product);", filter = "multiply*",
      wrong = "each product has one factor more by 1" },
  }

  of("gen/passes/graph/attention.lua", hybrids) {
    { name = "hybrid_kept", old = 'rows.kept = { role = "values", head_dim = width, grows_with = "tokens" }',
      new = "rows.kept = nil", filter = "keeps its rows", wrong = "a state keeps no rows of a convolution" },
    { name = "hybrid_values", old = 'spec.values == "keys" and a.k or', new = 'spec.values == "never" and a.k or',
      filter = "may have a norm", wrong = "values that are keys have a projection" },
  }

  of("gen/passes/layout/state_parts.lua", hybrids) {
    { name = "hybrid_window", old = "left = op.attributes.kernel - 1 end", new = "left = op.attributes.kernel - 2 end",
      filter = "keeps its rows", wrong = "a state forgets a row that a convolution reads" },
    { name = "hybrid_widest", old = "(left < 0 or other < 0) and -1 or math.max(left, other)", new = "left",
      filter = "widest", wrong = "a state forgets keys that another layer sees" },
  }

  of("gen/passes/plan/storage.lua", hybrids) {
    { name = "hybrid_adds", old = "region.open.adds, is_added[region.keys] = not is_added[region.keys], true",
      new = "region.open.adds = true", filter = "once", wrong = "each layer adds the same keys" },
  }

  of("gen/passes/graph.lua", hybrids) {
    { name = "hybrid_tokens", old = 'own("layers_tokens.weight", 2, half * math.sqrt(width))',
      new = 'own("layers_tokens.weight", 2, math.sqrt(width))', filter = "read the tokens",
      wrong = "a layer's tokens are too large" },
  }

  of("gen/passes/validate/sharing.lua", hybrids) {
    { name = "sharing_before", old = "own.keys_of >= index or not other", new = "own.keys_of > index or not other",
      filter = "mean nothing", wrong = "a layer reads its own keys" },
    { name = "sharing_alike", old = "if own[key] ~= other[key] then", new = "if false then", filter = "mean nothing",
      wrong = "heads of two widths read the same keys" },
  }

  of("gen/passes/validate/convolutions.lua", hybrids) {
    { name = "short_conv_rows", old = 'check_rows(say, words.merged(spec, { mask = mask }), "short_conv", "")',
      new = "check_rows(say, {}, 'short_conv', '')", filter = "mean nothing",
      wrong = "padding before a sequence is convolved" },
  }

  of(folder .. "lfm2.lua", values) {
    { name = "lfm2_width", old = "2 * facts.d_ff // 3", new = "facts.d_ff", filter = "of lfm2 has",
      wrong = "feed-forwards are half as wide again" },
    { name = "lfm2_bias", old = "own.bias = { qkv = true, out = true, ff = false }", new = "own.bias = nil",
      filter = "of lfm2 gives each", wrong = "convolutions have no bias" },
  }

  of("gen/checkpoints/families/mixtures/lfm2_moe.lua", values) {
    { name = "lfm2_moe_dense", old = "math.min(facts.dense_count, facts.layers) - 1", new = "-1",
      filter = "of lfm2_moe has", wrong = "the first layers have experts" },
  }

  local streams = spec .. "passes/graph/streams_spec.lua"
  of("gen/passes/graph/streams.lua", streams) {
    { name = "streams_length", old = "math.sqrt(LEAST * width)", new = "LEAST", filter = "begin as long",
      wrong = "short rows become as long as others" },
    { name = "streams_column", old = "(i - 1) * #list + j - 1, x)", new = "(j - 1) * #list + i - 1, x)",
      filter = "predicted from all", wrong = "coefficients are transposed" },
    { name = "streams_change", old = "{ factor = -1.0 }", new = "{ factor = 1.0 }", filter = "predicted from all",
      wrong = "a stream is corrected by a sum" },
  }

  of("gen/passes/validate/streams.lua", streams) {
    { name = "streams_active", old = "s.active >= s.count", new = "s.active > s.count", filter = "mean nothing",
      wrong = "a stream that there is not is computed" },
    { name = "streams_rank", old = "not has_norm_before[each.norm] or", new = "", filter = "mean nothing",
      wrong = "a residual of low rank reads a norm that there is not" },
  }

  of("gen/common/normal.lua", streams) {
    { name = "normal_series", old = "term * x * x / odd", new = "term * x * x / (odd + 2)", filter = "share of normal",
      wrong = "quantiles are wrong" },
  }

  of("gen/passes/graph/experts.lua", spec .. "passes/graph/experts_spec.lua") {
    { name = "experts_own_norms", old = 'self:norm(path .. ".experts.norm", states)',
      new = 'self:norm(path .. ".experts.norm", x)', filter = "norms of its own",
      wrong = "experts read the norm of a norm" },
  }

  of("runtime/ops/norm.h", "c:rowops_rows_base") {
    { name = "sparsify_cutoff", old = "attn2c_relu(in[j] - m - above)", new = "attn2c_relu(in[j] - 0.0f * m - above)",
      filter = "sparsify*", wrong = "the mean is no part of the cutoff" },
  }

  of("runtime/check/tolerance.c", "c:tolerance") {
    { name = "tolerance_sparsify", old = "above < -off ? 0 : (float)off",
      new = "(float)(above < -off ? off : off)", filter = "*sparsify",
      wrong = "numbers below the cutoff may be other than 0" },
  }

  of("runtime/reference/rows.c", "c:reference_experts") {
    { name = "reference_gate_column", old = "(const float *)call->in[1] + column;",
      new = "(const float *)call->in[1] + 0 * column;", filter = "gate_rows*",
      wrong = "a gate reads the first column" },
  }

  of(folder .. "gemma3n.lua", values) {
    { name = "gemma3n_sparsity", old = "facts.layers > 10 and i <= 10", new = "i <= 10",
      filter = "of gemma3n_text gives each", wrong = "short models have sparse gates" },
    { name = "gemma3n_rows", old = "words.merged(from, { row = 0 })", new = "words.merged(from, { row = 1 })",
      filter = "of gemma3n_text gives each", wrong = "later tokens have another row" },
  }

  of("gen/checkpoints/gemma.lua", values) {
    { name = "gemma4_wide", old = "facts.is_wide and 2 * facts.d_ff or own.d_ff", new = "own.d_ff",
      filter = "of gemma4_text gives each", wrong = "layers that share keys are too narrow" },
    { name = "gemma4_kind", old = "last[slides] = i - 1", new = "last[true], last[false] = i - 1, i - 1",
      filter = "of gemma4_text gives each", wrong = "a layer reads keys of a layer of another kind" },
  }
end
