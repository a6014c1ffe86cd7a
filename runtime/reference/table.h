/* table.h - the operations and activations, as the reference and the tolerances read them. gen/data/ops.lua
 * and gen/data/activations.lua declare them. */
/* clang-format off */
#pragma once

/* X(op, types of its operands, type of its result, function, tolerance, shapes)
 *
 *   types of operands   F floats, I int32; a small letter: may be missing
 *   function            attn2c_reference_NAME
 *   tolerance           the rule of check/tolerance.c for the error that the result may have
 *   shapes              of attn2c_reference_fits; "": the function compares them */
#define ATTN2C_OPS(X) \
  X(activate, "F", F32, activate, activate, "* -> *") \
  X(adapt, "FFFFI", F32, adapt, adapt, "*o, *i, ri, ro, b -> *o") \
  X(add, "FF", F32, add, rounded_once, "") \
  X(add_array, "FF", F32, add_array, rounded_once, "") \
  X(add_disentangled, "FFF", F32, add_disentangled, add_relative, "bhqk, br(gd), td -> bhqk a=table_heads") \
  X(add_distance, "FF", F32, add_distance, rounded_once, "bhqk, ht -> bhqk") \
  X(add_gated, "FFF", F32, add_distance, dequantise, "bhqk, ht, bqh -> bhqk") \
  X(add_length, "FI", F32, add_length, rounded_once, "bhqk, b -> bhqk") \
  X(add_places, "FIFFf", F32, add_places, dequantise, "bhqk, bqf, ht, ht, hu -> bhqk f=4") \
  X(add_relative, "FFF", F32, add_relative, add_relative, "bhqk, br(gd), td -> bhqk") \
  X(additive_scores, "FFFi", F32, additive_scores, additive_scores, "") \
  X(argmax, "F", I32, argmax, exact, "*w -> *") \
  X(block_array, "FI", F32, block_array, rounded_once, "") \
  X(bucket_table, "FF", F32, bucket_table, exact, "nh, d -> hd") \
  X(centre, "Fi", F32, centre, centre, "brw, b -> brw") \
  X(channel_factors, "FFF", F32, channel_factors, dequantise, "brc, c, c -> btc t=2") \
  X(clamp, "F", F32, clamp, exact, "* -> *") \
  X(column_scale, "Fi", F32, column_scale, exact, "brw, b -> ?") \
  X(combine, "FFI", F32, combine, combine, "*(kw), *k, *k -> *w") \
  X(context, "FFif", F32, context, context, "") \
  X(context_of_integers, "FFFF", F32, context_of_integers, dequantise, "") \
  X(convolve, "FFfi", F32, convolve, convolve, "br(gw), (gm)(kw), (gm), b -> br(gm) k=kernel g=groups") \
  X(convolve_columns, "FFf", F32, convolve_columns, convolve_columns, "brc, o(kc), c -> brc k=kernel o=1") \
  X(copy, "F", F32, copy, exact, "* -> *") \
  X(dequantise, "IFFf", F32, dequantise, dequantise, "") \
  X(dequantise_experts, "IFFIf", F32, dequantise_experts, dequantise, "*(ko), *k, a, *k, a -> *(ko)") \
  X(drop_tokens, "FIi", F32, drop_tokens, rounded_once, "brw, br, b -> brw") \
  X(embed, "IFf", F32, embed, exact, "*, vw -> *w") \
  X(embed_boxes, "IFf", F32, embed_boxes, exact, "") \
  X(exponentials, "F", F32, exponentials, exponentials, "*w -> *w") \
  X(gate_rows, "FF", F32, gate_rows, rounded_once, "*w, *k -> *w") \
  X(gather_columns, "FF", F32, gather_columns, exact, "*w, w -> *w") \
  X(grid_positions, "IF", F32, grid_positions, dequantise, "bt, gd -> brd t=2") \
  X(group_rows, "I", I32, group_rows, exact, "* -> *") \
  X(hadamard, "F", F32, hadamard, hadamard, "*w -> *w") \
  X(head_scale, "FF", F32, head_scale, rounded_once, "bhqk, lh -> bhqk") \
  X(join, "Ff", F32, join, exact, "") \
  X(keep, "Ff", F32, keep, exact, "* -> *") \
  X(layer_norm, "Fff", F32, layer_norm, layer_norm, "") \
  X(linear, "FFff", F32, linear, linear, "*i, oi, o -> *o") \
  X(linear_experts, "FIFf", F32, linear_experts, linear_experts, "*(ki), *k, ai, a -> *(ko)") \
  X(linear_experts_integers, "FIF", I32, linear_experts_integers, exact, "*(ki), *k, ai -> *(ko)") \
  X(linear_integers, "FF", I32, linear_integers, exact, "*i, oi -> *o") \
  X(log_softmax, "F", F32, log_softmax, log_softmax, "*w -> *w") \
  X(logarithm, "F", F32, logarithm, logarithm, "* -> *") \
  X(match_labels, "FFFFIi", F32, match_labels, recurrent, "") \
  X(mean_heads, "F", F32, mean_heads, mean, "bhqk -> bqk") \
  X(multiply, "FF", F32, multiply, rounded_once, "") \
  X(neighbours, "Fi", F32, neighbours, exact, "brw, b -> br(kw) k=kernel") \
  X(normalise, "F", F32, normalise, norm_without_mean, "*w -> *w") \
  X(page_places, "I", I32, page_places, exact, "bsf -> btf f=4") \
  X(pair_rows, "F", F32, pair_rows, rounded_once, "brw -> bp(fw) f=4") \
  X(patches, "F", F32, patches, exact, "bchw -> br(cpp) p=patch") \
  X(patches_of_columns, "F", F32, patches_of_columns, exact, "bwh -> br(pp) p=patch i=row_stride j=column_stride") \
  X(pick, "FI", F32, pick, exact, "") \
  X(pool, "Fiii", F32, pool, pool, "") \
  X(position_gates, "FFFF", F32, position_gates, position_gates, "br(hd), ed, e, h -> brh e=8 h=heads") \
  X(quantise, "FFf", F32, quantise, exact, "") \
  X(quantise_blocks, "F", F32, quantise_blocks, exact, "*w -> *w") \
  X(quantise_blocks_finely, "F", F32, quantise_blocks_finely, exact, "*w -> *w") \
  X(quantise_columns, "FFi", F32, quantise_columns, exact, "brw, ?, b -> brw") \
  X(recurrent, "FFii", F32, recurrent, recurrent, "") \
  X(rms_norm, "Ff", F32, rms_norm, norm_without_mean, "") \
  X(rotate, "FFF", F32, rotate, rotate, "br(hd), sc, sc -> br(hd) h=heads") \
  X(round, "F", F32, round, exact, "* -> *") \
  X(round_to_bytes, "F", F32, round_to_bytes, exact, "* -> *") \
  X(round_weights, "F", F32, round, exact, "* -> *") \
  X(row_length, "F", F32, row_length, norm_without_mean, "*w -> *1") \
  X(row_scale, "Fff", F32, row_scale, exact, "") \
  X(scale, "F", F32, scale, rounded_once, "* -> *") \
  X(scale_columns, "FF", F32, scale_columns, dequantise, "brc, btc -> brc t=2") \
  X(scores, "FFif", F32, scores, scores, "") \
  X(scores_of_integers, "FFFFi", F32, scores_of_integers, dequantise, "") \
  X(share, "F", F32, share, share, "*w -> *w") \
  X(softcap, "F", F32, softcap, softcap, "* -> *") \
  X(softmax, "Ff", F32, softmax, softmax, "*w -> *w") \
  X(softmax_rows, "F", F32, softmax_rows, softmax, "*w -> *w") \
  X(sparsify, "F", F32, sparsify, sparsify, "*w -> *w") \
  X(split_heads, "F", F32, split_heads, exact, "br(hw) -> bhrw") \
  X(spread, "FI", F32, spread, exact, "*w, *k -> *(kw)") \
  X(swap, "F", F32, swap, exact, "abw -> baw") \
  X(topk_indices, "F", I32, topk, exact, "*w -> *k k=k") \
  X(topk_values, "F", F32, topk, exact, "*w -> *k k=k") \
  X(weigh, "F", F32, weigh, rounded_once, "bhqk -> bhqk") \
  X(weight_scale, "FF", F32, weight_scale, exact, "") \
  X(windows, "F", F32, windows, exact, "brw -> bo(kw) k=kernel s=stride")

/* X(name, function, relative error, least factor)
 *
 *   function         the definition, NAME in reference/rows.c
 *   relative error   of a result relative to itself; 0: it is exact
 *   least factor     the function is x times a factor; where that is smaller than this, the error may be |x| times this
 *
 * bf16 rounds by up to 2^-9 of a number, int8 by up to 1/254 of the largest of its row: 10 and 20 times the tolerance
 * of gelu_rounded. */
#define ATTN2C_ACTIVATIONS(X) \
  X(relu, relu, 0, 0) \
  X(gelu, gelu, 4e-6, 0x1p-126) \
  X(gelu_rounded, gelu, 2e-4, 0x1p-25) \
  X(gelu_tanh, gelu_tanh, 4e-5, 0x1p-126) \
  X(quick_gelu, quick_gelu, 4e-6, 0x1p-126) \
  X(silu, silu, 4e-6, 0x1p-126) \
  X(sigmoid, sigmoid, 4e-6, 0) \
  X(log_relu, log_relu, 4e-6, 0) \
  X(tanh, tanh, 4e-5, 0) \
  X(square, square, 0x1p-24, 0)

#define ATTN2C_ACTIVATION_NAMES "relu, gelu, gelu_rounded, gelu_tanh, quick_gelu, silu, sigmoid, log_relu, tanh or square"
#define ATTN2C_ERROR_SIGMOID 4e-6
#define ATTN2C_ERROR_TANH 4e-5
/* clang-format on */
