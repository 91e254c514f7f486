#!/bin/sh
# The causeway command. `causeway apiserver` starts from the snapshot that scripts/bundle.ts left, with the Node that
# wrote it: no other reads it.
self=$0
# Where this is called by a link, or from the folder it is in, its place is looked up.
case $self in /*) [ ! -L "$self" ] || self=$(readlink -f "$self") ;; *) self=$(readlink -f "$self") ;; esac
here=${self%/*}
bundle=$here/../../../node_modules/.cache/causeway/bundle
if [ "$1" = apiserver ] && [ -r "$bundle/apiserver.blob" ] && [ -x "$bundle/node" ]; then
  # Memory in huge pages: what a snapshot is read into is touched for the first time. Patterns are compiled without
  # tuning their byte code, which would pay for those that run once, on a long text: the second run compiles to machine
  # code. The snapshot is written with the flags that are here.
  export GLIBC_TUNABLES="${GLIBC_TUNABLES:+$GLIBC_TUNABLES:}glibc.malloc.hugetlb=1"
  exec "$bundle/node" --max-semi-space-size=4 --no-regexp-peephole-optimization --snapshot-blob "$bundle/apiserver.blob" "$here/start.js" "$@"
fi
# What runs for months next to others' work is to be small before it is fast: its heap has a few megabytes, most of them
# code. Baseline code is compiled on the main thread: a thread that compiles while the process ends may wait for a
# collection that never comes (Node 26.10), and the process with it.
alone=--no-concurrent-sparkplug
flags="--max-semi-space-size=4 $alone"
# `up` has all controllers, the management cluster and what is simulated in one process: while 300 clusters are made,
# 300 MB of young objects a second. Where those have 64 megabytes, they are dead before they are copied to the old ones
# (171 s and 1.1 processor seconds a cluster); with 16, marking the old ones again and again takes half a core (216 s
# and 1.4). V8 lets old ones have four gigabytes at most, whatever the machine has: some thousand clusters.
if [ "$1" = up ]; then
  flags="--max-semi-space-size=64 $alone"
  case "$NODE_OPTIONS" in *max[-_]old[-_]space[-_]size* | *max[-_]heap[-_]size*) ;; *) flags="$flags --max-old-space-size-percentage=40" ;; esac
fi
# The optimizing compilers cost more memory and processor time than they save in a small cloud: 7 MiB of 95, and a fifth
# of the time of a start with its first create. So only what has run some hundred thousand times is compiled. With 340
# clusters of 13 machines a controller without it had a quarter of its time in loops that it makes ten times as fast.
hot="--no-maglev --invocation-count-for-turbofan=100000 --invocation-count-for-osr=20000"
if [ "$1" = run ]; then flags="--max-semi-space-size=1 --optimize-for-size $hot $alone"; fi
# With a thousand machines each list of the cloud is megabytes: where young objects have one megabyte, all of it is
# copied to the old ones and collected there, which took half of the time. The option for size leaves them no more,
# whatever else is said, and collects old objects when there are 30 % more. These two, alone or with others in one
# process, run without it, and collect old objects when there are 40 % more.
case "$*" in "run cluster-api"* | "run several"*" cluster-api"*) flags="--max-semi-space-size=4 --heap-growing-percent=40 $hot $alone" ;; esac
# What carries others' bytes is to be fast: threads that collect its buffers would take four times the processor time of
# carrying them. Code of the middle compiler is as fast, since copies and encryption are native.
case "$1 $2" in "run tunnel-server" | "run tunnel-agent" | "run api-gateway" | "run api-proxy") flags="--max-semi-space-size=1 --single-threaded-gc --optimize-for-size --no-opt $alone" ;; esac
# Marking in steps waits for a moment without work, which many busy streams do not leave: meanwhile nothing is
# collected, and a heap of 12 MiB grows to 35. The C library has memory of its own for each thread, where one is enough.
case "$1 $2" in "run tunnel-server" | "run tunnel-agent")
  flags="$flags --no-incremental-marking --initial-old-space-size=16"
  export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"
  ;;
esac
# The Node that the install pins, whatever PATH has: called without npx, that may be the system's, which is older.
pinned=$here/../../../node_modules/.bin/node
if [ -x "$pinned" ]; then
  exec "$pinned" $flags "$here/start.js" "$@"
fi
# Installed elsewhere as a package: the Node that the package brings, or the one on PATH, where it is new enough.
for node in "$here/../node_modules/.bin/node" "$here/../../../.bin/node" node; do
  version=$("$node" -p 'process.versions.node' 2>/dev/null)
  if [ "${version%%.*}" -ge 26 ] 2>/dev/null; then exec "$node" $flags "$here/start.js" "$@"; fi
done
echo "causeway needs Node 26 or later, but PATH has ${version:+Node }${version:-no Node}: put a newer Node first on PATH, or run 'npm ci' in the project, which installs it." >&2
exit 1
