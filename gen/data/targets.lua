-- targets.lua: lists the instruction sets that code can be made for: compiler flags, registers, tile parameters.
-- A target has the floats of a vector, its registers, forms for bf16 and int8 (kernels/forms.lua), and the rule that
-- chooses tile parameters where nothing was measured. Further fields:
--
-- spare           registers that strips of f32 leave free where all rows are not one strip; nil: none
-- cut_registers   registers that loading a part of a vector takes in addition
-- has_tiles       true if AMX tiles multiply bf16 and int8 where they fit
-- has_halves      true if an instruction of its own multiplies half a vector; it takes half the time on processors that
--                 split a vector in two
-- u8              form for an attention's weights and values in int8
-- bf16_rows       storage of rows that a product of bf16 reads: f32 where each strip would widen them again
-- has_libxsmm     true if libxsmm makes kernels for the target; libxsmm_outputs: the fewest outputs of one that is as
--                 fast as C: with 16 on AVX2 they have too few sums, and take 1.1 to 1.4 times as long
-- only_for        number types for which `target = "host"` may choose the target; with others it is no faster
-- is_measured     true if its instructions for these types are slower than f32's on some processors: `host` compares
--                 their measured rates with other targets' rates. Without measurements it takes targets without tiles
-- times           how single strips of few rows prefetch weights, where processors with the same instructions differ.
--                 `machine` times two ways, and products of a `host` build take the faster one: { level = types whose
--                 weights may come into the first-level cache; rows = types of which fewer rows than `stream_rows`
--                 may prefetch, "scaled" for weights in scale blocks }
--
-- Tile parameters of the rule:
--
-- panel           outputs of a product's tile
-- token_block     maximum rows of a product's tile
-- call_rows       maximum rows of a strip
-- fetch           how many panels ahead products prefetch, spread over their work; 0: none
-- stream          bytes in the same weights that a product of one strip prefetches ahead; 0: none. Less than a page of
--                 4 KB: the hardware's prefetching begins anew in each page, and finds the next one begun
-- stream_rows     rows of a single strip from which on it prefetches its stream. Fewer rows read at the rate of memory,
--                 where the requests may hinder the hardware's own
-- near            bytes of keys or values ahead that a product of one query prefetches; 0: none
-- group_tokens    sequences are taken together until they have at least this number of tokens
-- query_block     query rows whose scores are held at a time
-- tile_bytes      bytes of scores that are held at a time; fewer query rows are taken where their rows are long
-- softmax_block   keys whose scores are held at a time where rows of all keys do not fit tile_bytes with query_block
--                 rows: the online softmax's key block
-- piece_rows      query rows of such a piece
-- key_block       keys of a transposed panel and of a block of the context's batch-reduce
-- window_block    query rows of a block where a window masks most keys
-- key_align       the first key of a block's range is a multiple of this
-- odd_lines       rows of at least this number of floats take an odd number of cache lines: the layout's stride
-- row_block       rows that a norm, an embedding or another row operation takes at a time
-- least_phase     work between two barriers below which one worker does all of a segment, on average; and
-- least_team      work of a call below which no team is started; in units of cost.lua, about 250 per nanosecond. On a
--                 quiet machine a barrier takes one to two microseconds, the start of a team about five
-- chunks          chunks of a phase for each worker, at most; and
-- least_chunk     work of a chunk below which a phase has one for each worker. A claim takes 0.02 to 0.2 microseconds
-- stock           bytes of weights, at most, that a worker asks for while it waits for others
-- pad             a last panel's outputs are rounded up to a multiple of this, a whole vector, if the result's rows
--                 have capacity, so that strips store without masks. libxsmm's AVX2 kernels fall back to single
--                 floats for the tail of a vector (m 50: 70 GFLOP/s of 131, padded to 56: 113; m 63: 60, padded: 129)
--
-- products: overrides of the rule for products. The first entry applies whose `rows` are no more, and whose `inputs`,
-- if given, no fewer than the product's. Entries are for deep products, of at least `targets.deep` inputs and outputs,
-- whose weights are rarely in a near cache. From 25 rows on a panel has one strip's vectors, and the next panel is
-- prefetched: 48 floats on AVX-512, 16 on AVX2. A single strip prefetches its own stream (plan/ahead.lua): in f32 with
-- panels of 48 from 5 to 9 rows, of 32 up to 14, and of 16 up to 24 rows, and from 6 rows on if the panels are short.
-- There two strips of 48 took 1.2 to 1.8 times as long on a Xeon: a second strip waits for a panel that no near cache
-- holds. Panels of 32 take up to 1.2 times as long from 5 to 7 rows on a Zen 4; up to 4 rows they ask 8 KB ahead, which
-- is faster for weights of more than 4 MB. Tiles of AMX take panels of 64 or 80, which are configured less often, if a
-- panel's inputs are few.
--
-- shallow         the entry is for the other products, whose weights are mostly in a near cache
-- least           the entry is for at least this number of inputs and of outputs
-- outputs         the entry is for no more outputs. Panels of 48 divide 49 to 64 outputs into two panels of two
--                 vectors, of which a strip of one row has too few sums
-- bytes           the entry is for weights of no more bytes. Single strips of small shallow products prefetch
--                 nothing: in a cache they take up to 1.2 times as long on a Zen 4 if they do
-- blocks          the entry is for weights in scale blocks. Their strips prefetch 10 KB ahead: with 3 KB a Zen 5 takes
--                 1.2 to 1.5 times as long from 3 to 8 rows
-- silent          the entry is for fewer rows than the target's `stream_rows`, which prefetch nothing
-- narrow          the entry is only for weights of bf16 or int8, whose strips have fewer rows, whose panels come from
--                 memory faster, and whose rows that wait to be quantised take less memory
-- widened         the entry is for weights of bf16 that strips widen (bf16_rows). They take the sums of f32's
-- weights         the entry is only for weights of this number type: panels of int8 are half as long as bf16's
-- open            the entry is for products whose rows only a call knows. Their panels suit few and many rows
--
-- Measured on machines of Zen 4 and Zen 5 and on a Xeon with AMX: tests/bench/products/fit.lua prints its losses.
local libuv = require("common.libuv")
local words = require("common.words")

local targets = {}

--- The word by which the facts of a machine name all weights in scale blocks.
targets.SCALED = "scaled"

-- Returns the rule of all targets with a target's own values, `more`.
local function rule(more)
  return words.merged({
    panel = 64, token_block = 64, call_rows = 4096, fetch = 0, stream = 3072, stream_rows = 1, near = 4096,
    group_tokens = 128, query_block = 32, key_block = 64, window_block = 32, key_align = 16, tile_bytes = 262144,
    softmax_block = 512, piece_rows = 64,
    row_block = 16, pad = 1, odd_lines = 256, least_phase = 2000000, least_team = 2000000,
    chunks = 4, least_chunk = 1000000, stock = 131072,
  }, more)
end

-- Returns a target with more instructions than another, and the same rule.
local function extended(target, more)
  local all = words.merged(target, more)
  all.cflags = target.cflags .. " " .. more.cflags
  all.needs = words.append({}, target.needs, more.needs)
  return all
end

local avx512 = {
  name = "avx512", machine = "x86_64", has_libxsmm = true,
  vector = 16, has_halves = true, registers = 32, spare = 2, has_fma = true, cut_registers = 0,
  bf16 = "halves", bf16_rows = "f32", int8 = "signs", u8 = "halves",
  cflags = "-mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512",
  needs = { "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl" }, rule = rule { pad = 16 },
  products = {
    { rows = 1, blocks = true, use = { token_block = 128, fetch = 1, stream = 10240 } },
    { rows = 1, open = true, widened = true, use = { panel = 48, token_block = 128, fetch = 1 } },
    { rows = 1, open = true, narrow = true, use = { panel = 32, token_block = 128, fetch = 1 } },
    { rows = 1, open = true, use = { panel = 48, token_block = 128, fetch = 1 } },
    { rows = 129, narrow = true, use = { panel = 48, token_block = 128, fetch = 1 } },
    { rows = 129, inputs = 512, use = { panel = 48, token_block = 256, fetch = 1 } },
    { rows = 129, use = { panel = 48, token_block = 208, fetch = 1 } },
    { rows = 34, narrow = true, use = { panel = 48, token_block = 128, fetch = 1 } },
    { rows = 9, narrow = true, use = { panel = 32, token_block = 128, fetch = 1 } },
    { rows = 1, narrow = true, silent = true, use = { panel = 32 } },
    { rows = 1, narrow = true, use = { panel = 48 } },
    { rows = 25, use = { panel = 48, token_block = 128, fetch = 1 } },
    { rows = 15, use = { panel = 16 } },
    { rows = 10, use = { panel = 32 } },
    { rows = 6, inputs = 256, use = { panel = 16 } },
    { rows = 5, use = { panel = 48 } },
    { rows = 1, use = { panel = 32, stream = 8192 } },
    { rows = 1, shallow = true, outputs = 64, weights = "bf16", use = { panel = 64, fetch = 1, stream = 0 } },
    { rows = 3, shallow = true, bytes = 262144, weights = "bf16", use = { panel = 48, fetch = 1, stream = 0 } },
    { rows = 1, shallow = true, bytes = 262144, widened = true, use = { panel = 80, fetch = 1, stream = 0 } },
    { rows = 1, shallow = true, bytes = 262144, weights = "bf16", use = { panel = 48, fetch = 1, stream = 0 } },
    { rows = 1, shallow = true, least = 48, bytes = 262144, use = { panel = 48, fetch = 1, stream = 0 } },
    { rows = 1, shallow = true, least = 48, use = { panel = 48, fetch = 1 } },
    { rows = 1, shallow = true, weights = "int8", use = { panel = 32, stream = 0 } },
    { rows = 1, shallow = true, bytes = 262144, use = { panel = 64, stream = 0 } },
  },
}

local avx2 = {
  name = "avx2", machine = "x86_64", has_libxsmm = true, libxsmm_outputs = 32,
  vector = 8, registers = 16, has_fma = true, cut_registers = 1, bf16 = "halves", bf16_rows = "f32", int8 = "signs",
  u8 = "halves", cflags = "-mavx2 -mfma -mf16c", needs = { "avx2", "fma", "f16c" },
  times = { rows = { "bf16", "int8", "scaled" } },
  -- A Zen 4 reads memory fastest if one or two rows ask for nothing; four need it: 1.1 to 1.2 times as long without.
  -- One row of a Zen 3 takes 1.1 to 1.5 times as long if it asks for nothing, but of f32 0.9.
  rule = rule { pad = 8, stream_rows = 3 },
  products = {
    { rows = 1, blocks = true, use = { token_block = 128, fetch = 1, stream = 10240 } },
    { rows = 160, inputs = 512, use = { panel = 16, token_block = 256, fetch = 1 } },
    { rows = 160, use = { panel = 16, token_block = 208, fetch = 1 } },
    -- Strips of bf16 have 6 rows of 16 outputs, or 2 of 48: those are faster for rows that 6 divides badly.
    { rows = 15, narrow = true, use = { panel = 16, token_block = 128, fetch = 1 } },
    { rows = 13, weights = "bf16", use = { panel = 48, token_block = 128, fetch = 1 } },
    { rows = 9, weights = "bf16", use = { panel = 16, token_block = 128, fetch = 1 } },
    { rows = 7, weights = "bf16", use = { panel = 48, token_block = 128, fetch = 1 } },
    { rows = 3, weights = "bf16", use = { panel = 16, token_block = 128, fetch = 1 } },
    { rows = 5, weights = "int8", use = { panel = 16, token_block = 128, fetch = 1 } },
    { rows = 3, weights = "int8", use = { panel = 16, token_block = 128, fetch = 1, stream = 16384 } },
    { rows = 1, weights = "int8", use = { panel = 32, token_block = 128, fetch = 1, stream = 0 } },
    -- Rows of f32 that divide well into strips of 6 have panels of 16, others of 32, whose strips have 3 rows.
    { rows = 28, use = { panel = 16, token_block = 128, fetch = 1 } },
    { rows = 25, use = { panel = 32, token_block = 128, fetch = 1 } },
    { rows = 23, use = { panel = 16, token_block = 128, fetch = 1 } },
    { rows = 19, use = { panel = 32, token_block = 128, fetch = 1 } },
    { rows = 15, use = { panel = 16, token_block = 128, fetch = 1 } },
    { rows = 13, use = { panel = 32, token_block = 128, fetch = 1 } },
    { rows = 11, use = { panel = 16, token_block = 128, fetch = 1 } },
    { rows = 8, use = { panel = 32, token_block = 128, fetch = 1 } },
    { rows = 4, use = { panel = 16, token_block = 128, fetch = 1 } },
    { rows = 1, use = { panel = 32, token_block = 128, fetch = 1 } },
    { rows = 1, shallow = true, open = true, weights = "bf16", use = { panel = 32, fetch = 1 } },
    { rows = 1, shallow = true, open = true, use = { panel = 16, fetch = 1 } },
    { rows = 2, shallow = true, bytes = 262144, weights = "bf16", use = { panel = 48, fetch = 1, stream = 0 } },
    { rows = 1, shallow = true, bytes = 262144, weights = "bf16", use = { panel = 64, fetch = 1, stream = 0 } },
    { rows = 1, shallow = true, weights = "bf16", use = { panel = 48, fetch = 1 } },
    { rows = 1, shallow = true, outputs = 48, use = { panel = 48, fetch = 1, stream = 0 } },
    { rows = 2, shallow = true, bytes = 262144, use = { panel = 32, fetch = 1, stream = 0 } },
    { rows = 1, shallow = true, bytes = 262144, weights = "f32", use = { panel = 48, fetch = 1, stream = 0 } },
    { rows = 1, shallow = true, bytes = 262144, use = { panel = 32, fetch = 1, stream = 0 } },
    { rows = 1, shallow = true, use = { panel = 32, fetch = 1 } },
  },
}

local avx512bf16 = extended(avx512, { name = "avx512bf16", bf16 = "pairs", bf16_rows = "bf16", int8 = "quads",
  u8 = "quads", only_for = { "bf16", "int8" }, is_measured = true, times = { level = { "bf16", "int8" } },
  cflags = "-mavx512vnni -mavx512bf16",
  needs = { "avx512_vnni", "avx512_bf16" },
  -- A Zen 4 reads memory fastest if few rows ask for nothing. Xeons with these instructions have AMX, and ask.
  rule = rule { pad = 16, stream_rows = 4, near = 0 } })

-- Strips in AMX have two tiles of 16 outputs and two of 16 rows. Panels are one or two strips, token blocks whole ones.
local amx = extended(avx512bf16, {
  name = "amx", has_tiles = true, rule = avx512.rule, cflags = "-mamx-tile -mamx-bf16 -mamx-int8",
  needs = { "amx_tile", "amx_bf16", "amx_int8" },
  products = {
    { rows = 1, inputs = 2048, weights = "int8", open = true, use = { panel = 80, token_block = 256, fetch = 1 } },
    { rows = 1, weights = "int8", open = true, use = { panel = 48, token_block = 256, fetch = 1 } },
    { rows = 129, inputs = 256, use = { panel = 64, token_block = 256, fetch = 1 } },
    { rows = 129, inputs = 512, open = true, use = { panel = 80, token_block = 256, fetch = 1 } },
    { rows = 129, inputs = 640, use = { panel = 64, token_block = 256, fetch = 1 } },
    { rows = 129, inputs = 2048, use = { panel = 32, token_block = 192, fetch = 1 } },
    { rows = 129, weights = "int8", use = { panel = 32, token_block = 256, fetch = 1 } },
    { rows = 129, use = { panel = 32, token_block = 192, fetch = 1 } },
    { rows = 65, inputs = 256, use = { panel = 64, token_block = 128, fetch = 1 } },
    { rows = 34, inputs = 256, use = { panel = 80, token_block = 128, fetch = 1 } },
    { rows = 34, inputs = 768, weights = "int8", use = { panel = 80, token_block = 128, fetch = 1 } },
    { rows = 34, inputs = 512, use = { panel = 80, token_block = 128, fetch = 1 } },
    { rows = 34, inputs = 640, use = { panel = 64, token_block = 128, fetch = 1 } },
    { rows = 34, use = { panel = 32, token_block = 128, fetch = 1 } },
    { rows = 17, inputs = 2048, weights = "int8", use = { panel = 80, token_block = 128, fetch = 1 } },
    { rows = 1, inputs = 256, use = { panel = 64, token_block = 128, fetch = 1 } },
    { rows = 1, inputs = 2048, weights = "int8", use = { panel = 80, token_block = 128, fetch = 1 } },
    { rows = 1, weights = "int8", use = { panel = 48, token_block = 128, fetch = 1 } },
    { rows = 1, inputs = 512, use = { panel = 80, token_block = 128, fetch = 1 } },
    { rows = 1, inputs = 2048, use = { panel = 64, token_block = 128, fetch = 1 } },
    { rows = 1, use = { panel = 32, token_block = 128, fetch = 1 } },
  },
})

targets.list = {
  amx,
  avx512bf16,
  extended(avx512, { name = "avx512vnni", int8 = "quads", u8 = "quads", only_for = { "int8" },
    cflags = "-mavx512vnni", needs = { "avx512_vnni" } }),
  avx512,
  extended(avx2, { name = "avxvnni", int8 = "quads", u8 = "quads", only_for = { "int8" }, cflags = "-mavxvnni",
    needs = { "avx_vnni" }, times = false, rule = rule { pad = 8 } }), -- only Intel's: not measured, so all rows ask
  avx2,
  {
    name = "x86_64", machine = "x86_64", has_libxsmm = true,
    vector = 4, registers = 16, has_fma = false, cut_registers = 1, bf16 = "halves", bf16_rows = "f32", int8 = "halves",
    u8 = "halves", cflags = "", needs = {}, rule = rule { panel = 32, pad = 4 },
  },
  {
    name = "aarch64", machine = "aarch64",
    vector = 4, registers = 32, has_fma = true, cut_registers = 1, bf16 = "halves", bf16_rows = "f32",
    int8 = "products", u8 = "products",
    -- gcc 12 orders loads before it allocates registers; some sums of a strip of 24 would then be in memory.
    cflags = "", gcc_cflags = "-fno-schedule-insns", needs = {}, rule = rule { panel = 16, pad = 4 },
  },
  { -- any little-endian processor: files of weights and arrays are read in place
    name = "generic", vector = 4, registers = 32, has_fma = false, cut_registers = 1, bf16 = "halves",
    bf16_rows = "f32", int8 = "products", u8 = "products", cflags = "", needs = {},
    rule = rule { panel = 16, pad = 4 },
  },
}

targets.deep = 192

targets.by_name = {}
for _, target in ipairs(targets.list) do targets.by_name[target.name] = target end

--- Returns the type in which a target stores the rows that a product reads, by the word of the weights' type; nil if
--- all targets store them in that type.
function targets.rows(name, word) return targets.by_name[name][word .. "_rows"] end

--- Returns the compiler's flags for a target, as words. is_gcc: includes those that only gcc accepts.
function targets.flags(name, is_gcc)
  local target = targets.by_name[name]
  return words.list(target.cflags .. " " .. (is_gcc and target.gcc_cflags or ""))
end

--- Tile parameters that `plan = { ... }` may override: name -> range or words.
targets.parameters = {
  kernels = { words = { "c", "libxsmm" } }, stream = { min = 0, max = 1 << 20, multiple = 64 },
  stream_rows = { min = 1, max = 4096 }, near = { min = 0, max = 1 << 20, multiple = 64 },
  panel = { min = 16, max = 256, multiple = 16 },
  token_block = { min = 1, max = 4096 }, call_rows = { min = 1, max = 4096 }, fetch = { min = 0, max = 8 },
  group_tokens = { min = 1, max = 1048576 }, query_block = { min = 1, max = 4096 },
  key_block = { min = 16, max = 4096, multiple = 16 }, window_block = { min = 1, max = 4096 },
  key_align = { min = 1, max = 16 }, piece_rows = { min = 1, max = 4096 },
  softmax_block = { min = 16, max = 8192, multiple = 16 },
  pad = { min = 1, max = 16, divides = 16 }, -- rows have capacity up to a multiple of 16
  odd_lines = { min = 0, max = 1 << 30 }, row_block = { min = 1, max = 4096 }, tile_bytes = { min = 64, max = 1 << 30 },
  least_phase = { min = 0, max = 1 << 40 }, least_team = { min = 0, max = 1 << 40 },
  chunks = { min = 1, max = 64 }, least_chunk = { min = 1, max = 1 << 40 },
  stock = { min = 0, max = 1 << 30, multiple = 64 },
}

--- Returns the processor that code is made for, in the form that begins a compiler's triple. It is that of CROSS
--- (aarch64-linux-gnu-), of CC (clang --target=aarch64-linux-gnu), or this machine's. environment: os.getenv.
function targets.machine(environment)
  local prefix, compiler = environment("CROSS") or "", environment("CC") or ""
  return prefix:match("([%w_]+)%-[^/]*$") or compiler:match("%-%-target=([%w_]+)")
    or compiler:match("([%w_]+)%-[%w_]+%-[%w_]+%-[^/%s]*$") or libuv.os_uname().machine
end

--- Returns the names of the targets that libxsmm has kernels for, as a text.
function targets.with_libxsmm()
  local names = {}
  for _, target in ipairs(targets.list) do if target.has_libxsmm then names[#names + 1] = target.name end end
  return (table.concat(names, ", "):gsub(", ([^,]*)$", " and %1"))
end

--- True if code for a target can be made for a processor.
function targets.fits(target, machine) return not target.machine or target.machine == machine end

--- Returns the first of a list of targets' names that can run, or the one called `asked`; nil if there is none. The
--- list has the targets with the most instructions first; runs(name) is true if a target can run here.
function targets.in_use(names, runs, asked)
  for _, name in ipairs(names) do
    if name == asked or (asked or "") == "" and runs(name) then return name end
  end
  return nil
end

-- Returns the features of this processor, as /proc/cpuinfo names them, as a set.
local function flags_here()
  local flags, info = {}, io.open("/proc/cpuinfo", "r")
  if not info then return flags end
  for line in info:lines() do
    local list = line:match("^flags%s*:%s*(.*)$")
    if list then
      for flag in list:gmatch("%S+") do flags[flag] = true end
      break
    end
  end
  info:close()
  return flags
end

local function has_all(flags, target)
  return words.all(target.needs, function(flag) return flags[flag] end)
end

--- Returns the target of a list that gives the same bits as a target whose instructions may be slow on some machines,
--- without them: the same vectors, and the same instructions for other types. Returns nil if there is none, or if the
--- model has no products of bf16. names: those with the most instructions first; precisions: of targets.host.
function targets.instead(name, names, precisions)
  local target, is_after = targets.by_name[name], false
  if not target.is_measured or target.has_tiles or not precisions.bf16 then return nil end
  for _, each in ipairs(names) do
    local other = targets.by_name[each]
    local is_like = other.vector == target.vector
    for type in pairs(precisions) do is_like = is_like and (type == "bf16" or other[type] == target[type]) end
    if is_after and not other.is_measured and is_like then return each end
    is_after = is_after or each == name
  end
  return nil
end

--- Returns a function that is true for the names of targets that this processor (targets.machine) runs.
function targets.runs_on(machine)
  local flags = machine == "x86_64" and flags_here() or {}
  return function(name)
    local target = targets.by_name[name]
    return targets.fits(target, machine) and has_all(flags, target)
  end
end

-- True if `target = "host"` may choose a target for products of the number types `precisions` (a set, or nil: f32).
local function is_of_use(target, precisions)
  if not target.only_for then return true end
  return words.any(target.only_for, function(type) return precisions and precisions[type] end)
end

--- Returns the names of the targets of a library for all machines with a processor: those that are of use for these
--- number types, without tiles, whose results differ. The generic target stands for a processor that has none.
function targets.of_all_machines(machine, precisions)
  local names = {}
  for _, target in ipairs(targets.list) do
    if target.machine == machine and not target.has_tiles and is_of_use(target, precisions) then
      names[#names + 1] = target.name
    end
  end
  return names[1] and names or { "generic" }
end

-- A target takes the place of one with more instructions only if its rate is this much higher: measurements differ
-- from run to run by some percent.
local CLEARLY = 1.1

--- Returns the time that one operation of each number type of a set takes, in nanoseconds, by a target's measured
-- rates (types -> 10^9 operations a second). Returns nil if a type has no rate, because its results were wrong.
function targets.time(rates, precisions)
  local sum = 0
  for _, type in ipairs(words.sorted_keys(precisions)) do
    local rate = rates and rates[type]
    if math.type(rate) == nil or rate <= 0 then return nil end
    sum = sum + 1 / rate
  end
  return sum
end

--- Returns the fastest of a list of targets, those with the most instructions first; one after another only if it is
--- clearly faster. rates: target -> type -> measured rate. Returns nil if none has rates.
function targets.fastest(list, precisions, rates)
  local best, least
  for _, name in ipairs(list) do
    local time = targets.time(rates[name], precisions)
    if time and (not best or time * CLEARLY < least) then best, least = name, time end
  end
  return best
end

-- Returns the targets that `target = "host"` may choose on an x86-64 processor, those with the most instructions first.
-- LIBXSMM_TARGET lowers them.
local function candidates(flags, precisions)
  local asked = os.getenv("LIBXSMM_TARGET") or ""
  local lowered = { spr = "amx", skx = "avx512", clx = "avx512vnni", hsw = "avx2", snb = "x86_64", wsm = "x86_64" }
  local from, list = lowered[asked:lower()], {}
  for _, target in ipairs(targets.list) do
    local runs = target.machine == "x86_64" and has_all(flags, target)
    if from == target.name then from = nil end
    if runs and not from and is_of_use(target, precisions) then list[#list + 1] = target end
  end
  return list
end

--- True if a build for this machine reads its measured facts. precisions: as below.
function targets.are_facts_read(name, precisions)
  local target = targets.by_name[name]
  return target.is_measured or target.times and precisions and (precisions.bf16 or precisions.int8) or false
end

--- Returns the target that `target = "host"` means for a processor (targets.machine). precisions: the set of number
--- types of the model's products ("f32", "bf16", "int8"; nil: only f32). rates: a function that returns this machine's
--- measured rates, target -> type -> rate, or nil; it is called only if they matter. flags: replaces the flags of this
--- processor in tests.
function targets.host(machine, precisions, rates, flags)
  if machine ~= "x86_64" then
    for _, target in ipairs(targets.list) do if targets.fits(target, machine) then return target.name end end
  end
  precisions = precisions or { f32 = true }
  local names, is_measured, plain = {}, false, nil
  for i, target in ipairs(candidates(flags or flags_here(), precisions)) do
    names[i] = target.name
    is_measured = is_measured or target.is_measured or false
    if not target.has_tiles then plain = plain or target.name end
  end
  local known = is_measured and rates and rates() or nil
  return known and targets.fastest(names, precisions, known) or plain or "x86_64"
end

return targets
