#!/bin/bash
# Packs scripts, programs without their symbols, and the libraries that a GPU machine may lack into
# a tar of one folder. These are all libraries that the programs link, except those of glibc; if
# CUDA_HOME is not empty also NVIDIA's libraries, which programs load when they need them.
# usage: gpu_folder.sh TAR CUDA_HOME FILE...
set -euo pipefail

tar=$1
home=$2
shift 2
name=$(basename "$tar" .tar)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/$name"
for file in "$@"; do
  own=$folder/$name/$(basename "$file")
  cp -L "$file" "$own"
  [[ $file == *.sh ]] && continue
  chmod u+w "$own"
  strip "$own"
  ldd "$file" | awk '$2 == "=>" { print $3 }' >>"$folder/libraries"
done
sort -u "$folder/libraries" | while read -r library; do
  case $(basename "$library") in
    libc.so.*|libm.so.*|libdl.so.*|librt.so.*|libpthread.so.*) ;;
    *) cp -L "$library" "$folder/$name/" ;;
  esac
done
if [ -n "$home" ]; then
  for library in "$home"/lib64/{libcublasLt,libcudnn*,libnvrtc*,libcupti,libnccl}.so.*; do
    case $library in *.alt.so*) continue ;; esac
    cp -L "$library" "$folder/$name/"
  done
fi
tar -C "$folder" --sort=name --owner=0 --group=0 --mtime=@0 -cf "$tar" "$name"
