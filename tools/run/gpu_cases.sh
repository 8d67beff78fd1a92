# shellcheck shell=bash disable=SC2034,SC2154  # what it shares with the others
# The clusters of a board, and the pipelines on them, that gpu_pipelines.sh runs and predicts, which
# reads this file. They lie in `folder`.

clusters="whole halves unequal2 quarters unequal4"
# Parts whose ops are sampled too: those of two, of which each size is one.
sampled_parts="halves:0 unequal2:0 unequal2:1"
models=(gpt2-medium gpt2-xl llama-3-8b-8-layers.json)  # a file is one of the folder
orders=(1f1b "interleaved --vpp 2" zb-h1 gpipe)

# flags_of CLUSTER: what makes it of the board.
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

# A pipeline's layers are llama-3-8b's, of which a board has no room for more.
write_model() {
  cat >"$folder/llama-3-8b-8-layers.json" <<'JSON'
{"model_type": "llama", "vocab_size": 128256, "hidden_size": 4096, "intermediate_size": 14336,
 "num_hidden_layers": 8, "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_act": "silu",
 "rms_norm_eps": 1e-05, "max_position_embeddings": 8192, "rope_theta": 500000.0,
 "tie_word_embeddings": false}
JSON
}

# case_of CLUSTER MICRO_BATCHES ORDER MODEL: prints its name, then what run and simulate take.
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

# cases_on_parts ORDER: prints a line for each case.
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

# cluster_of PLAN: prints the name of its cluster.
cluster_of() {
  [[ $1 =~ --cluster\ [^\ ]*/([a-z0-9]+)\.json ]] && echo "${BASH_REMATCH[1]}"
}

# Whether the board has the cluster of a plan.
has_cluster() {
  [[ $1 =~ --cluster\ ([^\ ]+) && -s ${BASH_REMATCH[1]} ]]
}

# Whether the board has the cluster of any case.
any_case() {
  local name plan
  while read -r name plan; do
    ! has_cluster "$plan" || return 0
  done < <(cases)
  return 1
}

# ops_of PLAN: the file of samples of its ops by themselves, which all plans of its network on its
# cluster have in common.
ops_of() {
  local model
  [[ $1 =~ --model\ ([^\ ]+) ]]
  model=${BASH_REMATCH[1]##*/}
  echo "$folder/${model%.json}-$(cluster_of "$1").ops.pb"
}

# Whether a case was run with attention as products and a softmax, for want of a fused kernel.
ran_unfused() {
  grep -qsE 'attention"?:? "?unfused' "$folder/$1.log" "$folder/$1.json"
}
