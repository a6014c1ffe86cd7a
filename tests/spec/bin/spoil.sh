#!/bin/sh
# A C compiler that treats some of the emitted files in another way. It changes those whose names end in
# $SPOIL_ENDING by the sed script $SPOIL_SCRIPT before it compiles them (helper.spoiling), and compiles those whose
# names begin with $SPOIL_MODEL by $SPOIL_COMPILER, with $SPOIL_LEVEL after all other flags (helper.compiling).
compiler=cc level=
for word; do
  [ -z "$SPOIL_ENDING" ] || case $word in *"$SPOIL_ENDING") sed -i -e "$SPOIL_SCRIPT" "$word" ;; esac
  [ -z "$SPOIL_MODEL" ] || case ${word##*/} in "$SPOIL_MODEL"*.c) compiler=$SPOIL_COMPILER level=$SPOIL_LEVEL ;; esac
done
exec "$compiler" "$@" $level
