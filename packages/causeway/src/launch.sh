#!/bin/sh
# The causeway command. `causeway apiserver` starts from the snapshot that scripts/bundle.ts left, with the Node that wrote it: no other reads it.
self=$(readlink -f "$0")
here=${self%/*}
bundle=$here/../../../node_modules/.cache/causeway/bundle
if [ "$1" = apiserver ] && [ -r "$bundle/apiserver.blob" ] && [ -x "$bundle/node" ]; then
  # Memory in huge pages: to read a snapshot is mostly to touch pages for the first time. The flags are those that it was written with (its code fits no others).
  export GLIBC_TUNABLES="${GLIBC_TUNABLES:+$GLIBC_TUNABLES:}glibc.malloc.hugetlb=1"
  exec "$bundle/node" --max-semi-space-size=4 --no-regexp-peephole-optimization --snapshot-blob "$bundle/apiserver.blob" "$here/start.js" "$@"
fi
exec node --max-semi-space-size=4 "$here/start.js" "$@"
