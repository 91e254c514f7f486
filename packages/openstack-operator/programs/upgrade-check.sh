#!/bin/sh
# Status 0: nothing hinders. 1: warnings, which are printed. 2 and more: the upgrade must not begin; why is the
# container's last word.
set -eu
service=$1
directory=/etc/$service/$service.conf.d
status=0
said=$("$service-status" --config-dir "$directory" upgrade check 2>&1) || status=$?
printf '%s\n' "$said"
[ "$status" -le 1 ] || {
  # Results are blocks of a table; a check that broke off leaves a line.
  printf '%s\n' "$said" | awk '
    /^\+--/ { if (block ~ / Result: Failure/) { print substr(block, 2); found = 1 } block = ""; next }
    /^\|/ { gsub(/^\| */, ""); gsub(/ *\|$/, ""); block = block " " $0; next }
    { last = $0 }
    END { if (!found) print last }' > "${TERMINATION_LOG:-/dev/termination-log}" || true
  exit "$status"
}
