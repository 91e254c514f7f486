#!/bin/sh
# The controller of a node, with the node's own facts in the local database. Flows remain until the new ones are
# complete.
set -eu
# Open vSwitch looks up whole names only: it knows no search domains.
domain=$(sed -n 's/^search .*svc\.\([^ ]*\).*/\1/p' /etc/resolv.conf)
whole() { echo "$1" | sed "s/\.svc:/.svc.$domain:/g"; }
socket=unix:/run/openvswitch/db.sock
# Without the kernel's module packets are switched in the process itself.
datapath=system
if [ ! -e /sys/module/openvswitch ]; then
  datapath=netdev
  echo '{"level":"WARNING","service":"ovn-controller","message":"the host has no module openvswitch: packets are switched in user space"}'
fi
id=$(ovs-vsctl --db=$socket --if-exists get Open_vSwitch . external_ids:system-id | tr -d '"')
id=${id:-$NODE_NAME}
ovs-vsctl --db=$socket set Open_vSwitch . \
  external_ids:system-id="$id" external_ids:hostname="$NODE_NAME" \
  external_ids:ovn-remote="$(whole "$OVN_SB")" external_ids:ovn-encap-type=geneve external_ids:ovn-encap-ip="$POD_IP" \
  external_ids:ovn-bridge=br-int external_ids:ovn-bridge-datapath-type="$datapath" external_ids:ovn-ofctrl-wait-before-clear=30000
# What this node no longer has goes; a value cannot be empty.
put() {
  if [ -n "$2" ]; then ovs-vsctl --db=$socket set Open_vSwitch . "external_ids:$1=\"$2\""
  else ovs-vsctl --db=$socket remove Open_vSwitch . external_ids "$1"; fi
}
put ovn-bridge-mappings "${BRIDGE_MAPPINGS:-}"
put ovn-cms-options "${CMS_OPTIONS:-}"
for pair in ${BRIDGE_PORTS:-}; do
  ovs-vsctl --db=$socket --may-exist add-br "${pair%%:*}" -- set bridge "${pair%%:*}" datapath_type="$datapath"
  [ -z "${pair#*:}" ] || ovs-vsctl --db=$socket --may-exist add-port "${pair%%:*}" "${pair#*:}"
done
# OVN from 21.09 on keeps what a chassis is for in other_config alone; Neutron of 2022.2 reads it in external_ids, and
# would find no gateway.
southbound() { ovn-sbctl --db="$(whole "$OVN_SB")" --timeout=10 "$@"; }
publish_chassis() {
  [ "$(southbound --bare --columns=name find chassis name="$id")" = "$id" ] || return 1
  for pair in "ovn-bridge-mappings ${BRIDGE_MAPPINGS:-}" "ovn-cms-options ${CMS_OPTIONS:-}"; do
    if [ -n "${pair#* }" ]; then southbound set chassis "$id" "external_ids:${pair%% *}=\"${pair#* }\"" || return 1
    else southbound remove chassis "$id" external_ids "${pair%% *}" || return 1; fi
  done
}
mkdir -p /run/ovn
rm -f /run/ovn/ovn-controller.ready /run/ovn/ovn-controller.*ctl
{
  # Where the switch could not make the bridge, no server of this node would have a network.
  until ovs-appctl -t /run/ovn/ovn-controller.ctl connection-status 2>/dev/null | grep -qx connected &&
    [ -S /run/openvswitch/br-int.mgmt ]; do sleep 1; done
  until publish_chassis; do sleep 1; done
  touch /run/ovn/ovn-controller.ready
  # A southbound database that was restored or emptied has the chassis without them.
  while sleep 60; do publish_chassis || :; done
} &
# Not every release lets its control socket be named: by itself it is named after the process, which is this one.
ln -s "ovn-controller.$$.ctl" /run/ovn/ovn-controller.ctl
exec ovn-controller "$socket" --pidfile=/run/ovn/ovn-controller.pid \
  -vconsole:info -vsyslog:off
