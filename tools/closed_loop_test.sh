#!/bin/bash
# On the stand-in for a GPU, whose kernels take known times, a model fitted to its profile predicts
# the steps that run there: on the whole board and on unequal parts, for every kind of schedule.
# What is left is the model's error on ops that the quick suite lacks; norms and attention of the
# stand-in take other times than any GPU's.
# usage: closed_loop_test.sh STAGECRAFT_ON_STAND_IN
set -euo pipefail

program=$(readlink -f "$1")
cd "$(mktemp -d)"
export STAGECRAFT_STAND_IN="data=no cache=1"
read -ra plan <<<"--model gpt2-medium --global-batch 8 --micro-batch 1 --seq 1024"
most=5  # percent

try() {
  "$program" "$@" >log.txt 2>&1 && return
  echo "$*: $(cat log.txt)" >&2
  exit 1
}

try import local-gpu --board 0 -o whole.json
try import local-gpu --parts 3:5 -o unequal.json
try profile --device cuda:0 -o whole.csv
for part in 0 1; do
  try profile --device cuda:0 --cluster unequal.json --part $part -o part$part.csv
done
try fit --samples whole.csv -o whole.pb
try fit --samples whole.csv part0.csv part1.csv --cluster unequal.json -o unequal.pb

# expect_close CLUSTER FLAGS...: predicted and measured steps of the plan with these flags.
failed=0
expect_close() {
  local cluster=$1 error
  shift
  try run --executor cuda "${plan[@]}" --cluster "$cluster.json" "$@" --steps 1 -o measured.pb
  try simulate "${plan[@]}" --cluster "$cluster.json" "$@" --cost-model "$cluster.pb" --unfold \
    --timeline predicted.pb
  try compare predicted.pb measured.pb
  error=$(awk '/^step, ms/ { print $5 }' log.txt)
  echo "$cluster $*: $error %"
  awk -v error="$error" -v most=$most 'BEGIN { exit !(error < most && error > -most) }' ||
    failed=1
}

expect_close whole
for schedule in gpipe 1f1b zb-h1; do expect_close unequal --pp 2 --schedule $schedule; done
expect_close unequal --pp 2 --schedule interleaved --vpp 2
# The host and the clock of a long training run in an eager framework are another prediction.
try simulate "${plan[@]}" --cluster whole.json --cost-model whole.pb --host-dispatch 75 \
  --clock 0.8 --json
eager=$(awk -F'[:,]' '/"step_time_ms"/ { print $2; exit }' log.txt)
try simulate "${plan[@]}" --cluster whole.json --cost-model whole.pb --json
graphs=$(awk -F'[:,]' '/"step_time_ms"/ { print $2; exit }' log.txt)
awk -v eager="$eager" -v graphs="$graphs" 'BEGIN { exit !(eager > 1.5 * graphs) }' || {
  echo "$eager ms with a host that launches kernel by kernel, $graphs ms without" >&2
  failed=1
}
[ $failed -eq 0 ]
