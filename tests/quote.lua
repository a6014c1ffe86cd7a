-- quote.lua: quotes a word of a shell command. The compiler starts programs without a shell; tests use one.
return function(word) return "'" .. tostring(word):gsub("'", "'\\''") .. "'" end
