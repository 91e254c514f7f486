import type { Suite } from "../suite.ts";

/** Block storage. */
export const suites: readonly Suite[] = [
  {
    name: "volumes",
    lines: `
      volume create {p}-one --size 1 --description first --property a=b
      settled volume {p}-one
      volume show {p}-one
      volume list --name {p}-one
      volume list --long --name {p}-one
      volume list --status available --name {p}-one
      volume list --status nonsense --name {p}-one
      admin: volume show {p}-one
      admin: volume list --all-projects --name {p}-one
      alt: volume show {p}-one
      volume list --all-projects --name {p}-one
      volume set {p}-one --name {p}-uno --description second --property c=d
      volume unset {p}-uno --property a
      volume unset {p}-uno --property nothing
      volume show {p}-uno -c name -c description -c properties
      volume set {p}-uno --size 2
      settled volume {p}-uno
      volume show {p}-uno -c size -c status
      volume set {p}-uno --size 1
      volume set {p}-uno --bootable
      volume set {p}-uno --image-property os=linux
      volume show {p}-uno -c bootable -c volume_image_metadata
      volume unset {p}-uno --image-property os
      volume unset {p}-uno --image-property os
      volume set {p}-uno --non-bootable --read-only
      volume show {p}-uno -c bootable -c properties
      volume set {p}-uno --state error
      admin: volume set {p}-uno --state error
      volume show {p}-uno -c status
      volume set {p}-uno --size 3
      admin: volume set {p}-uno --state nonsense
      admin: volume set {p}-uno --state available
      volume create {p}-copy --source {p}-uno
      settled volume {p}-copy
      volume show {p}-copy -c size -c source_volid -c bootable -c status
      volume create {p}-image --size 1 --image cirros
      settled volume {p}-image
      volume show {p}-image -c bootable -c volume_image_metadata -c status
      volume create {p}-bad
      volume create {p}-bad --size 0
      volume create {p}-bad --size -1
      volume create {p}-bad --size nonsense
      volume create {p}-bad --size 1 --type {p}-nothing
      volume create {p}-bad --size 1 --availability-zone nowhere
      volume create {p}-bad --size 1 --image {p}-nothing
      volume create {p}-bad --size 1 --source {p}-nothing
      volume create {p}-bad --size 1 --snapshot {p}-nothing
      volume create {p}-bad --size 1 --hint same_host=nonsense
      volume create {p}-bad --size 99999
      volume show {p}-nothing
      volume set {p}-nothing --name x
      volume delete {p}-nothing
      volume delete --force {p}-image
      volume delete {p}-uno {p}-copy
      settled volume {p}-uno
      volume show {p}-uno
    `,
    cleanup: `
      admin: volume delete --force {p}-image
      admin: volume delete --force {p}-uno
      admin: volume delete --force {p}-copy
      volume delete {p}-bad
    `,
  },
  {
    name: "snapshots of volumes",
    lines: `
      volume create {p}-volume --size 1
      settled volume {p}-volume
      volume snapshot create {p}-one --volume {p}-volume --description first --property a=b
      settled volume snapshot {p}-one
      volume snapshot show {p}-one
      volume snapshot list --name {p}-one
      volume snapshot list --long --name {p}-one
      volume snapshot list --volume {p}-volume --status available
      admin: volume snapshot show {p}-one
      alt: volume snapshot show {p}-one
      volume snapshot set {p}-one --name {p}-uno --description second --property c=d
      volume snapshot unset {p}-uno --property a
      volume snapshot unset {p}-uno --property nothing
      volume snapshot show {p}-uno -c name -c description -c properties
      volume snapshot set {p}-uno --state error
      admin: volume snapshot set {p}-uno --state error
      volume snapshot show {p}-uno -c status
      admin: volume snapshot set {p}-uno --state available
      volume delete {p}-volume
      volume create {p}-restored --snapshot {p}-uno
      settled volume {p}-restored
      volume show {p}-restored -c size -c snapshot_id -c status
      volume create {p}-bad --snapshot {p}-uno --size 0
      volume snapshot create {p}-bad --volume {p}-nothing
      volume backup show {p}-nothing
      volume backup restore {p}-nothing {p}-volume
      volume backup delete {p}-nothing
      volume snapshot show {p}-nothing
      volume snapshot delete {p}-uno
      settled volume snapshot {p}-uno
      volume snapshot delete {p}-nothing
      volume delete {p}-restored {p}-volume
    `,
    cleanup: `
      volume delete {p}-bad
      volume snapshot delete {p}-one
      volume delete {p}-volume
    `,
  },
  {
    name: "types of volumes and qos",
    lines: `
      volume type list
      admin: type= volume type create {p}-type --description t --property a=b
      admin: volume type show {p}-type
      volume type show {p}-type
      volume type list --long
      admin: volume type list --long
      volume type create {p}-bad
      admin: volume type create {p}-type
      admin: volume type set {p}-type --name {p}-t2 --description u --property c=d
      admin: volume type unset {p}-t2 --property a
      admin: volume type unset {p}-t2 --property nothing
      admin: volume type show {p}-t2 -c name -c properties -c description
      volume type set {p}-t2 --name x
      volume type show {type}
      admin: private= volume type create {p}-private --private --project demo
      volume type show {private} -c name -c is_public
      volume type show {p}-private
      alt: volume type show {p}-private
      admin: volume type show {p}-private
      admin: volume type set {p}-private --project alt
      admin: volume type set {p}-private --project alt
      admin: volume type unset {p}-private --project alt
      admin: volume type unset {p}-private --project alt
      admin: volume type set {p}-t2 --project alt
      admin: volume qos create {p}-qos --consumer back-end --property total_iops_sec=100
      admin: volume qos create {p}-qos --consumer back-end
      admin: volume qos create {p}-bad --consumer nonsense
      admin: volume qos show {p}-qos
      admin: volume qos set {p}-qos --property read_iops_sec=50
      admin: volume qos associate {p}-qos {p}-t2
      admin: volume qos show {p}-qos
      admin: volume qos list
      admin: volume qos delete {p}-qos
      admin: volume qos unset {p}-qos --property read_iops_sec
      admin: volume qos unset {p}-qos --property nothing
      admin: volume qos disassociate {p}-qos --volume-type {p}-t2
      volume qos show {p}-qos
      volume create {p}-typed --size 1 --type {p}-t2
      settled volume {p}-typed
      volume show {p}-typed -c type -c status
      admin: volume type unset {p}-t2 --property c
      volume delete {p}-typed
      settled volume {p}-typed
      admin: volume type unset {p}-t2 --property c
      volume create {p}-typed --size 1 --type {p}-t2
      settled volume {p}-typed
      volume show {p}-typed -c type -c status
      volume create {p}-plain --size 1
      settled volume {p}-plain
      volume set {p}-plain --type {type}
      settled volume {p}-plain
      volume show {p}-plain -c type -c status
      volume set {p}-plain --type {type}
      volume set {p}-plain --type {p}-nothing
      admin: volume set {p}-plain --type {p}-private --retype-policy on-demand
      settled volume {p}-plain
      volume show {p}-plain -c type -c status
      admin: volume type delete {p}-t2
      volume delete {p}-typed {p}-plain
      settled volume {p}-typed
      settled volume {p}-plain
      volume type delete {type}
      admin: volume qos delete {p}-qos
      admin: volume type delete {p}-t2
      admin: volume type delete {p}-private
      admin: volume type delete {p}-nothing
      volume type show {p}-nothing
      admin: volume qos show {p}-nothing
    `,
    cleanup: `
      volume delete {p}-typed {p}-plain
      admin: volume type delete {p}-t2
      admin: volume qos delete {p}-qos
    `,
  },
  {
    name: "transfers and attachments of volumes",
    lines: `
      volume create {p}-volume --size 1
      settled volume {p}-volume
      transfer= volume transfer request create {p}-volume --name {p}-transfer
      volume show {p}-volume -c status
      volume transfer request show {p}-transfer
      volume transfer request list
      volume transfer request create {p}-volume --name {p}-again
      volume transfer request create {p}-nothing
      alt: volume transfer request show {transfer}
      alt: volume transfer request accept {transfer} --auth-key nonsense
      volume delete {p}-volume
      volume transfer request delete {p}-transfer
      volume transfer request delete {p}-nothing
      volume transfer request show {p}-nothing
      volume show {p}-volume -c status
      network create {p}-net
      subnet create {p}-sub --network {p}-net --subnet-range 10.77.0.0/24
      server create {p}-vm --flavor m1.tiny --image cirros --network {p}-net --wait
      attachment= volume attachment create {p}-volume {p}-vm
      volume show {p}-volume -c status
      volume attachment show {attachment}
      volume attachment list
      volume attachment complete {attachment}
      volume attachment delete {attachment}
      volume attachment show {attachment}
      volume attachment create {p}-nothing {p}-vm
      volume attachment create {p}-volume {p}-nothing
      settled volume {p}-volume
      volume show {p}-volume -c status
      server add volume {p}-vm {p}-volume
      until in-use volume {p}-volume
      volume show {p}-volume -c status
      volume delete {p}-volume
      volume set {p}-volume --size 2
      settled volume {p}-volume
      volume show {p}-volume -c size -c status
      volume snapshot create {p}-snap --volume {p}-volume
      volume snapshot create {p}-snap --volume {p}-volume --force
      settled volume snapshot {p}-snap
      volume snapshot delete {p}-snap
      settled volume snapshot {p}-snap
      server remove volume {p}-vm {p}-volume
      settled volume {p}-volume
      server delete {p}-vm --wait
      volume delete {p}-volume
      network delete {p}-net
    `,
    cleanup: `
      volume transfer request delete {p}-transfer
      volume delete {p}-volume
    `,
  },
  {
    name: "groups of volumes",
    lines: `
      admin: volume group type create {p}-gtype --description g
      admin: volume group type show {p}-gtype
      admin: volume group type set {p}-gtype --name {p}-gt --property a=b
      admin: volume group type unset {p}-gt --property a
      volume group type list
      volume group type create {p}-bad
      admin: volume group type create {p}-gt
      admin: type= volume type create {p}-type
      volume group create {p}-gt {p}-type --name {p}-none
      volume group create {p}-gt {type} --name {p}-group --description first -c Name -c Description -c 'Availability Zone'
      settled volume group {p}-group
      volume group show {p}-group
      volume group list
      volume group set {p}-group --name {p}-g2 --description second
      volume group show {p}-g2 -c name -c description
      volume group create {p}-nothing {type}
      volume group create {p}-gt {p}-nothing
      volume create {p}-in --size 1 --type {type}
      settled volume {p}-in
      volume group snapshot create {p}-g2 --name {p}-gs
      volume group snapshot list
      volume group snapshot show {p}-nothing
      volume group show {p}-nothing
      admin: volume group type delete {p}-gt
      volume group delete {p}-g2
      settled volume group {p}-g2
      volume delete {p}-in
      settled volume {p}-in
      admin: volume type delete {p}-type
      admin: volume group type delete {p}-gt
      admin: volume group type delete {p}-nothing
      volume group type show {p}-nothing
    `,
    cleanup: `
      volume group delete {p}-g2
      admin: volume group type delete {p}-gt
    `,
  },
  {
    name: "the cloud's own volumes",
    lines: `
      admin: all volume service list
      volume service list
      admin: all volume service list --service cinder-scheduler
      admin: volume service set nothing cinder-volume --disable
      all availability zone list --volume
      admin: all availability zone list --volume --long
      admin: project create {p}-project
      admin: all quota show {p}-project --volume
      admin: quota set {p}-project --volumes 3 --snapshots 4 --gigabytes 5 --backups 6
      admin: all quota show {p}-project --volume
      admin: quota set {p}-project --volumes -2
      quota set {p}-project --volumes 3
      admin: project delete {p}-project
      all block storage resource filter list
      block storage resource filter show volume
      admin: all block storage resource filter show volume
      extension list --volume -c Alias
      all versions show --service volumev3
      volume message list
      volume message show 3c1d6b22-8a4c-4d5a-9f0b-111111111111
      volume host set nothing --disable
      admin: volume migrate nothing --host nowhere
      consistency group list
    `,
    cleanup: `
      admin: project delete {p}-project
    `,
  },
];
