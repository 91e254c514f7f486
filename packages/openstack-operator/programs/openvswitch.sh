#!/bin/sh
# Database and switch of a node. At the end flows are saved with what they refer to (options of tunnels, groups); at the
# start they are restored before the switch forwards by new ones. Where one of the two processes ends by itself the
# container does, and the kubelet starts both at once.
set -eu
run=${RUN_FOLDER:-/run/openvswitch}
kept=${KEPT_FOLDER:-/etc/openvswitch}
mkdir -p "$run" "$kept"
# Sockets of the pod before: who finds them must find this one's.
rm -f "$run/db.sock" "$run"/*.ctl "$run"/*.mgmt "$run"/ovs*.pid
db=$kept/conf.db
[ -e "$db" ] || ovsdb-tool create "$db" /usr/share/openvswitch/vswitch.ovsschema
lost() {
  echo '{"level":"ERROR","service":"openvswitch","message":"the switch or its database ended by itself: both start again"}'
  exit 1
}
trap lost USR1
keep() { ("$@" || :; kill -USR1 $$) & }
keep ovsdb-server "$db" --remote="punix:$run/db.sock" --remote=db:Open_vSwitch,Open_vSwitch,manager_options \
  --unixctl="$run/ovsdb-server.ctl" --pidfile="$run/ovsdb-server.pid" -vconsole:info -vsyslog:off
until [ -S "$run/db.sock" ]; do sleep 0.1; done
ovs-vsctl --no-wait init
ovs-vsctl --no-wait set Open_vSwitch . other_config:flow-restore-wait=true
keep ovs-vswitchd "unix:$run/db.sock" --mlockall --unixctl="$run/ovs-vswitchd.ctl" --pidfile="$run/ovs-vswitchd.pid" \
  -vconsole:info -vsyslog:off
until [ -e "$run/ovs-vswitchd.ctl" ]; do sleep 0.1; done
of() { ovs-ofctl -O OpenFlow15 --timeout=20 "$@"; }
restore() {
  tries=0
  until [ -S "$run/$1.mgmt" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || return 1
    sleep 0.1
  done
  options=$(cat "$kept/options.$1")
  if [ -n "$options" ]; then of add-tlv-map "$1" "$options" || return 1; fi
  of --bundle add-groups "$1" "$kept/groups.$1" && of --bundle replace-flows "$1" "$kept/flows.$1"
}
for file in "$kept"/flows.*; do
  [ -e "$file" ] || continue
  bridge=${file#"$kept"/flows.}
  restore "$bridge" ||
    echo "{\"level\":\"WARNING\",\"service\":\"openvswitch\",\"message\":\"flows of $bridge are not restored: its controller writes them\"}"
  # What is kept is of the last end: after a crash it would be of an earlier one.
  rm -f "$file"
  rm -f "$kept/options.$bridge" "$kept/groups.$bridge"
done
ovs-vsctl --no-wait remove Open_vSwitch . other_config flow-restore-wait
save() {
  # A part of what a bridge has would replace the whole. Flows are last: without them nothing is restored.
  part=$kept/part
  of dump-tlv-map "$1" > "$part" || return 1
  awk '/^ +0x/ { printf "%s{class=%s,type=%s,len=%s}->%s", sep, $1, $2, $3, $4; sep = "," }' "$part" > "$kept/options.$1" || return 1
  of dump-groups "$1" > "$part" || return 1
  sed -n 's/^ *\(group_id=\)/\1/p' "$part" > "$kept/groups.$1" || return 1
  of dump-flows --no-names --no-stats "$1" > "$part" || return 1
  # Meters are the controller's: flows that use one come from it.
  awk '/actions=/ && !/meter/' "$part" > "$kept/saved" || return 1
  [ ! -s "$kept/saved" ] || mv "$kept/saved" "$kept/flows.$1"
}
stop() {
  trap '' USR1 TERM INT
  for bridge in $(ovs-vsctl --timeout=20 list-br); do
    save "$bridge" ||
      echo "{\"level\":\"WARNING\",\"service\":\"openvswitch\",\"message\":\"flows of $bridge could not be read: they are not kept\"}"
  done
  for process in ovs-vswitchd ovsdb-server; do kill "$(cat "$run/$process.pid")" || :; done
}
trap stop TERM INT
# A trap ends a wait with the signal's status; the container must not end before both processes did.
until wait; do :; done
