import type { Suite } from "../suite.ts";

/** Shared file systems. */
export const suites: readonly Suite[] = [
  {
    name: "shares",
    lines: `
      share type show default -c name -c is_default -c visibility
      share create NFS 1 --name {p}-one --description first --property a=b
      settled share {p}-one
      share show {p}-one
      all share export location list {p}-one
      share list --name {p}-one
      share list --long --name {p}-one
      share list --name {p}-one --status available
      share list --name {p}-one --status nonsense
      admin: share list --all-projects --name {p}-one
      admin: share show {p}-one
      alt: share show {p}-one
      share set {p}-one --name {p}-uno --description second --property c=d
      share unset {p}-uno --property a
      share unset {p}-uno --property nothing
      share unset {p}-uno --description
      share properties show {p}-uno
      share show {p}-uno -c name -c description -c properties -c is_public
      share set {p}-uno --public true
      share set {p}-uno --status error
      admin: share set {p}-uno --status error
      share resize {p}-uno 2
      admin: share set {p}-uno --status available
      share resize {p}-uno 2
      settled share {p}-uno
      share show {p}-uno -c size -c status
      share resize {p}-uno 1
      settled share {p}-uno
      share show {p}-uno -c size -c status
      share resize {p}-uno 1
      share export location show {p}-uno nonsense
      share instance list --share {p}-uno
      admin: share instance list --share {p}-uno
      rule= share access create {p}-uno ip 10.0.0.0/8 --access-level ro --properties e=f
      until active share access {rule}
      share access list {p}-uno
      share access show {rule}
      share access create {p}-uno ip 10.0.0.0/8
      share access create {p}-uno ip nonsense
      share access create {p}-uno ip 10.1.0.0/16 --access-level nonsense
      share access create {p}-uno nonsense 10.1.0.0/16
      share access create {p}-nothing ip 10.1.0.0/16
      share access set {rule} --property g=h
      share access unset {rule} --property e
      share access show {rule}
      share access delete {p}-uno {rule}
      settled share access {rule}
      share access delete {p}-uno {rule}
      share access show {rule}
      share create NFS 0 --name {p}-bad
      share create NFS nonsense --name {p}-bad
      share create NONSENSE 1 --name {p}-bad
      share create NFS 1 --name {p}-bad --share-type {p}-nothing
      share create NFS 1 --name {p}-bad --availability-zone nowhere
      share create NFS 1 --name {p}-bad --share-network {p}-nothing
      share create NFS 1 --name {p}-bad --snapshot-id {p}-nothing
      share create NFS 99999 --name {p}-bad
      share show {p}-nothing
      share delete {p}-nothing
      share delete {p}-uno
      settled share {p}-uno
      share show {p}-uno
    `,
    cleanup: `
      share delete {p}-bad
    `,
  },
  {
    name: "snapshots and networks of shares",
    lines: `
      share create NFS 1 --name {p}-share
      settled share {p}-share
      share snapshot create {p}-share --name {p}-snap --description s
      settled share snapshot {p}-snap
      share snapshot show {p}-snap
      share snapshot list --name {p}-snap
      share snapshot list --name {p}-snap --detail
      share snapshot set {p}-snap --name {p}-s2 --description t
      share snapshot show {p}-s2 -c name -c description
      share snapshot create {p}-nothing
      alt: share snapshot show {p}-s2
      share delete {p}-share
      share snapshot access list {p}-s2
      share create NFS 1 --name {p}-restored --snapshot-id {p}-s2
      settled share {p}-restored
      share show {p}-restored -c snapshot_id -c status
      share revert {p}-s2
      share snapshot delete {p}-s2
      settled share snapshot {p}-s2
      share snapshot show {p}-s2
      share snapshot delete {p}-nothing
      share delete {p}-share {p}-restored
      settled share {p}-share
      network create {p}-net
      subnet create {p}-sub --network {p}-net --subnet-range 10.77.0.0/24
      share network create --name {p}-network --description n --neutron-net-id {p}-net --neutron-subnet-id {p}-sub
      share network show {p}-network
      share network list --name {p}-network
      share network list --detail --name {p}-network
      share network set {p}-network --name {p}-n2 --description o
      share network show {p}-n2 -c name -c description
      subnet= share network subnet create {p}-n2
      share network subnet show {p}-n2 {subnet}
      share network subnet show {p}-n2 nonsense
      share network subnet create {p}-n2 --neutron-net-id {p}-net
      share network subnet create {p}-n2 --availability-zone nowhere
      share create NFS 1 --name {p}-bad --share-network {p}-n2
      settled share {p}-bad
      share show {p}-bad -c status -c availability_zone
      alt: share network show {p}-n2
      share security service create ldap --name {p}-ldap --dns-ip 10.0.0.1 --domain example.com
      share security service show {p}-ldap
      share security service list -c Name -c Type
      share network set {p}-n2 --new-security-service {p}-ldap
      share security service delete {p}-ldap
      share network unset {p}-n2 --security-service {p}-ldap
      share security service delete {p}-ldap
      share security service create nonsense
      share network delete {p}-n2
      share delete {p}-bad
      settled share {p}-bad
      share network delete {p}-n2
      share network subnet delete {p}-n2 {subnet}
      share network subnet delete {p}-n2 nonsense
      share network delete {p}-n2
      share network delete {p}-nothing
      share network show {p}-nothing
      subnet delete {p}-sub
      network delete {p}-net
    `,
    cleanup: `
      share delete {p}-share {p}-bad
      settled share {p}-bad
      share network delete {p}-network
      share network delete {p}-n2
      share security service delete {p}-ldap
    `,
  },
  {
    name: "types and quotas of shares",
    lines: `
      admin: share type create {p}-type false --description t --extra-specs a=b
      admin: share type show {p}-type
      share type show {p}-type
      share type list --search {p}
      admin: share type set {p}-type --name {p}-t2 --extra-specs c=d --description u
      admin: share type unset {p}-t2 a
      admin: share type show {p}-t2
      admin: share type create {p}-t2 false
      share type create {p}-bad false
      admin: share type create {p}-bad nonsense
      admin: share type create {p}-private false --public false
      share type show {p}-private
      admin: share type access create {p}-private demo
      share type show {p}-private -c name -c visibility
      admin: share type access list {p}-private
      admin: share type access delete {p}-private demo
      admin: share type access create {p}-t2 demo
      share create NFS 1 --name {p}-share --share-type {p}-t2
      settled share {p}-share
      share= share show {p}-share -c id -c share_type_name -c status
      share message list --resource-id {share}
      admin: share type delete {p}-t2
      share delete {p}-share
      settled share {p}-share
      share type delete {p}-t2
      admin: share type delete {p}-t2 {p}-private
      admin: share type delete {p}-nothing
      share type show {p}-nothing
      admin: project create {p}-project
      admin: all share quota show {p}-project
      admin: share quota set {p}-project --shares 3 --gigabytes 4
      admin: all share quota show {p}-project
      admin: all share quota show {p}-project --detail
      admin: all share quota show {p}-project --defaults
      admin: share quota set {p}-project --shares -2
      admin: share quota delete {p}-project
      share quota set demo --shares 3
      admin: project delete {p}-project
      all share limits show --absolute
      all share availability zone list
      admin: all share service list -c Binary -c Host -c Zone -c Status
      share service list
      admin: all share pool list -c Name -c Host
      share pool list
      share message show nonsense
      share message delete nonsense
      admin: share server list
      share group list
      admin: share group type create {p}-gt default
      share group type show {p}-gt
      share group type list
      admin: share group type create {p}-gt default
      share group type create {p}-bad default
      admin: share group type set {p}-gt --group-specs a=b
      admin: share group type show {p}-gt
      admin: share group type unset {p}-gt a
      admin: share group type access list {p}-gt
      share group type delete {p}-gt
      admin: share group type delete {p}-gt
      admin: share group type delete {p}-gt
      share replica list
      share replica show nonsense
      share server list
      all versions show --service sharev2
    `,
    cleanup: `
      share delete {p}-share
      admin: share type delete {p}-t2
      admin: share type delete {p}-private
      admin: share group type delete {p}-gt
      admin: project delete {p}-project
    `,
  },
];
