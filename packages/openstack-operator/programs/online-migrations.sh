#!/bin/sh
# Migrates rows until none is left. Status 1 means: some rows were migrated, there may be more; 2: migrations failed and
# need a check; which is the container's last word.
set -eu
service=$1
directory=/etc/$service/$service.conf.d
while :; do
  status=0
  said=$("$service-manage" --config-dir "$directory" db online_data_migrations --max-count 500 2>&1) || status=$?
  printf '%s\n' "$said"
  [ "$status" -ne 0 ] || exit 0
  [ "$status" -eq 1 ] || {
    # "Error attempting to run <function NAME at ADDRESS>"; a program that broke off leaves a line.
    failed=$(printf '%s\n' "$said" | sed -n 's/^Error attempting to run //p' |
      sed 's/^<function //; s/^<bound method //; s/[ >].*//' | sort -u | tr '\n' ' ')
    if [ -n "$failed" ]; then word="migrations that failed: ${failed% }"; else word=$(printf '%s\n' "$said" | tail -n 1); fi
    printf '%s\n' "$word" > "${TERMINATION_LOG:-/dev/termination-log}" || true
    exit "$status"
  }
done
