#!/bin/bash
# Both suites of profile on the stand-in for a GPU, on the whole GPU and on a part: every op is
# measured, none is refused or throttled, and all memory that ops touch is allocated.
# usage: gpu_suites_test.sh STAGECRAFT_ON_STAND_IN
set -euo pipefail
# shellcheck source=tools/run/stand_in_testing.sh
. "$(dirname "${BASH_SOURCE[0]}")/stand_in_testing.sh"

program=$(readlink -f "$1")
cd "$(mktemp -d)"
export STAGECRAFT_STAND_IN="data=checked cache=1"

# expect LEAST FLAGS...: profiles a suite, which must have at least LEAST ops.
expect() {
  local least=$1 key number
  shift
  "$program" profile --device cuda:0 "$@" --json >profile.json 2>log.txt ||
    fail "$*: $(tail -n 3 log.txt)"
  for key in left throttled measured_throttled measured_before; do
    number=$(json_number profile.json $key)
    [ "$number" -eq 0 ] || fail "$*: $number $key"
  done
  number=$(json_number profile.json ops)
  [ "$number" -ge "$least" ] || fail "$*: $number ops"
  [ "$(json_number profile.json measured)" -eq "$number" ] || fail "$*: $(cat profile.json)"
}

"$program" import local-gpu --parts 3:5 -o unequal.json >log.txt 2>&1 || fail "$(cat log.txt)"
# Copies between host and device, which all parts share, are only in .pb files.
expect 1000 --suite quick -o quick.pb
expect 6000 --suite full -o full.pb
expect 1000 --suite quick --cluster unequal.json --part 0 -o quick.csv
expect 6000 --suite full --cluster unequal.json --part 1 -o full.csv
