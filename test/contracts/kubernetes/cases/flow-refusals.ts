import type { CaseGroup, Context, Json } from "../interface.ts";
import { invalid } from "./shorthands.ts";

const API = "/apis/flowcontrol.apiserver.k8s.io/v1";
export const SCHEMAS = `${API}/flowschemas`;
export const LEVELS = `${API}/prioritylevelconfigurations`;

export const PODS = { verbs: ["get"], apiGroups: [""], resources: ["pods"], namespaces: ["*"] };
const BOB = { kind: "User", user: { name: "bob" } };

export function schema(name: string, spec: Json): Json {
  return { apiVersion: "flowcontrol.apiserver.k8s.io/v1", kind: "FlowSchema", metadata: { name }, spec };
}

export function level(name: string, spec: Json): Json {
  return {
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "PriorityLevelConfiguration",
    metadata: { name },
    spec,
  };
}

export function ruled(more: Json): Json {
  return { priorityLevelConfiguration: { name: "exempt" }, rules: [{ subjects: [BOB], ...more }] };
}

const QUEUE = { type: "Queue", queuing: {} };
export const limited = (more: Json): Json => ({ type: "Limited", limited: { limitResponse: QUEUE, ...more } });
const queuing = (more: Json): Json => limited({ limitResponse: { type: "Queue", queuing: more } });

const BAD_SCHEMAS: readonly (readonly [string, Json, readonly string[]])[] = [
  [
    "of precedence 1",
    { ...ruled({ resourceRules: [PODS] }), matchingPrecedence: 1 },
    ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"],
  ],
  [
    "of negative precedence",
    { ...ruled({ resourceRules: [PODS] }), matchingPrecedence: -1 },
    ["spec.matchingPrecedence: Invalid value: -1: must be a positive value"],
  ],
  [
    "of too high a precedence",
    { ...ruled({ resourceRules: [PODS] }), matchingPrecedence: 10_001 },
    ["spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"],
  ],
  [
    "without a level",
    { rules: [] },
    ["spec.priorityLevelConfiguration.name: Required value: must reference a priority level"],
  ],
  [
    "with a rule without subjects",
    { ...ruled({}), rules: [{ resourceRules: [PODS] }] },
    ["spec.rules[0].subjects: Required value: subjects must contain at least one value"],
  ],
  [
    "with a rule about nothing",
    ruled({}),
    ["spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty"],
  ],
  [
    "with a rule that lacks its lists",
    ruled({ resourceRules: [{ verbs: [], apiGroups: [], resources: [] }] }),
    [
      "spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain at least one value",
      "spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group",
      "spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at least one resource",
      "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace",
    ],
  ],
  [
    "with a star next to others",
    ruled({ resourceRules: [{ ...PODS, verbs: ["*", "get"], resources: ["*", "pods"] }] }),
    [
      `spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`,
      `spec.rules[0].resourceRules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources`,
    ],
  ],
  [
    "with an unknown verb",
    ruled({ resourceRules: [{ ...PODS, verbs: ["fly"] }] }),
    [
      'spec.rules[0].resourceRules[0].verbs: Unsupported value: ["fly"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
    ],
  ],
  [
    "with paths that are none",
    ruled({ nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["a", "/a b", "/a//b", "/a*"] }] }),
    [
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "a": must start with slash',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/a b": must not contain white-space',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: "/a//b": must not contain double slash',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[3]: Invalid value: "/a*": wildcard can only do suffix matching',
    ],
  ],
  [
    "with a subject of two kinds",
    {
      ...ruled({}),
      rules: [{ subjects: [{ kind: "User", user: { name: "a" }, group: { name: "b" } }], resourceRules: [PODS] }],
    },
    ["spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'"],
  ],
  [
    "with a subject without its name",
    { ...ruled({}), rules: [{ subjects: [{ kind: "ServiceAccount" }], resourceRules: [PODS] }] },
    [
      "spec.rules[0].subjects[0].serviceAccount: Required value: serviceAccount is required when subject kind is 'ServiceAccount'",
    ],
  ],
];

const BAD_LEVELS: readonly (readonly [string, Json, readonly string[]])[] = [
  ["without limits", { type: "Limited" }, ["spec.limited: Required value: must not be empty when type is Limited"]],
  [
    "that are exempt by another name",
    { type: "Exempt" },
    ["spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"],
  ],
  [
    "that lend too much",
    limited({ lendablePercent: 101 }),
    ["spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive"],
  ],
  [
    "with negative shares",
    limited({ nominalConcurrencyShares: -1, borrowingLimitPercent: -1 }),
    [
      "spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
      "spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer",
    ],
  ],
  [
    "that queue without queues",
    limited({ limitResponse: { type: "Queue" } }),
    ["spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited"],
  ],
  [
    "that refuse with queues",
    limited({ limitResponse: { type: "Reject", queuing: {} } }),
    ["spec.limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited"],
  ],
  [
    "with a hand greater than the deck",
    queuing({ queues: 4, handSize: 5 }),
    ["spec.limited.limitResponse.queuing.handSize: Invalid value: 5: should not be greater than queues (4)"],
  ],
  [
    "with a hand that a hash cannot deal",
    queuing({ queues: 512, handSize: 8 }),
    [
      "spec.limited.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of deckSize 512 and handSize 8 should not be greater than 60",
    ],
  ],
  [
    "with negative counts",
    queuing({ queues: -1, handSize: -1, queueLengthLimit: -1 }),
    [
      "spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive",
      "spec.limited.limitResponse.queuing.queues: Invalid value: -1: must be positive",
      "spec.limited.limitResponse.queuing.handSize: Invalid value: -1: must be positive",
    ],
  ],
];

export const flowRefusals: CaseGroup = {
  title: "validation of FlowSchemas and PriorityLevelConfigurations",
  cases: [
    ...BAD_SCHEMAS.map(([what, spec, causes]) => ({
      name: `FlowSchemas ${what} are refused`,
      async run({ api }: Context) {
        invalid(await api.post(SCHEMAS, schema("bad", spec)), ...causes);
      },
    })),
    ...BAD_LEVELS.map(([what, spec, causes]) => ({
      name: `PriorityLevelConfigurations ${what} are refused`,
      async run({ api }: Context) {
        invalid(await api.post(LEVELS, level("bad", spec)), ...causes);
      },
    })),
  ],
};
