#!/bin/sh
# Ends once northd has written into the southbound database all that the northbound one has.
set -eu
# Open vSwitch looks up whole names only: it knows no search domains.
domain=$(sed -n 's/^search .*svc\.\([^ ]*\).*/\1/p' /etc/resolv.conf)
whole() { echo "$1" | sed "s/\.svc:/.svc.$domain:/g"; }
exec ovn-nbctl --db="$(whole "$OVN_NB")" --no-leader-only --timeout="${SYNC_SECONDS:-300}" --wait=sb sync
