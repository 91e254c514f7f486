import type { Suite } from "../suite.ts";

/** Networks, subnets, ports, routers, floating IPs: what every project uses. */
export const suites: readonly Suite[] = [
  {
    name: "networks",
    lines: `
      network create {p}-net --description one --mtu 1400
      network show {p}-net
      network list
      network list --long --name {p}-net
      network list --external --name {p}-net
      network set {p}-net --name {p}-other --description two --disable
      network show {p}-other
      network set {p}-other --tag a --tag b
      network list --tags a,b
      network list --not-tags a
      network unset {p}-other --tag a
      network show {p}-other -c tags -c admin_state_up
      network set {p}-other --share
      network create {p}-shared --share
      network create {p}-flat --provider-network-type flat --provider-physical-network nothing
      admin: network create {p}-flat --provider-network-type flat --provider-physical-network nothing
      admin: network create {p}-vlan --provider-network-type gre
      admin: network create {p}-shared --share
      network show {p}-shared
      alt: network show {p}-shared -c name -c shared
      alt: network show {p}-other
      alt: network delete {p}-shared
      network set {p}-net --mtu 10
      network create {p}-bad --mtu 10
      network create {p}-zone --availability-zone-hint nowhere
      network create
      network show 3c1d6b22-8a4c-4d5a-9f0b-111111111111
      network set {p}-nothing --name x
      network unset {p}-nothing --tag a
      network delete {p}-nothing
      network delete {p}-other
      admin: network delete {p}-shared
      network list
      network delete {p}-bad
    `,
  },
  {
    name: "subnets",
    lines: `
      network create {p}-net
      subnet create {p}-four --network {p}-net --subnet-range 10.77.0.0/24 --description first
      subnet show {p}-four
      subnet create {p}-six --network {p}-net --ip-version 6 --subnet-range fd00:77::/64 --ipv6-ra-mode slaac --ipv6-address-mode slaac
      subnet show {p}-six
      subnet create {p}-typed --network {p}-net --subnet-range 10.76.0.0/24 --no-dhcp --service-type network:floatingip
      subnet create {p}-full --network {p}-net --subnet-range 10.78.0.0/24 --gateway 10.78.0.254 --allocation-pool start=10.78.0.10,end=10.78.0.20 --allocation-pool start=10.78.0.30,end=10.78.0.40 --dns-nameserver 10.0.0.1 --host-route destination=10.99.0.0/16,gateway=10.78.0.5 --no-dhcp
      subnet list --name {p}-four
      subnet list --long --network {p}-net
      subnet list --ip-version 6 --network {p}-net
      subnet list --dhcp --network {p}-net
      subnet list --gateway 10.78.0.254
      subnet list --subnet-range 10.77.0.0/24 --network {p}-net
      subnet set {p}-full --dhcp --no-dns-nameservers --dns-nameserver 10.0.0.2 --gateway none --name {p}-changed
      subnet set {p}-changed --allocation-pool start=10.78.0.50,end=10.78.0.60
      subnet set {p}-changed --no-allocation-pool --allocation-pool start=10.78.0.50,end=10.78.0.60
      subnet set {p}-changed --host-route destination=10.98.0.0/16,gateway=10.78.0.6 --tag red
      subnet show {p}-changed
      subnet unset {p}-changed --dns-nameserver 10.0.0.2 --tag red --host-route destination=10.99.0.0/16,gateway=10.78.0.5
      subnet unset {p}-changed --dns-nameserver 10.0.0.9
      subnet show {p}-changed
      subnet create {p}-none --network {p}-net --subnet-range 10.79.0.0/24 --gateway none
      subnet create {p}-overlap --network {p}-net --subnet-range 10.77.0.0/25
      subnet create {p}-bad --network {p}-net --subnet-range 10.80.0.0/24 --gateway 10.80.0.5 --allocation-pool start=10.80.0.2,end=10.80.0.9
      subnet create {p}-bad --network {p}-net --subnet-range 10.80.0.0/24 --allocation-pool start=10.81.0.2,end=10.81.0.9
      subnet create {p}-bad --network {p}-net --subnet-range 10.80.0.0/24 --allocation-pool start=10.80.0.9,end=10.80.0.2
      subnet create {p}-bad --network {p}-net --subnet-range fd00:78::/64
      subnet create {p}-bad --network {p}-net --subnet-range nonsense
      subnet create {p}-bad --network {p}-net
      subnet create {p}-bad --network {p}-nothing --subnet-range 10.80.0.0/24
      subnet create {p}-bad --network {p}-net --subnet-range 10.80.0.0/24 --dns-nameserver nonsense
      subnet create {p}-bad --network {p}-net --ip-version 6 --subnet-range fd00:78::/64 --ipv6-ra-mode slaac --ipv6-address-mode dhcpv6-stateful
      subnet create {p}-bad --network {p}-net --ip-version 6 --subnet-range fd00:78::/96 --ipv6-ra-mode slaac --ipv6-address-mode slaac
      subnet create {p}-bad --network {p}-net --subnet-range 10.80.0.0/24 --ipv6-ra-mode slaac
      alt: subnet show {p}-four
      subnet show {p}-nothing
      network show {p}-net -c subnets
      subnet delete {p}-four
      subnet delete {p}-nothing
      network delete {p}-net
      subnet show {p}-changed
    `,
  },
  {
    name: "ports",
    lines: `
      network create {p}-net
      subnet create {p}-sub --network {p}-net --subnet-range 10.77.0.0/24 --allocation-pool start=10.77.0.2,end=10.77.0.190
      security group create {p}-group
      port create {p}-one --network {p}-net --fixed-ip subnet={p}-sub,ip-address=10.77.0.10
      port show {p}-one
      port create {p}-two --network {p}-net --no-security-group --disable-port-security --description second --device d1 --device-owner me
      port show {p}-two -c security_group_ids -c port_security_enabled -c device_id -c device_owner
      port create {p}-pairs --network {p}-net --fixed-ip subnet={p}-sub,ip-address=10.77.0.11 --allowed-address ip-address=10.77.0.200 --allowed-address ip-address=10.77.1.0/24,mac-address=fa:16:3e:00:00:01 --security-group {p}-group --extra-dhcp-option name=mtu,value=1400 --tag x
      port show {p}-pairs
      port create {p}-none --network {p}-net --no-fixed-ip
      port list --network {p}-net
      port list --long --network {p}-net --device-owner me
      port list --fixed-ip ip-address=10.77.0.10 --network {p}-net
      port list --fixed-ip ip-substring=10.77.0 --network {p}-net
      port list --name {p}-one
      port list --tags x
      port list --security-group {p}-group
      port set {p}-one --name {p}-uno --description changed --disable --security-group {p}-group
      port set {p}-uno --fixed-ip subnet={p}-sub,ip-address=10.77.0.12
      port set {p}-uno --allowed-address ip-address=10.77.0.201 --extra-dhcp-option name=ntp,value=10.0.0.1
      port show {p}-uno
      port unset {p}-uno --fixed-ip subnet={p}-sub,ip-address=10.77.0.12 --security-group {p}-group
      port show {p}-uno -c fixed_ips -c allowed_address_pairs
      port unset {p}-uno --allowed-address ip-address=10.77.0.250
      port set {p}-uno --no-fixed-ip --no-allowed-address --no-security-group
      port set {p}-uno --disable-port-security
      port set {p}-uno --allowed-address ip-address=10.77.0.201
      port set {p}-uno --security-group {p}-group
      port show {p}-uno -c fixed_ips -c security_group_ids -c port_security_enabled
      port set {p}-uno --mac-address fa:16:3e:11:11:11
      port set {p}-uno --binding-profile a=b
      port create {p}-host --network {p}-net --host compute-1
      admin: port set {p}-uno --mac-address fa:16:3e:11:11:11 --binding-profile a=b
      admin: port show {p}-uno
      admin: port unset {p}-uno --binding-profile a
      port create {p}-same --network {p}-net --mac-address fa:16:3e:11:11:11
      port create {p}-bad --network {p}-net --fixed-ip subnet={p}-sub,ip-address=10.77.0.11
      port create {p}-bad --network {p}-net --fixed-ip ip-address=10.99.0.11
      port create {p}-bad --network {p}-net --fixed-ip ip-address=nonsense
      port create {p}-bad --network {p}-net --fixed-ip subnet={p}-nothing
      port create {p}-bad --network {p}-net --mac-address nonsense
      port create {p}-bad --network {p}-net --vnic-type nonsense
      port create {p}-bad --network {p}-net --security-group {p}-nothing
      port create {p}-bad --network {p}-net --disable-port-security --allowed-address ip-address=10.77.0.200
      port create {p}-bad --network {p}-net --disable-port-security --security-group {p}-group
      port create {p}-bad --network {p}-net --allowed-address ip-address=nonsense
      port create {p}-bad --network {p}-nothing
      port create {p}-bad
      port create {p}-direct --network {p}-net --vnic-type direct --dns-name direct
      alt: port show {p}-uno
      port show {p}-nothing
      security group delete {p}-group
      network delete {p}-net
      subnet delete {p}-sub
      port delete {p}-uno {p}-two {p}-pairs {p}-none
      port delete {p}-host
      port delete {p}-direct
      port delete {p}-nothing
      security group delete {p}-group
      network delete {p}-net
    `,
  },
  {
    name: "routers and floating IPs",
    lines: `
      network create {p}-net
      subnet create {p}-sub --network {p}-net --subnet-range 10.77.0.0/24
      subnet create {p}-sub2 --network {p}-net --subnet-range 10.78.0.0/24
      router create {p}-router --description one
      router show {p}-router
      router add subnet {p}-router {p}-sub
      router add subnet {p}-router {p}-sub
      router set {p}-router --external-gateway public
      router show {p}-router
      router list --name {p}-router
      router list --long --name {p}-router
      router set {p}-router --route destination=10.50.0.0/16,gateway=10.77.0.9
      router set {p}-router --route destination=10.51.0.0/16,gateway=10.77.0.8
      router show {p}-router -c routes
      router unset {p}-router --route destination=10.50.0.0/16,gateway=10.77.0.9
      router unset {p}-router --route destination=10.52.0.0/16,gateway=10.77.0.9
      router set {p}-router --route destination=10.50.0.0/16,gateway=10.99.0.9
      router set {p}-router --route destination=10.50.0.0/16,gateway=10.77.0.1
      router add route {p}-router --route destination=10.53.0.0/16,gateway=10.77.0.9
      router show {p}-router -c routes
      router remove subnet {p}-router {p}-sub
      router remove route {p}-router --route destination=10.53.0.0/16,gateway=10.77.0.9
      router set {p}-router --no-route
      router set {p}-router --disable-snat --external-gateway public
      admin: router set {p}-router --disable-snat --external-gateway public
      router set {p}-router --name {p}-r2 --disable --tag t
      router show {p}-r2
      router set {p}-r2 --distributed
      router set {p}-r2 --ha
      router create {p}-ha --ha
      admin: router create {p}-dvr --distributed
      port create {p}-if --network {p}-net --fixed-ip subnet={p}-sub2,ip-address=10.78.0.77
      router add port {p}-r2 {p}-if
      port show {p}-if -c device_owner
      port delete {p}-if
      router delete {p}-r2
      port create {p}-vm --network {p}-net --fixed-ip subnet={p}-sub,ip-address=10.77.0.10
      fip= floating ip create public --description mine
      floating ip show {fip}
      floating ip set {fip} --port {p}-vm
      floating ip show {fip} -c status -c fixed_ip_address -c port_id -c port_details
      floating ip list --port {p}-vm
      floating ip list --long --router {p}-r2
      fip2= floating ip create public --port {p}-vm
      floating ip create public --port {p}-vm --fixed-ip-address 10.77.0.99
      floating ip create {p}-net
      floating ip create public --floating-ip-address 172.24.4.5
      admin: floating ip create public --floating-ip-address 172.24.4.5
      admin: floating ip delete 172.24.4.5
      floating ip create public --port {p}-nothing
      floating ip create {p}-nothing
      router unset {p}-r2 --external-gateway
      router remove subnet {p}-r2 {p}-sub
      floating ip unset {fip} --port
      floating ip show {fip} -c fixed_ip_address -c port_id -c port_details
      floating ip set {fip} --port {p}-vm --fixed-ip-address 10.77.0.99
      floating ip set {fip} --tag green --description yours
      floating ip list --tags green
      port create {p}-far --network {p}-net --fixed-ip subnet={p}-sub2,ip-address=10.78.0.10
      router remove port {p}-r2 {p}-if
      floating ip set {fip} --port {p}-far
      alt: floating ip show {fip}
      floating ip delete {fip}
      floating ip delete {fip2}
      floating ip show 172.24.4.251
      router remove subnet {p}-r2 {p}-sub2
      router remove subnet {p}-r2 {p}-sub
      router unset {p}-r2 --external-gateway
      router show {p}-r2 -c external_gateway_info
      router delete {p}-r2
      router delete {p}-nothing
      router show {p}-nothing
      router create {p}-bad --external-gateway {p}-net
      router create {p}-bad --availability-zone-hint nowhere
      port delete {p}-vm {p}-far
      network delete {p}-net
    `,
    cleanup: `
      router delete {p}-bad
      router delete {p}-ha
      admin: router delete {p}-dvr
    `,
  },
  {
    name: "security groups",
    lines: `
      security group create {p}-group --description web --tag t
      security group show {p}-group -c name -c description -c stateful -c tags
      security group list --tags t
      security group set {p}-group --name {p}-web --description more --stateless
      security group show {p}-web -c name -c description -c stateful -c revision_number
      tcp= security group rule create {p}-web --protocol tcp --dst-port 80:90 --remote-ip 10.0.0.0/8 --description http
      security group rule show {tcp}
      security group rule create {p}-web --protocol tcp --dst-port 80:90 --remote-ip 10.0.0.0/8
      security group rule create {p}-web --protocol udp --dst-port 53 --egress
      security group rule create {p}-web --protocol icmp --icmp-type 8 --icmp-code 0
      security group rule create {p}-web --protocol icmp --icmp-type 300
      security group rule create {p}-web --protocol 112 --remote-group {p}-web
      security group rule create {p}-web --protocol ipv6-icmp --ethertype IPv6
      security group rule create {p}-web --protocol any --ethertype IPv6
      security group rule create {p}-web --protocol nonsense
      security group rule create {p}-web --protocol tcp --dst-port 90:80
      security group rule create {p}-web --protocol tcp --dst-port 70000
      security group rule create {p}-web --protocol tcp --remote-ip nonsense
      security group rule create {p}-web --protocol tcp --remote-ip fd00::/64
      security group rule create {p}-web --protocol tcp --remote-group {p}-nothing
      security group rule create {p}-nothing --protocol tcp
      security group rule list {p}-web
      security group rule list {p}-web --long --ingress
      security group rule list {p}-web --protocol tcp
      security group rule show 3c1d6b22-8a4c-4d5a-9f0b-111111111111
      security group rule delete {tcp}
      security group rule delete {tcp}
      security group create default
      network create {p}-net
      port create {p}-port --network {p}-net
      security group delete default
      port delete {p}-port
      network delete {p}-net
      security group set default --name {p}-never
      alt: security group show {p}-web
      security group show {p}-nothing
      security group unset {p}-web --tag t
      security group delete {p}-web
      security group delete {p}-nothing
    `,
  },
  {
    name: "address groups and trunks",
    lines: `
      address group create {p}-addresses --address 10.0.0.0/8 --address 192.168.1.1/32 --description ours
      address group show {p}-addresses
      address group list --name {p}-addresses
      address group set {p}-addresses --address 10.9.0.0/16 --name {p}-ag
      address group show {p}-ag
      address group set {p}-ag --address 10.9.0.0/16
      address group unset {p}-ag --address 10.9.0.0/16
      address group unset {p}-ag --address 10.9.0.0/16
      address group create {p}-bad --address nonsense
      address group create {p}-plain --address 10.5.0.1
      address group show {p}-plain
      address group delete {p}-plain
      security group create {p}-group
      rule= security group rule create {p}-group --protocol tcp --remote-address-group {p}-ag
      security group rule show {rule}
      address group delete {p}-ag
      security group delete {p}-group
      address group delete {p}-ag
      address group delete {p}-nothing
      alt: address group show {p}-ag
      network create {p}-net
      port create {p}-parent --network {p}-net
      port create {p}-child --network {p}-net
      network trunk create {p}-trunk --parent-port {p}-parent --subport port={p}-child,segmentation-type=vlan,segmentation-id=100 --description t
      network trunk show {p}-trunk
      network trunk list
      network subport list --trunk {p}-trunk
      network trunk set {p}-trunk --name {p}-t2 --disable
      network trunk show {p}-t2
      port create {p}-child2 --network {p}-net
      network trunk set {p}-t2 --subport port={p}-child2,segmentation-type=vlan,segmentation-id=100
      network trunk set {p}-t2 --subport port={p}-child2,segmentation-type=vlan,segmentation-id=101
      network trunk set {p}-t2 --enable --subport port={p}-child2,segmentation-type=vlan,segmentation-id=101
      network trunk unset {p}-t2 --subport {p}-child
      network trunk unset {p}-t2 --subport {p}-child
      network trunk create {p}-bad --parent-port {p}-parent
      network trunk create {p}-bad --parent-port {p}-child2
      network trunk create {p}-bad --parent-port {p}-nothing
      port delete {p}-parent
      port delete {p}-child2
      network trunk delete {p}-t2
      network trunk delete {p}-nothing
      port delete {p}-parent {p}-child {p}-child2
      network delete {p}-net
    `,
  },
];
