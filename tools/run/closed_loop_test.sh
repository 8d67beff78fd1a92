#!/bin/bash
# On the stand-in for a GPU, whose kernels take known times, predicted steps agree with the steps
# that run there, on the whole GPU and on parts, with several pipeline schedules. Errors are at most
# 1 % if every op of the plan was measured by itself: with --measured-ops, and with a model that was
# fitted to these samples and a suite of the whole GPU. Errors of a model that was fitted to suites
# alone are at most 5 %, because suites lack ops of the plan, and norms and attention on the
# stand-in take other times than on a GPU.
# usage: closed_loop_test.sh STAGECRAFT_ON_STAND_IN
set -euo pipefail
# shellcheck source=tools/run/stand_in_testing.sh
. "$(dirname "${BASH_SOURCE[0]}")/stand_in_testing.sh"

program=$(readlink -f "$1")
cd "$(mktemp -d)"
export STAGECRAFT_STAND_IN="data=checked cache=1"
read -ra plan <<<"--model gpt2-medium --global-batch 8 --micro-batch 1 --seq 1024"

try() {
  "$program" "$@" >log.txt 2>&1 && return
  fail "$*: $(cat log.txt)"
}

try import local-gpu --board 0 -o whole.json
try import local-gpu --parts 2 -o halves.json
try import local-gpu --parts 3:5 -o unequal.json
try import local-gpu --parts 4 -o quarters.json
try import local-gpu --parts 1:2:2:3 -o unequal4.json
try profile --device cuda:0 -o whole.csv
for part in 0 1; do
  try profile --device cuda:0 --cluster unequal.json --part $part -o part$part.csv
done
try fit --samples whole.csv -o whole.pb
try fit --samples whole.csv part0.csv part1.csv --cluster unequal.json -o unequal.pb

failed=0
# expect MOST PLAN...: predicts the plan that was measured last; the error must be at most MOST
# percent.
expect() {
  local most=$1 error
  shift
  try simulate "${plan[@]}" "$@" --unfold --timeline predicted.pb
  try compare predicted.pb measured.pb
  error=$(step_error log.txt)
  echo "$error % of $most: $*"
  is_within "$most" "$error" || failed=1
}

# close_loop CLUSTER FLAGS...: measures a plan and its ops on the cluster, and predicts the plan
# from these.
close_loop() {
  local cluster=$1
  shift
  try run --executor cuda "${plan[@]}" --cluster "$cluster.json" "$@" --steps 1 -o measured.pb \
    --op-samples ops.pb
  expect 1 --cluster "$cluster.json" "$@" --measured-ops ops.pb
  try fit --samples whole.csv ops.pb --cluster "$cluster.json" -o exact.pb
  expect 1 --cluster "$cluster.json" "$@" --cost-model exact.pb
  [ ! -f "$cluster.pb" ] || expect 5 --cluster "$cluster.json" "$@" --cost-model "$cluster.pb"
}

close_loop whole
for schedule in gpipe 1f1b zb-h1; do
  close_loop unequal --pp 2 --schedule $schedule
  close_loop quarters --pp 4 --schedule $schedule
done
close_loop halves --pp 2 --schedule 1f1b
close_loop unequal4 --pp 4 --schedule 1f1b
close_loop unequal --pp 2 --schedule interleaved --vpp 2
close_loop quarters --pp 4 --schedule interleaved --vpp 2
# The prediction is another one with the CPU launch overhead and the clock of a long training run in
# an eager framework.
try simulate "${plan[@]}" --cluster whole.json --cost-model whole.pb --host-dispatch 75 \
  --clock 0.8 --json
eager=$(json_number log.txt step_time_ms)
try simulate "${plan[@]}" --cluster whole.json --cost-model whole.pb --json
graphs=$(json_number log.txt step_time_ms)
awk -v eager="$eager" -v graphs="$graphs" 'BEGIN { exit !(eager > 1.5 * graphs) }' || {
  echo "$eager ms with a host that launches kernel by kernel, $graphs ms without" >&2
  failed=1
}
[ $failed -eq 0 ]
