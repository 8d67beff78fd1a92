#!/bin/bash
# On the stand-in for a GPU: boards, parts, libraries, drivers and cluster files that do not fit are
# one sentence and exit code 2, and what was measured until then is kept.
# usage: gpu_bad_input_test.sh STAGECRAFT_ON_STAND_IN
set -euo pipefail

program=$(readlink -f "$1")
cd "$(mktemp -d)"
read -ra plan <<<"--model gpt2-tiny --global-batch 2 --micro-batch 1 --seq 64 --steps 1 --warm-up 1"
failed=0

# on BOARD VERB...: the verb on the stand-in's board; its exit code in $code.
on() {
  local board=$1
  shift
  code=0
  STAGECRAFT_STAND_IN="data=no cache=1 $board" "$program" "$@" >out.txt 2>err.txt || code=$?
}

# What it says beside progress and the files that it wrote.
sentences() { tr '\r' '\n' <err.txt | grep -v -e '^wrote ' -e '^step ' | grep . || true; }

fail() {
  echo "FAILED: $*" >&2
  cat out.txt err.txt >&2
  failed=1
}

# refused WORDS BOARD VERB...: exit code 2 and one sentence, which has the words.
refused() {
  local words=$1
  shift
  on "$@"
  [ $code -eq 2 ] || { fail "exit code $code of $*"; return; }
  [ "$(sentences | wc -l)" -eq 1 ] || { fail "not one sentence of $*"; return; }
  sentences | grep -qF -- "$words" || fail "no \"$words\" of $*"
}

works() {
  on "$@"
  [ $code -eq 0 ] || fail "exit code $code of $*"
}

works "" import local-gpu --board 0 -o whole.json
works "" import local-gpu --parts 2 -o halves.json

# Boards that are not there.
refused "want a machine that has one" boards=0 import local-gpu -o none.json
refused "want a machine that has one" boards=0 profile --device cuda:0 -o none.csv
refused "want a machine that has one" boards=0 run --executor cuda "${plan[@]}" --cluster whole.json
refused "got device 7, want 0 to 0" "" profile --device cuda:7 -o none.csv
refused "--board" "" import local-gpu --board 3 -o none.json

# Parts that do not fit.
refused "" green-contexts=no import local-gpu --parts 2 -o none.json
refused "" green-contexts=no run --executor cuda "${plan[@]}" --cluster halves.json --pp 2
refused "--parts" "" import local-gpu --parts 7,9 -o none.json
refused "--parts" "" import local-gpu --parts 3:0 -o none.json
refused "--parts" "" import local-gpu --parts 1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1 -o none.json
refused "" "groups=3 rest=0" run --executor cuda "${plan[@]}" --cluster halves.json --pp 2

# Cluster files of another board.
h200="want the NVIDIA H200 that is there"
refused "$h200" name=NVIDIA_H200 run --executor cuda "${plan[@]}" --cluster whole.json
refused "$h200" name=NVIDIA_H200 run --executor cuda "${plan[@]}" --cluster halves.json --pp 2
refused "$h200" name=NVIDIA_H200 profile --device cuda:0 --cluster halves.json -o none.csv

# A driver, or a library, that is missing or too old.
old="driver version is insufficient"
refused "$old" driver-is-old=yes import local-gpu -o none.json
refused "$old" driver-is-old=yes profile --device cuda:0 -o none.csv
refused "$old" driver-is-old=yes run --executor cuda "${plan[@]}" --cluster whole.json
for missing in libcublasLt libcudnn cublasLtMatmul cudnnBackendExecute; do
  refused "$missing" "missing=$missing" run --executor cuda "${plan[@]}" --cluster whole.json
done

[ ! -e none.json ] && [ ! -e none.csv ] || fail "a file of what was refused"

# profile goes on without a family, keeps what it measures, and fails at the end.
for missing in libcublasLt:gemm libcudnn:attention cublasLtMatmul:gemm \
  cudnnBackendExecute:attention; do
  family=${missing#*:} missing=${missing%:*}
  refused "runs no $family" "missing=$missing" profile --device cuda:0 -o "$missing.csv"
  [ "$(grep -c elementwise "$missing.csv")" -gt 10 ] || fail "too few samples without $missing"
  ! grep -q "^$family," "$missing.csv" || fail "samples of what is missing: $missing"
  grep -q "not measured: .* ops: .*$missing" out.txt || fail "no reason without $missing"
  works "missing=$missing" profile --device cuda:0 --resume --allow-missing -o "$missing.csv"
done

# Memory that does not suffice.
refused "memory" memory=500 run --executor cuda --model gpt2-medium --global-batch 1 --seq 64 \
  --cluster whole.json
[ $failed -eq 0 ]
