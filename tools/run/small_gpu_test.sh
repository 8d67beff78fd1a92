#!/bin/bash
# On the stand-in for a GPU that has too little memory every verb that uses it refuses it with one
# sentence and exit code 2.
# usage: small_gpu_test.sh STAGECRAFT_ON_STAND_IN
set -euo pipefail

program=$(readlink -f "$1")
cd "$(mktemp -d)"
export STAGECRAFT_STAND_IN="data=checked"
"$program" import local-gpu --parts 2 -o halves.json >/dev/null 2>&1
"$program" import local-gpu --board 0 -o whole.json >/dev/null 2>&1
export STAGECRAFT_STAND_IN="data=checked memory=8"

# refuses VERB...
refuses() {
  local code=0
  "$program" "$@" >out.txt 2>err.txt || code=$?
  if [ "$code" -eq 2 ] && [ "$(grep -c "too little memory" err.txt)" -eq 1 ]; then return; fi
  echo "exit code $code, want 2 and a sentence: $*" >&2
  cat err.txt >&2
  exit 1
}

plan="--model gpt2-tiny --global-batch 4 --micro-batch 1 --seq 128"
refuses import local-gpu --parts 2 -o again.json
refuses profile --device cuda:0 -o whole.csv
refuses profile --device cuda:0 --cluster halves.json --part 0 -o half.csv
# shellcheck disable=SC2086  # the plan is words
refuses run --executor cuda $plan --cluster whole.json --op-samples ops.csv --quiet
