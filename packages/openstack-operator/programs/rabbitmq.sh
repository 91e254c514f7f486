#!/bin/sh
# One member of a cluster of RabbitMQ. The members find each other by their names; after a loss of all of them they
# start in any order.
set -eu
# A shell that is process 1 ignores signals that it has no trap for: the pod would last its whole grace.
trap 'exit 143' TERM INT
set_name=${POD_NAME%-*}
members=$set_name-members
export RABBITMQ_NODENAME="rabbit@$POD_NAME.$members" RABBITMQ_USE_LONGNAME=true
export RABBITMQ_CONFIG_FILE=/tmp/rabbitmq.conf RABBITMQ_ENABLED_PLUGINS_FILE=/tmp/enabled_plugins
export RABBITMQ_LOG_BASE=/tmp ERL_CRASH_DUMP_SECONDS=0
umask 077
# A container that starts again meets its own, which cannot be written.
rm -f /var/lib/rabbitmq/.erlang.cookie
cp /run/credentials/broker.cookie /var/lib/rabbitmq/.erlang.cookie
chmod 400 /var/lib/rabbitmq/.erlang.cookie
cat /programs/rabbitmq.conf > /tmp/rabbitmq.conf
printf 'default_user = admin\ndefault_pass = %s\n' "$(cat /run/credentials/broker.admin)" >> /tmp/rabbitmq.conf
i=0
while [ "$i" -lt "$MEMBERS" ]; do
  printf 'cluster_formation.classic_config.nodes.%s = rabbit@%s-%s.%s\n' "$((i + 1))" "$set_name" "$i" "$members" >> /tmp/rabbitmq.conf
  i=$((i + 1))
done
echo '[rabbitmq_management,rabbitmq_prometheus].' > /tmp/enabled_plugins
exec rabbitmq-server
