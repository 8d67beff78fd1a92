# shellcheck shell=bash disable=SC2154  # variables shared with the other scripts
# Writes the tables of gpu_pipelines.sh: predictions.md and errors.md in `folder`. That script reads
# this file.

# number_in JSON KEY: prints the first number of this key; fails if there is none.
number_in() {
  local text
  text=$(tr -d ' \n' 2>/dev/null <"$1") || return 1
  [[ $text =~ \"$2\":(-?[0-9.]+(e[-+]?[0-9]+)?) ]] && echo "${BASH_REMATCH[1]}"
}

# reason_in LOG: prints the last line of the log, which says why a program failed.
reason_in() {
  local reason
  reason=$(tail -n 1 "$1" 2>/dev/null)
  echo "${reason:-it printed nothing}"
}

# prediction_of NAME: prints the predicted step of a case in predictions.md, in ms; nothing if there
# is none, or if its row is incomplete.
prediction_of() {
  awk -F'[| ]+' -v name="$1" '
    $2 == name && $3 ~ /^[0-9.]+$/ && /[|]$/ { print $3; exit }
  ' "$folder/predictions.md" 2>/dev/null
}

# prediction_row NAME: prints the row of a case for predictions.md, made from the files that
# simulate_shipped left.
prediction_row() {
  local name=$1 step written="before it was run"
  [ ! -f "$folder/$name.measured.pb" ] || written="after it was run"
  if step=$(number_in "$folder/$name.shipped.json" step_time_ms); then
    printf '| %s | %.3f | %s |\n' "$name" "$step" "$written"
  else
    echo "| $name | failed: $(reason_in "$folder/$name.shipped.log") |"
  fi
  rm -f "$folder/$name.shipped.json" "$folder/$name.shipped.log"
}

# Rows of predictions.md for cases that could not be predicted.
failed_row='^| [^|]* | failed: '

drop_failed_predictions() {
  [ ! -f "$folder/predictions.md" ] || sed -i "/$failed_row/d" "$folder/predictions.md"
}

# simulate_shipped NAME PLAN: simulates a plan with the cost model that is built into the program.
simulate_shipped() {
  local limit=${MOST_SECONDS:-60} code=0
  # shellcheck disable=SC2086  # plans are words
  timeout --kill-after=5 "$limit" "$program" simulate $2 --unfold --quiet --json \
    </dev/null >"$folder/$1.shipped.json" 2>"$folder/$1.shipped.log" || code=$?
  [[ ! $code =~ ^(124|137)$ ]] || echo "no end within $limit s" >>"$folder/$1.shipped.log"
}

# Predicts every case that has no row yet, as many at a time as there are CPU cores. Nothing else
# may run in the background meanwhile. Fails if a case could not be predicted, now or before.
predict() {
  local name plan most new=() old=""
  most=$(nproc)
  [ ! -f "$folder/predictions.md" ] || old=$(<"$folder/predictions.md")
  while read -r name plan; do
    if [[ $old == *"| $name |"* ]] || ! has_cluster "$plan"; then continue; fi
    new+=("$name")
    simulate_shipped "$name" "$plan" &
    while [ "$(jobs -rp | wc -l)" -ge "$most" ]; do wait -n; done
  done < <(cases)
  wait
  if [ ${#new[@]} -gt 0 ]; then
    {
      if [ -n "$old" ]; then
        echo "$old"
      else
        printf '%s\n\n' "Steps as the cost model that ships with the program predicts them."
        printf '%s\n' "| case | step, ms | written |" "|---|---|---|"
      fi
      for name in "${new[@]}"; do prediction_row "$name"; done
    } >"$folder/predictions.md.new"
    mv "$folder/predictions.md.new" "$folder/predictions.md"
  fi
  ! grep -qs "$failed_row" "$folder/predictions.md"
}

# fit_model CLUSTER: fits a cost model to the samples of the GPU and, if there are any, of the
# cluster's own parts, and sets `model` to the flags that use it; to none if there are no samples or
# they cannot be fitted. Clusters without samples of their own share one model.
fit_model() {
  local one stem=$folder/fit-gpu samples=() own=()
  model=()
  [ ! -f "$folder/samples.pb" ] || samples=("$folder/samples.pb")
  for one in $sampled_parts; do
    if [ "${one%:*}" = "$1" ] && [ -f "$folder/$1-part${one#*:}.pb" ]; then
      samples+=("$folder/$1-part${one#*:}.pb")
      own=(--cluster "$folder/$1.json")
      stem=$folder/fit-$1
    fi
  done
  if [ ${#samples[@]} -eq 0 ]; then
    [ -f "$stem.log" ] || echo "no samples: nothing is predicted by a fitted model" >&2
    : >"$stem.log"
    return
  fi
  if [ ! -f "$stem.log" ] && ! "$program" fit --samples "${samples[@]}" "${own[@]}" --quiet \
    -o "$stem.pb" </dev/null >"$stem.log" 2>&1; then
    rm -f "$stem.pb"
    echo "no model of $1: $(reason_in "$stem.log")" >&2
    bad=1
  fi
  [ ! -f "$stem.pb" ] || model=(--cost-model "$stem.pb")
}

# beside NAME KIND WORDS...: simulates a case with these words and compares it with the measured
# step. Sets `steps` to both in ms and the error in percent; if this fails, sets `reason`.
beside() {
  local name=$1 stem=$folder/$1.$2
  shift 2
  steps=()
  if ! "$program" simulate "$@" --unfold --quiet --timeline "$stem.predicted.pb" \
    </dev/null >"$stem.simulate.txt" 2>&1; then
    reason=$(reason_in "$stem.simulate.txt")
  elif ! "$program" compare "$stem.predicted.pb" "$folder/$name.measured.pb" \
    </dev/null >"$stem.compare.txt" 2>&1; then
    reason=$(reason_in "$stem.compare.txt")
  else
    read -ra steps < <(awk '/^step time, ms/ { print $4, $5, $6 }' "$stem.compare.txt")
    measured=${steps[1]}
    return 0
  fi
  bad=1
  return 1
}

# make_cells NAME KIND WORDS...: sets `cells` to the predicted step and its error.
make_cells() {
  if beside "$@"; then
    cells="${steps[0]} | ${steps[2]} %"
  else
    echo "$1, $2: $reason" >&2
    cells="failed | -"
  fi
}

# make_shipped_cells NAME WORDS...: sets `cells` in the same way for the prediction that was written
# before the run. If there is none, or if attention ran in another way, the case is predicted anew
# and its cells say so.
make_shipped_cells() {
  local name=$1 step
  shift
  step=$(prediction_of "$name")
  ! ran_unfused "$name" || step=""
  if [ -z "$step" ] || [ -z "$measured" ]; then
    make_cells "$name" shipped "$@"
    cells=${cells/ |/ (anew) |}
  fi
  if [ -n "$step" ] && [ -n "$measured" ]; then
    cells=$(awk -v step="$step" -v measured="$measured" \
      'BEGIN { printf "%s | %+.1f %%", step, 100 * (step / measured - 1) }')
  fi
}

# Prints the four cells of a row that say how a case ran: clock, power, how many steps were queued
# late, and the share of the time in which heat held the clock down.
circumstances_of() {
  local json=$folder/$1.json clock watts throttled late="-"
  clock=$(number_in "$json" clock_mhz) && clock=$(printf "%.0f" "$clock")
  watts=$(number_in "$json" watts) && watts=$(printf "%.0f" "$watts")
  throttled=$(number_in "$json" throttled) &&
    throttled=$(awk "BEGIN { printf \"%.0f %%\", 100 * $throttled }")
  if [[ $(tr -d ' \n' 2>/dev/null <"$json") =~ \"queued_late_ms\":\[([^]]*)\] ]]; then
    late=$(tr ',' '\n' <<<"${BASH_REMATCH[1]}" | awk '$1 > 0 { n++ } END { print n + 0 " of " NR }')
  fi
  # A sensor that the GPU does not have reads 0.
  [ "$clock" != 0 ] || clock=-
  [ "$watts" != 0 ] || watts=-
  echo "${clock:--} | ${watts:--} | $late | ${throttled:--}"
}

# write_row NAME PLAN: prints the row of a case that was run.
write_row() {
  local name=$1 ops measured="" reason="" cells="" words=() model=()
  local by_model="- | -" by_ops="- | -"
  read -ra words <<<"$2"
  ! ran_unfused "$name" || words+=(--attention unfused)
  fit_model "$(cluster_of "$2")"
  if [ ${#model[@]} -gt 0 ]; then
    make_cells "$name" fitted "${words[@]}" "${model[@]}"
    by_model=$cells
  fi
  ops=$(ops_of "$2")
  if [ -f "$ops" ]; then
    make_cells "$name" ops "${words[@]}" "${model[@]}" --measured-ops "$ops"
    by_ops=$cells
  fi
  make_shipped_cells "$name" "${words[@]}"
  if [ -z "$measured" ]; then
    echo "| $name | failed: $reason |"
  else
    echo "| $name | $measured | $cells | $by_model | $by_ops | $(circumstances_of "$name") |"
  fi
}

# unpack ARCHIVE: unpacks it into the folder of its name. If the archive is cut off, the last file,
# which may be incomplete, is left out.
unpack() {
  local archive=$1 names code=0 last
  folder=${archive%.tar.gz}
  if [ -e "$folder" ]; then
    refuse "$archive: got $folder beside it too, want that away, or \"compare $folder\""
  fi
  mkdir "$folder" || exit 2
  names=$(tar --strip-components=1 -C "$folder" -xvzf "$archive" 2>/dev/null) || code=$?
  if [ -z "$names" ]; then
    rmdir "$folder"
    refuse "$archive: got no archive that can be unpacked, want one that measure packed"
  fi
  [ "$code" -ne 0 ] || return 0
  last=$(tail -n 1 <<<"$names")
  rm -f "$folder/${last#*/}"
  echo "$archive: the archive is cut off in $last: what comes before it is compared" >&2
  bad=1
}

# Prints every case that was run, and why others were not. Exits with code 2 if anything failed.
compare() {
  local name plan bad=0 rows=0
  if [[ $folder == *.tar.gz && -f $folder ]]; then unpack "$folder"; fi
  [ -d "$folder" ] || refuse "$folder: got no folder, want one that measure made, or its .tar.gz"
  rm -f "$folder"/fit-*
  {
    echo "| case | measured, ms | predicted before, ms | error | by fitted model, ms | error |" \
      "by measured ops, ms | error | clock, MHz | power, W | late steps | throttled |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
    while read -r name plan; do
      if [ -f "$folder/$name.measured.pb" ]; then
        write_row "$name" "$plan"
        rows=$((rows + 1))
      elif [ -f "$folder/$name.failed" ]; then
        echo "| $name | not run: $(reason_in "$folder/$name.failed") |"
      fi
    done < <(cases)
  } >"$folder/errors.md"
  cat "$folder/errors.md"
  [ "$rows" -gt 0 ] || refuse "$folder: got no case that was run, want one or more"
  [ "$bad" -eq 0 ] || exit 2
}
