#!/bin/bash
# Tests every layer of a GPU that Stagecraft builds on, each in seconds; goes on when one fails.
#   gpu_smoke.sh FOLDER  prints a line for each layer: ok, or what went wrong. What the layers write,
#       and a log of each, are in FOLDER/gpu_smoke, which is deleted first.
# The exit code is 1 if any layer failed. STAGECRAFT names the program, which is otherwise looked
# for beside this script, as are the programs of tests. OPS_BUDGET (10s) limits each of the three
# profiles of ops. LAYER_SECONDS lowers the time limit of every layer.

set -uo pipefail

if [ $# -ne 1 ] || [ -z "${1%/}" ]; then
  sed -n '2,8s/^# *//p' "$0" >&2
  exit 2
fi
folder=${1%/}/gpu_smoke
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
beside=$here/stagecraft_gpu
[ -x "$beside" ] || beside=$here/../stagecraft
program=${STAGECRAFT:-$beside}
rm -rf -- "$folder" && mkdir -p -- "$folder" || exit 1
plan="--model gpt2-tiny --global-batch 4 --micro-batch 1 --seq 128"
budget=${OPS_BUDGET:-10s}
failed=0

# layer NAME SECONDS COMMAND...: runs the command, ends it after so many seconds and prints whether
# the layer works.
layer() {
  local name=$1 limit=${LAYER_SECONDS:-$2} code=0 begin=$SECONDS
  shift 2
  timeout --signal=INT --kill-after=5 "$limit" "$@" </dev/null >"$folder/$name.log" 2>&1 || code=$?
  case $code in
    0) echo "$name: ok, $((SECONDS - begin)) s" ;;
    124 | 137) echo "$name: FAILED: no end within $limit s" ;;
    *) echo "$name: FAILED: exit code $code: $(tail -n 1 "$folder/$name.log")" ;;
  esac
  [ "$code" -eq 0 ] || failed=$((failed + 1))
}

# test_program NAME: runs a test's program as a layer if it lies beside this script.
test_program() {
  [ ! -x "$here/$1" ] || layer "$1" 60 "$here/$1"
}

# Prints the libraries that programs link and this machine's loader does not find. NVIDIA's are not
# among them: programs load them when they need them.
unresolved() {
  local one
  for one in "$@"; do
    [ ! -x "$one" ] || ldd "$one" 2>&1 | grep "not found" | sed "s|^[[:space:]]*|${one##*/}: |"
  done
}
# Fails if there is any such library.
libraries() {
  ! unresolved "$@" | grep .
}
export -f unresolved libraries

layer driver 20 nvidia-smi
# shellcheck disable=SC2016  # words of the inner shell
layer libraries 20 bash -c 'libraries "$@"' bash "$program" "$here"/device_{ops,executor}_test
layer gpus 60 "$program" import local-gpu --board 0 -o "$folder/whole.json"
layer halves 60 "$program" import local-gpu --parts 2 -o "$folder/halves.json"
layer unequal 60 "$program" import local-gpu --parts 3:5 -o "$folder/unequal.json"
test_program device_ops_test
test_program device_executor_test
layer ops 60 "$program" profile --device cuda:0 --budget "$budget" -o "$folder/samples.csv"
layer ops-of-a-part 60 "$program" profile --device cuda:0 --cluster "$folder/halves.json" \
  --budget "$budget" -o "$folder/half.csv"
layer kernels 60 "$program" profile --device cuda:0 --kernels --budget "$budget" \
  -o "$folder/kernels.csv"
# shellcheck disable=SC2086  # the plan is words
{
  layer run-whole 60 "$program" run --executor cuda $plan --cluster "$folder/whole.json" \
    -o "$folder/whole.pb"
  layer run-halves 60 "$program" run --executor cuda $plan --cluster "$folder/halves.json" --pp 2 \
    -o "$folder/halves.pb"
  layer run-unequal 60 "$program" run --executor cuda $plan --cluster "$folder/unequal.json" \
    --pp 2 -o "$folder/unequal.pb"
  layer nccl 90 "$program" run --executor cuda $plan --cluster h100-sxm:1x2 --pp 2 --share-gpu \
    -o "$folder/nccl.pb"
  layer simulate 30 "$program" simulate $plan --cluster "$folder/halves.json" --pp 2 --unfold \
    --timeline "$folder/predicted.pb"
}
layer compare 30 "$program" compare "$folder/predicted.pb" "$folder/halves.pb"
if [ "$failed" -eq 0 ]; then
  echo "every layer works"
else
  echo "$failed layers failed; $folder has their logs"
fi
[ "$failed" -eq 0 ]
