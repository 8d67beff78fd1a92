#!/bin/bash
# Measures a GPU, and pipelines of virtual devices on it beside their predictions.
#   gpu_pipelines.sh measure FOLDER [SECONDS]  where the GPU is: samples of its kernels, clusters
#                                              of its parts, a run of every case; ends after
#                                              SECONDS (540), and goes on when called again
#   gpu_pipelines.sh compare FOLDER            anywhere: a model fitted to the samples, every
#                                              case that was run predicted, and errors.md
# Parts are for a board of 132 multiprocessors (H100, H200); UNEQUAL_2 and UNEQUAL_4 name others.
# STAGECRAFT is the program, else what lies beside this script.
set -euo pipefail

verb=${1:-}
folder=${2:-}
seconds=${3:-540}
if [[ $verb != measure && $verb != compare ]] || [ -z "$folder" ]; then
  sed -n '2,9s/^# *//p' "$0" >&2
  exit 2
fi
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
beside=$here/stagecraft_gpu
[ -x "$beside" ] || beside=$here/../stagecraft
program=${STAGECRAFT:-$beside}
mkdir -p "$folder"

parts_of() {
  case $1 in
    halves) echo 2 ;;
    unequal2) echo "${UNEQUAL_2:-48,84}" ;;
    quarters) echo 4 ;;
    unequal4) echo "${UNEQUAL_4:-16,24,32,60}" ;;
  esac
}

# A line a case: its name, then what run and simulate take.
cases() {
  local micro_batches model seq cluster stages order
  for micro_batches in 8 4 16; do
    for cluster in halves unequal2 quarters unequal4; do
      stages=2
      [[ $cluster == quarters || $cluster == unequal4 ]] && stages=4
      for model in gpt2-medium gpt2-xl "$folder/llama-3-8b-8-layers.json"; do
        seq=1024
        [[ $model == *llama* ]] && seq=2048
        for order in gpipe 1f1b "interleaved --vpp 2" zb-h1; do
          echo "$(basename "$model" .json)-$cluster-${order%% *}-$micro_batches" \
            "--model $model --cluster $folder/$cluster.json --pp $stages --seq $seq" \
            "--schedule $order --micro-batch 1 --global-batch $micro_batches"
        done
      done
    done
  done
}

# A pipeline's layers are llama-3-8b's, of which a board has no room for more.
write_model() {
  cat >"$folder/llama-3-8b-8-layers.json" <<'JSON'
{"model_type": "llama", "vocab_size": 128256, "hidden_size": 4096, "intermediate_size": 14336,
 "num_hidden_layers": 8, "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_act": "silu",
 "rms_norm_eps": 1e-05, "max_position_embeddings": 8192, "rope_theta": 500000.0,
 "tie_word_embeddings": false}
JSON
}

measure() {
  local cluster name plan
  for cluster in halves unequal2 quarters unequal4; do
    [ -f "$folder/$cluster.json" ] ||
      "$program" import local-gpu --parts "$(parts_of "$cluster")" -o "$folder/$cluster.json"
  done
  "$program" profile --device cuda:0 --suite full --resume --budget "$((seconds / 2))s" \
    -o "$folder/samples.csv"
  while read -r name plan; do
    [ -f "$folder/$name.measured.pb" ] && continue
    if [ "$SECONDS" -ge "$seconds" ]; then
      echo "the time is up: call again" >&2
      return
    fi
    # shellcheck disable=SC2086  # a plan is words
    "$program" run --executor cuda $plan -o "$folder/$name.measured.pb" ||
      echo "$name: not run" >&2
  done < <(cases)
  echo "all cases were tried" >&2
}

compare() {
  local name plan
  "$program" fit --samples "$folder/samples.csv" -o "$folder/kernels.pb" --quiet >"$folder/fit.txt"
  echo "| case | predicted, ms | measured, ms | error |" >"$folder/errors.md"
  echo "|---|---|---|---|" >>"$folder/errors.md"
  while read -r name plan; do
    [ -f "$folder/$name.measured.pb" ] || continue
    # shellcheck disable=SC2086
    "$program" simulate $plan --cost-model "$folder/kernels.pb" --unfold --quiet \
      --timeline "$folder/$name.predicted.pb" >"$folder/$name.simulate.txt"
    "$program" compare "$folder/$name.predicted.pb" "$folder/$name.measured.pb" \
      >"$folder/$name.compare.txt"
    awk -v name="$name" '/^step, ms/ { print "| " name " | " $3 " | " $4 " | " $5 " % |" }' \
      "$folder/$name.compare.txt" >>"$folder/errors.md"
  done < <(cases)
  cat "$folder/errors.md"
}

write_model
"$verb"
