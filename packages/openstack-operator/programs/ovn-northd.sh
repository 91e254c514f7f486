#!/bin/sh
set -eu
exec ovn-northd --ovnnb-db="$OVN_NB" --ovnsb-db="$OVN_SB" --unixctl=/run/ovn/ovn-northd.ctl \
  --pidfile=/run/ovn/ovn-northd.pid -vconsole:info -vsyslog:off
