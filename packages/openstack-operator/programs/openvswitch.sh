#!/bin/sh
# Database and switch of a node. At the end flows are saved, at the start they are restored before the switch forwards by new ones.
set -eu
run=/run/openvswitch
mkdir -p "$run" /etc/openvswitch
# Sockets of the pod before: who finds them must find this one's.
rm -f "$run/db.sock" "$run"/*.ctl "$run"/*.mgmt
db=/etc/openvswitch/conf.db
[ -e "$db" ] || ovsdb-tool create "$db" /usr/share/openvswitch/vswitch.ovsschema
ovsdb-server "$db" --remote="punix:$run/db.sock" --remote=db:Open_vSwitch,Open_vSwitch,manager_options \
  --unixctl="$run/ovsdb-server.ctl" --pidfile="$run/ovsdb-server.pid" -vconsole:info -vsyslog:off &
database=$!
until [ -S "$run/db.sock" ]; do sleep 1; done
ovs-vsctl --no-wait init
ovs-vsctl --no-wait set Open_vSwitch . other_config:flow-restore-wait=true
ovs-vswitchd "unix:$run/db.sock" --mlockall --unixctl="$run/ovs-vswitchd.ctl" --pidfile="$run/ovs-vswitchd.pid" \
  -vconsole:info -vsyslog:off &
switch=$!
until [ -e "$run/ovs-vswitchd.ctl" ]; do sleep 1; done
for file in /etc/openvswitch/flows.*; do
  [ -e "$file" ] && ovs-ofctl -O OpenFlow15 replace-flows "${file#/etc/openvswitch/flows.}" "$file" || true
done
ovs-vsctl --no-wait remove Open_vSwitch . other_config flow-restore-wait
stop() {
  for bridge in $(ovs-vsctl list-br); do
    ovs-ofctl -O OpenFlow15 dump-flows --no-names --no-stats "$bridge" > "/etc/openvswitch/flows.$bridge" || true
  done
  kill "$switch" "$database"
}
trap stop TERM INT
wait "$switch" || true
wait "$database" || true
