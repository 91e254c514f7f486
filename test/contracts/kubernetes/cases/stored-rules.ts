import type { CaseGroup, ContractCase, Json } from "../interface.ts";
import { invalid } from "./shorthands.ts";
import { collection } from "./defaults.ts";

type Row = readonly [
  apiVersion: string,
  kind: string,
  plural: string,
  clusterScoped: boolean,
  given: Json,
  causes: readonly string[],
];

const JOB = { spec: { template: { spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" } } } };

/** What is given of an object, and why it is refused. */
const ROWS: readonly Row[] = [
  ["batch/v1", "CronJob", "cronjobs", false, { spec: { jobTemplate: JOB } }, ["spec.schedule: Required value"]],
  [
    "batch/v1",
    "CronJob",
    "cronjobs",
    false,
    { spec: { schedule: "bogus", jobTemplate: JOB } },
    ['spec.schedule: Invalid value: "bogus": expected exactly 5 fields, found 1: [bogus]'],
  ],
  [
    "batch/v1",
    "CronJob",
    "cronjobs",
    false,
    { spec: { schedule: "TZ=UTC * * * * *", jobTemplate: JOB } },
    [
      'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ],
  ],
  [
    "policy/v1",
    "PodDisruptionBudget",
    "poddisruptionbudgets",
    false,
    { spec: { minAvailable: -1 } },
    ["spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"],
  ],
  [
    "policy/v1",
    "PodDisruptionBudget",
    "poddisruptionbudgets",
    false,
    { spec: { minAvailable: "x" } },
    [
      "spec.minAvailable: Invalid value: \"x\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  ],
  [
    "policy/v1",
    "PodDisruptionBudget",
    "poddisruptionbudgets",
    false,
    { spec: { minAvailable: "150%" } },
    ['spec.minAvailable: Invalid value: "150%": must not be greater than 100%'],
  ],
  [
    "policy/v1",
    "PodDisruptionBudget",
    "poddisruptionbudgets",
    false,
    { spec: { unhealthyPodEvictionPolicy: "X" } },
    ['spec.unhealthyPodEvictionPolicy: Unsupported value: "X": supported values: "AlwaysAllow", "IfHealthyBudget"'],
  ],
  [
    "networking.k8s.io/v1",
    "NetworkPolicy",
    "networkpolicies",
    false,
    { spec: { podSelector: {}, policyTypes: ["X"] } },
    ['spec.policyTypes[0]: Unsupported value: "X": supported values: "Ingress", "Egress"'],
  ],
  [
    "networking.k8s.io/v1",
    "NetworkPolicy",
    "networkpolicies",
    false,
    { spec: { podSelector: {}, ingress: [{ from: [{}] }] } },
    ["spec.ingress[0].from[0]: Required value: must specify a peer"],
  ],
  [
    "networking.k8s.io/v1",
    "NetworkPolicy",
    "networkpolicies",
    false,
    { spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "bogus" } }] }] } },
    [
      'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "bogus": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
  ],
  [
    "networking.k8s.io/v1",
    "NetworkPolicy",
    "networkpolicies",
    false,
    { spec: { podSelector: {}, ingress: [{ ports: [{ port: 0, protocol: "X" }] }] } },
    [
      'spec.ingress[0].ports[0].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"',
      "spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
    ],
  ],
  [
    "networking.k8s.io/v1",
    "Ingress",
    "ingresses",
    false,
    { spec: {} },
    ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"],
  ],
  [
    "networking.k8s.io/v1",
    "Ingress",
    "ingresses",
    false,
    { spec: { rules: [{ host: "A_b" }] } },
    [
      "spec.rules[0].host: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "networking.k8s.io/v1",
    "Ingress",
    "ingresses",
    false,
    {
      spec: {
        rules: [
          {
            host: "a.b",
            http: {
              paths: [{ path: "x", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
    ['spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path'],
  ],
  [
    "networking.k8s.io/v1",
    "Ingress",
    "ingresses",
    false,
    { spec: { rules: [{ http: { paths: [{ path: "/", backend: {} }] } }] } },
    ["spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"],
  ],
  [
    "networking.k8s.io/v1",
    "Ingress",
    "ingresses",
    false,
    { spec: { rules: [{ http: { paths: [] } }] } },
    ["spec.rules[0].http.paths: Required value"],
  ],
  [
    "networking.k8s.io/v1",
    "IngressClass",
    "ingressclasses",
    true,
    { spec: { controller: "bogus" } },
    ['spec.controller: Invalid value: "bogus": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  ["networking.k8s.io/v1", "IngressClass", "ingressclasses", true, { spec: {} }, ["spec.controller: Required value"]],
  ["storage.k8s.io/v1", "StorageClass", "storageclasses", true, {}, ["provisioner: Required value"]],
  [
    "storage.k8s.io/v1",
    "StorageClass",
    "storageclasses",
    true,
    { provisioner: "x", reclaimPolicy: "X", volumeBindingMode: "Y" },
    [
      'reclaimPolicy: Unsupported value: "X": supported values: "Delete", "Retain"',
      'volumeBindingMode: Unsupported value: "Y": supported values: "Immediate", "WaitForFirstConsumer"',
    ],
  ],
  [
    "storage.k8s.io/v1",
    "CSIDriver",
    "csidrivers",
    true,
    { spec: { fsGroupPolicy: "X" } },
    ['spec.fsGroupPolicy: Unsupported value: "X": supported values: "File", "None", "ReadWriteOnceWithFSType"'],
  ],
  [
    "storage.k8s.io/v1",
    "CSINode",
    "csinodes",
    true,
    { spec: { drivers: [{ name: "", nodeID: "" }] } },
    [
      "spec.drivers[0].name: Required value",
      "spec.drivers[0].name: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      "spec.drivers[0].nodeID: Required value",
    ],
  ],
  [
    "storage.k8s.io/v1",
    "CSIStorageCapacity",
    "csistoragecapacities",
    false,
    {},
    [
      "storageClassName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "storage.k8s.io/v1",
    "VolumeAttributesClass",
    "volumeattributesclasses",
    true,
    {},
    ["driverName: Required value", "parameters: Required value: must contain at least one key/value pair"],
  ],
  [
    "node.k8s.io/v1",
    "RuntimeClass",
    "runtimeclasses",
    true,
    {},
    [
      "handler: Invalid value: \"\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "node.k8s.io/v1",
    "RuntimeClass",
    "runtimeclasses",
    true,
    { handler: "A_B" },
    [
      "handler: Invalid value: \"A_B\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  ["discovery.k8s.io/v1", "EndpointSlice", "endpointslices", false, { endpoints: [] }, ["addressType: Required value"]],
  [
    "discovery.k8s.io/v1",
    "EndpointSlice",
    "endpointslices",
    false,
    { addressType: "X", endpoints: [] },
    ['addressType: Unsupported value: "X": supported values: "FQDN", "IPv4", "IPv6"'],
  ],
  [
    "discovery.k8s.io/v1",
    "EndpointSlice",
    "endpointslices",
    false,
    { addressType: "IPv4", endpoints: [{ addresses: [] }] },
    ["endpoints[0].addresses: Required value: must contain at least 1 address"],
  ],
  [
    "discovery.k8s.io/v1",
    "EndpointSlice",
    "endpointslices",
    false,
    { addressType: "IPv4", endpoints: [], ports: [{ port: 0, name: "A_" }] },
    [
      "ports[0].name: Invalid value: \"A_\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "apps/v1",
    "ControllerRevision",
    "controllerrevisions",
    false,
    { revision: -1, data: {} },
    ["revision: Invalid value: -1: must be greater than or equal to 0"],
  ],
  [
    "apps/v1",
    "ControllerRevision",
    "controllerrevisions",
    false,
    { revision: 1 },
    ["data: Required value: data is mandatory"],
  ],
  ["v1", "PodTemplate", "podtemplates", false, {}, ["template.spec.containers: Required value"]],
  [
    "coordination.k8s.io/v1",
    "Lease",
    "leases",
    false,
    { spec: { leaseDurationSeconds: 0 } },
    ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
  ],
];

function isInvalid([apiVersion, kind, plural, clusterScoped, given, causes]: Row): ContractCase {
  return {
    name: `a ${kind} is refused: ${causes.map((c) => c.slice(0, 70)).join("; ")}`,
    async run(c) {
      const path = collection(c, { apiVersion, plural, ...(clusterScoped ? { clusterScoped } : {}) });
      const metadata = { name: clusterScoped ? c.unique("refused") : "x" };
      invalid(await c.api.post(path, { apiVersion, kind, metadata, ...given }), ...causes);
    },
  };
}

export const storedRules: CaseGroup = { title: "validation of kinds without controllers", cases: ROWS.map(isInvalid) };
