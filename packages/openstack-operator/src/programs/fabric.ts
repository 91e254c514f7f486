import { internalUrl, ovnConnection, type Facts } from "../config/facts.ts";
import { merged, renderIni } from "../config/sections.ts";

/** Files of what connects nodes with their fabric. */
export function fabricFiles(facts: Facts): Record<string, string> {
  const { network = {} } = facts.spec;
  return {
    ...(network.bgp ? { "frr.conf": frrConf(network.bgp, network.evpn), "bgp-agent.conf": agentConf(facts) } : {}),
    ...(network.providerNetworks
      ? { "provider-networks.json": `${JSON.stringify(providerNetworks(facts), null, 1)}\n` }
      : {}),
  };
}

type Network = NonNullable<Facts["spec"]["network"]>;
type Bgp = NonNullable<Network["bgp"]>;

/** False: the peer is an interface, whose neighbor BGP finds by itself (unnumbered). */
export const isAddress = (peer: string): boolean => /^[0-9a-fA-F.:]+$/.test(peer) && /[.:]/.test(peer);

/** One neighbor for each leaf; single addresses alone are announced: a node must not say that it leads to a network. */
function frrConf({ asn, peers, tenantNetworks = false }: Bgp, evpn: Network["evpn"]): string {
  const neighbors = peers.map((peer) =>
    isAddress(peer) ? ` neighbor ${peer} peer-group leaves` : ` neighbor ${peer} interface peer-group leaves`,
  );
  const family = (name: "ipv4" | "ipv6", list: string) => [
    ` address-family ${name} unicast`,
    "  redistribute connected",
    "  neighbor leaves activate",
    "  neighbor leaves allowas-in origin",
    `  neighbor leaves prefix-list ${list} out`,
    " exit-address-family",
  ];
  return `${[
    "frr defaults datacenter",
    "hostname @NODE@",
    "log stdout informational",
    "service integrated-vtysh-config",
    `ip prefix-list hosts4 seq 5 permit 0.0.0.0/0 ge ${tenantNetworks ? 8 : 32}`,
    `ipv6 prefix-list hosts6 seq 5 permit ::/0 ge ${tenantNetworks ? 32 : 128}`,
    `router bgp ${asn}`,
    " bgp router-id @ADDRESS@",
    " bgp graceful-restart",
    " bgp log-neighbor-changes",
    " no bgp default ipv4-unicast",
    " no bgp ebgp-requires-policy",
    " neighbor leaves peer-group",
    " neighbor leaves remote-as external",
    ...neighbors,
    ...family("ipv4", "hosts4"),
    ...family("ipv6", "hosts6"),
    ...(evpn
      ? [" address-family l2vpn evpn", "  neighbor leaves activate", "  advertise-all-vni", " exit-address-family"]
      : []),
    "exit",
  ].join("\n")}\n`;
}

/** The driver that reads the northbound database: what is announced is on the node of its server. */
function agentConf(facts: Facts): string {
  const { bgp, evpn } = facts.spec.network ?? {};
  const common = {
    DEFAULT: {
      use_json: "true",
      driver: "nb_ovn_bgp_driver",
      exposing_method: evpn ? "vrf" : "underlay",
      ovsdb_connection: "unix:/run/openvswitch/db.sock",
      bgp_AS: String(bgp?.asn ?? ""),
      expose_tenant_networks: String(bgp?.tenantNetworks ?? false),
      ...(evpn ? { evpn_nic: evpn.interface } : {}),
    },
    // It is root in its container.
    agent: { root_helper: "env" },
  };
  return renderIni(
    merged(common, {
      ovn: { ovn_nb_connection: ovnConnection(facts, "nb"), ovn_sb_connection: ovnConnection(facts, "sb") },
    }),
  );
}

const providerNetworks = (facts: Facts) => ({
  keystone: `${internalUrl(facts, "keystone-api", 5000)}/v3`,
  neutron: internalUrl(facts, "neutron-server", 9696),
  networks: (facts.spec.network?.providerNetworks ?? []).map(({ name, external = true, shared = false, segments }) => ({
    name,
    external,
    shared,
    segments,
  })),
});
