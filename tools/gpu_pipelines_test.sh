#!/bin/bash
# Every case of gpu_pipelines.sh is a plan that stagecraft takes: a program that simulates where
# a GPU would run, on whole boards in place of parts.
# usage: gpu_pipelines_test.sh SCRIPT STAGECRAFT
set -euo pipefail

script=$(readlink -f "$1")
stagecraft=$(readlink -f "$2")
export stagecraft
cd "$(mktemp -d)"
cat >program <<'END'
#!/bin/bash
verb=$1
shift
words=()
output=
while [ $# -gt 0 ]; do
  case $1 in
    --cluster)
      case $2 in
        *whole*) words+=(--cluster h100-sxm:1x1) ;;
        *halves* | *2.json) words+=(--cluster h100-sxm:1x2) ;;
        *) words+=(--cluster h100-sxm:1x4) ;;
      esac
      shift ;;
    --cost-model | --executor) shift ;;
    -o) output=$2 && shift ;;
    *) words+=("$1") ;;
  esac
  shift
done
case $verb in
  run) exec "$stagecraft" simulate "${words[@]}" --unfold --quiet --timeline "$output" ;;
  simulate | compare) exec "$stagecraft" "$verb" "${words[@]}" ;;
  *) touch "$output" ;;
esac
END
chmod +x program
export STAGECRAFT=$PWD/program

fail() {
  echo "$1" >&2
  exit 1
}

code=0
"$script" 2>usage.txt || code=$?
[ "$code" -eq 2 ] && grep -q "measure FOLDER" usage.txt || fail "no usage"
"$script" measure out 300 >measure.txt 2>&1 || fail "$(cat measure.txt)"
[ "$(find out -name '*.measured.pb' | wc -l)" -eq 147 ] || fail "not 147 cases"
[ "$(tar -tzf out.tar.gz | grep -c 'measured.pb$')" -eq 147 ] || fail "not all was packed"
rm out/gpt2-xl-*.measured.pb
"$script" compare out >errors.txt 2>&1 || fail "$(cat errors.txt)"
[ "$(grep -c '| 0.0 % |' errors.txt)" -eq 98 ] || fail "$(cat errors.txt)"

# One refusal ends nothing else, and is told.
rm out/gpt2-medium-halves-* out/quarters.json
cat >refusing <<'END'
#!/bin/bash
[[ "$*" == *"--parts 4"* || "$*" == *gpt2-medium*halves*gpipe* ]] && echo "it is refused" >&2 && exit 2
exec "$PWD/program" "$@"
END
chmod +x refusing
code=0
STAGECRAFT=$PWD/refusing "$script" measure out 300 >measure.txt 2>&1 || code=$?
[ "$code" -ne 0 ] && grep -q "import-quarters: exit code 2: it is refused" measure.txt ||
  fail "a refusal is not told: $(cat measure.txt)"
[ "$(find out -name 'gpt2-medium-halves-*.measured.pb' | wc -l)" -eq 9 ] || fail "not all others ran"
