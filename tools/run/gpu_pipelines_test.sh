#!/bin/bash
# gpu_pipelines.sh on the stand-in for a GPU: every case that fits the GPU is predicted, run and
# compared, and measured ops predict it nearly to the microsecond; if an archive is cut off or some
# files are bad, the others are compared; no step that is refused or hangs ends another.
# usage: gpu_pipelines_test.sh SCRIPT STAGECRAFT_ON_STAND_IN
set -euo pipefail
# shellcheck source=tools/run/stand_in_testing.sh
. "$(dirname "${BASH_SOURCE[0]}")/stand_in_testing.sh"

script=$(readlink -f "$1")
on_stand_in=$(readlink -f "$2")
export on_stand_in STAGECRAFT_STAND_IN="data=checked cache=1"
cd "$(mktemp -d)"
mkdir bin

# measure FOLDER WORDS...: runs measure, whose output goes to FOLDER.txt, and prints how many steps
# failed.
measure() {
  local folder=$1
  shift
  "$script" measure "$folder" "$@" >"$folder.txt" 2>&1 || true
  grep -cE "^[^ ]+: (exit code|no end)" "$folder.txt" || true
}
# measured FOLDER CASES: prints how many of these cases were run.
measured() {
  find "$1" -name "$2.measured.pb" | wc -l
}
# compare CODE WHAT: runs compare, which must end with this exit code; the table goes to errors.txt,
# error messages to why.txt.
compare() {
  local code=0
  "$script" compare "$2" >errors.txt 2>why.txt || code=$?
  [ "$code" -eq "$1" ] || fail "compare $2: exit code $code, want $1: $(cat errors.txt why.txt)"
}
# rows PATTERN: prints how many rows of cases match the pattern.
rows() {
  grep "^| gpt2\|^| llama" errors.txt | grep -cE "$1" || true
}

# The driver's program, which must end with the script, and a GPU some parts of which have no fused
# attention.
write bin/nvidia-smi <<'END_OF_PROGRAM'
echo $$ >>watchers
echo "timestamp, index, clocks.current.sm [MHz], power.draw [W], temperature.gpu"
exec sleep 600
END_OF_PROGRAM
write stagecraft <<'END_OF_PROGRAM'
case "$*" in
  run*gpt2-medium*unequal2*"global-batch 8"*)
    export STAGECRAFT_STAND_IN="$STAGECRAFT_STAND_IN cudnn-refuses-parts=yes"
    ;;
esac
exec "$on_stand_in" "$@"
END_OF_PROGRAM
export STAGECRAFT=$PWD/stagecraft PATH=$PWD/bin:$PATH

code=0
"$script" 2>usage.txt || code=$?
if [ "$code" -ne 2 ] || ! grep -q "measure FOLDER" usage.txt; then fail "no usage"; fi
compare 2 nowhere
grep -q "^gpu_pipelines.sh: nowhere: got no folder" why.txt || fail "$(cat why.txt)"
[ ! -e nowhere ] || fail "compare made a folder"

# GPipe with sixteen micro-batches of the largest network needs more memory than there is.
[ "$(measure out 3000)" -eq 4 ] || fail "$(cat out.txt)"
[ "$(grep -c "gpipe-16.*too little memory was left" out.txt)" -eq 4 ] || fail "$(cat out.txt)"
[ "$(measured out '*')" -eq 143 ] || fail "not 143 cases"
[ "$(tar -tzf out.tar.gz | grep -c 'measured.pb$')" -eq 143 ] || fail "not all was packed"
[ "$(grep -c "| before it was run |$" out/predictions.md)" -eq 147 ] || fail "not 147 predictions"
grep -q "power.draw" out/nvidia-smi.csv || fail "the GPU was not watched"
[ "$(xargs ps -o stat= -p <watchers | grep -vc '^Z' || true)" -eq 0 ] || fail "it is watched still"

# Measured steps are close to their predictions. The all-reduce of tied embeddings between unequal
# parts is priced as NCCL's but runs as kernels of ours, on a sixteenth of the GPU.
mkdir few
cp out/{*.json,*.ops.pb,*.log,*.failed,predictions.md,samples.pb,halves-part0.pb} few
cp out/gpt2-medium-*-8.measured.pb few
compare 0 few
awk -F'|' '
  /^\| gpt2/ { gsub(/[ %+]/, ""); n++; error = $9 < 0 ? -$9 : $9; sum += error
               if (error > 1) bad = bad " " $2
               if ($4 + 0 == 0 || $6 + 0 == 0 || $12 !~ /of/) bad = bad " " $2 }
  END { if (n != 17 || sum / n > 0.5 || bad != "") { print n, sum / n, bad; exit 1 } }
' errors.txt || fail "$(cat errors.txt)"
[ "$(rows '^\| gpt2-medium-unequal2-.* \(anew\) \|')" -eq 4 ] || fail "$(cat errors.txt)"
[ "$(rows '\(anew\)')" -eq 4 ] || fail "$(cat errors.txt)"
[ "$(rows '\| not run: .*too little memory was left')" -eq 4 ] || fail "$(cat errors.txt)"

# The last file of half an archive is incomplete; this archive has no samples.
mkdir some
cp out/{*.json,*.ops.pb,*.log,predictions.md} some
cp out/gpt2-medium-*-1f1b-8.measured.pb some
"$script" measure some 0 >some.txt 2>&1
head -c $(($(stat -c %s some.tar.gz) / 2)) some.tar.gz >half.tar.gz
compare 2 half.tar.gz
grep -q "^half.tar.gz: the archive is cut off in some/" why.txt || fail "$(cat why.txt)"
grep -q "^no samples: " why.txt || fail "$(cat why.txt)"
half=$(measured half '*')
if [ "$half" -eq 0 ] || [ "$half" -eq 5 ]; then fail "half has $half of 5 cases"; fi
without_model=' % \| - \| - \| [0-9.]+ \| [-+0-9.]+ % \|'
[ "$(rows "$without_model")" -eq "$half" ] || fail "$(cat errors.txt)"
compare 2 half.tar.gz
grep -q "got half beside it too" why.txt || fail "$(cat why.txt)"
echo "no archive" >text.tar.gz
compare 2 text.tar.gz
grep -q "text.tar.gz: got no archive" why.txt || fail "$(cat why.txt)"

# A timeline that is cut off is refused.
one=gpt2-medium-halves-1f1b-8
truncate -s "$(($(stat -c %s some/$one.measured.pb) / 2))" some/$one.measured.pb
compare 2 some
grep -q "^| $one | failed: .*$one.measured.pb: " errors.txt || fail "$(cat errors.txt)"
[ "$(rows "$without_model")" -eq 4 ] || fail "$(cat errors.txt)"
rm some/$one.measured.pb
compare 0 some

# From here on every step only pretends to work, on a GPU and two parts of it, except the one whose
# words match BAD, which behaves as HOW says.
write pretending <<'END_OF_PROGRAM'
if [[ -n ${BAD:-} && "$*" == $BAD ]]; then
  [ "$HOW" != late ] || touch "${@: -1}"
  [ "$HOW" = refuse ] || exec sleep 600
  echo "it is refused" >&2
  exit 2
fi
case "$*" in
  import*"--board 0 "* | import*"--parts 2 "*) echo "{}" >"${@: -1}" ;;
  run* | profile*) touch "${@: -1}" ;;&
  run* | simulate*) echo '{"step_time_ms": 1.5}' ;;
esac
[[ "$*" != *"--suite full"* ]] || echo "full suite: 1 ops, 1 measured, 0 before, 0 left; seed 1"
END_OF_PROGRAM
export STAGECRAFT=$PWD/pretending

# bad_step HOW NAME CASES WORDS: only this step must fail, and CASES cases must be run and packed. A
# step that was refused must not be tried again without `retry`.
bad_step() {
  local how=$1 name=$2 cases=$3 folder=$1-$2 reason="exit code 2: it is refused"
  [ "$how" = refuse ] || reason="no end within 12 s"
  [ "$(BAD=$4 HOW=$how measure "$folder" 3000)" -eq 1 ] || fail "$(cat "$folder.txt")"
  grep -q "^$name: $reason$" "$folder.txt" || fail "$(cat "$folder.txt")"
  [ "$(cat "$folder/$name.failed")" = "$reason" ] || fail "$folder: no reason"
  tar -tzf "$folder.tar.gz" >"$folder.packed"
  [ "$(grep -c "measured.pb$" "$folder.packed")" -eq "$cases" ] || fail "$(cat "$folder.packed")"
  grep -q "/$name.failed" "$folder.packed" || fail "$(cat "$folder.packed")"
  [[ -f $folder/profile-full.done || $name == profile-full ]] || fail "$folder: not to the end"
  [ "$how" = refuse ] || return 0
  [ "$(measure "$folder")" -eq 0 ] || fail "$(cat "$folder.txt")"
  grep -q "^1 steps failed before" "$folder.txt" || fail "$(cat "$folder.txt")"
  [ "$(measured "$folder" '*')" -eq "$cases" ] || fail "$folder: it was tried again"
  [ "$(measure "$folder" 3000 retry)" -eq 0 ] || fail "$(cat "$folder.txt")"
  [ "$(measured "$folder" '*')" -eq 39 ] || fail "$folder: not tried again"
  [ -f "$folder/profile-full.done" ] || fail "$folder: not tried again"
}

# bad_steps HOW: has each of these steps fail in a call of its own, all calls at the same time.
bad_steps() {
  local others=() one
  bad_step "$1" import-halves 3 "import*--parts 2 *" &
  others+=($!)
  bad_step "$1" gpt2-medium-whole-1f1b-8 38 "run*--model gpt2-medium*/whole.json*" &
  others+=($!)
  bad_step "$1" gpt2-xl-halves-gpipe-4 38 \
    "run*--model gpt2-xl*/halves.json*--schedule gpipe*--global-batch 4 *" &
  others+=($!)
  bad_step "$1" profile-quick 39 "profile*--suite quick*/samples.pb" &
  others+=($!)
  bad_step "$1" profile-halves-part0 39 "profile*--part 0 *" &
  others+=($!)
  bad_step "$1" profile-full 39 "profile*--suite full*" &
  others+=($!)
  for one in "${others[@]}"; do wait "$one" || exit 1; done
}
MOST_SECONDS=12 bad_steps hang &
bad_steps refuse
wait $! || exit 1

# A step that hangs when the time is up has not failed, although it has written a timeline: the next
# call begins it anew.
one="run*--model gpt2-medium*/whole.json*"
[ "$(BAD=$one HOW=late measure late 3)" -eq 0 ] || fail "$(cat late.txt)"
grep -q "^the time is up: call again$" late.txt || fail "$(cat late.txt)"
[ "$(find late -name '*.failed' -o -name '*.done' | wc -l)" -eq 0 ] || fail "$(cat late.txt)"
[ "$(measure late)" -eq 0 ] || fail "$(cat late.txt)"
[ "$(measured late '*')" -eq 39 ] || fail "$(cat late.txt)"
[ ! -s late.txt ] || fail "$(cat late.txt)"
[ -s late/gpt2-medium-whole-1f1b-8.json ] || fail "what the time cut off counts as run"

# expect CODE WORDS...: runs the script, which must end with this exit code; its output goes to
# why.txt.
expect() {
  local want=$1 code=0
  shift
  "$script" "$@" >why.txt 2>&1 || code=$?
  [ "$code" -eq "$want" ] || fail "$*: exit code $code, want $want: $(cat why.txt)"
}
# predicted ROW COUNT: COUNT rows of predictions.md must end with ROW.
predicted() {
  [ "$(grep -c "$1$" late/predictions.md)" -eq "$2" ] || fail "$(cat late/predictions.md)"
}

# A prediction that fails or hangs has a row, and is reported until it succeeds on retry;
# predictions that are made after the run say so.
one="simulate*--model gpt2-xl*/whole.json*"
rm late/predictions.md
BAD=$one HOW=hang MOST_SECONDS=12 expect 1 predict late
predicted "^| gpt2-xl-whole-1f1b-8 | failed: no end within 12 s |" 1
rm late/predictions.md
BAD=$one HOW=refuse expect 1 predict late
predicted "^| gpt2-xl-whole-1f1b-8 | failed: it is refused |" 1
predicted "| 1.500 | after it was run |" 38
expect 1 predict late
expect 1 measure late
grep -q "see predictions.md" why.txt || fail "$(cat why.txt)"
predicted "| 1.500 | after it was run |" 38
expect 0 measure late 540 retry
predicted "| 1.500 | after it was run |" 39
expect 0 predict late

# Without clusters there are no cases.
mkdir empty
expect 2 predict empty
grep -q "empty: got no cluster of any case" why.txt || fail "$(cat why.txt)"
BAD="import*" HOW=refuse expect 1 measure empty
grep -q "no cluster of any case: nothing was run" why.txt || fail "$(cat why.txt)"

for name in "a b" "a*" "a?" "a[b]" -a; do
  expect 2 measure "$name"
  grep -q "FOLDER: got \"" why.txt || fail "$(cat why.txt)"
  [ ! -e "$name" ] || fail "a folder $name"
done
for number in soon 0900 -1 1.5; do
  expect 2 measure late "$number"
  grep -q "^gpu_pipelines.sh: SECONDS: got \"$number\", want a whole number" why.txt ||
    fail "$(cat why.txt)"
  MOST_SECONDS=$number expect 2 measure late
  grep -q "MOST_SECONDS: got \"$number\", want a whole number" why.txt || fail "$(cat why.txt)"
done
