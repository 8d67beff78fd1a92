#!/bin/bash
# gpu_pipelines.sh on the stand-in for a GPU: every case that fits the board runs and is predicted,
# by measured ops nearly to the microsecond, and one refusal ends nothing else.
# usage: gpu_pipelines_test.sh SCRIPT STAGECRAFT_ON_STAND_IN
set -euo pipefail

script=$(readlink -f "$1")
program=$(readlink -f "$2")
export program STAGECRAFT=$program STAGECRAFT_STAND_IN="data=no cache=1"
cd "$(mktemp -d)"

fail() {
  echo "$1" >&2
  exit 1
}

# measure FOLDER: what it prints goes to measure.txt; the number of steps that failed.
measure() {
  "$script" measure "$1" 300 >measure.txt 2>&1 || true
  grep -c "exit code" measure.txt || true
}
# measured FOLDER CASES: how many of them.
measured() {
  find "$1" -name "$2.measured.pb" | wc -l
}

code=0
"$script" 2>usage.txt || code=$?
if [ "$code" -ne 2 ] || ! grep -q "measure FOLDER" usage.txt; then fail "no usage"; fi

# Sixteen micro-batches of GPipe on the largest network need more memory than there is.
[ "$(measure out)" -eq 4 ] || fail "$(cat measure.txt)"
[ "$(grep -c "gpipe-16.*too little memory was left" measure.txt)" -eq 4 ] || fail "$(cat measure.txt)"
[ "$(measured out '*')" -eq 143 ] || fail "not 143 cases"
[ "$(tar -tzf out.tar.gz | grep -c 'measured.pb$')" -eq 143 ] || fail "not all was packed"

# What was measured beside its prediction. The all-reduce of tied embeddings between unequal parts
# is priced as NCCL's and runs as kernels of ours, on a sixteenth of the board.
find out -name '*.measured.pb' ! -name 'gpt2-medium-*-8.measured.pb' -delete
"$script" compare out >errors.txt 2>&1 || fail "$(cat errors.txt)"
awk -F'|' '
  /^\| gpt2/ { gsub(/[ %+]/, ""); n++; error = $7 < 0 ? -$7 : $7; sum += error
               if (error > ($2 ~ /unequal4/ ? 2 : 1)) bad = bad " " $2 }
  END { if (n != 17 || sum / n > 0.5 || bad != "") { print n, sum / n, bad; exit 1 } }
' errors.txt || fail "$(cat errors.txt)"

# One refusal ends nothing else, and is told. Only one network on one cluster is run.
mkdir few
cp out/halves.json few
cat >refusing <<'END'
#!/bin/bash
case "$*" in
  *"--parts 4"* | *gpt2-medium*halves*gpipe*) echo "it is refused" >&2 && exit 2 ;;
  run*gpt2-medium*halves*) exec "$program" "$@" ;;
esac
END
chmod +x refusing
export STAGECRAFT=$PWD/refusing
[ "$(measure few)" -eq 4 ] || fail "$(cat measure.txt)"
grep -q "import-quarters: exit code 2: it is refused" measure.txt || fail "$(cat measure.txt)"
[ "$(measured few 'gpt2-medium-halves-*')" -eq 9 ] || fail "not all others ran"
