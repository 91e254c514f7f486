#!/bin/sh
set -eu
octavia-db-manage --config-dir /etc/octavia/octavia.conf.d upgrade head
exec octavia-db-manage --config-dir /etc/octavia/octavia.conf.d upgrade_persistence
