-- headers.lua: writes the headers of the runtime that repeat tables of the compiler (`make headers`).
-- The headers are in the repository, so that the runtime is compiled without Lua. tests/spec/data/headers_spec.lua
-- compares them with the tables.
local activations = require("data.activations")
local gguf_types = require("common.gguf_types")
local chat = require("text.chat.numbers")
local numbers = require("text.numbers")
local ops = require("data.ops")
local targets = require("data.targets")
local types = require("data.types")
local words = require("common.words")

local headers = {}

-- Returns a header's text. purpose: its opening sentence; from: the file that has the table; body: a list of lines.
local function header(path, purpose, from, body)
  local name = path:match("[^/]*$")
  return ([[
/* %s - %s
 * `make headers` writes this file from %s. */
/* clang-format off */
#pragma once

%s
/* clang-format on */
]]):format(name, purpose, from, table.concat(body, "\n"))
end

-- Appends an enumeration in C of members; a line has what fits. The table says what they mean.
local function add_members(body, opening, members)
  local lines, line = {}, " "
  for i, member in ipairs(members) do
    local text = " " .. member .. (i < #members and "," or "")
    if #line + #text > 110 then lines[#lines + 1], line = line, " " end
    line = line .. text
  end
  lines[#lines + 1] = line
  if #lines == 1 and #opening + #line < 106 then
    body[#body + 1] = opening .. line:sub(2) .. " };"
  else
    body[#body + 1] = opening .. "\n" .. table.concat(lines, "\n") .. "\n};"
  end
end

-- Appends an enumeration of numbers.lua.
local function add_enum(body, enum)
  local values, members = numbers[enum.prefix], {}
  for i, member in ipairs(enum) do
    members[i] = ("%s_%s = %d"):format(enum.prefix, member[1]:upper(), values[member[1]])
  end
  if enum.count then members[#members + 1] = ("%s_%s = %d"):format(enum.prefix, enum.count, #enum) end
  body[#body + 1] = ("/* %s */"):format(enum.purpose:gsub("^%l", string.upper) .. ".")
  add_members(body, enum.type and ("enum %s {"):format(enum.type) or "enum {", members)
end

local function text_numbers(path)
  local body = { ("#define TEXT_TABLES_VERSION %d"):format(numbers.VERSION),
    ("#define TEXT_NONE 0x%xu"):format(numbers.NONE) }
  for _, enum in ipairs(numbers.list) do
    body[#body + 1] = ""
    add_enum(body, enum)
  end
  return header(path, "the numbers that a tokenizer's tables contain.",
    "gen/text/numbers.lua, which says what each means", body)
end

-- Appends the names of a list as an enumeration of numbers from 0, with its count.
local function add_names(body, prefix, list)
  local members = words.map(list, function(row)
    return ("%s_%s"):format(prefix, (type(row) == "table" and row[1] or row):upper())
  end)
  members[#members + 1] = prefix .. "S"
  body[#body + 1] = ""
  add_members(body, "enum {", members)
end

-- Appends the numbers of parameters, and the names, as the insides of arrays.
local function add_signatures(body, prefix, list, by_name)
  local counts, names = {}, {}
  for i, row in ipairs(list) do counts[i], names[i] = #by_name[row[1]].parameters, ('"%s"'):format(row[1]) end
  body[#body + 1] = ("#define %s_ARGUMENTS %s"):format(prefix, table.concat(counts, ", "))
  body[#body + 1] = ("#define %s_NAMES %s"):format(prefix, table.concat(names, ", "))
end

local function chat_numbers(path)
  local body = {}
  add_names(body, "CHAT_STEP", chat.steps)
  add_names(body, "CHAT_IS", chat.comparisons)
  for _, each in ipairs { { "CHAT_FILTER", chat.filters, chat.filter }, { "CHAT_TEST", chat.tests, chat.test },
    { "CHAT_METHOD", chat.methods, chat.method } } do
    add_names(body, each[1], each[2])
    add_signatures(body, table.unpack(each))
  end
  table.remove(body, 1)
  return header(path, "the numbers of steps, filters, tests and methods of chat templates.",
    "gen/text/chat/numbers.lua, which says what each means", body)
end

-- Appends a list of rows as a macro that calls X with each.
local function add_rows(body, name, fields, rows)
  body[#body + 1] = ("/* X(%s) */"):format(fields)
  body[#body + 1] = ("#define %s(X) \\"):format(name)
  for _, row in ipairs(rows) do body[#body + 1] = ("  X(%s) \\"):format(row) end
  body[#body] = body[#body]:gsub(" \\$", "")
end

-- Returns the types of an op's operands as letters: f float, i int32; capital: required.
local function operand_letters(op)
  local letters = {}
  for i, name in ipairs(op.operands) do
    local letter = op.integers and op.integers[name] and "i" or "f"
    letters[i] = op.optional and op.optional[name] and letter or letter:upper()
  end
  return table.concat(letters)
end

-- Returns the header that the reference and the tolerances read. The reference computes all numbers but integers that
-- are operands or results in floats.
local function check_ops(path)
  local rows, body = {}, {}
  for _, name in ipairs(words.sorted_keys(ops.table)) do
    local op = ops.table[name]
    if not ops.class(name).of_ranks then
      rows[#rows + 1] = ('%s, "%s", %s, %s, %s'):format(name, operand_letters(op),
        op.type == "i32" and "I32" or "F32", op.reference or name, op.tolerance)
    end
  end
  add_rows(body, "ATTN2C_OPS", "op, types of its operands, type of its result, function of the reference, tolerance",
    rows)
  local functions, names = {}, {}
  for i, each in ipairs(activations.list) do
    functions[i] = ("%s, %s, %s, %s"):format(each.name, each.of or each.name, each.relative, each.flushed or "0")
    names[i] = each.name
  end
  body[#body + 1] = ""
  add_rows(body, "ATTN2C_ACTIVATIONS",
    "name, function of the reference, relative error, least factor of x that is kept", functions)
  body[#body + 1] = ""
  body[#body + 1] = ('#define ATTN2C_ACTIVATION_NAMES "%s"'):format((table.concat(names, ", "):gsub(", (%w+)$",
    " or %1")))
  for _, name in ipairs { "sigmoid", "tanh" } do
    body[#body + 1] = ("#define ATTN2C_ERROR_%s %s"):format(name:upper(), activations.by_name[name].relative)
  end
  return header(path, "the operations and activations, as the reference and the tolerances read them.",
    "gen/data/ops.lua and gen/data/activations.lua", body)
end

local function number_types(path)
  local names, rows, lists, known = {}, {}, {}, {}
  local unit_blocks = types.SCALE_UNIT // types.SCALE_BLOCK
  for _, each in ipairs(types.list) do
    if not each.is_of_attention and not each.is_of_rows then
      local block = each.block or { bits = 0, scale_bytes = 0, scales = 0, bytes = 0, unit_bytes = 0, step = 0 }
      local values = block.values
      if values and not known[values] then
        known[values] = "values_of_" .. each.name
        lists[#lists + 1] = ("  static const int8_t %s[] = {%s};"):format(known[values], table.concat(values, ", "))
      end
      names[#names + 1] = "ATTN2C_" .. each.name:upper()
      rows[#rows + 1] = ('    { "%s", %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %s, %d, %s },'):format(
        each.block and types.word(each.name) or each.word or each.name, each.block and 0 or each.group, each.start or 0,
        each.scales and 1 or 0, each.bit or 0, block.bits, block.scale_bytes, block.scales, block.minimum and 1 or 0,
        block.bytes, block.unit or 0, block.unit_bytes, tostring(block.step), values and #values or 0,
        known[values] or "NULL")
    end
  end
  return header(path, "the number types of tensors and of packed weights.", "gen/data/types.lua", {
    "#include <stddef.h>",
    "#include <stdint.h>", "",
    "/* Tensors of the graph have one of the first two types. The others are for packed weights. */",
    ("typedef enum { %s } attn2c_type;"):format(table.concat(names, ", ")),
    ("#define ATTN2C_TYPES %d"):format(#names), "",
    "typedef struct {",
    "  const char *word; /* in messages */",
    "  int group;        /* elements in 4 bytes: inputs of one output, next to each other in a panel; 0: in scale",
    "                       blocks */",
    "  int start;        /* rows before the groups of a panel */",
    "  int has_scales;   /* 1: each output has a scale, in a weight of its own */",
    "  unsigned bit;     /* in the header of a packed file; 0: no weights have this type */",
    "  /* of a scale block: bits of an integer (0: the type has no blocks), bytes of a scale, scales, whether each has",
    "     a minimum, bytes in all (packing/scale_blocks.h) */",
    "  int bits, scale_bytes, scales, has_minimum, block_bytes;",
    "  /* bits of scales that are integers times a unit of eight blocks; 0: scales are floats; bytes of the units */",
    "  int unit, unit_bytes;",
    "  float step; /* factor of the unit of scales */",
    "  int value_count;      /* of the integers, which are indices of values; 0: they are numbers */",
    "  const int8_t *values; /* ascending */",
    "} attn2c_type_facts;", "",
    "static inline const attn2c_type_facts *attn2c_facts_of(attn2c_type type) {", table.concat(lists, "\n"),
    "  static const attn2c_type_facts facts[ATTN2C_TYPES] = {", table.concat(rows, "\n"), "  };",
    "  return &facts[type];", "}", "",
    "/* Returns the bytes that the units of an output's scale blocks take, before the first of them. */",
    "static inline ptrdiff_t attn2c_units_bytes(const attn2c_type_facts *facts, ptrdiff_t blocks) {",
    ("  return ((blocks + %d) / %d * facts->unit_bytes + 3) / 4 * 4;"):format(unit_blocks - 1, unit_blocks), "}" })
end

local function features_x86_64(path)
  local bits, tests, rows, body = {}, {}, {}, {}
  for i, each in ipairs(targets.features) do
    bits[each.name] = 1 << (i - 1)
    local test = each.missing or each.has and ('%s ? NULL : "%s"'):format(each.has, each.text)
    if test then tests[#tests + 1] = ("0x%x, %s"):format(bits[each.name], test) end
  end
  for i, target in ipairs(targets.list) do
    local needs = 0
    for _, name in ipairs(target.needs) do needs = needs | assert(bits[name], name) end
    rows[i] = ('{"%s", 0x%x}'):format(target.name, needs)
  end
  add_rows(body, "ATTN2C_FEATURES", "bit, test: NULL, or the name of the missing feature", tests)
  body[#body + 1] = "\n/* Targets, with the bits of the features that they need. */"
  body[#body + 1] = "#define ATTN2C_TARGETS \\\n  " .. table.concat(rows, ", \\\n  ")
  return header(path, "the features of x86-64 processors that targets need.", "gen/data/targets.lua", body)
end

local function types_of_gguf(path)
  local rows, body = {}, {}
  for i, each in ipairs(gguf_types.list) do
    rows[i] = ("%d, %s, %d, %d, %s, %s"):format(each.id, each.name, each.elements, each.bytes, each.widen or "NULL",
      each.split or "NULL")
  end
  add_rows(body, "ATTN2C_GGUF_TYPES", "number, name, elements of a block, bytes of a block, "
    .. "function to f32, function to scale blocks", rows)
  body[#body + 1] = ""
  body[#body + 1] = "/* Types with one of the functions. */"
  body[#body + 1] = ('#define ATTN2C_GGUF_READABLE "%s"'):format(gguf_types.readable)
  return header(path, "the types of GGUF's tensors.", "gen/common/gguf_types.lua", body)
end

--- The headers: their path, and the function that returns their text.
headers.list = {
  { path = "runtime/base/features_x86_64.h", text = features_x86_64 },
  { path = "runtime/base/number_types.h", text = number_types },
  { path = "runtime/formats/gguf_types.h", text = types_of_gguf },
  { path = "runtime/text/numbers.h", text = text_numbers },
  { path = "runtime/chat/chat_numbers.h", text = chat_numbers },
  { path = "runtime/reference/table.h", text = check_ops },
}

--- Returns the headers whose files differ from the tables: a list of { path, text }. read(path) returns a file's text.
function headers.stale(read)
  local list = {}
  for _, each in ipairs(headers.list) do
    local text = each.text(each.path)
    if read(each.path) ~= text then list[#list + 1] = { path = each.path, text = text } end
  end
  return list
end

return headers
