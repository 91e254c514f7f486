#!/bin/sh
# Zebra and bgpd of FRR, on the host's network. While they are replaced routes remain in the kernel, and neighbors keep
# theirs (graceful restart).
set -eu
run=/run/frr
mkdir -p "$run" /tmp/frr
rm -f "$run"/*.vty "$run"/*.pid "$run"/zserv.api
sed "s/@ADDRESS@/$POD_IP/; s/@NODE@/$NODE_NAME/" /programs/frr.conf > /tmp/frr/frr.conf
# Without it the shell asks root for a password.
printf 'service integrated-vtysh-config\nusername root nopassword\n' > /tmp/frr/vtysh.conf
vtysh --config_dir /tmp/frr --dryrun || { echo "frr.conf is not valid" | tee /dev/termination-log; exit 1; }
chown -R frr:frr "$run" /tmp/frr
options="--vty_socket $run -P 0 -u frr -g frr --log stdout"
/usr/lib/frr/zebra $options -i "$run/zebra.pid" -z "$run/zserv.api" --retain & zebra=$!
until [ -S "$run/zserv.api" ]; do kill -0 "$zebra" || exit 1; sleep 1; done
/usr/lib/frr/bgpd $options -i "$run/bgpd.pid" -z "$run/zserv.api" & bgpd=$!
trap 'kill "$bgpd" "$zebra" 2>/dev/null || true' TERM INT
until [ -S "$run/bgpd.vty" ] && [ -S "$run/zebra.vty" ]; do kill -0 "$bgpd" || exit 1; sleep 1; done
vtysh --config_dir /tmp/frr --vty_socket "$run" -f /tmp/frr/frr.conf
touch "$run/ready"
wait "$bgpd" || status=$?
kill "$zebra" 2>/dev/null || true
exit "${status:-0}"
