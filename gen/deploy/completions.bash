# After a description: its keys, and the values of keys with a list of words.
_attn2c_overrides() {
    local cur=$1 key= word before= places=0
    [[ $cur = '=' ]] && cur=
    [[ ${COMP_WORDS[COMP_CWORD]} = '=' ]] && key=${COMP_WORDS[COMP_CWORD-1]}
    [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[COMP_CWORD-1]} = '=' ]] && key=${COMP_WORDS[COMP_CWORD-2]}
    case "$key" in
${values}        ?*) return 0 ;;
    esac
    for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
        case "$before" in
            ${valued}) ;;
            *) [[ $word = -* ]] || places=$((places + 1)) ;;
        esac
        before=$word
    done
    case "$before" in
        ${valued}) return 0 ;;
    esac
    [[ $places -gt 0 && $cur != -* ]] || return 0
    COMPREPLY=($(compgen -S = -W '${names}' -- "$cur"))
    [[ ${#COMPREPLY[@]} -eq 0 ]] || compopt -o nospace 2>/dev/null
}

_attn2c_words() {
    _attn2c "$@"
    case "${COMP_WORDS[1]}" in
        ${commands}) [[ ${#COMPREPLY[@]} -gt 0 ]] || _attn2c_overrides "${COMP_WORDS[COMP_CWORD]}" ;;
    esac
}

complete -F _attn2c_words -o bashdefault -o default attn2c
