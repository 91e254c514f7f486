import type { Row } from "./row.ts";
import { S, JT, job, cron, hpa, resource } from "./shapes.ts";
import { COUNTED } from "./words.ts";

/** What is given, and why it is refused. */
export const jobs: readonly Row[] = [
  [
    "job: counts",
    "Job",
    job({ parallelism: -1, completions: -1, activeDeadlineSeconds: -1, backoffLimit: -1, ttlSecondsAfterFinished: -1 }),
    [
      `spec.parallelism: Invalid value: -1: ${COUNTED}`,
      `spec.completions: Invalid value: -1: ${COUNTED}`,
      `spec.activeDeadlineSeconds: Invalid value: -1: ${COUNTED}`,
      `spec.backoffLimit: Invalid value: -1: ${COUNTED}`,
      `spec.ttlSecondsAfterFinished: Invalid value: -1: ${COUNTED}`,
    ],
  ],
  [
    "job: always",
    "Job",
    job({ template: { spec: { ...JT.spec, restartPolicy: "Always" } } }),
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    "job: manual selector without labels",
    "Job",
    job({ manualSelector: true, selector: S }),
    ["spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"],
  ],
  [
    "job: manual selector without selector",
    "Job",
    job({ manualSelector: true }),
    [
      "spec.selector: Required value",
      "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
    ],
  ],
  [
    "job: completion mode",
    "Job",
    job({ completionMode: "X" }),
    ['spec.completionMode: Unsupported value: "X": supported values: "NonIndexed", "Indexed"'],
  ],
  [
    "job: per index without index",
    "Job",
    job({ backoffLimitPerIndex: 1 }),
    ["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"],
  ],
  [
    "job: per index",
    "Job",
    job({ completionMode: "Indexed", completions: 3, backoffLimitPerIndex: -1 }),
    [`spec.backoffLimitPerIndex: Invalid value: -1: ${COUNTED}`],
  ],
  [
    "job: failed indexes",
    "Job",
    job({ completionMode: "Indexed", completions: 3, maxFailedIndexes: 1 }),
    ["spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"],
  ],
  [
    "job: failed indexes over all",
    "Job",
    job({ completionMode: "Indexed", completions: 3, backoffLimitPerIndex: 1, maxFailedIndexes: 4 }),
    ["spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions"],
  ],
  [
    "job: managed by",
    "Job",
    job({ managedBy: "x" }),
    ['spec.managedBy: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  [
    "job: replacement",
    "Job",
    job({ podReplacementPolicy: "X" }),
    ['spec.podReplacementPolicy: Unsupported value: "X": supported values: "Failed", "TerminatingOrFailed"'],
  ],
  [
    "job: failure policy action",
    "Job",
    job({ podFailurePolicy: { rules: [{ action: "X", onExitCodes: { operator: "In", values: [1] } }] } }),
    [
      'spec.podFailurePolicy.rules[0].action: Unsupported value: "X": supported values: "Count", "FailIndex", "FailJob", "Ignore"',
    ],
  ],
  [
    "job: failure policy nothing",
    "Job",
    job({ podFailurePolicy: { rules: [{ action: "Ignore" }] } }),
    ["spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required"],
  ],
  [
    "job: failure policy codes",
    "Job",
    job({ podFailurePolicy: { rules: [{ action: "Ignore", onExitCodes: { operator: "X", values: [] } }] } }),
    [
      'spec.podFailurePolicy.rules[0].onExitCodes.operator: Unsupported value: "X": supported values: "In", "NotIn"',
      "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: []: at least one value is required",
    ],
  ],
  [
    "job: failure policy zero",
    "Job",
    job({ podFailurePolicy: { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [0] } }] } }),
    ["spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator"],
  ],
  [
    "job: failure policy restarts",
    "Job",
    {
      spec: {
        template: { spec: { ...JT.spec, restartPolicy: "OnFailure" } },
        podFailurePolicy: { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }] },
      },
    },
    [
      'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
    ],
  ],
  [
    "job: success policy",
    "Job",
    job({ successPolicy: { rules: [] } }),
    ['spec.successPolicy: Invalid value: {"Rules":[]}: requires indexed completion mode'],
  ],
  [
    "cron: schedule",
    "CronJob",
    cron({ schedule: "61 * * * *" }),
    ['spec.schedule: Invalid value: "61 * * * *": end of range (61) above maximum (59): 61'],
  ],
  [
    "cron: schedule words",
    "CronJob",
    cron({ schedule: "@never" }),
    ['spec.schedule: Invalid value: "@never": unrecognized descriptor: @never'],
  ],
  [
    "cron: zone",
    "CronJob",
    cron({ timeZone: "Nowhere/City" }),
    ['spec.timeZone: Invalid value: "Nowhere/City": unknown time zone Nowhere/City'],
  ],
  [
    "cron: empty zone",
    "CronJob",
    cron({ timeZone: "" }),
    ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'],
  ],
  [
    "cron: always",
    "CronJob",
    cron({ jobTemplate: { spec: { template: { spec: { ...JT.spec, restartPolicy: "Always" } } } } }),
    ['spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    "cron: job counts",
    "CronJob",
    cron({ jobTemplate: { spec: { template: JT, parallelism: -1 } } }),
    [`spec.jobTemplate.spec.parallelism: Invalid value: -1: ${COUNTED}`],
  ],
  [
    "cron: manual selector",
    "CronJob",
    cron({ jobTemplate: { spec: { template: JT, manualSelector: true } } }),
    ['spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"'],
  ],
  [
    "hpa: no maximum",
    "HorizontalPodAutoscaler",
    { spec: { scaleTargetRef: { kind: "Deployment", name: "d" } } },
    [
      "spec.maxReplicas: Invalid value: 0: must be greater than 0",
      "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
      'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
    ],
  ],
  [
    "hpa: minimum",
    "HorizontalPodAutoscaler",
    hpa({ minReplicas: 0 }),
    [
      "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
      "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas",
    ],
  ],
  [
    "hpa: minimum over maximum",
    "HorizontalPodAutoscaler",
    hpa({ minReplicas: 5 }),
    ["spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"],
  ],
  [
    "hpa: no target",
    "HorizontalPodAutoscaler",
    { spec: { maxReplicas: 1, scaleTargetRef: {} } },
    [
      "spec.scaleTargetRef.kind: Required value",
      "spec.scaleTargetRef.name: Required value",
      'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
    ],
  ],
  [
    "hpa: target names",
    "HorizontalPodAutoscaler",
    { spec: { maxReplicas: 1, scaleTargetRef: { kind: "a/b", name: "c/d" } } },
    [
      "spec.scaleTargetRef.kind: Invalid value: \"a/b\": may not contain '/'",
      "spec.scaleTargetRef.name: Invalid value: \"c/d\": may not contain '/'",
      'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
    ],
  ],
  [
    "hpa: metric type",
    "HorizontalPodAutoscaler",
    hpa({ metrics: [{ type: "X" }] }),
    [
      'spec.metrics[0].type: Unsupported value: "X": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
      'spec.metrics[0].type: Unsupported value: "X": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
    ],
  ],
  [
    "hpa: metric of nothing",
    "HorizontalPodAutoscaler",
    hpa({ metrics: [{ type: "Resource" }] }),
    ["spec.metrics[0].resource: Required value: must populate information for the given metric source"],
  ],
  [
    "hpa: resource without target",
    "HorizontalPodAutoscaler",
    resource({ type: "Utilization" }),
    [
      "spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization",
    ],
  ],
  [
    "hpa: resource target type",
    "HorizontalPodAutoscaler",
    resource({ type: "X", averageUtilization: 3 }),
    ['spec.metrics[0].resource.target.type: Invalid value: "X": must be either Utilization, Value, or AverageValue'],
  ],
  [
    "hpa: resource both",
    "HorizontalPodAutoscaler",
    resource({ type: "Utilization", averageUtilization: 3, averageValue: "1" }),
    [
      "spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization",
    ],
  ],
  [
    "hpa: resource negative",
    "HorizontalPodAutoscaler",
    resource({ type: "Utilization", averageUtilization: 0 }),
    ["spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0"],
  ],
  [
    "hpa: pods without value",
    "HorizontalPodAutoscaler",
    hpa({ metrics: [{ type: "Pods", pods: { metric: { name: "" }, target: { type: "AverageValue" } } }] }),
    [
      "spec.metrics[0].pods.metric.name: Required value: must specify a metric name",
      "spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue",
    ],
  ],
  [
    "hpa: pods named as a path, of nothing",
    "HorizontalPodAutoscaler",
    hpa({
      metrics: [
        { type: "Pods", pods: { metric: { name: "a/b" }, target: { type: "AverageValue", averageValue: "0" } } },
      ],
    }),
    [
      "spec.metrics[0].pods.metric.name: Invalid value: \"a/b\": may not contain '/'",
      'spec.metrics[0].pods.target.averageValue: Invalid value: "0": must be positive',
    ],
  ],
  [
    "hpa: object named as a path, without value",
    "HorizontalPodAutoscaler",
    hpa({
      metrics: [
        {
          type: "Object",
          object: {
            describedObject: { apiVersion: "v1", kind: "Service", name: ".." },
            metric: { name: "m" },
            target: { type: "Utilization", averageUtilization: 1 },
          },
        },
      ],
    }),
    [
      "spec.metrics[0].object.describedObject.name: Invalid value: \"..\": may not be '..'",
      "spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue",
    ],
  ],
  [
    "hpa: external named as a path, with both values",
    "HorizontalPodAutoscaler",
    hpa({
      metrics: [
        {
          type: "External",
          external: { metric: { name: "a%b" }, target: { type: "Value", value: "-1", averageValue: "1" } },
        },
      ],
    }),
    [
      "spec.metrics[0].external.metric.name: Invalid value: \"a%b\": may not contain '%'",
      'spec.metrics[0].external.target.value: Invalid value: "-1": must be positive',
      "spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target",
    ],
  ],
  [
    "hpa: behavior",
    "HorizontalPodAutoscaler",
    hpa({ behavior: { scaleUp: { policies: [], stabilizationWindowSeconds: -1 } } }),
    [
      "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero",
      "spec.behavior.scaleUp.policies: Required value: must specify at least one Policy",
    ],
  ],
  [
    "hpa: behavior policy",
    "HorizontalPodAutoscaler",
    hpa({ behavior: { scaleDown: { selectPolicy: "X", policies: [{ type: "X", value: 0, periodSeconds: 0 }] } } }),
    [
      'spec.behavior.scaleDown.selectPolicy: Unsupported value: "X": supported values: "Disabled", "Max", "Min"',
      'spec.behavior.scaleDown.policies[0].type: Unsupported value: "X": supported values: "Percent", "Pods"',
      "spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero",
      "spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 0: must be greater than zero",
    ],
  ],
  [
    "hpa: behavior long",
    "HorizontalPodAutoscaler",
    hpa({
      behavior: {
        scaleDown: { stabilizationWindowSeconds: 4000, policies: [{ type: "Pods", value: 1, periodSeconds: 2000 }] },
      },
    }),
    [
      "spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 4000: must be less than or equal to 3600",
      "spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 2000: must be less than or equal to 1800",
    ],
  ],
];
