import type { PodRow } from "./row.ts";
import { c, port, env } from "./pod-shapes.ts";
import { COUNTED, LABEL, PORT, SUBDOMAIN } from "./words.ts";

/** What is given, and why it is refused. */
export const podContainers: readonly PodRow[] = [
  ["ports: 0", port({ containerPort: 0 }), ["spec.containers[0].ports[0].containerPort: Required value"]],
  [
    "ports: 70000",
    port({ containerPort: 70000 }),
    [`spec.containers[0].ports[0].containerPort: Invalid value: 70000: ${PORT}`],
  ],
  [
    "ports: protocol",
    port({ protocol: "X" }),
    ['spec.containers[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    "ports: name",
    port({ name: "Bad_Name" }),
    [
      'spec.containers[0].ports[0].name: Invalid value: "Bad_Name": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    ],
  ],
  [
    "ports: long name",
    port({ name: "a2345678901234567" }),
    ['spec.containers[0].ports[0].name: Invalid value: "a2345678901234567": must be no more than 15 characters'],
  ],
  [
    "ports: name of digits",
    port({ name: "123" }),
    ['spec.containers[0].ports[0].name: Invalid value: "123": must contain at least one letter (a-z)'],
  ],
  [
    "ports: names twice",
    c({
      ports: [
        { containerPort: 80, name: "a" },
        { containerPort: 81, name: "a" },
      ],
    }),
    ['spec.containers[0].ports[1].name: Duplicate value: "a"'],
  ],
  [
    "ports: host port",
    port({ hostPort: 70000 }),
    [`spec.containers[0].ports[0].hostPort: Invalid value: 70000: ${PORT}`],
  ],
  [
    "ports: host port twice",
    c({
      ports: [
        { containerPort: 80, hostPort: 9 },
        { containerPort: 81, hostPort: 9 },
      ],
    }),
    ['spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//9"'],
  ],
  [
    "ports: host network",
    { hostNetwork: true, ...port({ hostPort: 81 }) },
    ["spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true"],
  ],
  ["env: no name", env({ value: "x" }), ["spec.containers[0].env[0].name: Required value"]],
  [
    "env: name",
    env({ name: "a=b", value: "x" }),
    [
      "spec.containers[0].env[0].name: Invalid value: \"a=b\": a valid environment variable name must consist only of printable ASCII characters other than '='",
    ],
  ],
  [
    "env: value and source",
    env({ name: "A", value: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }),
    ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
  ],
  [
    "env: empty source",
    env({ name: "A", valueFrom: {} }),
    [
      'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
    ],
  ],
  [
    "env: two sources",
    env({ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" }, secretKeyRef: { name: "s", key: "k" } } }),
    ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time'],
  ],
  [
    "env: field path",
    env({ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.bogus" } } }),
    [
      'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.bogus": error converting fieldPath: field label not supported: spec.bogus',
    ],
  ],
  [
    "env: field path of labels",
    env({ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.labels" } } }),
    [
      'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
    ],
  ],
  [
    "env: no field path",
    env({ name: "A", valueFrom: { fieldRef: {} } }),
    ["spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Required value"],
  ],
  [
    "env: resource",
    env({ name: "A", valueFrom: { resourceFieldRef: { resource: "bogus" } } }),
    [
      'spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "bogus": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
    ],
  ],
  [
    "env: no resource",
    env({ name: "A", valueFrom: { resourceFieldRef: {} } }),
    ["spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Required value"],
  ],
  [
    "env: divisor",
    env({ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "3" } } }),
    [
      'spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
    ],
  ],
  [
    "env: no key",
    env({ name: "A", valueFrom: { secretKeyRef: { name: "s" } } }),
    ["spec.containers[0].env[0].valueFrom.secretKeyRef.key: Required value"],
  ],
  [
    "env: key",
    env({ name: "A", valueFrom: { configMapKeyRef: { name: "s", key: "a b" } } }),
    [
      "spec.containers[0].env[0].valueFrom.configMapKeyRef.key: Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    ],
  ],
  [
    "env: no config map",
    env({ name: "A", valueFrom: { configMapKeyRef: { key: "a" } } }),
    [`spec.containers[0].env[0].valueFrom.configMapKeyRef.name: Invalid value: "": ${SUBDOMAIN}`],
  ],
  [
    "envFrom: nothing",
    c({ envFrom: [{}] }),
    ['spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
  ],
  [
    "envFrom: both",
    c({ envFrom: [{ configMapRef: { name: "a" }, secretRef: { name: "b" } }] }),
    ['spec.containers[0].envFrom: Invalid value: "": may not have more than one field specified at a time'],
  ],
  [
    "envFrom: prefix",
    c({ envFrom: [{ prefix: "a=", configMapRef: { name: "a" } }] }),
    [
      "spec.containers[0].envFrom[0].prefix: Invalid value: \"a=\": a valid environment variable name must consist only of printable ASCII characters other than '='",
    ],
  ],
  [
    "envFrom: no name",
    c({ envFrom: [{ secretRef: {} }] }),
    ["spec.containers[0].envFrom[0].secretRef.name: Required value"],
  ],
  [
    "resources: more than the limit",
    c({ resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }),
    ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
  ],
  [
    "resources: negative",
    c({ resources: { requests: { cpu: "-1" } } }),
    [`spec.containers[0].resources.requests[cpu]: Invalid value: "-1": ${COUNTED}`],
  ],
  [
    "resources: unknown",
    c({ resources: { requests: { foo: "1" } } }),
    [
      'spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource for containers',
    ],
  ],
  [
    "resources: badly named",
    c({ resources: { limits: { "a/b/c": "1" } } }),
    [
      "spec.containers[0].resources.limits[a/b/c]: Invalid value: \"a/b/c\": a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
      'spec.containers[0].resources.limits[a/b/c]: Invalid value: "a/b/c": doesn\'t follow extended resource name standard',
      "spec.containers[0].resources.requests[a/b/c]: Invalid value: \"a/b/c\": a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
      'spec.containers[0].resources.requests[a/b/c]: Invalid value: "a/b/c": doesn\'t follow extended resource name standard',
    ],
  ],
  [
    "resources: extended request alone",
    c({ resources: { requests: { "x.io/y": "1" } } }),
    ["spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources"],
  ],
  [
    "resources: extended differs",
    c({ resources: { requests: { "x.io/y": "1" }, limits: { "x.io/y": "2" } } }),
    ['spec.containers[0].resources.requests: Invalid value: "1": must be equal to x.io/y limit of 2'],
  ],
  [
    "resources: extended part",
    c({ resources: { limits: { "x.io/y": "500m" } } }),
    [
      'spec.containers[0].resources.limits[x.io/y]: Invalid value: "500m": must be an integer',
      'spec.containers[0].resources.requests[x.io/y]: Invalid value: "500m": must be an integer',
    ],
  ],
  [
    "resources: huge pages alone",
    c({ resources: { limits: { "hugepages-2Mi": "2Mi" } } }),
    ["spec.containers[0].resources: Forbidden: HugePages require cpu or memory"],
  ],
  [
    "resources: claim unknown",
    c({ resources: { claims: [{ name: "q" }] } }),
    [
      'spec.containers[0].resources.claims[0]: Not found: "q": must be one of the names in pod.spec.resourceClaims which is empty',
    ],
  ],
  [
    "containers: image spaces",
    c({ image: " i" }),
    ['spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace'],
  ],
  [
    "containers: message policy",
    c({ terminationMessagePolicy: "X" }),
    [
      'spec.containers[0].terminationMessagePolicy: Unsupported value: "X": supported values: "File", "FallbackToLogsOnError"',
    ],
  ],
  [
    "containers: resize policy",
    c({ resizePolicy: [{ resourceName: "x", restartPolicy: "y" }] }),
    [
      'spec.containers[0].resizePolicy: Unsupported value: "x": supported values: "cpu", "memory"',
      'spec.containers[0].resizePolicy: Unsupported value: "y": supported values: "NotRequired", "RestartContainer"',
    ],
  ],
  [
    "containers: names across",
    { initContainers: [{ name: "c", image: "i" }] },
    ['spec.initContainers[0].name: Duplicate value: "c"'],
  ],
  [
    "init: lifecycle",
    { initContainers: [{ name: "d", image: "i", lifecycle: { preStop: { exec: { command: ["a"] } } } }] },
    ["spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always"],
  ],
  [
    "init: liveness",
    { initContainers: [{ name: "d", image: "i", livenessProbe: { tcpSocket: { port: 1 } } }] },
    [
      "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
    ],
  ],
  [
    "init: readiness",
    { initContainers: [{ name: "d", image: "i", readinessProbe: { tcpSocket: { port: 1 } } }] },
    [
      "spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
    ],
  ],
  [
    "init: startup",
    { initContainers: [{ name: "d", image: "i", startupProbe: { tcpSocket: { port: 1 } } }] },
    ["spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without restartPolicy=Always"],
  ],
  [
    "init: name",
    { initContainers: [{ name: "A_", image: "" }] },
    [`spec.initContainers[0].name: Invalid value: "A_": ${LABEL}`, "spec.initContainers[0].image: Required value"],
  ],
];
