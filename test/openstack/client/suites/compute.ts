import type { Suite } from "../suite.ts";

/** Servers and what belongs to them. */
export const suites: readonly Suite[] = [
  {
    name: "servers",
    lines: `
      network create {p}-net
      subnet create {p}-sub --network {p}-net --subnet-range 10.77.0.0/24
      security group create {p}-group
      port create {p}-port --network {p}-net --fixed-ip subnet={p}-sub,ip-address=10.77.0.10
      server create {p}-one --flavor m1.tiny --image cirros --port {p}-port --wait --property a=b --description first
      server show {p}-one
      server list --name {p}-one
      server list --long --name {p}-one
      server list --name {p}-one --status ACTIVE
      server list --name {p}-one --status SHUTOFF
      server list --name {p}-one --status NONSENSE
      server list --flavor m1.tiny --name {p}
      server list --no-name-lookup --name {p}-one -c Name -c Status
      server list --changes-since nonsense
      admin: server show {p}-one
      admin: server list --all-projects --name {p}-one
      admin: server list --all-projects --long --name {p}-one
      alt: server show {p}-one
      server list --all-projects
      server set {p}-one --property c=d --name {p}-uno --description second
      server unset {p}-uno --property a
      server show {p}-uno -c name -c properties -c status
      server set {p}-uno --state error
      server stop {p}-uno
      settled {p}-uno
      server show {p}-uno -c status -c OS-EXT-STS:power_state -c OS-EXT-STS:vm_state
      server stop {p}-uno
      settled {p}-uno
      server start {p}-uno
      settled {p}-uno
      server reboot {p}-uno --wait
      settled {p}-uno
      server reboot --hard {p}-uno --wait
      settled {p}-uno
      server show {p}-uno -c status
      server pause {p}-uno
      settled {p}-uno
      server show {p}-uno -c status -c OS-EXT-STS:power_state -c OS-EXT-STS:vm_state
      server pause {p}-uno
      settled {p}-uno
      server unpause {p}-uno
      settled {p}-uno
      server suspend {p}-uno
      settled {p}-uno
      server show {p}-uno -c status -c OS-EXT-STS:power_state -c OS-EXT-STS:vm_state
      server resume {p}-uno
      settled {p}-uno
      server resume {p}-uno
      settled {p}-uno
      server lock {p}-uno
      server show {p}-uno -c status
      server stop {p}-uno
      settled {p}-uno
      server unlock {p}-uno
      server add security group {p}-uno {p}-group
      server show {p}-uno -c security_groups
      server add security group {p}-uno {p}-nothing
      server remove security group {p}-uno {p}-group
      server remove security group {p}-uno {p}-group
      server event list {p}-uno -c Action
      server migrate {p}-uno
      settled {p}-uno
      console log show {p}-nothing
      console url show {p}-uno
      server create {p}-bad --flavor {p}-nothing --image cirros --network {p}-net
      server create {p}-bad --flavor m1.tiny --image {p}-nothing --network {p}-net
      server create {p}-bad --flavor m1.tiny --image cirros --network {p}-nothing
      server create {p}-bad --flavor m1.tiny --image cirros --network {p}-net --key-name {p}-nothing
      server create {p}-bad --flavor m1.tiny --image cirros --network {p}-net --security-group {p}-nothing
      server create {p}-bad --flavor m1.tiny --image cirros --network {p}-net --availability-zone nowhere
      server create {p}-bad --flavor m1.tiny --image cirros --port {p}-port
      server create {p}-bad --flavor m1.tiny --network {p}-net
      server create {p}-bad --image cirros --network {p}-net
      server create {p}-bad --flavor m1.tiny --image cirros --network {p}-net --min 3 --max 2
      server create {p}-many --flavor m1.tiny --image cirros --network {p}-net --min 2 --max 2 --wait
      settled {p}-many-1
      settled {p}-many-2
      server list --name {p}-many
      server delete {p}-many-1 {p}-many-2 --wait
      server show {p}-nothing
      server delete {p}-nothing
      server delete {p}-uno --wait
      port show {p}-port -c device_id -c device_owner
      port delete {p}-port
      security group delete {p}-group
      network delete {p}-net
    `,
  },
  {
    name: "changes of servers",
    lines: `
      network create {p}-net
      subnet create {p}-sub --network {p}-net --subnet-range 10.77.0.0/24
      server create {p}-vm --flavor m1.tiny --image cirros --network {p}-net --wait
      console log show {p}-vm
      server resize {p}-vm --flavor m1.small --wait
      server show {p}-vm -c status -c flavor -c OS-EXT-STS:vm_state -c OS-EXT-STS:task_state
      server resize {p}-vm --flavor m1.medium
      server resize confirm {p}-vm
      until ACTIVE server {p}-vm
      server show {p}-vm -c status -c flavor
      server resize {p}-vm --flavor m1.small
      server resize {p}-vm --flavor {p}-nothing
      server resize {p}-vm --flavor m1.medium --wait
      server resize revert {p}-vm
      until ACTIVE server {p}-vm
      server show {p}-vm -c flavor
      server resize confirm {p}-vm
      settled {p}-vm
      server resize revert {p}-vm
      settled {p}-vm
      server rebuild {p}-vm --image cirros --wait
      settled {p}-vm
      server rebuild {p}-vm --image {p}-nothing
      settled {p}-vm
      server show {p}-vm -c status -c image
      server rescue {p}-vm
      settled {p}-vm
      server rescue {p}-vm
      settled {p}-vm
      server show {p}-vm -c OS-EXT-STS:vm_state
      server unrescue {p}-vm
      settled {p}-vm
      server unrescue {p}-vm
      settled {p}-vm
      server shelve {p}-vm --wait
      settled {p}-vm
      server show {p}-vm -c status -c OS-EXT-STS:vm_state -c OS-EXT-STS:power_state
      server shelve {p}-vm
      settled {p}-vm
      server stop {p}-vm
      settled {p}-vm
      server unshelve {p}-vm --wait
      settled {p}-vm
      server show {p}-vm -c status
      server image create {p}-vm --name {p}-image
      settled {p}-vm
      image show {p}-image -c name -c status
      server dump create {p}-vm
      server backup create {p}-vm --name {p}-backup --type daily --rotate 1
      settled {p}-vm
      admin: server migrate {p}-vm --wait
      settled {p}-vm
      admin: server migration list --server {p}-vm
      admin: server migrate confirm {p}-vm
      admin: server migrate {p}-vm --live-migration
      settled {p}-vm
      admin: server evacuate {p}-vm
      admin: server set {p}-vm --state error
      server show {p}-vm -c status
      admin: server set {p}-vm --state active
      server restore {p}-vm
      server delete {p}-vm --wait
      image delete {p}-image
      image delete {p}-backup
      network delete {p}-net
    `,
  },
  {
    name: "attachments",
    lines: `
      network create {p}-net
      subnet create {p}-sub --network {p}-net --subnet-range 10.77.0.0/24
      network create {p}-net2
      subnet create {p}-sub2 --network {p}-net2 --subnet-range 10.78.0.0/24
      port create {p}-port --network {p}-net2
      volume create {p}-volume --size 1
      volume create {p}-volume2 --size 1
      server create {p}-vm --flavor m1.tiny --image cirros --network {p}-net --wait
      server add port {p}-vm {p}-port
      settled {p}-vm
      server add port {p}-vm {p}-port
      settled {p}-vm
      until ACTIVE port {p}-port
      port list --server {p}-vm -c Name -c Status
      server remove port {p}-vm {p}-nothing
      settled {p}-vm
      server add network {p}-vm {p}-net2
      settled {p}-vm
      server add fixed ip {p}-vm {p}-net --fixed-ip-address 10.77.0.99 -c 'Fixed IPs' -c 'Network ID' -c 'Server ID' -c Tag
      server add network {p}-vm {p}-nothing
      settled {p}-vm
      server add volume {p}-vm {p}-volume --device /dev/vdb
      settled {p}-vm
      server add volume {p}-vm {p}-volume
      settled {p}-vm
      server add volume {p}-vm {p}-nothing
      settled {p}-vm
      server volume list {p}-vm
      server show {p}-vm -c volumes_attached
      server volume update {p}-vm {p}-volume --delete-on-termination
      server volume list {p}-nothing
      server remove volume {p}-vm {p}-volume2
      settled {p}-vm
      server remove port {p}-vm {p}-port
      settled {p}-vm
      server remove network {p}-vm {p}-net2
      settled {p}-vm
      server add floating ip {p}-vm 172.24.4.9
      server delete {p}-vm --wait
      volume delete {p}-volume {p}-volume2
      port delete {p}-port
      network delete {p}-net
      network delete {p}-net2
    `,
    cleanup: `
      port delete {p}-port
      network delete {p}-net2
      volume delete {p}-volume
    `,
  },
  {
    name: "key pairs and server groups",
    lines: `
      keypair create {p}-made
      keypair show {p}-made
      keypair show --public-key {p}-made
      keypair list
      keypair create {p}-made
      keypair create {p}-typed --type x509
      keypair delete {p}-made
      keypair delete {p}-made
      keypair show {p}-made
      keypair create 'bad/name'
      server group create {p}-group --policy anti-affinity
      server group show {p}-group
      server group list
      server group list --long
      server group create {p}-bad --policy nonsense
      server group create {p}-soft --policy soft-affinity
      server group delete {p}-soft
      alt: server group show {p}-group
      network create {p}-net
      subnet create {p}-sub --network {p}-net --subnet-range 10.77.0.0/24
      server create {p}-vm --flavor m1.tiny --image cirros --network {p}-net --hint group={p}-nothing
      server create {p}-bad --flavor m1.tiny --image cirros --network {p}-net --hint group=3c1d6b22-8a4c-4d5a-9f0b-111111111111
      server group delete {p}-group
      server group delete {p}-group
      server group show {p}-nothing
      network delete {p}-net
    `,
  },
  {
    name: "flavors",
    lines: `
      of(m1.tiny|m1.small|m1.medium|m1.large) flavor list
      of(m1.tiny|m1.small|m1.medium|m1.large) flavor list --long
      flavor show m1.tiny
      flavor create {p}-mine --ram 64 --disk 1 --vcpus 1
      admin: flavor create {p}-flavor --ram 64 --disk 1 --vcpus 1 --ephemeral 2 --swap 3 --id {p}-id --property a:b=c --description f
      admin: flavor show {p}-flavor
      flavor show {p}-flavor
      admin: flavor list --all
      admin: flavor create {p}-flavor --ram 64 --disk 1 --vcpus 1
      admin: flavor create {p}-other --ram 64 --disk 1 --vcpus 1 --id {p}-id
      admin: flavor create {p}-bad --ram 0 --disk 1 --vcpus 1
      admin: flavor create {p}-bad --ram nonsense --disk 1 --vcpus 1
      admin: flavor set {p}-flavor --property d=e
      admin: flavor show {p}-flavor -c properties
      admin: flavor unset {p}-flavor --property d
      admin: flavor unset {p}-flavor --property nothing
      admin: flavor show {p}-flavor -c properties
      flavor set {p}-flavor --property x=y
      admin: flavor set {p}-flavor --description changed
      admin: flavor create {p}-private --ram 64 --disk 1 --vcpus 1 --private --project demo
      flavor show {p}-private
      alt: flavor show {p}-private
      admin: flavor show {p}-private
      admin: flavor set {p}-private --project alt
      alt: flavor show {p}-private -c name
      admin: flavor set {p}-private --project alt
      admin: flavor unset {p}-private --project alt
      admin: flavor unset {p}-private --project alt
      admin: flavor set {p}-flavor --project alt
      admin: flavor list --private
      flavor list --private
      flavor list --min-ram 4096
      flavor delete {p}-flavor
      admin: flavor delete {p}-flavor
      admin: flavor delete {p}-private
      admin: flavor delete {p}-flavor
      flavor show {p}-nothing
    `,
  },
  {
    name: "the cloud's own",
    lines: `
      admin: all hypervisor list
      admin: all hypervisor list --long
      admin: hypervisor show compute-1
      admin: hypervisor show nothing
      hypervisor list
      admin: all hypervisor stats show
      admin: all compute service list
      compute service list
      admin: compute service set compute-2 nova-compute --disable --disable-reason maintenance
      admin: all compute service list --long --service nova-compute
      admin: compute service set compute-2 nova-compute --enable
      admin: compute service set nothing nova-compute --disable
      admin: of(nova|az2) aggregate list --long
      aggregate list
      admin: aggregate create {p}-aggregate --property a=b
      admin: aggregate show {p}-aggregate
      admin: aggregate create {p}-aggregate
      admin: aggregate add host {p}-aggregate compute-2
      admin: aggregate add host {p}-aggregate nothing
      admin: aggregate add host {p}-aggregate compute-2
      admin: aggregate set {p}-aggregate --property c=d --name {p}-ag
      admin: aggregate unset {p}-ag --property a
      admin: aggregate show {p}-ag
      admin: aggregate delete {p}-ag
      admin: aggregate remove host {p}-ag compute-2
      admin: aggregate remove host {p}-ag compute-2
      admin: aggregate delete {p}-ag
      admin: aggregate delete {p}-ag
      admin: aggregate show {p}-nothing
      of(nova|az2) availability zone list --compute
      admin: of(nova|az2|internal) availability zone list --compute --long
      usage show --start 2030-01-01 --end 2030-01-02
      admin: usage list --start 2030-01-01 --end 2030-01-02
      all limits show --absolute
      admin: all host list
      extension list --compute
      all versions show --service compute
      all versions show --service network
      all versions show --service placement
      admin: server migration list
    `,
  },
];
