#!/bin/sh
# Status 0: nothing hinders. 1: warnings, which are printed. 2 and more: the upgrade must not begin.
set -eu
service=$1
directory=/etc/$service/$service.conf.d
status=0
"$service-status" --config-dir "$directory" upgrade check || status=$?
[ "$status" -le 1 ] || exit "$status"
