#!/bin/sh
# One member of OVN's northbound (nb) or southbound (sb) database. The first member makes the cluster, the others join
# it; a member that has data starts with it, so that a loss of all of them needs no hand.
set -eu
trap 'exit 143' TERM INT
side=$1
case $side in nb) port=6641 raft=6643 ;; sb) port=6642 raft=6644 ;; esac
set_name=${POD_NAME%-*}
number=${POD_NAME##*-}
# Open vSwitch looks up whole names only: it knows no search domains.
members=$set_name-members.$(sed -n 's/^search \([^ ]*\).*/\1/p' /etc/resolv.conf)
local=tcp:$POD_NAME.$members:$raft
file=/var/lib/ovn/ovn${side}_db.db
schema=/usr/share/ovn/ovn-$side.ovsschema
if [ ! -e "$file" ]; then
  if [ "$number" = 0 ]; then ovsdb-tool create-cluster "$file" "$schema" "$local"
  else
    case $side in nb) name=OVN_Northbound ;; sb) name=OVN_Southbound ;; esac
    ovsdb-tool join-cluster "$file" "$name" "$local" "tcp:$set_name-0.$members:$raft"
  fi
fi
exec ovsdb-server --remote="ptcp:$port:[::]" --remote=punix:/run/ovn/ovn${side}_db.sock \
  --unixctl=/run/ovn/ovn${side}_db.ctl --pidfile=/run/ovn/ovn${side}_db.pid -vconsole:info -vsyslog:off "$file"
