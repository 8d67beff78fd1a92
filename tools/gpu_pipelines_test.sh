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
      words+=(--cluster "h100-sxm:1x$([[ $2 == *halves* || $2 == *2.json ]] && echo 2 || echo 4)")
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
! grep "not run" measure.txt || fail "plans that nobody takes"
[ "$(find out -name '*.measured.pb' | wc -l)" -eq 144 ] || fail "not 144 cases"
rm out/gpt2-xl-*.measured.pb
"$script" compare out >errors.txt 2>&1 || fail "$(cat errors.txt)"
[ "$(grep -c '| 0.0 % |' errors.txt)" -eq 96 ] || fail "$(cat errors.txt)"
