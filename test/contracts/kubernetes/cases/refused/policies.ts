import type { Row } from "./row.ts";
import { limit, quota } from "./shapes.ts";
import { COUNTED, OPERATOR, QUALIFIED } from "./words.ts";

/** What is given, and why it is refused. */
export const policies: readonly Row[] = [
  [
    "budget: both",
    "PodDisruptionBudget",
    { spec: { minAvailable: 1, maxUnavailable: 1 } },
    [
      'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    ],
  ],
  [
    "budget: selector",
    "PodDisruptionBudget",
    { spec: { minAvailable: 1, selector: { matchExpressions: [{ key: "a", operator: "X" }] } } },
    [`spec.selector.matchExpressions[0].operator: Invalid value: "X": ${OPERATOR}`],
  ],
  [
    "priority: too high",
    "PriorityClass",
    { value: 2000000000 },
    ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
  ],
  [
    "priority: system name",
    "PriorityClass",
    { metadata: { name: "system-x" }, value: 1 },
    [
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-x is not a known system priority class",
    ],
  ],
  [
    "limits: type",
    "LimitRange",
    limit({ type: "X" }),
    ['spec.limits[0].type: Invalid value: "X": must be a standard limit type or fully qualified'],
  ],
  [
    "limits: no type",
    "LimitRange",
    limit({ type: "" }),
    [
      'spec.limits[0].type: Invalid value: "": name part must be non-empty',
      `spec.limits[0].type: Invalid value: "": ${QUALIFIED}`,
    ],
  ],
  [
    "limits: min over max",
    "LimitRange",
    limit({ min: { cpu: "2" }, max: { cpu: "1" } }),
    [
      'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
      'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
    ],
  ],
  [
    "limits: default over max",
    "LimitRange",
    limit({ default: { cpu: "2" }, max: { cpu: "1" } }),
    [
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than max value 1',
      'spec.limits[0].default[cpu]: Invalid value: "1": default value 2 is greater than max value 1',
    ],
  ],
  [
    "limits: default request over default",
    "LimitRange",
    limit({ default: { cpu: "1" }, defaultRequest: { cpu: "2" } }),
    [
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default limit value 1',
    ],
  ],
  [
    "limits: default below min",
    "LimitRange",
    limit({ default: { cpu: "1" }, min: { cpu: "2" } }),
    [
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
      'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
    ],
  ],
  [
    "limits: ratio",
    "LimitRange",
    limit({ maxLimitRequestRatio: { cpu: "0.5" } }),
    ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'],
  ],
  [
    "limits: ratio over",
    "LimitRange",
    limit({ max: { cpu: "2" }, min: { cpu: "1" }, maxLimitRequestRatio: { cpu: "4" } }),
    ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "4": ratio 4 is greater than max/min = 2.000000'],
  ],
  [
    "limits: pod default",
    "LimitRange",
    limit({ type: "Pod", default: { cpu: "1" } }),
    ["spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"],
  ],
  [
    "limits: twice",
    "LimitRange",
    { spec: { limits: [{ type: "Pod" }, { type: "Pod" }] } },
    ['spec.limits[1].type: Duplicate value: "Pod"'],
  ],
  [
    "limits: claim",
    "LimitRange",
    limit({ type: "PersistentVolumeClaim" }),
    [
      "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided",
    ],
  ],
  [
    "quota: name",
    "ResourceQuota",
    quota({ foo: "1" }),
    [
      'spec.hard[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.hard[foo]: Invalid value: "foo": must be a standard resource for quota',
    ],
  ],
  ["quota: negative", "ResourceQuota", quota({ pods: "-1" }), [`spec.hard[pods]: Invalid value: "-1": ${COUNTED}`]],
  [
    "quota: part",
    "ResourceQuota",
    quota({ pods: "500m" }),
    ['spec.hard[pods]: Invalid value: "500m": must be an integer'],
  ],
  [
    "quota: scope",
    "ResourceQuota",
    quota({ pods: "1" }, { scopes: ["X"] }),
    ['spec.scopes: Invalid value: ["X"]: unsupported scope'],
  ],
  [
    "quota: scope and what it is not of",
    "ResourceQuota",
    quota({ cpu: "1" }, { scopes: ["BestEffort"] }),
    ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
  ],
  [
    "quota: scopes that exclude",
    "ResourceQuota",
    quota({ pods: "1" }, { scopes: ["BestEffort", "NotBestEffort"] }),
    ['spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes'],
  ],
  [
    "quota: scope selector",
    "ResourceQuota",
    quota({ pods: "1" }, { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In" }] } }),
    [
      "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    ],
  ],
  [
    "quota: scope selector operator",
    "ResourceQuota",
    quota(
      { pods: "1" },
      { scopeSelector: { matchExpressions: [{ scopeName: "Terminating", operator: "In", values: ["a"] }] } },
    ),
    [
      "spec.scopeSelector.matchExpressions.operator: Invalid value: \"In\": must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
    ],
  ],
];
