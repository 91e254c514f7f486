import type { Json } from "../json/json.ts";

/** Group and version of priority and fairness. */
export const GROUP = "flowcontrol.apiserver.k8s.io";
const API = `${GROUP}/v1`;

/**
 * Objects with this annotation are kept as this server has them; without it they are their editor's (API reference,
 * flow control).
 */
const AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec";

/** A FlowSchema or PriorityLevelConfiguration that every cluster has. */
export interface FlowManifest extends Json {
  readonly apiVersion: string;
  readonly kind: "FlowSchema" | "PriorityLevelConfiguration";
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: Json;
}

const made = (kind: FlowManifest["kind"], name: string, spec: Json): FlowManifest => ({
  apiVersion: API,
  kind,
  metadata: { name, annotations: { [AUTO_UPDATE]: "true" } },
  spec,
});

interface Queued {
  readonly shares: number;
  readonly lendable: number;
  readonly queues: number;
  readonly hand: number;
}

function queued(name: string, { shares, lendable, queues, hand }: Queued): FlowManifest {
  const queuing = { queues, handSize: hand, queueLengthLimit: 50 };
  const limitResponse = { type: "Queue", queuing };
  const limited = { nominalConcurrencyShares: shares, limitResponse, lendablePercent: lendable };
  return made("PriorityLevelConfiguration", name, { type: "Limited", limited });
}

const EVERYTHING: Json = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
};
const LEASES = { apiGroups: ["coordination.k8s.io"], resources: ["leases"], namespaces: ["*"] };

const group = (name: string): Json => ({ kind: "Group", group: { name } });
const user = (name: string): Json => ({ kind: "User", user: { name } });
const SYSTEM_ACCOUNTS: Json = { kind: "ServiceAccount", serviceAccount: { namespace: "kube-system", name: "*" } };
const ANYBODY = [group("system:unauthenticated"), group("system:authenticated")];

interface Schema {
  readonly level: string;
  readonly precedence: number;
  readonly by?: "ByUser" | "ByNamespace";
  readonly subjects: readonly Json[];
  readonly rules?: Json;
}

function schema(name: string, { level, precedence, by, subjects, rules = EVERYTHING }: Schema): FlowManifest {
  return made("FlowSchema", name, {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    ...(by ? { distinguisherMethod: { type: by } } : {}),
    rules: [{ subjects, ...rules }],
  });
}

/** What must be there and be as it is: without it requests would have no place. */
export function mandatoryFlowObjects(): readonly FlowManifest[] {
  const reject = { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" }, lendablePercent: 0 };
  const exempt = { nominalConcurrencyShares: 0, lendablePercent: 0 };
  return [
    made("PriorityLevelConfiguration", "exempt", { type: "Exempt", exempt }),
    made("PriorityLevelConfiguration", "catch-all", { type: "Limited", limited: reject }),
    schema("exempt", { level: "exempt", precedence: 1, subjects: [group("system:masters")] }),
    schema("catch-all", { level: "catch-all", precedence: 10_000, by: "ByUser", subjects: ANYBODY }),
  ];
}

/** kube-apiserver's suggested objects: created when absent, and maintained unless a user removes the annotation. */
export function suggestedFlowObjects(): readonly FlowManifest[] {
  const nodes = [group("system:nodes")];
  const controllers = [user("system:kube-controller-manager"), user("system:kube-scheduler")];
  return [
    queued("system", { shares: 30, lendable: 33, queues: 64, hand: 6 }),
    queued("node-high", { shares: 40, lendable: 25, queues: 64, hand: 6 }),
    queued("leader-election", { shares: 10, lendable: 0, queues: 16, hand: 4 }),
    queued("workload-high", { shares: 40, lendable: 50, queues: 128, hand: 6 }),
    queued("workload-low", { shares: 100, lendable: 90, queues: 128, hand: 6 }),
    queued("global-default", { shares: 20, lendable: 50, queues: 128, hand: 6 }),
    schema("probes", { level: "exempt", precedence: 2, subjects: ANYBODY, rules: PROBES }),
    schema("system-leader-election", {
      level: "leader-election",
      precedence: 100,
      by: "ByUser",
      subjects: [...controllers, SYSTEM_ACCOUNTS],
      rules: { resourceRules: [{ verbs: ["get", "create", "update"], ...LEASES }] },
    }),
    schema("system-node-high", {
      level: "node-high",
      precedence: 400,
      by: "ByUser",
      subjects: nodes,
      rules: { resourceRules: [NODES, { verbs: ["*"], ...LEASES }] },
    }),
    schema("system-nodes", { level: "system", precedence: 500, by: "ByUser", subjects: nodes }),
    ...controllers.map((subject, i) =>
      schema(i === 0 ? "kube-controller-manager" : "kube-scheduler", {
        level: "workload-high",
        precedence: 800,
        by: "ByNamespace",
        subjects: [subject],
      }),
    ),
    schema("kube-system-service-accounts", {
      level: "workload-high",
      precedence: 900,
      by: "ByNamespace",
      subjects: [SYSTEM_ACCOUNTS],
    }),
    schema("service-accounts", {
      level: "workload-low",
      precedence: 9000,
      by: "ByUser",
      subjects: [group("system:serviceaccounts")],
    }),
    schema("global-default", { level: "global-default", precedence: 9900, by: "ByUser", subjects: ANYBODY }),
  ];
}

const PROBES: Json = { nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }] };
const NODES: Json = {
  verbs: ["*"],
  apiGroups: [""],
  resources: ["nodes", "nodes/status"],
  clusterScope: true,
  namespaces: ["*"],
};

/** True for an object that follows what this server has for it. */
export function followsBootstrap(metadata: { readonly annotations?: Readonly<Record<string, string>> }): boolean {
  return metadata.annotations?.[AUTO_UPDATE] === "true";
}
