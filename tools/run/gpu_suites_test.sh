#!/bin/bash
# Both suites of profile on the stand-in for a GPU, on the whole board and on a part: every op is
# measured, none is refused or hot, and all memory that ops touch is there.
# usage: gpu_suites_test.sh STAGECRAFT_ON_STAND_IN
set -euo pipefail

program=$(readlink -f "$1")
cd "$(mktemp -d)"
export STAGECRAFT_STAND_IN="data=checked cache=1"

fail() {
  echo "$1" >&2
  exit 1
}
# number KEY: of profile.json.
number() {
  awk -F'[:,]' -v key="\"$1\"" '$1 ~ key { print $2 + 0; exit }' profile.json
}

# expect LEAST FLAGS...: a suite of so many ops or more.
expect() {
  local least=$1 key
  shift
  "$program" profile --device cuda:0 "$@" --json >profile.json 2>log.txt ||
    fail "$*: $(tail -n 3 log.txt)"
  for key in left throttled measured_throttled measured_before; do
    [ "$(number $key)" -eq 0 ] || fail "$*: $(number $key) $key"
  done
  [ "$(number ops)" -ge "$least" ] || fail "$*: $(number ops) ops"
  [ "$(number measured)" -eq "$(number ops)" ] || fail "$*: $(cat profile.json)"
}

"$program" import local-gpu --parts 3:5 -o unequal.json >log.txt 2>&1 || fail "$(cat log.txt)"
# Copies between host and device, which a part shares with all others, are in files of this kind.
expect 1000 --suite quick -o quick.pb
expect 6000 --suite full -o full.pb
expect 1000 --suite quick --cluster unequal.json --part 0 -o quick.csv
expect 6000 --suite full --cluster unequal.json --part 1 -o full.csv
