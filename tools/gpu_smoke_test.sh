#!/bin/bash
# gpu_smoke.sh on the stand-in for a GPU: every layer that the stand-in has works, and each that is
# made to fail is told while the others go on.
# usage: gpu_smoke_test.sh SCRIPT STAGECRAFT_ON_STAND_IN
set -euo pipefail

script=$(readlink -f "$1")
STAGECRAFT=$(readlink -f "$2")
export STAGECRAFT
cd "$(mktemp -d)"
# The driver's own program; CUPTI and NCCL have no stand-in.
mkdir bin
printf '#!/bin/sh\n' >bin/nvidia-smi
chmod +x bin/nvidia-smi
PATH=$PWD/bin:$PATH
always=(kernels nccl)
export OPS_BUDGET=1s

# smoke BOARD: the layers that fail, in the order of the script.
smoke() {
  if STAGECRAFT_STAND_IN="data=no cache=1 $1" "$script" out >out.txt 2>&1; then echo none; fi
  sed -n 's/: FAILED.*//p' out.txt | tr '\n' ' '
}

# expect BOARD LAYER...: those fail, and the two that always do.
expect() {
  local board=$1 want got
  shift
  want=$(printf '%s\n' "$@" "${always[@]}" | sort | tr '\n' ' ')
  got=$(smoke "$board" | tr ' ' '\n' | grep . | sort | tr '\n' ' ')
  [ "$want" = "$got" ] && return
  echo "with a board of \"$board\" got $got, want $want" >&2
  cat out.txt >&2
  exit 1
}

expect "groups=16"
grep -q "run-whole: ok" out.txt
grep -q "2 layers failed" out.txt
expect "boards=0" boards halves unequal ops ops-of-a-part run-whole run-halves run-unequal \
  simulate compare
expect "green-contexts=no" halves unequal ops-of-a-part run-halves run-unequal simulate compare
expect "missing=libcublasLt" ops ops-of-a-part run-whole run-halves run-unequal compare
expect "missing=libcudnn" ops ops-of-a-part run-whole run-halves run-unequal compare
code=0
"$script" 2>usage.txt || code=$?
[ "$code" -eq 2 ] && grep -q "gpu_smoke.sh FOLDER" usage.txt
