#!/bin/sh
set -eu
folder=/etc/octavia/octavia.conf.d
octavia-db-manage --config-dir "$folder" upgrade head
# Tasks are stored by a jobboard alone; Debian's taskflow has no migrations of their database.
if grep -Eqis '^jobboard_enabled *= *(true|yes|on|1) *$' "$folder"/*.conf; then
  octavia-db-manage --config-dir "$folder" upgrade_persistence
fi
