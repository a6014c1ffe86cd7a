-- version.lua: the generator's version, and the runtime's that emitted code insists on
-- (ATTN2C_RUNTIME_VERSION in runtime/base/attn2c.h); abi: that of a model's C interface, which changes where a program
-- compiled against an older header would go wrong.
return { generator = "0.2.0", runtime = 200, abi = 1 }
