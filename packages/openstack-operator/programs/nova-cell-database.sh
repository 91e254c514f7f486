#!/bin/sh
# Makes the database of a further cell of Nova, for all of Nova's accounts, which exist. Safe to repeat.
set -eu
database=$1
credentials=${CREDENTIALS:-/run/credentials}
file=${CLIENT_FILE:-/tmp/client.cnf}
umask 077
{
  printf '[client]\nhost=%s\nport=%s\n' "$DATABASE_HOST" "$DATABASE_PORT"
  printf 'user=%s\npassword=%s\n' "$(cat "$credentials/database.user" 2>/dev/null || echo root)" "$(cat "$credentials/database.admin")"
} > "$file"
{
  echo "CREATE DATABASE IF NOT EXISTS \`$database\` CHARACTER SET utf8 COLLATE utf8_general_ci;"
  for generation in $(cat "$credentials/accounts"); do
    if [ "$generation" = 0 ]; then user=nova; else user=nova_$generation; fi
    # An underscore means any character, unless it is escaped.
    echo "GRANT ALL PRIVILEGES ON \`$(echo "$database" | sed 's/_/\\_/g')\`.* TO '$user'@'%';"
  done
} | mysql --defaults-extra-file="$file"
rm -f "$file"
