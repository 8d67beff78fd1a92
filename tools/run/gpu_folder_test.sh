#!/bin/bash
# The folder for GPU machines is small enough to be sent anywhere, and complete except for glibc and
# NVIDIA's libraries.
# usage: gpu_folder_test.sh TAR COMPILATION_MODE
set -euo pipefail
# shellcheck source=tools/run/stand_in_testing.sh
. "$(dirname "${BASH_SOURCE[0]}")/stand_in_testing.sh"

tar=$(readlink -f "$1")
if [ "$2" != opt ] || [ -n "${ASAN_OPTIONS:-}" ]; then
  echo "not what is sent: compiled for debugging, or with sanitizers"
  exit 0
fi
cd "$(mktemp -d)"

most=40000000
size=$(stat -c %s "$tar")
[ "$size" -le $most ] || fail "the folder has $size bytes, want $most at most"

tar -xf "$tar"
cd stagecraft_gpu_folder
for script in gpu_pipelines.sh gpu_smoke.sh; do
  code=0
  ./$script >usage.txt 2>&1 || code=$?
  [ "$code" -eq 2 ] || fail "$script: exit code $code, want 2: $(cat usage.txt)"
  grep -q "^$script .*FOLDER" usage.txt || fail "$script: $(cat usage.txt)"
done
./stagecraft_gpu --help >help.txt || fail "stagecraft_gpu --help: exit code $?"
grep -q "import local-gpu" help.txt || fail "stagecraft_gpu --help: $(cat help.txt)"

for program in stagecraft_gpu device_executor_test device_ops_test; do
  readelf --wide --sections $program >sections.txt
  ! grep -q " \.symtab " sections.txt || fail "$program has its symbols"
  # Each library is in the folder, or it is a part of glibc, the loader or the kernel's vDSO.
  ldd $program | grep -v "=> $PWD/\|linux-vdso\|/ld-linux" |
    grep -vE "^\s*lib(c|m|dl|rt|pthread)\.so\.[0-9]+ => /" >elsewhere.txt || true
  [ ! -s elsewhere.txt ] || fail "$program links what is not in the folder: $(cat elsewhere.txt)"
done
