import type { PodRow } from "./row.ts";
import { nodeTerm, podTerm, spread, tol } from "./pod-shapes.ts";
import { LABEL, OPERATOR, QUALIFIED, VALUE } from "./words.ts";

/** What is given, and why it is refused. */
export const podScheduling: readonly PodRow[] = [
  [
    "affinity: no terms",
    { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } },
    [
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term",
    ],
  ],
  [
    "affinity: operator",
    nodeTerm({ key: "a", operator: "X" }),
    [
      `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value: "X": ${OPERATOR}`,
    ],
  ],
  [
    "affinity: in nothing",
    nodeTerm({ key: "a", operator: "In" }),
    [
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
  ],
  [
    "affinity: exists of",
    nodeTerm({ key: "a", operator: "Exists", values: ["b"] }),
    [
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
  ],
  [
    "affinity: more than two",
    nodeTerm({ key: "a", operator: "Gt", values: ["1", "2"] }),
    [
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
    ],
  ],
  [
    "affinity: key",
    nodeTerm({ key: "a b", operator: "Exists" }),
    [
      `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "a b": ${QUALIFIED}`,
    ],
  ],
  [
    "affinity: value",
    nodeTerm({ key: "a", operator: "In", values: ["b c"] }),
    [
      `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "b c": ${VALUE}`,
    ],
  ],
  [
    "affinity: weight",
    {
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, preference: {} }] } },
    },
    [
      "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100",
    ],
  ],
  [
    "affinity: fields",
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: "x", operator: "Exists" }] }],
          },
        },
      },
    },
    [
      `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].operator: Invalid value: "Exists": ${OPERATOR}`,
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "x": not a valid field selector key',
    ],
  ],
  [
    "affinity: topology",
    podTerm({ labelSelector: {} }),
    [
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty",
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty',
      `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": ${QUALIFIED}`,
    ],
  ],
  [
    "affinity: selector",
    podTerm({ topologyKey: "a", labelSelector: { matchExpressions: [{ key: "a", operator: "X" }] } }),
    [
      `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].operator: Invalid value: "X": ${OPERATOR}`,
    ],
  ],
  [
    "affinity: namespaces",
    podTerm({ topologyKey: "a", namespaces: ["A_"] }),
    [
      `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespace: Invalid value: "A_": ${LABEL}`,
    ],
  ],
  [
    "affinity: pod weight",
    {
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, podAffinityTerm: { topologyKey: "a" } }],
        },
      },
    },
    [
      "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100",
    ],
  ],
  [
    "affinity: label keys",
    podTerm({ topologyKey: "a", matchLabelKeys: ["b"] }),
    [
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
    ],
  ],
  [
    "tolerations: operator",
    tol({ key: "a", operator: "X" }),
    ['spec.tolerations[0].operator: Unsupported value: "X": supported values: "Equal", "Exists"'],
  ],
  [
    "tolerations: exists of",
    tol({ key: "a", operator: "Exists", value: "b" }),
    ["spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'"],
  ],
  [
    "tolerations: key",
    tol({ key: "a b", operator: "Exists" }),
    [`spec.tolerations[0].key: Invalid value: "a b": ${QUALIFIED}`],
  ],
  [
    "tolerations: effect",
    tol({ key: "a", operator: "Exists", effect: "X" }),
    [
      'spec.tolerations[0].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
  ],
  [
    "tolerations: seconds",
    tol({ key: "a", operator: "Exists", effect: "NoSchedule", tolerationSeconds: 3 }),
    [
      "spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set",
    ],
  ],
  [
    "tolerations: no key",
    tol({ value: "a" }),
    [
      'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  [
    "tolerations: value",
    tol({ key: "a", value: "b c" }),
    [`spec.tolerations[0].operator: Invalid value: "b c": ${VALUE}`],
  ],
  [
    "spread: skew",
    spread({ maxSkew: 0 }),
    ["spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"],
  ],
  [
    "spread: no key",
    spread({ topologyKey: "" }),
    ["spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty"],
  ],
  [
    "spread: when",
    spread({ whenUnsatisfiable: "X" }),
    [
      'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"',
    ],
  ],
  [
    "spread: no when",
    spread({ whenUnsatisfiable: "" }),
    [
      'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"',
    ],
  ],
  [
    "spread: twice",
    {
      topologySpreadConstraints: [1, 2].map(() => ({
        maxSkew: 1,
        topologyKey: "z",
        whenUnsatisfiable: "DoNotSchedule",
      })),
    },
    ['spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"'],
  ],
  [
    "spread: domains",
    spread({ minDomains: 0 }),
    ["spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero"],
  ],
  [
    "spread: domains anyway",
    spread({ minDomains: 1, whenUnsatisfiable: "ScheduleAnyway" }),
    [
      "spec.topologySpreadConstraints[0].minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
    ],
  ],
  [
    "spread: policy",
    spread({ nodeAffinityPolicy: "X" }),
    [
      'spec.topologySpreadConstraints[0].nodeAffinityPolicy: Unsupported value: "X": supported values: "Honor", "Ignore"',
    ],
  ],
  [
    "spread: taints",
    spread({ nodeTaintsPolicy: "X" }),
    ['spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "X": supported values: "Honor", "Ignore"'],
  ],
  [
    "spread: label keys",
    spread({ matchLabelKeys: ["a"] }),
    [
      "spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
    ],
  ],
  [
    "gates: readiness",
    { readinessGates: [{ conditionType: "a b" }] },
    [`spec.readinessGates[0].conditionType: Invalid value: "a b": ${QUALIFIED}`],
  ],
  [
    "gates: scheduling",
    { schedulingGates: [{ name: "a b" }] },
    [`spec.schedulingGates[0]: Invalid value: "a b": ${QUALIFIED}`],
  ],
  [
    "gates: scheduling twice",
    { schedulingGates: [{ name: "a" }, { name: "a" }] },
    ['spec.schedulingGates[1]: Duplicate value: "a"'],
  ],
  [
    "gates: of a bound pod",
    { nodeName: "n", schedulingGates: [{ name: "a" }] },
    ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
  ],
];
