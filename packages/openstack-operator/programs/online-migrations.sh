#!/bin/sh
# Migrates rows until none is left. Status 1 means: some rows were migrated, there may be more; 2: migrations failed and
# need a check.
set -eu
service=$1
while :; do
  status=0
  case $service in
    placement) placement-manage --config-dir /etc/placement/placement.conf.d db online_data_migrations --max-count 500 || status=$? ;;
    *) "$service-manage" --config-dir "/etc/$service/$service.conf.d" db online_data_migrations --max-count 500 || status=$? ;;
  esac
  [ "$status" -eq 1 ] || exit "$status"
done
