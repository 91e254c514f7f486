import type { Row } from "./row.ts";

const CONTAINERS = [{ name: "c", image: "i" }];
const THEN = "2024-01-01T00:00:00Z";

/** Kinds of the core group. */
export const CORE_ROWS: readonly Row[] = [
  {
    apiVersion: "v1",
    kind: "Service",
    plural: "services",
    given: { spec: { type: "ExternalName", externalName: "x.example.com" } },
    cells: ["NAME", "ExternalName", "<none>", "x.example.com", "<none>", "AGE", "<none>"],
  },
  {
    apiVersion: "v1",
    kind: "Service",
    plural: "services",
    given: { spec: { clusterIP: "None", selector: { a: "b" } } },
    cells: ["NAME", "ClusterIP", "None", "<none>", "<none>", "AGE", "a=b"],
  },
  {
    apiVersion: "v1",
    kind: "Endpoints",
    plural: "endpoints",
    given: { subsets: [{ addresses: [{ ip: "1.2.3.4" }], ports: [{ port: 1 }] }] },
    cells: ["NAME", "1.2.3.4:1", "AGE"],
  },
  {
    apiVersion: "v1",
    kind: "Endpoints",
    plural: "endpoints",
    given: {
      subsets: [
        {
          addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }, { ip: "10.0.0.3" }, { ip: "10.0.0.4" }],
          ports: [{ port: 1 }],
        },
      ],
    },
    cells: ["NAME", "10.0.0.1:1,10.0.0.2:1,10.0.0.3:1 + 1 more...", "AGE"],
  },
  { apiVersion: "v1", kind: "Endpoints", plural: "endpoints", given: {}, cells: ["NAME", "<none>", "AGE"] },
  {
    apiVersion: "v1",
    kind: "ReplicationController",
    plural: "replicationcontrollers",
    given: { spec: { template: { metadata: { labels: { a: "b" } }, spec: { containers: CONTAINERS } } } },
    status: { replicas: 2, readyReplicas: 1 },
    cells: ["NAME", 1, 2, 1, "AGE", "c", "i", "a=b"],
  },
  {
    apiVersion: "v1",
    kind: "PodTemplate",
    plural: "podtemplates",
    given: { template: { metadata: { labels: { a: "b" } }, spec: { containers: CONTAINERS } } },
    cells: ["NAME", "c", "i", "a=b"],
  },
  {
    apiVersion: "v1",
    kind: "ResourceQuota",
    plural: "resourcequotas",
    given: { spec: { hard: { pods: "10", "requests.cpu": "1000m", "limits.cpu": "2" } } },
    status: { hard: { pods: "10", "requests.cpu": "1000m", "limits.cpu": "2" }, used: { pods: "3" } },
    cells: ["NAME", "pods: 3/10, requests.cpu: 0/1", "limits.cpu: 0/2", "AGE"],
  },
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
    given: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } } },
    cells: ["NAME", "Pending", "", "", "", "", "<unset>", "AGE", "Filesystem"],
  },
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
    given: {
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1024Mi" } },
        volumeName: "pv1",
        storageClassName: "fast",
      },
    },
    status: { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "2Gi" } },
    cells: ["NAME", "Bound", "pv1", "2Gi", "RWO", "fast", "<unset>", "AGE", "Filesystem"],
  },
  {
    apiVersion: "v1",
    kind: "PersistentVolume",
    plural: "persistentvolumes",
    clusterScoped: true,
    given: {
      spec: {
        capacity: { storage: "1024Mi" },
        accessModes: ["ReadWriteOnce", "ReadOnlyMany"],
        hostPath: { path: "/x" },
        storageClassName: "fast",
        claimRef: { namespace: "n", name: "c" },
      },
    },
    status: { phase: "Failed", reason: "Broken", message: "m" },
    cells: ["NAME", "1Gi", "RWO,ROX", "Retain", "Failed", "n/c", "fast", "<unset>", "Broken", "AGE", "Filesystem"],
  },
  {
    apiVersion: "v1",
    kind: "Node",
    plural: "nodes",
    clusterScoped: true,
    metadata: { labels: { "node-role.kubernetes.io/worker": "", "kubernetes.io/role": "b" } },
    given: {
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: "Ready", status: "True", lastTransitionTime: THEN, reason: "R", message: "m" }],
        addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
        nodeInfo: {
          kubeletVersion: "v1.34.0",
          osImage: "os",
          machineID: "",
          systemUUID: "",
          bootID: "",
          kernelVersion: "",
          containerRuntimeVersion: "",
          kubeProxyVersion: "",
          operatingSystem: "",
          architecture: "",
        },
      },
    },
    cells: [
      "NAME",
      "Ready,SchedulingDisabled",
      "b,worker",
      "AGE",
      "v1.34.0",
      "10.0.0.1",
      "<none>",
      "os",
      "<unknown>",
      "<unknown>",
    ],
  },
  {
    apiVersion: "v1",
    kind: "Node",
    plural: "nodes",
    clusterScoped: true,
    given: {},
    cells: ["NAME", "Unknown", "<none>", "AGE", "", "<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"],
  },
  {
    apiVersion: "v1",
    kind: "Event",
    plural: "events",
    given: {
      involvedObject: { namespace: "NAMESPACE", kind: "Pod", name: "p", fieldPath: "spec" },
      reason: "R",
      message: " m ",
      type: "Normal",
      source: { component: "c", host: "h" },
      count: 3,
    },
    cells: ["<unknown>", "Normal", "R", "pod/p", "spec", "c, h", "m", "<unknown>", 3, "NAME"],
  },
];
