# shellcheck shell=bash
# What shell tests have in common that run the program or scripts on the stand-in for a GPU. They
# read this file from the folder that they lie in, before they leave it.

# fail SENTENCE: ends the test.
fail() {
  echo "$1" >&2
  exit 1
}

# write NAME: writes a program of what it reads.
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

# step_error FILE: prints by how many percent the predicted step is wrong, of what compare printed.
step_error() {
  awk '/^step time, ms/ { print $6 }' "$1"
}

# is_within MOST ERROR: whether the error is so many percent at most, in either direction.
is_within() {
  [ -n "$2" ] && awk -v most="$1" -v error="$2" 'BEGIN { exit !(error <= most && error >= -most) }'
}
