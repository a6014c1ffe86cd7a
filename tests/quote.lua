-- quote.lua: a word of a shell command, quoted. What is tested starts programs without a shell; tests use one.
return function(word) return "'" .. tostring(word):gsub("'", "'\\''") .. "'" end
