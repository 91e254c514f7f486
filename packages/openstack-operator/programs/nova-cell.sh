#!/bin/sh
# A cell of Nova. Safe to repeat.
#   nova-cell.sh map CELL RESOURCE    maps it to the database and the virtual host RESOURCE, with the first one cell0
#   nova-cell.sh discover CELL        maps its new compute nodes to it
set -eu
what=$1
cell=$2
manage() { nova-manage --config-dir /etc/nova/nova.conf.d cell_v2 "$@"; }
# A list that cannot be read is none without the cell: it would be mapped a second time.
cells=$(manage list_cells)
uuid=$(printf '%s\n' "$cells" | awk -F'|' -v cell="$cell" '{ gsub(/ /, "", $2); gsub(/ /, "", $3) } $2 == cell { print $3 }')
if [ "$what" = discover ]; then
  [ -n "$uuid" ] || { echo "{\"level\":\"ERROR\",\"service\":\"nova\",\"message\":\"the cell $cell is not mapped\"}" >&2; exit 1; }
  manage discover_hosts --cell_uuid "$uuid"
  exit
fi
resource=$3
# Addresses are templates: accounts are those of the process that reads them. Names of databases are not where there are
# several cells: it can be in another one.
[ "$cell" != cell1 ] || manage map_cell0 --database_connection '{scheme}://{username}:{password}@{hostname}:{port}/nova_cell0?{query}'
database="{scheme}://{username}:{password}@{hostname}:{port}/$resource?{query}"
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
transport="{scheme}://$places/$resource?{query}"
if [ -n "$uuid" ]; then
  manage update_cell --cell_uuid "$uuid" --database_connection "$database" --transport-url "$transport"
else
  manage create_cell --name "$cell" --database_connection "$database" --transport-url "$transport"
fi
