#!/bin/bash
# gpu_smoke.sh on the stand-in for a GPU: every layer works there. If a layer is made to refuse or
# to hang, it is reported with those that need its output, while all others work.
# usage: gpu_smoke_test.sh SCRIPT STAGECRAFT_ON_STAND_IN DEVICE_EXECUTOR_TEST_ON_STAND_IN
set -euo pipefail
# shellcheck source=tools/run/stand_in_testing.sh
. "$(dirname "${BASH_SOURCE[0]}")/stand_in_testing.sh"

on_stand_in=$(readlink -f "$2")
executor_test=$(readlink -f "$3")
export on_stand_in executor_test
script=$(readlink -f "$1")
cd "$(mktemp -d)"
mkdir bin packed
cp "$script" packed/gpu_smoke.sh
script=$PWD/packed/gpu_smoke.sh
layers=(driver libraries gpus halves unequal device_ops_test device_executor_test ops
  ops-of-a-part kernels run-whole run-halves run-unequal nccl simulate compare)
# Those of the layers that call the program, once each.
calls=(gpus halves unequal ops ops-of-a-part kernels run-whole run-halves run-unequal nccl
  simulate compare)
# By layer, the layers that read its output.
declare -A readers=([gpus]=run-whole [halves]="ops-of-a-part run-halves simulate compare"
  [unequal]=run-unequal [run-halves]=compare [simulate]=compare)

# What a layer does if the variable LAYER names it, or if its call is number BAD_CALL.
write bin/misbehave <<'END_OF_PROGRAM'
[ "$HOW" != hang ] || exec sleep 600
echo "${REFUSAL:-it is refused}" >&2
exit 3
END_OF_PROGRAM
write bin/nvidia-smi <<'END_OF_PROGRAM'
[ "${LAYER:-}" != driver ] || exec misbehave
END_OF_PROGRAM
write bin/ldd <<'END_OF_PROGRAM'
[ "${LAYER:-}" != libraries ] || REFUSAL="libmpi.so.40 => not found" exec misbehave
exec /usr/bin/ldd "$@"
END_OF_PROGRAM
# The stand-in cannot say what ops leave in a GPU's memory, so this test program does nothing.
write packed/device_ops_test <<'END_OF_PROGRAM'
[ "${LAYER:-}" != device_ops_test ] || exec misbehave
END_OF_PROGRAM
write packed/device_executor_test <<'END_OF_PROGRAM'
[ "${LAYER:-}" != device_executor_test ] || exec misbehave
[ -z "${WITH_TESTS:-}" ] || STAGECRAFT_STAND_IN=cache=1 exec "$executor_test"
END_OF_PROGRAM
# CUPTI and NCCL have no stand-in: their layers always work. If PRETEND is set, all layers only
# pretend to work: the files that they read must exist, and those that they write are empty.
write stagecraft <<'END_OF_PROGRAM'
echo >>"$FOLDER/calls"
[ "$(wc -l <"$FOLDER/calls")" != "${BAD_CALL:-}" ] || exec misbehave
case "$*" in *--kernels* | *--share-gpu*) exit 0 ;; esac
export STAGECRAFT_STAND_IN="data=checked cache=1 ${STAND_IN:-}"
[ -n "${PRETEND:-}" ] || exec "$on_stand_in" "$@"
before=""
for word in "$@"; do
  if [[ $before == -o || $before == --timeline ]]; then
    touch "$word"
  elif [[ $word == *.json || $word == *.pb ]] && [ ! -f "$word" ]; then
    echo "$word is not there" >&2
    exit 2
  fi
  before=$word
done
END_OF_PROGRAM
export PATH=$PWD/bin:$PATH STAGECRAFT=$PWD/stagecraft

# expect FOLDER LAYER...: gpu_smoke.sh must report that these layers failed and all others work.
expect() {
  local folder=$1 code=0 wanted=0 layer got want
  shift
  [ $# -eq 0 ] || wanted=1
  mkdir "$folder"
  FOLDER=$folder "$script" "$folder" >"$folder/out.txt" 2>&1 || code=$?
  want=$(for layer in "${layers[@]}"; do
    if [[ " $* " == *" $layer "* ]]; then echo "$layer: FAILED"; else echo "$layer: ok"; fi
  done)
  got=$(sed -n 's/^\([a-z_-]*: \(FAILED\|ok\)\).*/\1/p' "$folder/out.txt")
  if [ "$got" = "$want" ] && [ "$code" -eq "$wanted" ] &&
    { [ $# -eq 0 ] ||
      grep -q "^$# layers failed; $folder/gpu_smoke has their logs" "$folder/out.txt"; }; then
    return
  fi
  echo "$folder: exit code $code, and not those alone failed: $*" >&2
  cat "$folder/out.txt" >&2
  return 1
}

# expect_bad LAYER HOW REASON: the layer misbehaves as HOW says, and must be reported with this
# reason.
expect_bad() {
  local layer=$1 call
  for call in "${!calls[@]}"; do
    [ "${calls[call]}" != "$layer" ] || export BAD_CALL=$((call + 1))
  done
  # shellcheck disable=SC2086  # layers are words
  LAYER=$layer HOW=$2 expect "$2-$layer" "$layer" ${readers[$layer]:-}
  grep -q "^$layer: FAILED: $3" "$2-$layer/out.txt" && return
  echo "$layer: want the reason $3" >&2
  cat "$2-$layer/out.txt" >&2
  return 1
}

# wait_for_all PROCESS...: ends the test as failed if any of these processes failed.
wait_for_all() {
  local one code=0
  for one in "$@"; do wait "$one" || code=1; done
  [ $code -eq 0 ] || exit 1
}

export LAYER_SECONDS=250 OPS_BUDGET=200s  # no layer is ended for being slow
WITH_TESTS=yes expect works

# In the folder nothing is deleted except files of an earlier call.
touch works/mine.{json,csv,pb,log} works/gpu_smoke/earlier.log
FOLDER=works PRETEND=yes "$script" works >again.txt || { cat again.txt >&2; exit 1; }
[ "$(find works -name 'mine.*' | wc -l)" -eq 4 ] || fail "files that are not its own are deleted"
[ ! -e works/gpu_smoke/earlier.log ] || fail "an earlier call's files are not deleted"
STAND_IN="gpus=0" expect no-gpu gpus halves unequal ops ops-of-a-part run-whole run-halves \
  run-unequal simulate compare
STAND_IN="green-contexts=no" expect no-parts halves unequal ops-of-a-part run-halves run-unequal \
  simulate compare
for library in libcublasLt libcudnn; do
  STAND_IN="missing=$library" expect no-$library ops ops-of-a-part run-whole run-halves run-unequal \
    compare
done

# Every layer refuses in a run of its own; two runs at a time.
export OPS_BUDGET=0.3s
others=()
for layer in "${layers[@]}"; do
  reason="exit code 3: it is refused"
  [ "$layer" != libraries ] || reason="exit code 1: .*libmpi.so.40 => not found"
  expect_bad "$layer" refuse "$reason" &
  others+=($!)
  if [ ${#others[@]} -eq 2 ]; then
    wait_for_all "${others[@]}"
    others=()
  fi
done
wait_for_all "${others[@]}"

# Every layer hangs in a run of its own; all runs at the same time.
export PRETEND=yes LAYER_SECONDS=5
for layer in "${layers[@]}"; do
  expect_bad "$layer" hang "no end within 5 s" &
  others+=($!)
done
wait_for_all "${others[@]}"

code=0
"$script" 2>usage.txt || code=$?
[ "$code" -eq 2 ] && grep -q "gpu_smoke.sh FOLDER" usage.txt
