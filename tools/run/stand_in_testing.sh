# shellcheck shell=bash
# Functions for shell tests that run the program or scripts on the stand-in for a GPU. Tests read
# this file from their own folder, before they change to another one.

# fail SENTENCE: prints the sentence and ends the test as failed.
fail() {
  echo "$1" >&2
  exit 1
}

# write NAME: writes a bash program whose text it reads from its standard input.
write() {
  {
    echo '#!/bin/bash'
    cat
  } >"$1"
  chmod +x "$1"
}

# json_number FILE KEY: prints the first number of this key.
json_number() {
  awk -F'[:,]' -v key="\"$2\"" '$1 ~ key { print $2 + 0; exit }' "$1"
}

# step_error FILE: prints the error of the predicted step in percent, from the output of compare.
step_error() {
  awk '/^step time, ms/ { print $6 }' "$1"
}

# is_within MOST ERROR: whether the error is at most MOST percent, in either direction.
is_within() {
  [ -n "$2" ] && awk -v most="$1" -v error="$2" 'BEGIN { exit !(error <= most && error >= -most) }'
}
