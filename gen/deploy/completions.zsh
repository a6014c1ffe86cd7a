# KEY=VALUE: the keys of a description, and the values of keys with a list of words.
_attn2c_overrides() {
  local -a keys
  if compset -P 1 '*='; then
    case ${IPREFIX%=} in
${values}    esac
    return 1
  fi
  keys=(
${keys}  )
  _describe -t keys 'key of the description' keys -q -S =
}
