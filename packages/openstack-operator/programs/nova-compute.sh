#!/bin/sh
# nova-compute with the facts of its node in a file of its own.
set -eu
address=$POD_IP
mkdir -p /tmp/node.conf.d
cat > /tmp/node.conf.d/node.conf <<END
[DEFAULT]
host = $NODE_NAME
my_ip = $address
[libvirt]
live_migration_inbound_addr = $address
[vnc]
server_proxyclient_address = $address
END
/usr/bin/python3 -I /programs/compute-id.py
exec nova-compute --config-dir /etc/nova/nova.conf.d --config-dir /tmp/node.conf.d
