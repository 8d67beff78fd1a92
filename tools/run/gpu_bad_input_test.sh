#!/bin/bash
# On the stand-in for a GPU: GPUs, parts, libraries, drivers and cluster files that do not fit cause
# one sentence and exit code 2, and samples that were measured before are kept.
# usage: gpu_bad_input_test.sh STAGECRAFT_ON_STAND_IN
set -euo pipefail

program=$(readlink -f "$1")
cd "$(mktemp -d)"
read -ra plan <<<"--model gpt2-tiny --global-batch 2 --micro-batch 1 --seq 64 --steps 1 --warm-up 1"
failed=0

# on STAND_IN VERB...: runs the verb while the stand-in behaves as STAND_IN says; sets `code` to its exit
# code.
on() {
  local stand_in=$1
  shift
  code=0
  STAGECRAFT_STAND_IN="data=no cache=1 $stand_in" "$program" "$@" >out.txt 2>err.txt || code=$?
}

# Prints what the verb wrote to stderr, except progress and the files that it wrote.
sentences() { tr '\r' '\n' <err.txt | grep -v -e '^wrote ' -e '^step ' | grep . || true; }

complain() {
  echo "FAILED: $*" >&2
  cat out.txt err.txt >&2
  failed=1
}

# refused WORDS STAND_IN VERB...: the verb must end with exit code 2 and one sentence that has the
# words.
refused() {
  local words=$1
  shift
  on "$@"
  [ $code -eq 2 ] || { complain "exit code $code of $*"; return; }
  [ "$(sentences | wc -l)" -eq 1 ] || { complain "not one sentence of $*"; return; }
  sentences | grep -qF -- "$words" || complain "no \"$words\" of $*"
}

works() {
  on "$@"
  [ $code -eq 0 ] || complain "exit code $code of $*"
}

works "" import local-gpu --board 0 -o whole.json
works "" import local-gpu --parts 2 -o halves.json

# GPUs that do not exist.
refused "want a machine that has one" gpus=0 import local-gpu -o none.json
refused "want a machine that has one" gpus=0 profile --device cuda:0 -o none.csv
refused "want a machine that has one" gpus=0 run --executor cuda "${plan[@]}" --cluster whole.json
refused "got device 7, want 0 to 0" "" profile --device cuda:7 -o none.csv
refused "got device 3, want 0 to 0" "" import local-gpu --board 3 -o none.json

# Parts that do not fit.
no_parts="want a driver of this CUDA or later"
refused "$no_parts" green-contexts=no import local-gpu --parts 2 -o none.json
refused "$no_parts" green-contexts=no \
  run --executor cuda "${plan[@]}" --cluster halves.json --pp 2
refused "got a part of 7 multiprocessors, want multiples of 8" "" \
  import local-gpu --parts 7,9 -o none.json
refused "got '3:0', want shares of 1 to" "" import local-gpu --parts 3:0 -o none.json
refused "got 18 parts, want 1 to 16" "" \
  import local-gpu --parts 1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1 -o none.json
refused "want at most the 24 of the GPU" "groups=3 rest=0" \
  run --executor cuda "${plan[@]}" --cluster halves.json --pp 2

# Cluster files of another GPU.
h200="want the NVIDIA H200 that is installed"
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

# Without the library of a family, profile measures the others, keeps these samples, and fails at
# the end.
for missing in libcublasLt:gemm libcudnn:attention cublasLtMatmul:gemm \
  cudnnBackendExecute:attention; do
  family=${missing#*:} missing=${missing%:*}
  refused "cannot run $family" "missing=$missing" profile --device cuda:0 -o "$missing.csv"
  [ "$(grep -c elementwise "$missing.csv")" -gt 10 ] || complain "too few samples without $missing"
  ! grep -q "^$family," "$missing.csv" || complain "samples of what is missing: $missing"
  grep -q "not measured: .* ops: .*$missing" out.txt || complain "no reason without $missing"
  works "missing=$missing" profile --device cuda:0 --resume --allow-missing -o "$missing.csv"
done

# Too little memory, wherever it is allocated.
small="too little memory"
refused "$small" memory=8 import local-gpu --parts 2 -o none.json
refused "$small" "memory=8 cache=50" profile --device cuda:0 -o none.csv
refused "$small" "memory=8 cache=50" \
  profile --device cuda:0 --cluster halves.json --part 0 -o none.csv
refused "$small" memory=8 run --executor cuda "${plan[@]}" --cluster whole.json --op-samples ops.csv
refused "$small" memory=500 run --executor cuda --model gpt2-medium --global-batch 1 --seq 64 \
  --cluster whole.json

for file in none.json none.csv; do
  [ ! -e $file ] || complain "a file of what was refused"
done
[ $failed -eq 0 ]
