#!/bin/bash
# Packs programs with the libraries that a GPU machine may lack into a tar of one
# folder: all but glibc's of those they link, and with CUDA_HOME also NVIDIA's that
# they load when they need them. An empty CUDA_HOME is none.
# usage: gpu_folder.sh TAR CUDA_HOME SCRIPT PROGRAM...
set -euo pipefail

tar=$1
home=$2
script=$3
shift 3
name=$(basename "$tar" .tar)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/$name"
cp -L "$script" "$@" "$folder/$name/"
ldd "$@" | awk '$2 == "=>" { print $3 }' | sort -u | while read -r library; do
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
