#!/bin/sh
# One member of a Galera cluster. After a loss of all members each reports how far its data goes, and the one that goes
# furthest starts the cluster.
set -eu
# A shell that is process 1 ignores signals that it has no trap for: the pod would last its whole grace.
trap 'exit 143' TERM INT
data=/var/lib/mysql
set_name=${POD_NAME%-*}
number=${POD_NAME##*-}
members=$set_name-members
report_port=4444
peers() { i=0; while [ "$i" -lt "$MEMBERS" ]; do echo "$set_name-$i.$members"; i=$((i + 1)); done; }
client() { mysql --protocol=socket --socket=/run/mysqld/mysqld.sock --user=root --password="$(cat /run/credentials/database.admin)" "$@"; }
if [ "${1:-}" = ready ]; then
  [ "$(client --batch --skip-column-names --execute "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME='wsrep_local_state'")" = 4 ]
  exit
fi
if [ "${1:-}" = alive ]; then
  # A server without quorum says so, and refuses other questions.
  client --execute "SHOW STATUS LIKE 'wsrep_ready'" >/dev/null
  exit
fi
if [ ! -d "$data/mysql" ]; then
  mysql_install_db --datadir="$data" --auth-root-authentication-method=normal --skip-test-db >/dev/null
  umask 077
  printf "ALTER USER 'root'@'localhost' IDENTIFIED BY '%s';\nCREATE USER IF NOT EXISTS 'root'@'%%' IDENTIFIED BY '%s';\nGRANT ALL PRIVILEGES ON *.* TO 'root'@'%%' WITH GRANT OPTION;\n" \
    "$(cat /run/credentials/database.admin)" "$(cat /run/credentials/database.admin)" > /tmp/init.sql
fi
position() {
  if [ "$(sed -n 's/^seqno: *//p' "$data/grastate.dat" 2>/dev/null || echo -1)" = -1 ] && [ -e "$data/grastate.dat" ]; then
    mysqld --datadir="$data" --wsrep-on=ON --wsrep-provider=/usr/lib/galera/libgalera_smm.so --wsrep-recover 2>&1 |
      sed -n 's/.*Recovered position: [^:]*://p' | tail -n 1
  else sed -n 's/^seqno: *//p' "$data/grastate.dat" 2>/dev/null || echo -1; fi
}
running() { for peer in $(peers); do [ "$peer" = "$POD_NAME.$members" ] || ! mysqladmin --host="$peer" --connect-timeout=2 --user=none ping >/dev/null 2>&1 || return 0; done; return 1; }
bootstrap=no
if ! running; then
  own=$(position); own=${own:--1}
  mkdir -p /tmp/report; echo "$own $number" > /tmp/report/position
  ( cd /tmp/report && exec python3 -m http.server "$report_port" >/dev/null 2>&1 ) & reporter=$!
  best=
  while ! running; do
    all=yes; best=
    for peer in $(peers); do
      line=$(python3 -c 'import sys,urllib.request as u;print(u.urlopen(sys.argv[1],timeout=2).read().decode())' "http://$peer:$report_port/position" 2>/dev/null) || { all=no; break; }
      best=$(printf '%s\n%s\n' "$best" "$line" | sed '/^$/d' | sort -k1,1nr -k2,2n | head -n 1)
    done
    if [ "$all" = yes ]; then
      if [ "${best#* }" = "$number" ]; then bootstrap=yes; sleep 3; break; fi
    fi
    sleep 1
  done
  kill "$reporter" 2>/dev/null || true
fi
if [ "$bootstrap" = yes ]; then
  address=gcomm://
  [ ! -e "$data/grastate.dat" ] || sed -i 's/^safe_to_bootstrap:.*/safe_to_bootstrap: 1/' "$data/grastate.dat"
else address=gcomm://$(peers | paste -sd, -); fi
exec mysqld --datadir="$data" --socket=/run/mysqld/mysqld.sock --pid-file=/run/mysqld/mysqld.pid --bind-address=0.0.0.0 --skip-name-resolve \
  --binlog-format=ROW --default-storage-engine=InnoDB --innodb-autoinc-lock-mode=2 --innodb-flush-log-at-trx-commit=1 \
  --max-connections=4096 --wsrep-on=ON --wsrep-provider=/usr/lib/galera/libgalera_smm.so --wsrep-cluster-name="$set_name" \
  --wsrep-cluster-address="$address" --wsrep-node-address="$POD_IP" --wsrep-node-name="$POD_NAME" --wsrep-sst-method=rsync \
  $([ ! -e /tmp/init.sql ] || echo --init-file=/tmp/init.sql)
