#!/bin/sh
# One member of a cluster of RabbitMQ. The members find each other by their names; after a loss of all of them they start in any order.
set -eu
set_name=${POD_NAME%-*}
members=$set_name-members
export RABBITMQ_NODENAME="rabbit@$POD_NAME.$members" RABBITMQ_USE_LONGNAME=true
export RABBITMQ_CONFIG_FILE=/tmp/rabbitmq.conf RABBITMQ_ENABLED_PLUGINS_FILE=/tmp/enabled_plugins
umask 077
cp /run/credentials/broker.cookie /var/lib/rabbitmq/.erlang.cookie
chmod 400 /var/lib/rabbitmq/.erlang.cookie
cp /programs/rabbitmq.conf /tmp/rabbitmq.conf
printf 'default_user = admin\ndefault_pass = %s\n' "$(cat /run/credentials/broker.admin)" >> /tmp/rabbitmq.conf
i=0
while [ "$i" -lt "$MEMBERS" ]; do
  printf 'cluster_formation.classic_config.nodes.%s = rabbit@%s-%s.%s\n' "$((i + 1))" "$set_name" "$i" "$members" >> /tmp/rabbitmq.conf
  i=$((i + 1))
done
echo '[rabbitmq_management,rabbitmq_prometheus].' > /tmp/enabled_plugins
exec rabbitmq-server
