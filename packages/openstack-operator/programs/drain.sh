#!/bin/sh
# Before an API is requested to stop: SECONDS for load balancers and clients to learn it, then until its listener has no
# connection left that no process has accepted, MOST seconds at most. Those that are left in it when it closes are
# reset.
set -eu
touch /tmp/drain
sleep "$1"
queued() {
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | while read -r _ _ _ state queue _; do
    # 0A: it listens. Behind the colon: connections that wait.
    if [ "$state" = 0A ] && [ "${queue#*:}" != 00000000 ]; then echo yes; fi
  done
}
left=$2
while [ "$left" -gt 0 ] && [ -n "$(queued)" ]; do sleep 1; left=$((left - 1)); done
