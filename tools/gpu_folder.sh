#!/bin/bash
# Packs a program with the libraries that a GPU machine may lack into a tar of one
# folder: all but glibc's of those it links, and with CUDA_HOME also NVIDIA's that
# it loads when it needs them.
# usage: gpu_folder.sh PROGRAM TAR [CUDA_HOME]
set -euo pipefail

program=$1
tar=$2
home=${3:-}
name=$(basename "$tar" .tar)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/$name"
cp -L "$program" "$folder/$name/"
ldd "$program" | awk '$2 == "=>" { print $3 }' | while read -r library; do
  case $(basename "$library") in
    libc.so.*|libm.so.*|libdl.so.*|librt.so.*|libpthread.so.*) ;;
    *) cp -L "$library" "$folder/$name/" ;;
  esac
done
if [ -n "$home" ]; then
  for library in "$home"/lib64/{libcublasLt,libcudnn*,libnvrtc*}.so.*; do
    case $library in *.alt.so*) continue ;; esac
    cp -L "$library" "$folder/$name/"
  done
fi
tar -C "$folder" --sort=name --owner=0 --group=0 --mtime=@0 -cf "$tar" "$name"
