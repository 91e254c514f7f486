/**
 * NetworkPolicies as rules of nftables, and as a question. Pure. What the operator writes of them is understood, no
 * more.
 */

export interface PolicyPod {
  readonly name: string;
  readonly ip: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
}
interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string };
}
interface Port {
  readonly port: number;
  readonly protocol?: "TCP" | "UDP";
}
interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly Port[];
}
export interface Policy {
  readonly spec: {
    readonly podSelector: Selector;
    readonly policyTypes: readonly ("Ingress" | "Egress")[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
}

export const TABLE = "rig-policies";
const DIRECTIONS = [
  { type: "Ingress", chain: "ingress", own: "daddr", other: "saddr" },
  { type: "Egress", chain: "egress", own: "saddr", other: "daddr" },
] as const;

const matches = ({ matchLabels = {} }: Selector, { labels }: PolicyPod): boolean =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value);

const setOf = (values: readonly (string | number)[]): string => `{ ${[...new Set(values)].join(", ")} }`;

/** The whole ruleset, put in place at once; what was refused before remains known. */
export function rulesetOf(policies: readonly Policy[], pods: readonly PolicyPod[]): string {
  const chains = DIRECTIONS.map((direction) => {
    const { type, chain, own } = direction;
    const isolated = pods.filter((pod) => policies.some((policy) => selects(policy, type, pod)));
    const allowed = policies.flatMap((policy) => rulesOf(policy, pods, direction));
    const refuse = ["meta l4proto { tcp, udp } update @refused { ip saddr . ip daddr . th dport }", "drop"];
    const jump = isolated.length === 0 ? [] : [`ip ${own} ${setOf(isolated.map(({ ip }) => ip))} jump ${chain}`];
    return { chain, jump, lines: [...allowed, ...refuse] };
  });
  const add = (chain: string, lines: readonly string[]) =>
    lines.map((line) => `add rule inet ${TABLE} ${chain} ${line}`);
  return [
    `table inet ${TABLE} {`,
    "  set refused { type ipv4_addr . ipv4_addr . inet_service; flags dynamic; size 65535; }",
    ...chains.map(({ chain }) => `  chain ${chain} { }`),
    "  chain forward { type filter hook forward priority 0; policy accept; }",
    "}",
    ...["forward", ...chains.map(({ chain }) => chain)].map((chain) => `flush chain inet ${TABLE} ${chain}`),
    ...chains.flatMap(({ chain, lines }) => add(chain, lines)),
    ...add("forward", ["ct state established,related accept", ...chains.flatMap(({ jump }) => jump)]),
    "",
  ].join("\n");
}

const selects = ({ spec }: Policy, type: "Ingress" | "Egress", pod: PolicyPod): boolean =>
  spec.policyTypes.includes(type) && matches(spec.podSelector, pod);

function rulesOf(
  policy: Policy,
  pods: readonly PolicyPod[],
  { type, own, other }: (typeof DIRECTIONS)[number],
): string[] {
  const selected = pods.filter((pod) => selects(policy, type, pod));
  if (selected.length === 0) return [];
  const mine = `ip ${own} ${setOf(selected.map(({ ip }) => ip))}`;
  const rules = (type === "Ingress" ? policy.spec.ingress : policy.spec.egress) ?? [];
  return rules.flatMap((rule) => {
    const peers = type === "Ingress" ? rule.from : rule.to;
    const others = peers && addressesOf(peers, pods);
    if (others?.length === 0) return [];
    const theirs = others ? ` ip ${other} ${setOf(others)}` : "";
    const ports = (["TCP", "UDP"] as const).flatMap((protocol) => {
      const found = (rule.ports ?? []).filter((each) => (each.protocol ?? "TCP") === protocol).map(({ port }) => port);
      return found.length === 0 ? [] : [`${protocol.toLowerCase()} dport ${setOf(found)}`];
    });
    return (rule.ports ? ports : [""]).map((port) => `${mine}${theirs} ${port} return`);
  });
}

/** Pods of other namespaces are none of the rig's. */
function addressesOf(peers: readonly Peer[], pods: readonly PolicyPod[]): string[] {
  return peers.flatMap(({ podSelector, namespaceSelector, ipBlock }) => {
    // Every address is within, those of the selected pods too: in an interval they would be twice.
    if (ipBlock) return ipBlock.cidr.includes(":") ? [] : [ipBlock.cidr];
    if (!podSelector || namespaceSelector) return [];
    return pods.filter((pod) => matches(podSelector, pod)).map(({ ip }) => ip);
  });
}

/** May one pod open a connection to a port of another one? */
export function permits(policies: readonly Policy[], from: PolicyPod, to: PolicyPod, port: number): boolean {
  return DIRECTIONS.every(({ type }) => {
    const [own, other] = type === "Ingress" ? [to, from] : [from, to];
    const ofOwn = policies.filter((policy) => selects(policy, type, own));
    if (ofOwn.length === 0) return true;
    const rules = ofOwn.flatMap(({ spec }) => (type === "Ingress" ? spec.ingress : spec.egress) ?? []);
    return rules.some((rule) => {
      const peers = type === "Ingress" ? rule.from : rule.to;
      const isPeer =
        !peers ||
        peers.some(
          ({ podSelector, namespaceSelector }) =>
            podSelector !== undefined && !namespaceSelector && matches(podSelector, other),
        );
      return isPeer && (!rule.ports || rule.ports.some((each) => each.port === port));
    });
  });
}
