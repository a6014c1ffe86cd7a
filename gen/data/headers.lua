-- headers.lua: writes runtime/base/tables.h, where the runtime has the compiler's number types and targets (`make
-- headers`). It is in the repository, so that the runtime is compiled without Lua. tests/spec/data/headers_spec.lua
-- compares it with the tables.
local targets = require("data.targets")
local types = require("data.types")

local headers = { path = "runtime/base/tables.h" }

-- Returns the facts of a number type, in the order of attn2c_type_facts.
local function facts_of(each)
  local block = each.block or { bits = 0, scale_bytes = 0, scales = 0, bytes = 0, unit_bytes = 0, step = 0 }
  local values = block.values or {}
  return ('"%s", %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %s, %d, {%s}'):format(
    each.block and types.word(each.name) or each.word or each.name, each.block and 0 or each.group, each.start or 0,
    each.scales and 1 or 0, each.bit or 0, block.bits, block.scale_bytes, block.scales, block.minimum and 1 or 0,
    block.bytes, block.unit or 0, block.unit_bytes, tostring(block.step), #values,
    #values > 0 and table.concat(values, ", ") or "0")
end

function headers.text()
  local rows, needs = {}, {}
  for _, each in ipairs(types.list) do
    if not each.is_of_attention and not each.is_of_rows then
      rows[#rows + 1] = ("  X(ATTN2C_%s, %s)"):format(each.name:upper(), facts_of(each))
    end
  end
  for i, target in ipairs(targets.list) do
    needs[i] = ('  {"%s", " %s "}'):format(target.name, table.concat(target.needs, " "))
  end
  return ([[
/* tables.h - the number types and targets of the compiler.
 * `make headers` writes this file from gen/data/types.lua and gen/data/targets.lua. */
/* clang-format off */
#pragma once

/* X(type, its facts) */
#define ATTN2C_NUMBER_TYPES(X) \
%s

/* How many scale blocks share a unit. */
#define ATTN2C_UNIT_BLOCKS %d

/* Targets, with the features of x86-64 processors that they need. */
#define ATTN2C_TARGETS \
%s
/* clang-format on */
]]):format(table.concat(rows, " \\\n"), types.SCALE_UNIT // types.SCALE_BLOCK, table.concat(needs, ", \\\n"))
end

return headers
