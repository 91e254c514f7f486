#!/bin/sh
# libvirtd in a cgroup of its own, so that virtual machines outlive the pod.
set -eu
cat > /tmp/libvirtd.conf <<END
listen_tls = 1
listen_tcp = 0
key_file = "/etc/pki/libvirt/tls.key"
cert_file = "/etc/pki/libvirt/tls.crt"
ca_file = "/etc/pki/libvirt/ca.crt"
log_outputs = "3:stderr"
END
group=/sys/fs/cgroup/causeway-libvirt
if mkdir -p "$group" 2>/dev/null; then echo $$ > "$group/cgroup.procs" || true; fi
exec libvirtd --listen --config /tmp/libvirtd.conf
