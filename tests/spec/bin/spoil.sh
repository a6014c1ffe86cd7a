#!/bin/sh
# A C compiler that changes the files whose names end in $SPOIL_ENDING by the sed script $SPOIL_SCRIPT before it
# compiles them (helper.spoiling).
for word; do
  case $word in *"$SPOIL_ENDING") sed -i -e "$SPOIL_SCRIPT" "$word" ;; esac
done
exec cc "$@"
