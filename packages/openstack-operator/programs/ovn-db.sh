#!/bin/sh
# One member of OVN's northbound (nb) or southbound (sb) database: ovn-db.sh SIDE [prepare]
#
# It serves it. A member that has data starts with it, so that a loss of all of them needs no hand. With `prepare` it
# gives a member without data its file, and says in the termination message which database it is of. The first member
# makes one, and the others join. Where another member has data, the first one joins, too: a disk that was lost must not
# become a second database. Where the operator has known a database, the first one makes another only after each other
# member has responded that it has none: a silent one may have it.
set -eu
trap 'exit 143' TERM INT
side=$1
case $side in nb) port=6641 raft=6643 name=OVN_Northbound ;; sb) port=6642 raft=6644 name=OVN_Southbound ;; esac
set_name=${POD_NAME%-*}
number=${POD_NAME##*-}
# Open vSwitch looks up whole names only: it knows no search domains.
members=$set_name-members.$(sed -n 's/^search \([^ ]*\).*/\1/p' /etc/resolv.conf)
address_of() {
  if [ -n "${ADDRESSES:-}" ]; then echo "$ADDRESSES" | cut -d' ' -f"$(($1 + 1))"; else echo "$set_name-$1.$members"; fi
}
local=tcp:$(address_of "$number"):$raft
file=${DATA:-/var/lib/ovn}/ovn${side}_db.db
run=${RUN:-/run/ovn}
says=${SAYS:-/dev/termination-log}
# The database that the operator has known; nothing before it has known one.
known=$(cat "${KNOWN:-/etc/ovn-known}/$side" 2>/dev/null || :)
others() { seq 0 "$((${MEMBERS:-1} - 1))" | grep -vx "$number" || :; }

# The identity of the database of a member, "none" of one that has not joined yet: it has zeros. Fails where none
# responds.
identity_at() {
  query="[\"_Server\",{\"op\":\"select\",\"table\":\"Database\",\"where\":[[\"name\",\"==\",\"$name\"]],\"columns\":[\"cid\"]}]"
  said=$(ovsdb-client --timeout=3 transact "tcp:$(address_of "$1"):$port" "$query" 2>/dev/null) || return 1
  id=$(echo "$said" | sed -n 's/.*\["uuid","\([0-9a-f-]*\)"\].*/\1/p')
  case $id in *[!0-]*) echo "$id" ;; *) echo none ;; esac
}

# Sets $found, where members with data are, and $silent, the pods that do not respond: the first one waits a while for
# them.
ask_others() {
  left=${WAIT_SECONDS:-20}
  while :; do
    found='' silent=''
    for other in $(others); do
      if id=$(identity_at "$other"); then
        [ "$id" = none ] || found="$found tcp:$(address_of "$other"):$raft"
      else silent="$silent $set_name-$other"; fi
    done
    if [ -n "$found" ] || [ -z "$silent" ] || [ "$number" != 0 ] || [ "$left" -le 0 ]; then return; fi
    sleep 1
    left=$((left - 1))
  done
}

prepare() {
  if [ ! -e "$file" ]; then
    ask_others
    # Words of $found are addresses.
    if [ -n "$found" ]; then ovsdb-tool join-cluster "$file" "$name" "$local" $found
    elif [ "$number" = 0 ] && [ -n "$known" ] && [ -n "$silent" ]; then
      echo "this member has lost its disk, and waits for members$silent, which do not respond: one may have database" \
        "$known. If their disks are lost, too, delete their PersistentVolumeClaims and pods" > "$says"
      exit 1
    elif [ "$number" = 0 ]; then ovsdb-tool create-cluster "$file" "${SCHEMA:-/usr/share/ovn/ovn-$side.ovsschema}" "$local"
    else ovsdb-tool join-cluster "$file" "$name" "$local" "tcp:$(address_of 0):$raft"; fi
  fi
  # One that has not joined yet does not know it.
  printf '%s' "$(ovsdb-tool db-cid "$file" 2>/dev/null || :)" > "$says"
}

if [ "${2:-}" = prepare ]; then prepare; exit; fi
if [ ! -e "$file" ]; then
  echo "the file of the database is gone: delete this pod, and its next one joins the other members" > "$says"
  exit 1
fi
appctl() { ovs-appctl -t "$run/ovn${side}_db.ctl" "$@" 2>/dev/null; }
# What this member was before its disk was lost is still counted among the members until it is removed. This process
# becomes the database: its number is $$ here, too.
{
  until status=$(appctl cluster/status "$name") && echo "$status" | grep -q '^Status: cluster member'; do
    kill -0 $$ || exit
    sleep 1
  done
  while former=$(appctl cluster/status "$name" | grep -F " at $local)" | grep -vF '(self)' | sed 's/^ *\([0-9a-f]*\) .*/\1/' | head -n 1)
    [ -n "$former" ]; do appctl cluster/kick "$name" "$former" >/dev/null || :; sleep 2; done
} &
exec ovsdb-server --remote="ptcp:$port:${LISTEN:-[::]}" --remote="punix:$run/ovn${side}_db.sock" \
  --unixctl="$run/ovn${side}_db.ctl" --pidfile="$run/ovn${side}_db.pid" -vconsole:info -vsyslog:off "$file"
