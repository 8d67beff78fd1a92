#!/bin/bash
# Measures a GPU, and pipelines of virtual devices on it beside their predictions.
#   gpu_pipelines.sh measure FOLDER [SECONDS]  where the GPU is: clusters of it and its parts, a
#                                              run of every case, samples of its kernels; ends
#                                              after SECONDS (540), and goes on when called again
#   gpu_pipelines.sh compare FOLDER            anywhere: a model of each cluster fitted to the
#                                              samples, every case that was run predicted, also
#                                              with its ops as measured, and errors.md
# What fails has its reason in FOLDER/NAME.log, and the rest goes on; FOLDER.tar.gz has what there
# is, after every step. UNEQUAL_2 and UNEQUAL_4 are other shares of unequal parts than 3:5 and
# 2:3:4:7. STAGECRAFT is the program, else what lies beside this script.
set -euo pipefail

verb=${1:-}
folder=${2:-}
folder=${folder%/}
seconds=${3:-540}
if [[ $verb != measure && $verb != compare ]] || [ -z "$folder" ]; then
  sed -n '2,11s/^# *//p' "$0" >&2
  exit 2
fi
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
beside=$here/stagecraft_gpu
[ -x "$beside" ] || beside=$here/../stagecraft
program=${STAGECRAFT:-$beside}
mkdir -p "$folder"

clusters="whole halves unequal2 quarters unequal4"

# What makes a cluster of the board.
flags_of() {
  case $1 in
    whole) echo "--board 0" ;;
    halves) echo "--parts 2" ;;
    unequal2) echo "--parts ${UNEQUAL_2:-3:5}" ;;
    quarters) echo "--parts 4" ;;
    unequal4) echo "--parts ${UNEQUAL_4:-2:3:4:7}" ;;
  esac
}

stages_of() {
  case $1 in
    whole) echo 1 ;;
    halves | unequal2) echo 2 ;;
    *) echo 4 ;;
  esac
}

# case_of CLUSTER MICRO_BATCHES ORDER MODEL: its name, then what run and simulate take.
case_of() {
  local seq=1024
  [[ $4 == *llama* ]] && seq=2048
  echo "$(basename "$4" .json)-$1-${3%% *}-$2" \
    "--model $4 --cluster $folder/$1.json --pp $(stages_of "$1") --seq $seq" \
    "--schedule $3 --micro-batch 1 --global-batch $2"
}

models=(gpt2-medium gpt2-xl "$folder/llama-3-8b-8-layers.json")
orders=(1f1b "interleaved --vpp 2" zb-h1 gpipe)

# cases_on_parts ORDER: a line a case.
cases_on_parts() {
  local micro_batches model cluster
  for micro_batches in 8 4 16; do
    for cluster in halves unequal2 quarters unequal4; do
      for model in "${models[@]}"; do case_of "$cluster" "$micro_batches" "$1" "$model"; done
    done
  done
}
cases_on_whole_boards() {
  local model
  for model in "${models[@]}"; do case_of whole 8 1f1b "$model"; done
}
cases() {
  local order
  cases_on_whole_boards
  for order in "${orders[@]}"; do cases_on_parts "$order"; done
}

# Parts whose ops are sampled too: those of two, of which each size is one.
sampled_parts="halves:0 unequal2:0 unequal2:1"

# A pipeline's layers are llama-3-8b's, of which a board has no room for more.
write_model() {
  cat >"$folder/llama-3-8b-8-layers.json" <<'JSON'
{"model_type": "llama", "vocab_size": 128256, "hidden_size": 4096, "intermediate_size": 14336,
 "num_hidden_layers": 8, "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_act": "silu",
 "rms_norm_eps": 1e-05, "max_position_embeddings": 8192, "rope_theta": 500000.0,
 "tie_word_embeddings": false}
JSON
}

# What there is so far, for whoever fetches it before the end.
pack() {
  if tar -C "$(dirname "$folder")" -czf "$folder.tar.gz.new" "$(basename "$folder")"; then
    mv "$folder.tar.gz.new" "$folder.tar.gz"
  else
    echo "$folder could not be packed" >&2
  fi
}

# step NAME SECONDS WORDS...: the program with these words, ended after so many seconds.
failed=0
step() {
  local name=$1 limit=$2 code=0
  shift 2
  timeout --signal=INT --kill-after=10 "$limit" "$program" "$@" \
    </dev/null >"$folder/$name.log" 2>&1 || code=$?
  if [ "$code" -ne 0 ]; then
    echo "$name: exit code $code: $(tail -n 1 "$folder/$name.log")" >&2
    failed=$((failed + 1))
  fi
  pack
}

# The time that is left to a step of at most so many seconds; fails where there is none.
left() {
  local rest=$((seconds - SECONDS))
  [ "$rest" -gt 0 ] || return 1
  echo $((rest < $1 ? rest : $1))
}

# The samples of a plan's ops by themselves, which all plans of its network on its cluster have.
ops_of() {
  [[ $1 =~ --model\ ([^\ ]+)\ --cluster\ ([^\ ]+) ]]
  echo "$folder/$(basename "${BASH_REMATCH[1]}" .json)-$(basename "${BASH_REMATCH[2]}" .json).ops.csv"
}

# Runs the cases that it reads, and have not been run.
run_cases() {
  local name plan limit ops own
  while read -r name plan; do
    [ -f "$folder/$name.measured.pb" ] && continue
    [[ $plan =~ --cluster\ ([^ ]+) && -f ${BASH_REMATCH[1]} ]] || continue  # the board has none
    limit=$(left 120) || break
    ops=$(ops_of "$plan")
    own=()
    [ -f "$ops" ] || own=(--op-samples "$ops")
    # shellcheck disable=SC2086
    step "$name" "$limit" run --executor cuda $plan "${own[@]}" -o "$folder/$name.measured.pb"
  done
}

sample_parts() {
  local one cluster number limit
  for one in $sampled_parts; do
    cluster=${one%:*}
    number=${one#*:}
    [ -f "$folder/$cluster.json" ] || continue  # the board has none
    limit=$(left 120) || break
    step "profile-$cluster-part$number" "$limit" profile --device cuda:0 --suite quick --resume \
      --cluster "$folder/$cluster.json" --part "$number" -o "$folder/$cluster-part$number.csv"
  done
}

# What says most comes first: the whole board, then the usual order on all parts.
measure() {
  local cluster order limit
  for cluster in $clusters; do
    # shellcheck disable=SC2046,SC2086  # flags and plans are words
    [ -f "$folder/$cluster.json" ] ||
      step "import-$cluster" 120 import local-gpu $(flags_of "$cluster") -o "$folder/$cluster.json"
  done
  [ -f "$folder/samples.csv" ] ||
    step profile-quick 300 profile --device cuda:0 --suite quick --resume -o "$folder/samples.csv"
  run_cases < <(cases_on_whole_boards)
  for order in "${orders[@]}"; do
    run_cases < <(cases_on_parts "$order")
    [ "$order" != 1f1b ] || sample_parts
  done
  if limit=$(left 1200); then
    step profile-full $((limit + 10)) profile --device cuda:0 --suite full --resume \
      --budget "${limit}s" -o "$folder/samples.csv"
  else
    echo "the time is up: call again" >&2
  fi
  [ "$failed" -eq 0 ] || echo "$failed steps failed" >&2
  [ "$failed" -eq 0 ]
}

# A model of a cluster's devices: of samples of the board, and of its parts where there are any.
fit_model() {
  local one own=()
  for one in $sampled_parts; do
    if [ "${one%:*}" = "$1" ] && [ -f "$folder/$1-part${one#*:}.csv" ]; then
      own+=("$folder/$1-part${one#*:}.csv")
    fi
  done
  [ ${#own[@]} -eq 0 ] || own+=(--cluster "$folder/$1.json")
  "$program" fit --samples "$folder/samples.csv" "${own[@]}" -o "$folder/kernels-$1.pb" --quiet \
    >"$folder/fit-$1.txt"
}

# predict NAME PLAN COLUMNS: simulates the plan on its cluster's model, and prints columns of what
# compare says of the step.
predict() {
  local name=$1 plan=$2
  # shellcheck disable=SC2086
  "$program" simulate $plan --cost-model "$folder/kernels-$cluster.pb" --unfold --quiet \
    --timeline "$folder/$name.predicted.pb" >"$folder/$name.simulate.txt"
  "$program" compare "$folder/$name.predicted.pb" "$folder/${name%.ops}.measured.pb" \
    >"$folder/$name.compare.txt"
  awk "/^step, ms/ { print \" \" $3 }" "$folder/$name.compare.txt"
}

compare() {
  local name plan cluster ops row
  rm -f "$folder"/fit-*.txt
  echo "| case | predicted, ms | measured, ms | error | with measured ops, ms | error |" \
    >"$folder/errors.md"
  echo "|---|---|---|---|---|---|" >>"$folder/errors.md"
  while read -r name plan; do
    [ -f "$folder/$name.measured.pb" ] || continue
    [[ $plan =~ --cluster\ [^\ ]*/([a-z0-9]+)\.json ]]
    cluster=${BASH_REMATCH[1]}
    [ -f "$folder/fit-$cluster.txt" ] || fit_model "$cluster"
    # shellcheck disable=SC2016  # columns are awk's
    row="| $name |$(predict "$name" "$plan" '$3 " | " $4 " | " $5 " % |"')"
    ops=$(ops_of "$plan")
    if [ -f "$ops" ]; then
      # shellcheck disable=SC2016
      row+=$(predict "$name.ops" "$plan --measured-ops $ops" '$3 " | " $5 " % |"')
    else
      row+=" - | - |"
    fi
    echo "$row" >>"$folder/errors.md"
  done < <(cases)
  cat "$folder/errors.md"
}

write_model
"$verb"
