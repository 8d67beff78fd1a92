#!/bin/bash
# Measures a GPU, runs pipelines of its parts as devices, and compares them with their predictions.
#   gpu_pipelines.sh measure FOLDER [SECONDS [retry]]
#       On the machine with the GPU. Writes clusters of the GPU and of its parts, predictions.md, a
#       run of every case and samples of the GPU's kernels. Ends after SECONDS (540), and continues
#       when it is called again. With retry it also tries again what failed, predictions included.
#   gpu_pipelines.sh predict FOLDER
#       On a machine that has the clusters. Writes predictions.md: every case by the shipped cost
#       model. measure begins with this. The exit code is 1 if any prediction failed, now or before.
#   gpu_pipelines.sh compare FOLDER|FOLDER.tar.gz
#       On any machine. Writes errors.md: every case that was run beside its earlier prediction, the
#       prediction of a model fitted to the samples, and that by its ops as measured. The exit code
#       is 2 if the archive is cut off or anything failed.
# A case that fails leaves its reason in FOLDER/NAME.failed and NAME.log, and the others go on.
# FOLDER.tar.gz is renewed after every step. UNEQUAL_2 and UNEQUAL_4 replace 3:5 and 2:3:4:7 as the
# shares of unequal parts. STAGECRAFT names the program, which is otherwise looked for beside this
# script. MOST_SECONDS lowers the time limit of every step.
set -uo pipefail

# refuse SENTENCE: prints the sentence as an error and exits with code 2.
refuse() {
  echo "gpu_pipelines.sh: $1" >&2
  exit 2
}

verb=${1:-}
folder=${2:-}
folder=${folder%/}
seconds=${3:-540}
if [[ ! $verb =~ ^(measure|predict|compare)$ || -z $folder || ! ${4:-retry} == retry || $# -gt 4 ||
  ($# -gt 2 && $verb != measure) ]]; then
  sed -n '2,17s/^# *//p' "$0" >&2
  exit 2
fi
if [[ $folder =~ [[:space:]*?\[] || $folder == -* ]]; then
  refuse "FOLDER: got \"$folder\", want a name without blanks, *, ? and [ that begins with no dash"
fi
whole="want a whole number without leading zeros"
[[ $seconds =~ ^(0|[1-9][0-9]{0,8})$ ]] || refuse "SECONDS: got \"$seconds\", $whole"
[[ ${MOST_SECONDS:-1} =~ ^[1-9][0-9]{0,8}$ ]] ||
  refuse "MOST_SECONDS: got \"$MOST_SECONDS\", $whole, 1 or more"
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
beside=$here/stagecraft_gpu
[ -x "$beside" ] || beside=$here/../stagecraft
program=${STAGECRAFT:-$beside}
[ -x "$program" ] || refuse "STAGECRAFT: got $program, which is no program, want stagecraft_gpu"
# shellcheck source=tools/run/gpu_cases.sh
. "$here/gpu_cases.sh"
# shellcheck source=tools/run/gpu_tables.sh
. "$here/gpu_tables.sh"

# Prints the files of the folder. Files that the use of others depends on come first, in case the
# archive is cut off.
files_to_pack() {
  find "$(basename "$folder")" -type f | awk -F/ '
    $NF ~ /^([a-z0-9]+|.*-layers)\.json$/ || $NF == "predictions.md" { print 0, $0; next }
    $NF == "samples.pb" || /-part[0-9]+\.pb$/ || /\.ops\.pb$/ { print 1, $0; next }
    { print 2, $0 }
  ' | sort | cut -c 3-
}

# Packs the files that there are so far, for whoever fetches them before the end. tar exits with
# code 1 if a file grows meanwhile.
pack() {
  local code=0
  (cd "$(dirname "$folder")" && files_to_pack | tar -czf "$(basename "$folder").tar.gz.new" \
    --warning=no-file-changed --files-from=-) || code=$?
  if [ "$code" -gt 1 ] || ! mv "$folder.tar.gz.new" "$folder.tar.gz"; then
    echo "$folder could not be packed" >&2
  fi
}

# left SECONDS: prints how many seconds a step may take that is limited to so many; fails if no time
# is left.
left() {
  local rest=$((seconds - SECONDS)) most=$1
  if [ -n "${MOST_SECONDS:-}" ] && [ "$MOST_SECONDS" -lt "$most" ]; then most=$MOST_SECONDS; fi
  [ "$rest" -gt 0 ] || return 1
  echo $((rest < most ? rest : most))
}

# step NAME SECONDS WORDS...: runs the program with these words, and ends it after so many seconds;
# does not run it if the step has failed before. A step that ends because the time of the whole call
# is up has not failed: the next call begins it anew.
failed=0
time_is_up=""
step() {
  local name=$1 most=$2 limit code=0 begin=$SECONDS out reason=""
  shift 2
  [ ! -f "$folder/$name.failed" ] || return 1
  if ! limit=$(left "$most"); then
    time_is_up=yes
    return 1
  fi
  out=$folder/$name.log
  [[ " $* " != *" --json "* ]] || out=$folder/$name.json
  rm -f "$folder/$name.log" "$out"
  timeout --signal=INT --kill-after=10 "$limit" "$program" "$@" </dev/null >>"$out" \
    2>>"$folder/$name.log" || code=$?
  if [[ $code =~ ^(124|137)$ ]] && [ $((SECONDS - begin)) -ge "$limit" ]; then
    reason="no end within $limit s"
    # The step was ended early, because the time of the whole call is up.
    if [ "$SECONDS" -ge "$seconds" ] && [ "$limit" -lt "$most" ]; then time_is_up=yes; fi
  fi
  if [ "$code" -ne 0 ] && [ -z "$time_is_up" ]; then
    reason=${reason:-"exit code $code: $(reason_in "$folder/$name.log")"}
    echo "$name: $reason" >&2
    echo "$reason" >"$folder/$name.failed"
    failed=$((failed + 1))
  fi
  pack
  return "$code"
}

# Runs those of the cases on its standard input that have not been run.
run_cases() {
  local name plan ops own
  while [ -z "$time_is_up" ] && read -r name plan; do
    [ ! -f "$folder/$name.measured.pb" ] || continue
    has_cluster "$plan" || continue
    ops=$(ops_of "$plan")
    own=()
    [ -f "$ops" ] || own=(--op-samples "$ops")
    # shellcheck disable=SC2086  # plans are words
    step "$name" 120 run --executor cuda $plan "${own[@]}" --json -o "$folder/$name.measured.pb"
    # The program writes this file before it samples ops and prints, so the case is not complete.
    [ -z "$time_is_up" ] || rm -f "$folder/$name.measured.pb"
  done
}

# profile NAME SECONDS FILE WORDS...: continues the file until it has all samples. It is a .pb file,
# because tables have no columns for copies between host and device.
profile() {
  local name=$1 most=$2 file=$3
  shift 3
  [ ! -f "$folder/$name.done" ] || return 0
  step "$name" "$most" profile --device cuda:0 --resume "$@" -o "$folder/$file" &&
    touch "$folder/$name.done"
}

sample_parts() {
  local one cluster number
  for one in $sampled_parts; do
    cluster=${one%:*}
    number=${one#*:}
    [ -f "$folder/$cluster.json" ] || continue  # the GPU cannot be divided so
    profile "profile-$cluster-part$number" 120 "$cluster-part$number.pb" --suite quick \
      --cluster "$folder/$cluster.json" --part "$number"
  done
}

# Measures the full suite in the time that is left.
sample_all() {
  local limit
  [ ! -f "$folder/profile-full.done" ] || return 0
  if ! limit=$(left 1210) || [ "$limit" -le 10 ]; then
    time_is_up=yes
    return
  fi
  step profile-full 1210 profile --device cuda:0 --suite full --resume \
    --budget "$((limit - 10))s" -o "$folder/samples.pb" || return
  if grep -q "^full suite:.*, 0 left;" "$folder/profile-full.log"; then
    touch "$folder/profile-full.done"
  else
    time_is_up=yes
  fi
}

# Records the GPU's clock, power and temperature as the driver's program reports them, until the
# end.
watch_board() {
  command -v nvidia-smi >/dev/null || return 0
  nvidia-smi --query-gpu=timestamp,index,clocks.sm,power.draw,temperature.gpu --format=csv \
    -lms 200 </dev/null >>"$folder/nvidia-smi.csv" 2>&1 &
  watcher=$!
  trap 'kill "$watcher" 2>/dev/null' EXIT
}

# The most informative steps come first: predictions, the whole GPU, then 1F1B with eight
# micro-batches on all parts.
measure() {
  local cluster micro_batches order unpredicted=0 has_none=0
  if [ "${1:-}" = retry ]; then
    rm -f "$folder"/*.failed
    drop_failed_predictions
  fi
  for cluster in $clusters; do
    # shellcheck disable=SC2046  # flags are words
    [ -f "$folder/$cluster.json" ] ||
      step "import-$cluster" 120 import local-gpu $(flags_of "$cluster") -o "$folder/$cluster.json"
  done
  if ! any_case; then
    [ -n "$time_is_up" ] || has_none=1
  else
    predict || unpredicted=1
  fi
  pack
  watch_board
  run_cases < <(cases_on_whole_gpus)
  profile profile-quick 300 samples.pb --suite quick
  for micro_batches in "${numbers_of_micro_batches[@]}"; do
    for order in "${orders[@]}"; do
      run_cases < <(cases_on_parts "$micro_batches" "$order")
      [ "$order" != 1f1b ] || sample_parts
    done
  done
  sample_all
  pack
  [ -z "$time_is_up" ] || echo "the time is up: call again" >&2
  [ "$unpredicted" -eq 0 ] ||
    echo "not every case could be predicted: see predictions.md; with retry it is tried again" >&2
  [ "$has_none" -eq 0 ] || echo "the GPU has no cluster of any case: nothing was run" >&2
  tell_failures && [ "$unpredicted" -eq 0 ] && [ "$has_none" -eq 0 ]
}

tell_failures() {
  local marks
  marks=$(find "$folder" -name '*.failed' | wc -l)
  if [ "$marks" -gt "$failed" ]; then
    echo "$((marks - failed)) steps failed before: measure $folder $seconds retry tries again" >&2
  fi
  [ "$failed" -eq 0 ] || echo "$failed steps failed" >&2
  [ "$failed" -eq 0 ]
}

case $verb in
  measure)
    mkdir -p "$folder" || exit 2
    write_model
    measure "${4:-}"
    ;;
  predict)
    [ -d "$folder" ] || refuse "$folder: got no folder, want one with clusters"
    write_model
    any_case || refuse "$folder: got no cluster of any case, want one, which measure makes"
    predict
    ;;
  compare) compare ;;
esac
