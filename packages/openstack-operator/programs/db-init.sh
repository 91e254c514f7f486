#!/bin/sh
# Makes the databases of a service and its accounts, and removes accounts that are no longer in use. Safe to repeat.
set -eu
service=$1
credentials=/run/credentials
case $service in
  nova) databases="nova_api nova nova_cell0" ;;
  octavia) databases="octavia octavia_persistence" ;;
  *) databases=$service ;;
esac
umask 077
{
  printf '[client]\nhost=%s\nport=%s\n' "$DATABASE_HOST" "$DATABASE_PORT"
  printf 'user=%s\npassword=%s\n' "$(cat "$credentials/database.user" 2>/dev/null || echo root)" "$(cat "$credentials/database.admin")"
} > /tmp/client.cnf
# A node learns where a new pod is a moment after the pod is ready.
attempts=0
until mysql --defaults-extra-file=/tmp/client.cnf --execute 'SELECT 1' > /dev/null 2> /tmp/said; do
  attempts=$((attempts + 1))
  if [ "$attempts" = 2 ] || [ "$attempts" -ge 30 ]; then cat /tmp/said >&2; fi
  [ "$attempts" -lt 30 ] || exit 1
  sleep 2
done
name_of() { if [ "$1" = 0 ]; then echo "$service"; else echo "${service}_$1"; fi; }
accounts=$(cat "$credentials/accounts")
{
  for database in $databases; do
    echo "CREATE DATABASE IF NOT EXISTS \`$database\` CHARACTER SET utf8 COLLATE utf8_general_ci;"
  done
  for generation in $accounts; do
    user=$(name_of "$generation")
    password=$(cat "$credentials/$service.database.$generation")
    echo "CREATE USER IF NOT EXISTS '$user'@'%' IDENTIFIED BY '$password';"
    echo "ALTER USER '$user'@'%' IDENTIFIED BY '$password';"
    for database in $databases; do echo "GRANT ALL PRIVILEGES ON \`$database\`.* TO '$user'@'%';"; done
  done
} | mysql --defaults-extra-file=/tmp/client.cnf
mysql --defaults-extra-file=/tmp/client.cnf --batch --skip-column-names \
  --execute "SELECT user FROM mysql.user WHERE user = '$service' OR user REGEXP '^${service}_[0-9]+\$'" |
while read -r user; do
  keep=no
  for generation in $accounts; do [ "$user" = "$(name_of "$generation")" ] && keep=yes; done
  [ "$keep" = yes ] || echo "DROP USER '$user'@'%';"
done | mysql --defaults-extra-file=/tmp/client.cnf
rm -f /tmp/client.cnf
