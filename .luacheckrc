-- .luacheckrc: what luacheck holds the compiler and its specs to. Lua 5.4 throughout; the
-- specs may use busted's globals too.
std = "lua54"
max_line_length = 120
files["tests"] = { std = "lua54+busted" }
