-- headers.lua: writes the headers of the runtime that repeat tables of the compiler (`make headers`).
-- The headers are in the repository, so that the runtime is compiled without Lua. tests/spec/data/headers_spec.lua
-- compares them with the tables.
local targets = require("data.targets")
local types = require("data.types")

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

local function targets_x86_64(path)
  local rows = {}
  for i, target in ipairs(targets.list) do
    rows[i] = ('{"%s", " %s "}'):format(target.name, table.concat(target.needs, " "))
  end
  return header(path, "targets, with the features of x86-64 processors that they need.", "gen/data/targets.lua",
    { "#define ATTN2C_TARGETS \\\n  " .. table.concat(rows, ", \\\n  ") })
end

--- The headers: their path, and the function that returns their text.
headers.list = {
  { path = "runtime/base/targets_x86_64.h", text = targets_x86_64 },
  { path = "runtime/base/number_types.h", text = number_types },
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
