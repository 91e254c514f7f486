#!/bin/sh
set -eu
folder=/etc/designate/designate.conf.d
if [ ! -s "$folder/pools.yaml" ]; then
  echo "no pool of name servers: the Secret of services[].secretConfiguration of Designate has no pools.yaml" >&2
  exit 0
fi
exec designate-manage --config-dir "$folder" pool update --file "$folder/pools.yaml"
