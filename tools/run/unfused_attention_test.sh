#!/bin/bash
# On the stand-in for a GPU, with a cuDNN that refuses every stream on a part of the GPU: a plan
# that leaves attention open runs with unfused attention and says so, and --attention unfused
# predicts its step. If a flag asks for fused attention, or if the ranks are several processes, the
# run is refused with a sentence that names the way out.
# usage: unfused_attention_test.sh STAGECRAFT_ON_STAND_IN
set -euo pipefail
# shellcheck source=tools/run/stand_in_testing.sh
. "$(dirname "${BASH_SOURCE[0]}")/stand_in_testing.sh"

program=$(readlink -f "$1")
cd "$(mktemp -d)"
export STAGECRAFT_STAND_IN="data=checked cache=1 cudnn-refuses-parts=yes"
plan=(--model gpt2-medium --global-batch 4 --micro-batch 1 --seq 512 --pp 2 --cluster halves.json)
run=("$program" run --executor cuda "${plan[@]}" --steps 1)

# expect CODE PATTERN FILE COMMAND...: runs the command, which must end with this exit code and
# print the pattern; its output goes to the file.
expect() {
  local want=$1 pattern=$2 file=$3 code=0
  shift 3
  "$@" >"$file" 2>&1 || code=$?
  if [ "$code" -ne "$want" ] || ! grep -q -- "$pattern" "$file"; then
    echo "exit code $code, want $want and \"$pattern\": $*" >&2
    cat "$file" >&2
    exit 1
  fi
}

expect 0 "" import.txt "$program" import local-gpu --parts 2 -o halves.json
expect 0 "^note: attention ran unfused, .*cudnnSetStream refuses" run.txt "${run[@]}" -o measured.pb \
  --op-samples ops.csv
grep -q "cudnn .*, attention unfused" run.txt
expect 0 '"notes": \[' run.json "${run[@]}" --json --quiet
expect 0 "" simulate.txt "$program" simulate "${plan[@]}" --attention unfused --unfold \
  --measured-ops ops.csv --timeline predicted.pb
expect 0 "attention unfused" compare.txt "$program" compare predicted.pb measured.pb
error=$(step_error compare.txt)
is_within 0.9 "$error" || fail "$error % between prediction and run"
expect 2 "--attention unfused needs no such op" refused.txt "${run[@]}" --attention flash
expect 0 "measured on" asked.txt "${run[@]}" --attention unfused
if grep -q "^note" asked.txt; then
  fail "a note where unfused attention was asked for"
fi
