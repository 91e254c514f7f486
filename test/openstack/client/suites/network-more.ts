import type { Suite } from "../suite.ts";

/** What administrators and larger projects use of Neutron. */
export const suites: readonly Suite[] = [
  {
    name: "subnet pools and address scopes",
    lines: `
      address scope create {p}-scope --ip-version 4
      address scope show {p}-scope
      address scope list --name {p}-scope
      address scope set {p}-scope --name {p}-sc
      address scope create {p}-shared --share
      admin: address scope create {p}-shared --share
      subnet pool create {p}-pool --pool-prefix 10.70.0.0/16 --pool-prefix 10.72.0.0/16 --default-prefix-length 26 --min-prefix-length 20 --max-prefix-length 28 --description p
      subnet pool show {p}-pool
      subnet pool list --name {p}-pool
      subnet pool list --long --name {p}-pool
      subnet pool set {p}-pool --pool-prefix 10.74.0.0/16 --default-quota 1000 --tag q
      subnet pool set {p}-pool --address-scope {p}-sc
      subnet pool show {p}-pool
      subnet pool unset {p}-pool --tag q
      subnet pool set {p}-pool --no-address-scope --default-prefix-length 25
      subnet pool set {p}-pool --default-prefix-length 30
      subnet pool create {p}-bad --pool-prefix 10.0.0.0/8 --default-prefix-length 4
      subnet pool create {p}-bad --pool-prefix 10.0.0.0/8 --min-prefix-length 28 --max-prefix-length 20
      subnet pool create {p}-bad --pool-prefix nonsense
      subnet pool create {p}-bad --pool-prefix 10.0.0.0/8 --pool-prefix fd00::/48
      subnet pool create {p}-bad --pool-prefix 10.0.0.0/8 --share
      subnet pool create {p}-bad --pool-prefix 10.0.0.0/8 --default
      subnet pool create {p}-bad
      subnet pool create {p}-six --pool-prefix fd00:70::/48
      network create {p}-net
      subnet create {p}-a --network {p}-net --subnet-pool {p}-pool
      subnet create {p}-b --network {p}-net --subnet-pool {p}-pool --prefix-length 24
      subnet create {p}-c --network {p}-net --subnet-pool {p}-pool --subnet-range 10.72.5.0/24
      subnet create {p}-d --network {p}-net --subnet-pool {p}-pool --subnet-range 10.72.5.0/24
      subnet create {p}-d --network {p}-net --subnet-pool {p}-pool --subnet-range 10.99.5.0/24
      subnet create {p}-d --network {p}-net --subnet-pool {p}-pool --prefix-length 20
      subnet create {p}-d --network {p}-net --subnet-pool {p}-pool --prefix-length 10
      subnet create {p}-d --network {p}-net --subnet-pool {p}-pool --prefix-length 30
      subnet create {p}-d --network {p}-net --subnet-pool {p}-six --ip-version 6
      subnet create {p}-d --network {p}-net --subnet-pool {p}-nothing
      subnet create {p}-d --network {p}-net --use-default-subnet-pool
      subnet list --subnet-pool {p}-pool --network {p}-net
      subnet pool delete {p}-pool
      network delete {p}-net
      subnet pool delete {p}-pool
      subnet pool delete {p}-six
      subnet pool delete {p}-nothing
      address scope delete {p}-sc
      admin: address scope delete {p}-shared
      address scope delete {p}-nothing
    `,
  },
  {
    name: "quality of service",
    lines: `
      network qos policy create {p}-mine
      admin: network qos policy create {p}-policy --description fast --share
      admin: network qos policy show {p}-policy
      admin: network qos policy list
      network qos policy show {p}-policy
      alt: network qos policy show {p}-policy
      admin: limit= network qos rule create {p}-policy --type bandwidth-limit --max-kbps 3000 --max-burst-kbits 300 --egress
      admin: network qos rule create {p}-policy --type bandwidth-limit --max-kbps 3000 --egress
      admin: network qos rule create {p}-policy --type bandwidth-limit --max-kbps 1000 --ingress
      admin: mark= network qos rule create {p}-policy --type dscp-marking --dscp-mark 10
      admin: network qos rule create {p}-policy --type dscp-marking --dscp-mark 11
      admin: network qos rule create {p}-policy --type dscp-marking --dscp-mark 12
      admin: least= network qos rule create {p}-policy --type minimum-bandwidth --min-kbps 500 --egress
      admin: packets= network qos rule create {p}-policy --type minimum-packet-rate --min-kpps 500 --egress
      admin: network qos rule create {p}-policy --type bandwidth-limit
      network qos rule create {p}-policy --type dscp-marking --dscp-mark 14
      admin: network qos rule list {p}-policy
      admin: network qos rule show {p}-policy {limit}
      admin: network qos rule set {p}-policy {limit} --max-kbps 4000
      admin: network qos rule show {p}-policy {limit}
      admin: network qos rule set {p}-policy {mark} --dscp-mark 14
      admin: network qos rule set {p}-policy {mark} --dscp-mark 3
      admin: network qos rule show {p}-policy 3c1d6b22-8a4c-4d5a-9f0b-111111111111
      network create {p}-net --qos-policy {p}-policy
      admin: network qos rule delete {p}-policy {packets}
      network create {p}-net --qos-policy {p}-policy
      network show {p}-net -c qos_policy_id
      port create {p}-port --network {p}-net --qos-policy {p}-policy
      port show {p}-port -c qos_policy_id -c qos_network_policy_id
      port unset {p}-port --qos-policy
      port show {p}-port -c qos_policy_id -c qos_network_policy_id
      network set {p}-net --no-qos-policy
      port set {p}-port --qos-policy {p}-policy
      port create {p}-bad --network {p}-net --qos-policy {p}-nothing
      network set {p}-net --qos-policy {p}-nothing
      admin: network qos policy delete {p}-policy
      port delete {p}-port
      admin: network qos rule delete {p}-policy {least}
      admin: network qos rule delete {p}-policy {least}
      admin: network qos policy set {p}-policy --name {p}-pol --no-share --description slow
      admin: network qos policy show {p}-pol
      network qos policy show {p}-pol
      all network qos rule type list
      admin: all network qos rule type list
      admin: network qos rule type show bandwidth_limit
      admin: network qos rule type show nonsense
      admin: network qos policy delete {p}-pol
      admin: network qos policy delete {p}-nothing
      network delete {p}-net
    `,
  },
  {
    name: "RBAC policies",
    lines: `
      admin: alt= project show alt
      network create {p}-net
      rule= network rbac create {p}-net --type network --action access_as_shared --target-project {alt}
      network rbac show {rule}
      network rbac list
      network rbac list --long
      network rbac list --type network --action access_as_shared
      alt: network show {p}-net -c name -c shared
      network show {p}-net -c shared
      alt: port create {p}-guest --network {p}-net
      network rbac create {p}-net --type network --action access_as_shared --target-project {alt}
      network rbac create {p}-net --type network --action access_as_external --target-project {alt}
      network rbac create {p}-net --type network --action nonsense --target-project {alt}
      network rbac create {p}-net --type network --action access_as_shared --target-all-projects
      network rbac create {p}-nothing --type network --action access_as_shared --target-project {alt}
      network rbac delete {rule}
      alt: port delete {p}-guest
      network rbac set {rule} --target-project {alt}
      network rbac show {rule}
      alt: network show {p}-net
      security group create {p}-group
      group= network rbac create {p}-group --type security_group --action access_as_shared --target-project {alt}
      alt: security group show {p}-group -c name
      network rbac delete {group}
      security group delete {p}-group
      admin: network qos policy create {p}-policy
      admin: qos= network rbac create {p}-policy --type qos_policy --action access_as_shared --target-project demo
      network qos policy show {p}-policy -c name
      admin: network rbac delete {qos}
      admin: network qos policy delete {p}-policy
      network rbac show 3c1d6b22-8a4c-4d5a-9f0b-111111111111
      network rbac delete 3c1d6b22-8a4c-4d5a-9f0b-111111111111
      network rbac delete {rule}
      network delete {p}-net
    `,
  },
  {
    name: "port forwarding",
    lines: `
      network create {p}-net
      subnet create {p}-sub --network {p}-net --subnet-range 10.77.0.0/24
      router create {p}-router --external-gateway public
      router add subnet {p}-router {p}-sub
      port create {p}-vm --network {p}-net --fixed-ip subnet={p}-sub,ip-address=10.77.0.10
      fip= floating ip create public
      pf= floating ip port forwarding create {fip} --internal-ip-address 10.77.0.10 --port {p}-vm --internal-protocol-port 80 --external-protocol-port 8080 --protocol tcp --description web
      floating ip port forwarding show {fip} {pf}
      floating ip port forwarding list {fip}
      floating ip port forwarding list {fip} --protocol udp
      floating ip show {fip}
      floating ip port forwarding create {fip} --internal-ip-address 10.77.0.10 --port {p}-vm --internal-protocol-port 80 --external-protocol-port 8080 --protocol tcp
      floating ip port forwarding create {fip} --internal-ip-address 10.77.0.10 --port {p}-vm --internal-protocol-port 81 --external-protocol-port 8080 --protocol udp
      floating ip port forwarding create {fip} --internal-ip-address 10.77.0.99 --port {p}-vm --internal-protocol-port 80 --external-protocol-port 8081 --protocol tcp
      floating ip port forwarding create {fip} --internal-ip-address 10.77.0.10 --port {p}-vm --internal-protocol-port 80 --external-protocol-port 8082 --protocol icmp
      floating ip port forwarding set {fip} {pf} --internal-protocol-port 90 --description changed
      floating ip port forwarding show {fip} {pf}
      floating ip set {fip} --port {p}-vm
      port delete {p}-vm
      floating ip port forwarding show {fip} 3c1d6b22-8a4c-4d5a-9f0b-111111111111
      floating ip port forwarding delete {fip} {pf}
      floating ip port forwarding delete {fip} {pf}
      floating ip delete {fip}
      router remove subnet {p}-router {p}-sub
      router delete {p}-router
      port delete {p}-vm
      network delete {p}-net
    `,
  },
  {
    name: "quotas, agents, zones and availability",
    lines: `
      admin: project create {p}-project
      admin: all quota show {p}-project --network
      admin: all quota show {p}-project --compute
      admin: all quota show {p}-project --volume
      admin: all quota show {p}-project
      admin: quota set {p}-project --networks 3 --ports 4 --instances 5 --volumes 6
      admin: all quota show {p}-project
      admin: all quota show {p}-project --default
      admin: quota set {p}-project --networks -5
      admin: quota set {p}-project --networks nonsense
      admin: quota set {p}-nothing --networks 3
      admin: quota list --network
      admin: quota list --compute
      admin: quota delete {p}-project
      admin: all quota show {p}-project
      all quota show
      quota show {p}-project
      quota set demo --networks 3
      admin: project delete {p}-project
      of(nova|az2) availability zone list
      admin: of(nova|az2|internal) availability zone list --long
      all network agent list
      admin: all network agent list
      admin: network agent show nonsense
      all network extension list -c Alias
      network extension show router
      network extension show nonsense
      all network service provider list
      network create {p}-net
      subnet create {p}-sub --network {p}-net --subnet-range 10.77.0.0/24
      port create {p}-port --network {p}-net
      admin: ip availability list
      admin: ip availability show {p}-net
      ip availability show {p}-net
      ip availability list
      admin: ip availability show {p}-nothing
      port delete {p}-port
      network delete {p}-net
      all network segment list
      admin: network segment list
      admin: network flavor list
      admin: network meter list
      network l3 conntrack helper list nothing
    `,
  },
];
