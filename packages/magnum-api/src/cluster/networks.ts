import { cidrSize, cidrsOverlap, parseCidr, type Cidr } from "@causeway/foundation";
import type { FixedSubnet } from "../access/cloud-checks.ts";
import { labelSettings } from "./labels.ts";

/** What of a cluster decides whether its networks can work. */
export interface NetworkFacts {
  readonly labels: Readonly<Record<string, string>>;
  /** The nodes are in a network that exists: its addresses are not those of label fixed_subnet_cidr. */
  readonly isFixed: boolean;
  /** Of all node groups. */
  readonly nodes: number;
}

interface Range {
  readonly whose: "nodes" | "pods" | "services";
  /** As a refusal names it: with the label that gives it. */
  readonly text: string;
  readonly cidr: Cidr;
}

/** Labels that give a range, the first that is given; and what it is without them is the settings' default. */
const labelsOf = {
  nodes: ["fixed_subnet_cidr"],
  pods: ["calico_ipv4pool", "cilium_ipv4pool", "flannel_network_cidr"],
  services: ["service_cluster_ip_range"],
} as const;

/** kube-apiserver takes at most 2^20 addresses, and the Service of DNS has number 10: at least 16. */
const SERVICE_PREFIXES = { 4: [12, 28], 6: [108, 124] } as const;
/** Addresses of a subnet that no node gets: its own, the router's, and that of broadcast. */
const TAKEN = 3n;
/** kube-controller-manager gives each node a network of this prefix. */
const NODE_PREFIX = 24;

/**
 * Why a cluster cannot work with the networks that its labels give, in words that name both; undefined: it can. Labels
 * have to be accepted before (`refusedLabel`).
 */
export function refusedNetworks(facts: NetworkFacts): string | undefined {
  const ranges = rangesOf(facts);
  return refusedOverlap(ranges) ?? refusedServices(ranges) ?? refusedCount(facts);
}

/** Why pods or services cannot have their ranges next to a subnet that exists; undefined: they can. */
export function refusedSubnet(
  labels: NetworkFacts["labels"],
  { attribute, name, cidr: text }: FixedSubnet,
): string | undefined {
  const cidr = parseCidr(text);
  if (cidr === undefined) return undefined;
  const nodes: Range = { whose: "nodes", text: `${attribute} ${name} with ${text}`, cidr };
  return refusedOverlap([nodes, ...rangesOf({ labels, isFixed: true, nodes: 0 })]);
}

function refusedOverlap(ranges: readonly Range[]): string | undefined {
  for (const [at, one] of ranges.entries()) {
    const other = ranges.slice(at + 1).find(({ cidr }) => cidrsOverlap(one.cidr, cidr));
    if (other !== undefined)
      return `The networks of ${one.whose} and ${other.whose} overlap: ${one.text} and ${other.text}.`;
  }
  return undefined;
}

/** Why so many nodes do not fit into the networks of a cluster; undefined: they do. */
export function refusedCount(facts: NetworkFacts): string | undefined {
  for (const { whose, text, cidr } of rangesOf(facts)) {
    const room = roomIn(whose, cidr);
    if (room === undefined || BigInt(facts.nodes) <= room) continue;
    return `The network of ${whose} has room for ${room} of the ${facts.nodes} nodes that are wanted: ${text}.`;
  }
  return undefined;
}

/** Nodes that a range has addresses for. */
function roomIn(whose: Range["whose"], cidr: Cidr): bigint | undefined {
  if (whose === "services") return undefined;
  if (whose === "nodes") return cidrSize(cidr) > TAKEN ? cidrSize(cidr) - TAKEN : 0n;
  return cidr.prefix > NODE_PREFIX ? 0n : 1n << BigInt(NODE_PREFIX - cidr.prefix);
}

function refusedServices(ranges: readonly Range[]): string | undefined {
  const services = ranges.find(({ whose }) => whose === "services");
  if (services === undefined) return undefined;
  const [least, most] = SERVICE_PREFIXES[services.cidr.version];
  const { prefix } = services.cidr;
  if (prefix >= least && prefix <= most) return undefined;
  return `The network of services needs a prefix of /${least} to /${most}: ${services.text}.`;
}

function rangesOf({ labels, isFixed }: NetworkFacts): readonly Range[] {
  const { nodeCidr, podCidr, serviceCidr } = labelSettings(labels);
  const texts = { nodes: nodeCidr, pods: podCidr, services: serviceCidr };
  return (["nodes", "pods", "services"] as const)
    .filter((whose) => whose !== "nodes" || !isFixed)
    .flatMap((whose) => {
      const cidr = parseCidr(texts[whose]);
      const [first] = labelsOf[whose];
      const given = labelsOf[whose].find((name) => (labels[name] ?? "") !== "");
      const text = `${given ?? first}=${texts[whose]}${given === undefined ? " (the default)" : ""}`;
      return cidr === undefined ? [] : [{ whose, text, cidr }];
    });
}
