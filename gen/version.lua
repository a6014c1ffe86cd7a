-- version.lua: the generator's version, and the runtime's that emitted code insists on
-- (ATTN2C_RUNTIME_VERSION in runtime/attn2c.h).
return { generator = "0.1.0", runtime = 100 }
