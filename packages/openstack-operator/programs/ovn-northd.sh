#!/bin/sh
set -eu
# Open vSwitch looks up whole names only: it knows no search domains.
domain=$(sed -n 's/^search .*svc\.\([^ ]*\).*/\1/p' /etc/resolv.conf)
whole() { echo "$1" | sed "s/\.svc:/.svc.$domain:/g"; }
exec ovn-northd --ovnnb-db="$(whole "$OVN_NB")" --ovnsb-db="$(whole "$OVN_SB")" --unixctl=/run/ovn/ovn-northd.ctl \
  --pidfile=/run/ovn/ovn-northd.pid -vconsole:info -vsyslog:off
