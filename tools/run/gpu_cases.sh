# shellcheck shell=bash disable=SC2034,SC2154  # variables shared with the other scripts
# The clusters that are made of a GPU, and the pipelines on them that gpu_pipelines.sh runs and
# predicts. That script reads this file. The files of clusters are in `folder`.

clusters="whole halves unequal2 quarters unequal4"
# Parts whose ops are sampled, too: of GPUs in two parts, one part of each size.
sampled_parts="halves:0 unequal2:0 unequal2:1"
models=(gpt2-medium gpt2-xl llama-3-8b-8-layers.json)  # a file is in `folder`
orders=(1f1b "interleaved --vpp 2" zb-h1 gpipe)
numbers_of_micro_batches=(8 4 16)

# flags_of CLUSTER: prints the flags with which import makes it of the GPU.
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

# Writes a network with eight of the layers of llama-3-8b: a GPU has no memory for more.
write_model() {
  cat >"$folder/llama-3-8b-8-layers.json" <<'JSON'
{"model_type": "llama", "vocab_size": 128256, "hidden_size": 4096, "intermediate_size": 14336,
 "num_hidden_layers": 8, "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_act": "silu",
 "rms_norm_eps": 1e-05, "max_position_embeddings": 8192, "rope_theta": 500000.0,
 "tie_word_embeddings": false}
JSON
}

# case_of CLUSTER MICRO_BATCHES ORDER MODEL: prints the name of the case, then the flags of its plan
# for run and simulate.
case_of() {
  local seq=1024 model=$4
  if [[ $4 == *.json ]]; then
    seq=2048
    model=$folder/$4
  fi
  echo "${4%.json}-$1-${3%% *}-$2" \
    "--model $model --cluster $folder/$1.json --pp $(stages_of "$1") --seq $seq" \
    "--schedule $3 --micro-batch 1 --global-batch $2"
}

# cases_on_parts MICRO_BATCHES ORDER: prints a line for each case.
cases_on_parts() {
  local model cluster
  for cluster in halves unequal2 quarters unequal4; do
    for model in "${models[@]}"; do case_of "$cluster" "$1" "$2" "$model"; done
  done
}
cases_on_whole_gpus() {
  local model
  for model in "${models[@]}"; do case_of whole 8 1f1b "$model"; done
}
cases() {
  local micro_batches order
  cases_on_whole_gpus
  for micro_batches in "${numbers_of_micro_batches[@]}"; do
    for order in "${orders[@]}"; do cases_on_parts "$micro_batches" "$order"; done
  done
}

# cluster_of PLAN: prints the name of the cluster in the flags of a plan.
cluster_of() {
  [[ $1 =~ --cluster\ [^\ ]*/([a-z0-9]+)\.json ]] && echo "${BASH_REMATCH[1]}"
}

# Whether the cluster of a plan could be made of the GPU.
has_cluster() {
  [[ $1 =~ --cluster\ ([^\ ]+) && -s ${BASH_REMATCH[1]} ]]
}

# Whether the cluster of any case could be made of the GPU.
any_case() {
  local name plan
  while read -r name plan; do
    ! has_cluster "$plan" || return 0
  done < <(cases)
  return 1
}

# ops_of PLAN: prints the name of the file with samples of its ops, each run by itself. All plans of
# the same network on the same cluster share this file.
ops_of() {
  local model
  [[ $1 =~ --model\ ([^\ ]+) ]]
  model=${BASH_REMATCH[1]##*/}
  echo "$folder/${model%.json}-$(cluster_of "$1").ops.pb"
}

# Whether a case was run with unfused attention because there was no fused kernel.
ran_unfused() {
  grep -qsE 'attention"?:? "?unfused' "$folder/$1.log" "$folder/$1.json"
}
