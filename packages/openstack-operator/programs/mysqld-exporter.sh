#!/bin/sh
# Metrics of the database server of this pod, over its own address.
set -eu
umask 077
printf '[client]\nhost=127.0.0.1\nport=3306\nuser=root\npassword=%s\n' "$(cat /run/credentials/database.admin)" > /tmp/exporter.cnf
exec prometheus-mysqld-exporter --config.my-cnf=/tmp/exporter.cnf --web.listen-address=:9104 \
  --collect.global_status --collect.global_variables --no-collect.slave_status
