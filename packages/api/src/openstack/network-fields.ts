import {
  checked,
  flag,
  instant,
  int32,
  int64,
  list,
  listByKey,
  object,
  optional,
  setOf,
  text,
} from "../schema/fields.ts";

const ADDRESSES = "^[0-9a-fA-F.:]+/[0-9]{1,3}$";
const INTERFACE = "^[A-Za-z0-9_.@-]{1,15}$";
const address = (description: string) => text(2, 45, { pattern: "^[0-9a-fA-F.:]+$", description });
const name = (description: string) => text(1, 63, { pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", description });

const segment = object({
  physicalNetwork: name("Physical network of the rack, as nodeGroups[].physicalNetworks names it."),
  vlan: int32({ minimum: 1, maximum: 4094, description: "VLAN of the rack." }),
  cidr: text(1, 64, { pattern: ADDRESSES, description: "Addresses of the rack." }),
  gateway: optional(address("Address of the leaf. Default: the first one.")),
  firstAddress: optional(address("First address for servers and routers. Default: all are free for them.")),
  lastAddress: optional(address("Last address for servers and routers.")),
});

const providerNetwork = checked(
  object({
    name: name("Name of the network."),
    external: optional(flag({ description: "Routers have gateways and floating IPs in it. Default true." })),
    shared: optional(flag({ description: "Every project may have ports in it. Default false." })),
    segments: list(segment, { min: 1, max: 64, description: "One for each rack." }),
  }),
  [
    {
      rule: "self.segments.all(s, has(s.firstAddress) == has(s.lastAddress))",
      message: "firstAddress and lastAddress of a segment belong together",
    },
  ],
);

const bgp = object(
  {
    asn: int64({ minimum: 1, maximum: 4_294_967_295, description: "Number of the nodes' autonomous system." }),
    peers: setOf(text(1, 45, { pattern: "^[A-Za-z0-9_.:@-]+$" }), {
      min: 1,
      max: 16,
      description:
        "Leaves of each node: their addresses, or the nodes' interfaces that lead to them. Their systems are others.",
    }),
    tenantNetworks: optional(
      flag({ description: "Also addresses of projects' own networks are announced. Default false." }),
    ),
  },
  {
    description:
      "Each node announces the floating IPs and provider addresses of its servers to the leaves (FRR and ovn-bgp-agent). Default: none.",
  },
);

const evpn = object(
  {
    interface: text(1, 15, {
      pattern: INTERFACE,
      description: "Interface of the nodes with the tunnels' address, such as lo.",
    }),
  },
  { description: "Routers' networks are announced as VPNs of the fabric (EVPN, type 5). Needs bgp. Default: none." },
);

/** Networks of servers, and those of the nodes that carry them. */
export const network = checked(
  object(
    {
      providerNetworks: optional(
        listByKey(providerNetwork, ["name"], {
          max: 16,
          description: "Networks of the fabric: in a spine-leaf network with one segment for each rack.",
        }),
      ),
      bgp: optional(bgp),
      evpn: optional(evpn),
      distributedFloatingIPs: optional(
        flag({ description: "Floating IPs leave on the node of their server. Default true." }),
      ),
      nodeNetworks: optional(
        setOf(text(1, 64), {
          max: 32,
          description: "Networks of the nodes' own addresses, in CIDR notation, for rules about pods that use them.",
        }),
      ),
      clusterDomain: optional(
        text(1, 253, {
          description: "Domain of the cluster's own names, for programs that need whole ones. Default cluster.local.",
        }),
      ),
      mtu: optional(
        int32({ minimum: 1280, maximum: 65_535, description: "Largest packet of the fabric. Default 1500." }),
      ),
    },
    { description: "Networks of servers." },
  ),
  [{ rule: "!has(self.evpn) || has(self.bgp)", message: "evpn needs bgp: routes of VPNs are announced by it" }],
);

const ovnStatus = (description: string) =>
  object(
    {
      database: text(1, 63, { description: "Its identity, as its members report it." }),
      rebuilding: optional(text(1, 63, { description: "The one that came in its place, until it has the networks." })),
      rebuiltAt: optional(instant({ description: "When a lost one was rebuilt last." })),
    },
    { description },
  );

/** `status.northbound` of an OpenStackDeployment: which database Neutron's networks were written to. */
export const northboundStatus = ovnStatus("OVN's northbound database.");

/** `status.southbound` of an OpenStackDeployment: which database nodes read. */
export const southboundStatus = ovnStatus("OVN's southbound database.");
