#!/bin/sh
# Checks whether this host has what the deployment needs of it, and remains. What it lacks is the end of the container,
# in words.
set -eu
module() {
  [ -d "/sys/module/$1" ] && return 0
  kernel=$(uname -r)
  cat "/lib/modules/$kernel/modules.builtin" "/lib/modules/$kernel/modules.dep" 2>/dev/null | grep -q "/$1\.ko"
}
folder=${TMPDIR:-/tmp}
lacks() { printf '%s\n' "$*" >> "$folder/problems"; }
: > "$folder/problems"
for interface in ${INTERFACES:-}; do
  [ -e "/sys/class/net/$interface" ] || lacks "there is no interface $interface: see spec.nodeGroups[].physicalNetworks and spec.network"
done
for interface in ${FABRIC_INTERFACES:-}; do
  mtu=$(cat "/sys/class/net/$interface/mtu" 2>/dev/null || echo "$FABRIC_MTU")
  [ "$mtu" -ge "$FABRIC_MTU" ] || lacks "interface $interface has an MTU of $mtu, and spec.network.mtu is $FABRIC_MTU"
done
for name in ${MODULES:-}; do
  module "$name" || lacks "the kernel has no module $name, which spec.network needs"
done
for file in ${CEPH_FILES:-}; do
  [ -s "/etc/ceph/$file" ] || lacks "the Secret of spec.storage.ceph has no $file"
done
if [ -n "${SHARED_STATE:-}" ]; then
  # The claim is mounted on every compute node at once, or this pod would not have started.
  mark=$SHARED_STATE/.causeway-$NODE_NAME
  { touch "$mark" && rm "$mark"; } 2>/dev/null || lacks "the claim of spec.storage.serverStateClaim cannot be written on this node"
fi
if [ -s "$folder/problems" ]; then
  cat "$folder/problems"
  tr '\n' ';' < "$folder/problems" > "${TERMINATION_LOG:-/dev/termination-log}" || true
  exit 1
fi
touch "$folder/passed"
trap 'exit 0' TERM INT
while :; do sleep 3600 & wait $!; done
