import type { Row } from "./row.ts";
import { T, dep, set } from "./shapes.ts";
import { COUNTED, LABEL, OPERATOR, PERCENT, QUALIFIED } from "./words.ts";

/** What is given, and why it is refused. */
export const workloads: readonly Row[] = [
  [
    "deployment: no selector",
    "Deployment",
    { spec: { template: T } },
    [
      "spec.selector: Required value",
      'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ],
  ],
  [
    "deployment: empty selector",
    "Deployment",
    dep({ selector: {} }),
    ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
  ],
  [
    "deployment: selector operator",
    "Deployment",
    dep({ selector: { matchExpressions: [{ key: "a", operator: "X" }] } }),
    [
      `spec.selector.matchExpressions[0].operator: Invalid value: "X": ${OPERATOR}`,
      'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"X"}]}: invalid label selector',
    ],
  ],
  [
    "deployment: selector key",
    "Deployment",
    dep({ selector: { matchLabels: { "a b": "c" } } }),
    [
      `spec.selector.matchLabels: Invalid value: "a b": ${QUALIFIED}`,
      'spec.selector: Invalid value: {"matchLabels":{"a b":"c"}}: invalid label selector',
    ],
  ],
  [
    "deployment: other labels",
    "Deployment",
    dep({ selector: { matchLabels: { a: "c" } } }),
    ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  ],
  ["deployment: replicas", "Deployment", dep({ replicas: -1 }), [`spec.replicas: Invalid value: -1: ${COUNTED}`]],
  [
    "deployment: strategy",
    "Deployment",
    dep({ strategy: { type: "X" } }),
    [
      'spec.strategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
    ],
  ],
  [
    "deployment: recreate with more",
    "Deployment",
    dep({ strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } }),
    ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  ],
  [
    "deployment: both nothing",
    "Deployment",
    dep({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
    ["spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"],
  ],
  [
    "deployment: surge text",
    "Deployment",
    dep({ strategy: { rollingUpdate: { maxSurge: "x" } } }),
    [`spec.strategy.rollingUpdate.maxSurge: Invalid value: "x": ${PERCENT}`],
  ],
  [
    "deployment: surge negative",
    "Deployment",
    dep({ strategy: { rollingUpdate: { maxSurge: -1 } } }),
    [`spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: ${COUNTED}`],
  ],
  [
    "deployment: unavailable over all",
    "Deployment",
    dep({ strategy: { rollingUpdate: { maxUnavailable: "101%" } } }),
    ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
  ],
  [
    "deployment: ready seconds",
    "Deployment",
    dep({ minReadySeconds: -1 }),
    [`spec.minReadySeconds: Invalid value: -1: ${COUNTED}`],
  ],
  [
    "deployment: history",
    "Deployment",
    dep({ revisionHistoryLimit: -1 }),
    [`spec.revisionHistoryLimit: Invalid value: -1: ${COUNTED}`],
  ],
  [
    "deployment: deadline",
    "Deployment",
    dep({ progressDeadlineSeconds: -1 }),
    [
      `spec.progressDeadlineSeconds: Invalid value: -1: ${COUNTED}`,
      "spec.progressDeadlineSeconds: Invalid value: -1: must be greater than minReadySeconds",
    ],
  ],
  [
    "deployment: deadline below ready seconds",
    "Deployment",
    dep({ progressDeadlineSeconds: 5, minReadySeconds: 10 }),
    ["spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds"],
  ],
  [
    "deployment: restart policy",
    "Deployment",
    dep({ template: { ...T, spec: { ...T.spec, restartPolicy: "Never" } } }),
    ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  ],
  [
    "deployment: active deadline",
    "Deployment",
    dep({ template: { ...T, spec: { ...T.spec, activeDeadlineSeconds: 3 } } }),
    ["spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported"],
  ],
  [
    "deployment: template labels",
    "Deployment",
    dep({ template: { ...T, metadata: { labels: { a: "b", "x y": "z" } } } }),
    [`spec.template.labels: Invalid value: "x y": ${QUALIFIED}`],
  ],
  [
    "deployment: template ephemeral",
    "Deployment",
    dep({ template: { ...T, spec: { ...T.spec, ephemeralContainers: [{ name: "e", image: "i" }] } } }),
    ["spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template"],
  ],
  [
    "replica set: empty selector",
    "ReplicaSet",
    dep({ selector: {} }),
    ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
  ],
  [
    "replica set: no selector",
    "ReplicaSet",
    { spec: { template: T } },
    [
      "spec.selector: Required value",
      'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ],
  ],
  [
    "replica set: other labels",
    "ReplicaSet",
    dep({ selector: { matchLabels: { a: "c" } } }),
    ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  ],
  [
    "replica set: replicas",
    "ReplicaSet",
    dep({ replicas: -1, minReadySeconds: -1 }),
    [`spec.replicas: Invalid value: -1: ${COUNTED}`, `spec.minReadySeconds: Invalid value: -1: ${COUNTED}`],
  ],
  [
    "replica set: restart policy",
    "ReplicaSet",
    dep({ template: { ...T, spec: { ...T.spec, restartPolicy: "Never" } } }),
    ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  ],
  [
    "daemon set: empty selector",
    "DaemonSet",
    dep({ selector: {} }),
    ["spec.selector: Invalid value: {}: empty selector is invalid for daemonset"],
  ],
  [
    "daemon set: other labels",
    "DaemonSet",
    dep({ selector: { matchLabels: { a: "c" } } }),
    ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  ],
  [
    "daemon set: strategy",
    "DaemonSet",
    dep({ updateStrategy: { type: "X" } }),
    [
      'spec.updateStrategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"',
    ],
  ],
  [
    "daemon set: both nothing",
    "DaemonSet",
    dep({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
    ["spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"],
  ],
  [
    "daemon set: both",
    "DaemonSet",
    dep({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } }),
    ["spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"],
  ],
  [
    "daemon set: ready seconds",
    "DaemonSet",
    dep({ minReadySeconds: -1, revisionHistoryLimit: -1 }),
    [`spec.minReadySeconds: Invalid value: -1: ${COUNTED}`, `spec.revisionHistoryLimit: Invalid value: -1: ${COUNTED}`],
  ],
  [
    "daemon set: restart policy",
    "DaemonSet",
    dep({ template: { ...T, spec: { ...T.spec, restartPolicy: "OnFailure" } } }),
    ['spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"'],
  ],
  [
    "stateful set: no selector",
    "StatefulSet",
    { spec: { template: T } },
    [
      "spec.selector: Required value",
      'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ],
  ],
  [
    "stateful set: empty selector",
    "StatefulSet",
    set({ selector: {} }),
    ["spec.selector: Invalid value: {}: empty selector is invalid for statefulset"],
  ],
  [
    "stateful set: other labels",
    "StatefulSet",
    set({ selector: { matchLabels: { a: "c" } } }),
    ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  ],
  [
    "stateful set: management",
    "StatefulSet",
    set({ podManagementPolicy: "X" }),
    ["spec.podManagementPolicy: Invalid value: \"X\": must be 'OrderedReady' or 'Parallel'"],
  ],
  [
    "stateful set: strategy",
    "StatefulSet",
    set({ updateStrategy: { type: "X" } }),
    [
      'spec.updateStrategy: Invalid value: {"Type":"X","RollingUpdate":null}: must be \'RollingUpdate\' or \'OnDelete\'',
    ],
  ],
  [
    "stateful set: on delete with more",
    "StatefulSet",
    set({ updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 1 } } }),
    [
      'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
    ],
  ],
  [
    "stateful set: partition",
    "StatefulSet",
    set({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: -1 } } }),
    [`spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: ${COUNTED}`],
  ],
  ["stateful set: replicas", "StatefulSet", set({ replicas: -1 }), [`spec.replicas: Invalid value: -1: ${COUNTED}`]],
  [
    "stateful set: ready seconds",
    "StatefulSet",
    set({ minReadySeconds: -1 }),
    [`spec.minReadySeconds: Invalid value: -1: ${COUNTED}`],
  ],
  [
    "stateful set: ordinals",
    "StatefulSet",
    set({ ordinals: { start: -1 } }),
    [`spec.ordinals.start: Invalid value: -1: ${COUNTED}`],
  ],
  [
    "stateful set: retention",
    "StatefulSet",
    set({ persistentVolumeClaimRetentionPolicy: { whenDeleted: "X", whenScaled: "Y" } }),
    [
      'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "X": supported values: "Retain", "Delete"',
      'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Y": supported values: "Retain", "Delete"',
    ],
  ],
  [
    "stateful set: restart policy",
    "StatefulSet",
    set({ template: { ...T, spec: { ...T.spec, restartPolicy: "Never" } } }),
    ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  ],
  [
    "stateful set: active deadline",
    "StatefulSet",
    set({ template: { ...T, spec: { ...T.spec, activeDeadlineSeconds: 3 } } }),
    ["spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported"],
  ],
  [
    "stateful set: service name",
    "StatefulSet",
    set({ serviceName: "A_" }),
    [`spec.serviceName: Invalid value: "A_": ${LABEL}`],
  ],
];
