# KEY=VALUE: the keys of a description, and the values of keys with a list of words.
function __fish_attn2c_overrides
    switch (commandline -ct)
${values}        case '*'
${keys}    end
end

complete -c attn2c -n '${seen}' -a '(__fish_attn2c_overrides)'
