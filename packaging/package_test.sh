#!/bin/bash
# Makes a package of the binaries, unpacks it, and runs what it holds.
set -euo pipefail

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

deb=$TEST_TMPDIR/stagecraft.deb
binaries="tools/stagecraft tools/run/stagecraft_host_rank"
packaging/debian-package $binaries "$deb"
dpkg-deb --contents "$deb" > "$TEST_TMPDIR/contents"
for path in ./usr/bin/stagecraft ./usr/lib/stagecraft/stagecraft \
  ./usr/lib/stagecraft/stagecraft_host_rank ./usr/share/doc/stagecraft/copyright \
  ./usr/share/doc/stagecraft/examples/cluster.yaml ./usr/share/doc/stagecraft/schema/plan.json \
  ./usr/share/bash-completion/completions/stagecraft; do
  grep -qF " $path" "$TEST_TMPDIR/contents" || fail "the package lacks $path"
done
grep -q "root/root" "$TEST_TMPDIR/contents" || fail "files are not root's"
for field in Package Version Architecture Depends; do
  [ -n "$(dpkg-deb --field "$deb" $field)" ] || fail "the package has no $field"
done
for library in libc6 libssl3 libxgboost0; do
  dpkg-deb --field "$deb" Depends | grep -q "$library" || fail "the package does not depend on $library"
done

# The same package again, byte for byte.
packaging/debian-package $binaries "$TEST_TMPDIR/again.deb"
cmp "$deb" "$TEST_TMPDIR/again.deb" || fail "two packages of the same binaries differ"

tree=$TEST_TMPDIR/tree
dpkg-deb --extract "$deb" "$tree"
"$tree/usr/bin/stagecraft" simulate --model llama3-8b --cluster "$tree/usr/share/doc/stagecraft/examples/cluster.yaml" \
  --tp 8 --global-batch 32 --seq 2048 > "$TEST_TMPDIR/step" || fail "the unpacked program fails"
grep -q "^step time " "$TEST_TMPDIR/step" || fail "the unpacked program prints no step time"

# Bad input: one sentence, exit code 2, and no package.
code=0
packaging/debian-package "$TEST_TMPDIR" tools/stagecraft "$TEST_TMPDIR/none.deb" 2> "$TEST_TMPDIR/error" || code=$?
[ $code -eq 2 ] && [ "$(wc -l < "$TEST_TMPDIR/error")" -eq 1 ] || fail "binaries that are missing are not refused"
[ ! -e "$TEST_TMPDIR/none.deb" ] || fail "a package was written nevertheless"

# The container file: known instructions, images with a tag, files that exist.
while read -r instruction rest; do
  case $instruction in
    "" | \#*) ;;
    FROM) [[ $rest == *:* ]] || fail "FROM $rest has no tag" ;;
    COPY)
      source=${rest%% *}
      [[ $source == --from=* || $source == . || -e $source ]] || fail "COPY $source: no such file"
      ;;
    RUN | WORKDIR) ;;
    ENTRYPOINT | CMD) [[ $rest == \[*\] ]] || fail "$instruction wants a list: $rest" ;;
    *) fail "Containerfile: unknown instruction $instruction" ;;
  esac
done < packaging/Containerfile
grep -q "packaging/debian-package bazel-bin/tools/stagecraft" packaging/Containerfile || fail "the container makes no package"
echo passed
