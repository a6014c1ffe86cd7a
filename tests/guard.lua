-- guard.lua: linker flags (ATTN2C_LDFLAGS) of a program whose memory lies between pages without access: its calls of
-- the runtime's allocation become calls of runtime/base/guard.h. Other builds share the runtime's objects.
-- A shared library cannot be linked with them, since its own calls are resolved before.
local words = {}
for name, other in pairs { reserve = "allocate", reserve_sparse = "allocate", allocate = "allocate", free = "free" } do
  words[#words + 1] = ("--wrap=attn2c_%s,--defsym=__wrap_attn2c_%s=attn2c_guard_%s"):format(name, name, other)
end
table.sort(words)
return "-Wl," .. table.concat(words, ",")
