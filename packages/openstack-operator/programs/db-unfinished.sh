#!/bin/sh
# Before a schema is made: empties a database whose first migration was cut off. MariaDB has no transactions for tables,
# so that the next run would meet half of that step, again and again. alembic makes its table before the first step and
# writes into it after each: while it is empty no process of the service has worked with the database.
set -eu
service=$1
shift
credentials=${CREDENTIALS:-/run/credentials}
file=${CLIENT_FILE:-/tmp/client.cnf}
for generation in $(cat "$credentials/accounts"); do :; done
user=$service
[ "$generation" = 0 ] || user=${service}_$generation
umask 077
printf '[client]\nhost=%s\nport=%s\nuser=%s\npassword=%s\n' "$DATABASE_HOST" "$DATABASE_PORT" "$user" \
  "$(cat "$credentials/$service.database.$generation")" > "$file"
ask() { mysql --defaults-extra-file="$file" --batch --skip-column-names --execute "$1"; }
for database in "$@"; do
  # It may itself have been cut off between the end of a database and its new beginning.
  ask "CREATE DATABASE IF NOT EXISTS \`$database\` CHARACTER SET utf8 COLLATE utf8_general_ci"
  records=$(ask "SELECT GROUP_CONCAT(table_name) FROM information_schema.tables
    WHERE table_schema = '$database' AND table_name IN ('alembic_version', 'migrate_version')")
  [ "$records" = alembic_version ] || continue
  [ "$(ask "SELECT COUNT(*) FROM \`$database\`.alembic_version")" = 0 ] || continue
  tables=$(ask "SELECT COUNT(*) - 1 FROM information_schema.tables WHERE table_schema = '$database'")
  [ "$tables" != 0 ] || continue
  echo "{\"level\":\"WARNING\",\"service\":\"$service\",\"message\":\"the first migration of $database was cut off after $tables tables: it begins again\"}"
  ask "DROP DATABASE \`$database\`; CREATE DATABASE \`$database\` CHARACTER SET utf8 COLLATE utf8_general_ci"
done
rm -f "$file"
