-- kernels.lua: checks the kernels and the functions that several steps share.
local check_fused_kernels = require("passes.checks.fused_kernels")
local check_shared = require("passes.checks.shared")
local expect = require("passes.checks.expect")
local instance = require("passes.checks.instance")

--- Checks that libxsmm 1.17 accepts each kernel. Fused products and maps must disturb nothing, and functions of
--- alike lists must do each list's own steps.
return function(state)
  for i, k in ipairs(state.kernels) do
    expect(k.m >= 1 and k.n >= 1 and k.k >= 1 and k.lda >= k.m and k.ldb >= k.k and k.ldc >= k.m
      and (k.beta == 0 or k.beta == 1), "kernels", "the shape of kernel %d", i - 1)
    expect(k.lda < 1 << 31 and k.ldb < 1 << 31 and k.ldc < 1 << 31, "kernels", "the leading dimensions of kernel %d",
      i - 1)
  end
  for _, entry in ipairs(state.entries) do
    for _, program in ipairs(entry.programs) do
      local has_fused = next(program.fused_kernels) ~= nil
      for _, call in ipairs(has_fused and state.spec.symbols.rows.is_open
        and instance.calls(program, state.spec, entry.kept.windows) or {}) do
        if call.flows then check_fused_kernels(instance.of(program, call)) end
      end
      if has_fused and not state.spec.symbols.rows.is_open then check_fused_kernels(program) end
      check_shared(entry, program)
    end
  end
end
