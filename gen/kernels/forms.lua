-- forms.lua: describes how a strip multiplies and adds f32, bf16 and int8 on each target, and the cost of that.
-- A form names the functions of runtime/ops/product/*.h that a step is made of. `forms.of` chooses it by the types of
-- a product and by the target's instructions.
--
-- A step takes a group of inputs, 4 bytes, of a row of B and of each output in A: 1 of f32, 2 of bf16, 4 of int8. All
-- forms of a type give the same bits, except for tiles of bf16.
--
-- label           part of a strip's name, after its size
-- sum, factor     C types: of a sum; of the groups of A or B in a vector
-- zero            a sum of zeros
-- start           function that reads the first value of a sum from A, where it is stored before the groups
-- load, first     functions that load a vector of groups of A, and its first lanes only
-- splat           function that loads a group of B into every lane; splat_cut, load_cut: the same for the last group,
--                 which is not whole
-- parts           a step computes all its sums for the first part, then for the next: { a, b: functions applied to the
--                 groups before they are multiplied; mask: returns the second argument of a; beside: a second function
--                 applied to vectors of A; splat, splat_cut: the part's own }
-- multiply_add    function that adds a product to a sum; half: the same for only the lower half of a vector; at: the
--                 same with a group of B in memory, for strips of one vector, or nil
-- c_load, c_first, c_store, c_store_first   functions for a vector of C, and for its first lanes
-- include         the runtime's file that declares them
-- peak            the loop that measures the multipliers' peak: { inputs of a lane, a multiply-add of the words a, b to
--                 the sum c }; absent: f32's; for tiles { inputs of a step, a product of three tiles }
-- proof           function of measure/proofs.h or ops/product/tiles_proof.h that compares the form's instructions with
--                 plain C. Forms without one have instructions that every build relies on
-- split           on targets with 16 registers, how a product of many rows splits each panel of two vectors into sizes
--                 and signs, on the stack: { form, of its strips; rows: of a strip at most; least: rows of a product
--                 that is worth it; inputs: at most }
-- signs           of such a form, groups from the sizes of a panel's row to its signs, which strips read from memory;
--                 splits: the function that writes both
-- paced           true if a strip prefetches once every few steps, of which the code has copies, not in each step;
--                 copied: the most sums of a strip with copies, of more of which gcc 12 keeps some in memory
-- in_tiles        true if sums are tiles (kernels/tiles.lua), whose step has up to 64 bytes of a row; such a form has
--                 only multiply_add, start (a boolean), peak and proof
-- in_blocks       true if weights are in scale blocks (kernels/scaled.lua); such a form has only label and include.
--                 takes_tiles: true if strips are in tiles all the same (kernels/scaled_tiles.lua)
--
-- Costs, in multiply-adds of f32:
--
-- work, a_work, b_work   of a step: for each sum; for each vector of A and each group of B, in addition to loading it
-- latency         sums that a step needs, so that none waits for the one before
-- few             with fewer sums than this, a step takes one multiply-add longer
-- held_work       of a step where the groups of B stay in registers instead of the vectors of A
-- registers       registers needed in addition to sums, vectors of A and groups of B; few_registers: the same on
--                 targets with 16, if a constant stays in memory there; factors: the factors of a vector of A
local forms = {}

local function form(more)
  local all = { label = "", sum = "attn2c_vector", zero = "attn2c_zero()", factor = "attn2c_words",
    load = "attn2c_words_load", first = "attn2c_words_load_first", splat = "attn2c_words_splat",
    splat_cut = "attn2c_words_splat_cut", load_cut = "attn2c_words_cut", parts = { {} },
    multiply_add = "attn2c_multiply_add", c_load = "attn2c_load", c_first = "attn2c_load_first",
    c_store = "attn2c_store", c_store_first = "attn2c_store_first",
    work = 1, a_work = 0, b_work = 0, latency = 9, few = 0, held_work = 0,
    registers = 0, factors = 1 }
  for name, value in pairs(more) do all[name] = value end
  return all
end

local function int8(more)
  more.label, more.include = more.label or "_int8", "ops/product/int8.h"
  more.sum, more.zero, more.start = "attn2c_integers", "attn2c_integers_zero()", "attn2c_int8_start"
  more.c_load, more.c_first = "attn2c_integers_load", "attn2c_integers_load_first"
  more.c_store, more.c_store_first = "attn2c_integers_store", "attn2c_integers_store_first"
  return form(more)
end

forms.all = {
  -- Measured fractions of the multipliers' peak: steps of 8, 10, 11 and 12 sums 0.92, 0.89, 0.88 and 0.99; 3 held
  -- rows by 4 vectors 0.98.
  f32 = form { include = "ops/product/product.h", factor = "attn2c_vector", load = "attn2c_load",
    first = "attn2c_load_first", splat = "attn2c_splat", at = "attn2c_multiply_add_at",
    half = "attn2c_multiply_add_half", few = 12, held_work = 0.2, paced = true },
  -- This form uses vdpbf16ps, whose latency is six cycles.
  bf16_pairs = form { label = "_bf16", include = "ops/product/bf16.h", multiply_add = "attn2c_bf16_pairs", latency = 15,
    peak = { 2, "attn2c_bf16_pairs(a, b, c)" }, proof = "attn2c_proof_bf16" },
  -- Widens to f32 on the way: fused multiply-adds of the odd inputs, then of the even ones.
  bf16_halves = form { label = "_bf16", include = "ops/product/bf16.h", factor = "attn2c_vector",
    parts = { { a = "attn2c_bf16_odd", b = "attn2c_bf16_odd" }, { a = "attn2c_bf16_even", b = "attn2c_bf16_even" } },
    a_work = 0.25, b_work = 1, registers = 2 },
  -- Multiplies in the same way, with rows of B that were widened before.
  bf16_floats = form { label = "_bf16_floats", include = "ops/product/bf16.h", factor = "attn2c_vector",
    parts = { { a = "attn2c_bf16_masked", mask = "attn2c_bf16_upper", splat = "attn2c_bf16_odd_input",
      splat_cut = "attn2c_bf16_odd_input_cut" },
      { a = "attn2c_bf16_even", splat = "attn2c_bf16_even_input", splat_cut = "attn2c_bf16_even_input_cut" } },
    registers = 3, few_registers = 1, paced = true },
  -- This form uses vpdpbusd. int8_products adds four products of bytes in a few instructions.
  int8_quads = int8 { multiply_add = "attn2c_int8_quads", peak = { 4, "attn2c_int8_quads(a, b, c)" },
    proof = "attn2c_proof_int8" },
  int8_products = int8 { multiply_add = "attn2c_int8_quads", peak = { 4, "attn2c_int8_quads(a, b, c)" }, work = 4,
    registers = 2 },
  -- This form uses vpmaddubsw; a multiply-add of 16 bits adds its pairs.
  int8_signs = int8 { parts = { { a = "attn2c_int8_negative", beside = "attn2c_int8_sizes" } },
    multiply_add = "attn2c_int8_signs", peak = { 4, "attn2c_int8_signs(a, b, b, c)" }, work = 2,
    a_work = 0.5, registers = 3, factors = 2, paced = true, copied = 12,
    split = { form = "int8_split", rows = 5, least = 20, inputs = 3072 } },
  int8_split = int8 { label = "_int8_split", multiply_add = "attn2c_int8_signs", signs = 16,
    splits = "attn2c_int8_split", registers = 2, paced = true },
  -- These forms use tiles of AMX.
  bf16_tiles = { label = "_bf16_tiles", include = "ops/product/tiles.h", in_tiles = true,
    multiply_add = "attn2c_tile_bf16", peak = { 32, "attn2c_tile_bf16" },
    proof = "attn2c_tiles_are_right" },
  int8_tiles = { label = "_int8_tiles", include = "ops/product/tiles.h", in_tiles = true, start = true,
    multiply_add = "attn2c_tile_int8", peak = { 64, "attn2c_tile_int8" },
    proof = "attn2c_tiles_are_right" },
  -- Uses multiply-adds of 16 bits: of the odd inputs, then of the even ones.
  int8_halves = int8 { parts = { { a = "attn2c_int8_odd", b = "attn2c_int8_odd_inputs" },
    { a = "attn2c_int8_even", b = "attn2c_int8_even_inputs" } }, multiply_add = "attn2c_int8_halves", work = 2,
    peak = { 2, "attn2c_int8_halves(a, b, c)" }, a_work = 1, b_work = 0.5, registers = 1 },
}

-- Products of unsigned rows, an attention's weights, and values. Their sums begin with zero.
local function u8(more)
  for name, value in pairs(int8(more)) do more[name] = value end
  more.label, more.start = "_u8", nil
  return more
end

forms.all.u8_quads = u8 { multiply_add = "attn2c_int8_quads", peak = { 4, "attn2c_int8_quads(a, b, c)" },
  proof = "attn2c_proof_int8" }
forms.all.u8_halves = u8 { parts = { { a = "attn2c_int8_odd", b = "attn2c_int8_odd_inputs" },
  { a = "attn2c_int8_even", b = "attn2c_int8_even_inputs" } }, multiply_add = "attn2c_int8_halves", work = 2,
  peak = { 2, "attn2c_int8_halves(a, b, c)" }, a_work = 1, b_work = 0.5, registers = 3 }
forms.all.u8_products = u8 { multiply_add = "attn2c_u8_products", peak = { 4, "attn2c_u8_products(a, b, c)" },
  work = 6, registers = 4 }
forms.all.u8_tiles = { label = "_u8_tiles", include = "ops/product/tiles.h", in_tiles = true,
  multiply_add = "attn2c_tile_int8", peak = { 64, "attn2c_tile_int8" }, proof = "attn2c_tiles_are_right" }
-- Products of weights in scale blocks (kernels/scaled.lua).
forms.all.scaled = { label = "_scaled", include = "ops/product/scaled.h", in_blocks = true }
forms.all.scaled_tiles = { label = "_scaled_tiles", include = "ops/product/scaled_tiles.h", in_blocks = true,
  takes_tiles = true }
for name, each in pairs(forms.all) do each.name = name end

-- Returns the form of a type, named by its word and by how it is multiplied; nil: in the only way.
local function named(types, way) return forms.all[way and types.word .. "_" .. way or types.word] end

-- True if rows of B are floats that stand for numbers of A's type.
local function reads_floats(types) return types.b == "f32" and types.a ~= "f32" end

--- Returns the form for a product's types on a target, without tiles.
function forms.of(types, target) return named(types, reads_floats(types) and "floats" or target[types.word]) end

--- Returns the form in tiles, or nil if there is none.
function forms.in_tiles(types, target)
  if not target.has_tiles or reads_floats(types) then return nil end
  return named(types, "tiles")
end

return forms
