#!/bin/sh
# Maps cell0 and the first cell. Addresses are templates, so that each process fills in those of its own configuration.
set -eu
manage() { nova-manage --config-dir /etc/nova/nova.conf.d cell_v2 "$@"; }
manage map_cell0 --database_connection '{scheme}://{username}:{password}@{hostname}:{port}/nova_cell0?{query}'
database='{scheme}://{username}:{password}@{hostname}:{port}/{path}?{query}'
# The template has a place for each member of the broker: Nova numbers them where there are several.
members=$(sed -n 's,^transport_url *= *[^:]*://\([^/]*\)/.*,\1,p' /etc/nova/nova.conf.d/50-credentials.conf | tr ',' '\n' | wc -l)
if [ "$members" -le 1 ]; then places='{username}:{password}@{hostname}:{port}'
else
  places= i=1
  while [ "$i" -le "$members" ]; do
    places="${places:+$places,}{username$i}:{password$i}@{hostname$i}:{port$i}"
    i=$((i + 1))
  done
fi
transport="{scheme}://$places/{path}?{query}"
cell=$(manage list_cells | awk -F'|' '$2 ~ /^ *cell1 *$/ { gsub(/ /, "", $3); print $3 }')
if [ -n "$cell" ]; then
  manage update_cell --cell_uuid "$cell" --database_connection "$database" --transport-url "$transport"
else
  manage create_cell --name cell1 --database_connection "$database" --transport-url "$transport"
fi
