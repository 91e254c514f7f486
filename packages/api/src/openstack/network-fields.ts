import { flag, int32, object, optional, setOf, text } from "../schema/fields.ts";

/** Networks of servers, and those of the nodes that carry them. */
export const network = object(
  {
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
);
