#!/bin/bash
# Parts of a GPU, on the stand-in for one: it has 15 groups of 8 multiprocessors and 12 more, as an
# H100 may have, and a cuDNN that accepts only streams of its handle's context. Whatever the shares,
# a plan runs on the parts. If graphs do not keep to a part, this is reported, and ops on a single
# part are not profiled.
# usage: gpu_parts_test.sh STAGECRAFT_ON_STAND_IN
set -euo pipefail
# shellcheck source=tools/run/stand_in_testing.sh
. "$(dirname "${BASH_SOURCE[0]}")/stand_in_testing.sh"

program=$(readlink -f "$1")
cd "$(mktemp -d)"
keeping="groups=15 rest=12 cudnn-compares-contexts=yes data=checked cache=1"
leaving="$keeping graphs-keep-to-parts=no"
read -ra plan <<<"--model gpt2-tiny --global-batch 4 --micro-batch 1 --seq 128 --steps 1"

# try STAND_IN WORDS...: runs the program with these words while the stand-in behaves as STAND_IN says.
try() {
  local stand_in=$1
  shift
  STAGECRAFT_STAND_IN=$stand_in "$program" "$@" >log.txt 2>&1 || fail "$stand_in: $*: $(cat log.txt)"
}

# expect SHARES MULTIPROCESSORS...: parts with these shares must have these numbers of
# multiprocessors, in this order, and plans must run on them.
expect() {
  local shares=$1 got part
  shift
  try "$keeping" import local-gpu --parts "$shares" -o parts.json
  got=$(sed -n 's/.*on one part alone: //; s/ SMs; on all parts.*//p' log.txt |
    grep -o 'on [0-9]*' | cut -d' ' -f2 | tr '\n' ' ')
  [ "$got" = "$* " ] || fail "$shares: got parts of $got, want $*"
  try "$keeping" run --executor cuda "${plan[@]}" --cluster parts.json --pp $# -o measured.pb
  ! grep -q "one by one" log.txt || fail "$shares: $(cat log.txt)"
  for part in "$@"; do
    grep -q "H100 80GB HBM3, $part multiprocessors" log.txt || fail "$shares: $(cat log.txt)"
  done
  try "$leaving" run --executor cuda "${plan[@]}" --cluster parts.json --pp $# -o measured.pb
  for part in "$@"; do
    grep -q "H100 80GB HBM3, $part multiprocessors, ops launched one by one" log.txt ||
      fail "$shares: $(cat log.txt)"
  done
}

expect 2 56 56
expect 3:5 48 84
expect 4 24 24 24 24
expect 1:1:1:1 32 32 44 24
expect 2:3:4:7 16 24 32 60

# Profiles ops on each part of the cluster that was imported last.
for part in 0 1 2 3; do
  profile=(profile --device cuda:0 --cluster parts.json --part "$part" --budget 0.1s)
  try "$keeping" "${profile[@]}" -o samples$part.csv
  code=0
  STAGECRAFT_STAND_IN=$leaving "$program" "${profile[@]}" -o none.csv >log.txt 2>&1 || code=$?
  if [ $code -ne 2 ] || ! grep -q "a GPU to which CUDA graphs are not confined" log.txt; then
    fail "part $part: exit code $code: $(cat log.txt)"
  fi
done
