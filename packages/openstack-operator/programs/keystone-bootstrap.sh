#!/bin/sh
# Makes the administrator, his project and Keystone's endpoints. Safe to repeat: existing ones are updated.
set -eu
. /programs/keystone.env
OS_BOOTSTRAP_PASSWORD=$(cat /run/credentials/keystone.admin)
export OS_BOOTSTRAP_PASSWORD
exec keystone-manage --config-dir /etc/keystone/keystone.conf.d bootstrap \
  --bootstrap-username admin --bootstrap-project-name admin --bootstrap-role-name admin \
  --bootstrap-service-name keystone --bootstrap-region-id "$REGION" \
  --bootstrap-internal-url "$INTERNAL_URL" --bootstrap-admin-url "$INTERNAL_URL" --bootstrap-public-url "$PUBLIC_URL"
