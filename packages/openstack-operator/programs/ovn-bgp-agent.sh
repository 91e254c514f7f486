#!/bin/sh
# The agent that announces addresses of servers: it follows OVN's northbound database and writes to FRR and the kernel.
set -eu
mkdir -p /tmp/agent
cp /programs/bgp-agent.conf /tmp/agent/bgp-agent.conf
exec ovn-bgp-agent --config-dir /tmp/agent
