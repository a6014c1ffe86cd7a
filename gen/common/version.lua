-- version.lua: holds the versions of the compiler, of the runtime and of a model's C interface.
--
--   generator   the compiler's version
--   date        the day it was made
--   runtime     the version of the runtime that emitted code requires (ATTN2C_RUNTIME_VERSION in runtime/base/attn2c.h)
--   abi         the version of a model's C interface, raised when a program compiled against an older header would fail
return { generator = "0.2.0", date = "2026-11-22", runtime = 201, abi = 3 }
