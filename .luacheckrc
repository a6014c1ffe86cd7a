-- .luacheckrc: what luacheck holds the compiler and its specs to. Lua 5.4 throughout; the
-- specs may use busted's globals too, and descriptions the constructors of gen/data/stages.lua.
std = "lua54"
max_line_length = 120
local constructors = {
  "linear", "tokens", "hidden", "norm", "pool", "argmax", "relu", "gelu", "gelu_tanh", "quick_gelu", "log_relu", "silu", "sigmoid",
  "tanh", "huge", "pi", "qkv", "image", "encoder", "normalise", "vocabulary", "any",
}
files["tests"] = { std = "lua54+busted" }
files["tests/golden"] = { read_globals = constructors }
files["tests/torch"] = { read_globals = constructors }
files["models"] = { read_globals = constructors }
files["tests/bench/experts.lua"] = { read_globals = constructors }
exclude_files = { "out" }
