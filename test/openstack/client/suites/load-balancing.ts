import type { Suite } from "../suite.ts";

/** Load balancers, of the OVN provider: the one that both clouds can run. */
export const suites: readonly Suite[] = [
  {
    name: "load balancers",
    lines: `
      network create {p}-net
      subnet create {p}-sub --network {p}-net --subnet-range 10.77.0.0/24
      loadbalancer create --name {p}-lb --vip-subnet-id {p}-sub --vip-address 10.77.0.100 --provider ovn --description first --tag red
      settled loadbalancer {p}-lb
      loadbalancer show {p}-lb
      loadbalancer list --name {p}-lb
      loadbalancer list --name {p}-lb --provisioning-status ACTIVE --provider ovn
      loadbalancer list --tags red --name {p}-lb
      loadbalancer list --vip-address 10.77.0.100
      alt: loadbalancer show {p}-lb
      admin: loadbalancer show {p}-lb -c name -c provisioning_status
      loadbalancer set {p}-lb --name {p}-uno --description second --disable --tag blue
      settled loadbalancer {p}-uno
      loadbalancer show {p}-uno
      loadbalancer unset {p}-uno --tag red
      loadbalancer unset {p}-uno --description
      settled loadbalancer {p}-uno
      loadbalancer show {p}-uno -c description -c name
      loadbalancer set {p}-uno --enable
      settled loadbalancer {p}-uno
      loadbalancer stats show {p}-uno
      loadbalancer status show {p}-uno
      loadbalancer failover {p}-uno
      admin: loadbalancer failover {p}-uno
      settled loadbalancer {p}-uno
      loadbalancer create --name {p}-bad --vip-subnet-id {p}-sub --vip-address 10.77.0.100 --provider ovn
      loadbalancer create --name {p}-bad --vip-subnet-id {p}-sub --vip-address 10.99.0.1 --provider ovn
      loadbalancer create --name {p}-bad --vip-subnet-id {p}-sub --vip-address nonsense --provider ovn
      loadbalancer create --name {p}-bad --vip-subnet-id {p}-nothing --provider ovn
      loadbalancer create --name {p}-bad --vip-network-id {p}-nothing --provider ovn
      loadbalancer create --name {p}-bad --vip-port-id {p}-nothing --provider ovn
      loadbalancer create --name {p}-bad --vip-subnet-id {p}-sub --provider nonsense
      loadbalancer create --name {p}-bad --vip-subnet-id {p}-sub --provider ovn --flavor {p}-nothing
      loadbalancer create --name {p}-bad --vip-subnet-id {p}-sub --provider ovn --availability-zone nowhere
      loadbalancer create --name {p}-bad --provider ovn
      loadbalancer create --name {p}-bad --vip-subnet-id {p}-sub --provider ovn --vip-qos-policy-id {p}-nothing
      port create {p}-port --network {p}-net --fixed-ip subnet={p}-sub,ip-address=10.77.0.101
      loadbalancer create --name {p}-two --vip-port-id {p}-port --provider ovn
      settled loadbalancer {p}-two
      loadbalancer show {p}-two -c vip_address -c vip_network_id -c vip_port_id -c vip_subnet_id
      port show {p}-port -c device_owner
      loadbalancer create --name {p}-bad --vip-port-id {p}-port --provider ovn
      loadbalancer delete {p}-two
      settled loadbalancer {p}-two
      port show {p}-port -c device_owner
      subnet delete {p}-sub
      loadbalancer listener create {p}-uno --name {p}-listener --protocol TCP --protocol-port 80
      settled loadbalancer {p}-uno
      loadbalancer delete {p}-uno
      loadbalancer delete {p}-uno --cascade
      settled loadbalancer {p}-uno
      loadbalancer show {p}-uno
      loadbalancer show {p}-nothing
      loadbalancer set {p}-nothing --name x
      loadbalancer delete {p}-nothing
      loadbalancer status show {p}-nothing
      port delete {p}-port
      network delete {p}-net
    `,
    cleanup: `
      loadbalancer delete {p}-lb --cascade --wait
      loadbalancer delete {p}-bad --cascade --wait
      network delete {p}-net
    `,
  },
  {
    name: "listeners, pools and members",
    lines: `
      network create {p}-net
      subnet create {p}-sub --network {p}-net --subnet-range 10.77.0.0/24
      loadbalancer create --name {p}-lb --vip-subnet-id {p}-sub --provider ovn --wait
      loadbalancer listener create {p}-lb --name {p}-listener --protocol TCP --protocol-port 80 --description l --connection-limit 100 --allowed-cidr 10.0.0.0/8 --tag red
      settled loadbalancer {p}-lb
      loadbalancer listener create {p}-lb --name {p}-listener --protocol TCP --protocol-port 80 --description l
      settled loadbalancer {p}-lb
      loadbalancer listener show {p}-listener
      loadbalancer listener list --loadbalancer {p}-lb
      loadbalancer listener list --name {p}-listener --protocol TCP
      loadbalancer listener set {p}-listener --name {p}-l2 --description m --tag blue
      settled loadbalancer {p}-lb
      loadbalancer listener show {p}-l2
      loadbalancer listener stats show {p}-l2
      loadbalancer listener create {p}-lb --name {p}-udp --protocol UDP --protocol-port 80 --wait
      loadbalancer listener create {p}-lb --name {p}-bad --protocol TCP --protocol-port 80
      loadbalancer listener create {p}-lb --name {p}-bad --protocol HTTP --protocol-port 81
      loadbalancer listener create {p}-lb --name {p}-bad --protocol NONSENSE --protocol-port 81
      loadbalancer listener create {p}-lb --name {p}-bad --protocol TCP --protocol-port 70000
      loadbalancer listener create {p}-lb --name {p}-bad --protocol TCP --protocol-port nonsense
      loadbalancer listener create {p}-lb --name {p}-bad --protocol TERMINATED_HTTPS --protocol-port 443
      loadbalancer listener create {p}-nothing --name {p}-bad --protocol TCP --protocol-port 81
      loadbalancer listener create {p}-lb --name {p}-bad --protocol TCP --protocol-port 81 --default-pool {p}-nothing
      alt: loadbalancer listener show {p}-l2
      loadbalancer pool create --name {p}-pool --listener {p}-l2 --protocol TCP --lb-algorithm SOURCE_IP_PORT --description p --tag red --wait
      loadbalancer pool show {p}-pool
      loadbalancer pool list --loadbalancer {p}-lb
      loadbalancer pool set {p}-pool --name {p}-p2 --description q --wait
      loadbalancer pool unset {p}-p2 --description --wait
      loadbalancer pool show {p}-p2
      loadbalancer pool create --name {p}-bad --listener {p}-l2 --protocol TCP --lb-algorithm SOURCE_IP_PORT
      loadbalancer pool create --name {p}-bad --loadbalancer {p}-lb --protocol TCP --lb-algorithm ROUND_ROBIN
      loadbalancer pool create --name {p}-bad --loadbalancer {p}-lb --protocol HTTP --lb-algorithm SOURCE_IP_PORT
      loadbalancer pool create --name {p}-bad --loadbalancer {p}-lb --protocol TCP --lb-algorithm NONSENSE
      loadbalancer pool create --name {p}-bad --loadbalancer {p}-lb --protocol TCP --lb-algorithm SOURCE_IP_PORT --session-persistence type=NONSENSE
      loadbalancer pool create --name {p}-bad --listener {p}-nothing --protocol TCP --lb-algorithm SOURCE_IP_PORT
      loadbalancer pool create --name {p}-bad --listener {p}-udp --protocol TCP --lb-algorithm SOURCE_IP_PORT
      settled loadbalancer {p}-lb
      port create {p}-node --network {p}-net --fixed-ip subnet={p}-sub,ip-address=10.77.0.10
      loadbalancer member create {p}-p2 --name {p}-one --address 10.77.0.10 --protocol-port 8080 --subnet-id {p}-sub --weight 3 --tag red --wait
      loadbalancer member show {p}-p2 {p}-one
      loadbalancer member list {p}-p2
      loadbalancer member set {p}-p2 {p}-one --name {p}-uno --weight 5 --wait
      loadbalancer member show {p}-p2 {p}-uno -c name -c weight
      loadbalancer member create {p}-p2 --name {p}-bad --address 10.77.0.10 --protocol-port 8080 --subnet-id {p}-sub
      loadbalancer member create {p}-p2 --name {p}-bad --address 10.77.0.11 --protocol-port 8080 --backup
      loadbalancer member create {p}-p2 --name {p}-bad --address nonsense --protocol-port 8080
      loadbalancer member create {p}-p2 --name {p}-bad --address 10.77.0.11 --protocol-port 70000
      loadbalancer member create {p}-p2 --name {p}-bad --address 10.77.0.11 --protocol-port 8080 --weight 300
      loadbalancer member create {p}-p2 --name {p}-bad --address 10.77.0.11 --protocol-port 8080 --subnet-id {p}-nothing
      loadbalancer member create {p}-nothing --name {p}-bad --address 10.77.0.11 --protocol-port 8080
      settled loadbalancer {p}-lb
      loadbalancer healthmonitor create {p}-p2 --name {p}-monitor --type TCP --delay 5 --timeout 3 --max-retries 2 --wait
      loadbalancer healthmonitor show {p}-monitor
      loadbalancer healthmonitor list --pool {p}-p2
      loadbalancer healthmonitor set {p}-monitor --name {p}-m2 --delay 6 --wait
      loadbalancer healthmonitor show {p}-m2 -c name -c delay
      loadbalancer healthmonitor create {p}-p2 --name {p}-bad --type TCP --delay 5 --timeout 3 --max-retries 2
      loadbalancer healthmonitor create {p}-p2 --name {p}-bad --type HTTP --delay 5 --timeout 3 --max-retries 2
      loadbalancer healthmonitor create {p}-p2 --name {p}-bad --type NONSENSE --delay 5 --timeout 3 --max-retries 2
      loadbalancer healthmonitor create {p}-p2 --name {p}-bad --type TCP --delay 5 --timeout 3 --max-retries 20
      loadbalancer healthmonitor create {p}-nothing --name {p}-bad --type TCP --delay 5 --timeout 3 --max-retries 2
      settled loadbalancer {p}-lb
      loadbalancer status show {p}-lb
      loadbalancer l7policy create {p}-l2 --name {p}-policy --action REJECT
      loadbalancer l7policy create {p}-l2 --name {p}-policy --action NONSENSE
      loadbalancer l7policy list
      loadbalancer l7policy show {p}-nothing
      loadbalancer l7rule create {p}-nothing --type PATH --compare-type STARTS_WITH --value /x
      settled loadbalancer {p}-lb
      loadbalancer healthmonitor delete {p}-m2 --wait
      loadbalancer member delete {p}-p2 {p}-uno --wait
      loadbalancer member delete {p}-p2 {p}-nothing
      loadbalancer pool delete {p}-p2 --wait
      loadbalancer listener delete {p}-l2 --wait
      loadbalancer listener delete {p}-nothing
      loadbalancer listener show {p}-nothing
      loadbalancer pool show {p}-nothing
      loadbalancer member show {p}-nothing nonsense
      loadbalancer healthmonitor show {p}-nothing
      loadbalancer pool create --name {p}-alone --loadbalancer {p}-lb --protocol TCP --lb-algorithm SOURCE_IP_PORT --wait
      loadbalancer status show {p}-lb
      loadbalancer pool create --name {p}-sticky --loadbalancer {p}-lb --protocol TCP --lb-algorithm SOURCE_IP_PORT --session-persistence type=HTTP_COOKIE --wait
      loadbalancer delete {p}-lb --cascade --wait
      port delete {p}-node
      network delete {p}-net
    `,
    cleanup: `
      loadbalancer delete {p}-lb --cascade --wait
      network delete {p}-net
    `,
  },
  {
    name: "the cloud's own load balancing",
    lines: `
      all loadbalancer provider list
      loadbalancer provider capability list ovn
      admin: loadbalancer provider capability list ovn
      loadbalancer provider capability list nonsense
      admin: project create {p}-project
      admin: all loadbalancer quota show {p}-project
      admin: loadbalancer quota set {p}-project --loadbalancer 3 --listener 4 --pool 5 --member 6 --healthmonitor 7
      admin: all loadbalancer quota show {p}-project
      admin: loadbalancer quota unset {p}-project --loadbalancer
      admin: loadbalancer quota set {p}-project --loadbalancer -2
      admin: loadbalancer quota reset {p}-project
      admin: all loadbalancer quota show {p}-project
      loadbalancer quota set demo --loadbalancer 3
      all loadbalancer quota show
      all loadbalancer quota defaults show
      admin: project delete {p}-project
      admin: loadbalancer flavorprofile create --name {p}-profile --provider ovn --flavor-data '{}'
      admin: loadbalancer flavorprofile create --name {p}-profile --provider amphora --flavor-data '{"loadbalancer_topology":"SINGLE"}'
      admin: loadbalancer flavorprofile show {p}-profile
      admin: loadbalancer flavorprofile list
      admin: loadbalancer flavorprofile set {p}-profile --name {p}-p2
      admin: loadbalancer flavorprofile show {p}-p2
      admin: loadbalancer flavorprofile create --name {p}-bad --provider nonsense --flavor-data '{}'
      admin: loadbalancer flavorprofile create --name {p}-bad --provider amphora --flavor-data '{"nonsense":1}'
      admin: loadbalancer flavorprofile create --name {p}-bad --provider amphora --flavor-data nonsense
      loadbalancer flavorprofile list
      admin: loadbalancer flavor create --name {p}-flavor --flavorprofile {p}-p2 --description f --enable
      loadbalancer flavor show {p}-flavor
      loadbalancer flavor list
      admin: loadbalancer flavor set {p}-flavor --name {p}-f2 --disable
      admin: loadbalancer flavor show {p}-f2
      admin: loadbalancer flavor create --name {p}-f2 --flavorprofile {p}-p2
      loadbalancer flavor create --name {p}-bad --flavorprofile {p}-p2
      admin: loadbalancer flavorprofile delete {p}-p2
      loadbalancer flavor delete {p}-f2
      admin: loadbalancer flavor delete {p}-f2
      admin: loadbalancer flavor delete {p}-nothing
      loadbalancer flavor show {p}-nothing
      admin: loadbalancer flavorprofile delete {p}-p2
      admin: loadbalancer flavorprofile show {p}-nothing
      admin: loadbalancer availabilityzoneprofile create --name {p}-zprofile --provider ovn --availability-zone-data '{}'
      admin: loadbalancer availabilityzoneprofile create --name {p}-zprofile --provider amphora --availability-zone-data '{"compute_zone":"nova"}'
      admin: loadbalancer availabilityzoneprofile show {p}-zprofile
      admin: loadbalancer availabilityzoneprofile list
      admin: loadbalancer availabilityzone create --name {p}-zone --availabilityzoneprofile {p}-zprofile
      loadbalancer availabilityzone show {p}-zone
      loadbalancer availabilityzone list
      admin: loadbalancer availabilityzone set {p}-zone --disable --description z
      loadbalancer availabilityzone show {p}-zone
      loadbalancer availabilityzone create --name {p}-bad --availabilityzoneprofile {p}-zprofile
      admin: loadbalancer availabilityzoneprofile delete {p}-zprofile
      admin: loadbalancer availabilityzone delete {p}-zone
      admin: loadbalancer availabilityzone delete {p}-nothing
      admin: loadbalancer availabilityzoneprofile delete {p}-zprofile
      loadbalancer availabilityzone show {p}-nothing
      admin: loadbalancer amphora list
      loadbalancer amphora list
      admin: loadbalancer amphora show 3c1d6b22-8a4c-4d5a-9f0b-111111111111
    `,
    cleanup: `
      admin: loadbalancer flavor delete {p}-flavor
      admin: loadbalancer flavorprofile delete {p}-profile
      admin: loadbalancer availabilityzone delete {p}-zone
      admin: loadbalancer availabilityzoneprofile delete {p}-zprofile
      admin: project delete {p}-project
    `,
  },
];
