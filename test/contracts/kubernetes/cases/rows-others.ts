import type { Row } from "./row.ts";

const CONTAINERS = [{ name: "c", image: "i" }];
const THEN = "2024-01-01T00:00:00Z";

/** Kinds of the other groups. */
export const OTHER_ROWS: readonly Row[] = [
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    plural: "deployments",
    given: {
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: {
          metadata: { labels: { a: "b" } },
          spec: {
            containers: [
              { name: "c", image: "i" },
              { name: "d", image: "j" },
            ],
          },
        },
        replicas: 3,
      },
    },
    status: { replicas: 3, readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
    cells: ["NAME", "1/3", 2, 1, "AGE", "c,d", "i,j", "a=b"],
  },
  {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    plural: "replicasets",
    given: {
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: CONTAINERS } },
      },
    },
    status: { replicas: 1 },
    cells: ["NAME", 1, 1, 0, "AGE", "c", "i", "a=b"],
  },
  {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    plural: "statefulsets",
    given: {
      spec: {
        serviceName: "s",
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: CONTAINERS } },
        volumeClaimTemplates: [
          {
            metadata: { name: "d" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      },
    },
    status: { replicas: 1, readyReplicas: 1 },
    cells: ["NAME", "1/1", "AGE", "c", "i"],
  },
  {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    plural: "daemonsets",
    given: {
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: {
          metadata: { labels: { a: "b" } },
          spec: { containers: CONTAINERS, nodeSelector: { b: "c", a: "d" } },
        },
      },
    },
    status: {
      desiredNumberScheduled: 4,
      currentNumberScheduled: 3,
      numberReady: 2,
      updatedNumberScheduled: 1,
      numberMisscheduled: 0,
    },
    cells: ["NAME", 4, 3, 2, 1, 0, "a=d,b=c", "AGE", "c", "i", "a=b"],
  },
  {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    plural: "controllerrevisions",
    given: { data: { spec: {} }, revision: 1 },
    cells: ["NAME", "<none>", 1, "AGE"],
  },
  {
    apiVersion: "batch/v1",
    kind: "Job",
    plural: "jobs",
    given: {
      spec: {
        template: { metadata: { labels: { a: "b" } }, spec: { containers: CONTAINERS, restartPolicy: "Never" } },
        manualSelector: true,
        selector: { matchLabels: { a: "b" } },
      },
    },
    status: {
      startTime: "2024-01-01T00:00:00Z",
      completionTime: "2024-01-01T00:05:12Z",
      succeeded: 1,
      conditions: [
        { type: "SuccessCriteriaMet", status: "True", lastTransitionTime: THEN, reason: "R", message: "m" },
        { type: "Complete", status: "True", lastTransitionTime: THEN, reason: "R", message: "m" },
      ],
    },
    cells: ["NAME", "Complete", "1/1", "5m12s", "AGE", "c", "i", "a=b"],
  },
  {
    apiVersion: "batch/v1",
    kind: "CronJob",
    plural: "cronjobs",
    given: {
      spec: {
        schedule: "* * * * *",
        jobTemplate: { spec: { template: { spec: { containers: CONTAINERS, restartPolicy: "OnFailure" } } } },
        suspend: true,
        timeZone: "Etc/UTC",
      },
    },
    cells: ["NAME", "* * * * *", "Etc/UTC", "True", 0, "<none>", "AGE", "c", "i", "<none>"],
  },
  {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    plural: "horizontalpodautoscalers",
    given: {
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" },
        behavior: { scaleDown: { stabilizationWindowSeconds: 5 } },
      },
    },
    status: {
      currentReplicas: 2,
      desiredReplicas: 2,
      currentMetrics: [
        { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 33, averageValue: "0" } } },
      ],
    },
    cells: ["NAME", "Deployment/d", "cpu: 33%/80%", "1", 3, 2, "AGE"],
  },
  {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    plural: "horizontalpodautoscalers",
    given: {
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" },
        behavior: { scaleDown: { stabilizationWindowSeconds: 5 } },
        metrics: [
          { type: "Pods", pods: { metric: { name: "q" }, target: { type: "AverageValue", averageValue: "100" } } },
          { type: "External", external: { metric: { name: "e" }, target: { type: "Value", value: "5" } } },
          { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } } },
        ],
      },
    },
    cells: ["NAME", "Deployment/d", "<unknown>/100, <unknown>/5 + 1 more...", "1", 3, 0, "AGE"],
  },
  {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    given: { spec: { maxUnavailable: "25%", selector: {} } },
    status: { disruptionsAllowed: 2, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    cells: ["NAME", "N/A", "25%", 2, "AGE"],
  },
  {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    given: { spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } } },
    cells: ["NAME", "1", "N/A", 0, "AGE"],
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    plural: "networkpolicies",
    given: { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } },
    cells: ["NAME", "<none>", "AGE"],
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    plural: "networkpolicies",
    given: {
      spec: {
        podSelector: {
          matchLabels: { z: "1" },
          matchExpressions: [
            { key: "a", operator: "In", values: ["y", "x"] },
            { key: "m", operator: "Exists" },
            { key: "n", operator: "DoesNotExist" },
          ],
        },
      },
    },
    cells: ["NAME", "a in (x,y),m,!n,z=1", "AGE"],
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    plural: "ingresses",
    given: {
      spec: {
        ingressClassName: "c",
        tls: [{ hosts: ["a.example.com"] }],
        rules: [
          {
            host: "a.example.com",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
            },
          },
          {
            host: "b.example.com",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
            },
          },
          {
            host: "c.example.com",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
            },
          },
          {
            host: "d.example.com",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
    status: { loadBalancer: { ingress: [{ ip: "2.2.2.2" }, { hostname: "a.b" }] } },
    cells: ["NAME", "c", "a.example.com,b.example.com,c.example.com + 1 more...", "2.2.2.2,a.b", "80, 443", "AGE"],
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    plural: "ingresses",
    given: { spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } } },
    cells: ["NAME", "<none>", "*", "", "80", "AGE"],
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    plural: "ingressclasses",
    clusterScoped: true,
    given: { spec: { controller: "example.com/c", parameters: { kind: "X", name: "y" } } },
    cells: ["NAME", "example.com/c", "X/y", "AGE"],
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    plural: "ingressclasses",
    clusterScoped: true,
    given: { spec: { controller: "example.com/c" } },
    cells: ["NAME", "example.com/c", "<none>", "AGE"],
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    plural: "storageclasses",
    clusterScoped: true,
    given: { provisioner: "example.com/p", allowVolumeExpansion: true },
    cells: ["NAME", "example.com/p", "Delete", "Immediate", true, "AGE"],
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    plural: "csidrivers",
    clusterScoped: true,
    given: { spec: { tokenRequests: [{ audience: "a" }, { audience: "b" }] } },
    cells: ["NAME", true, false, false, "a,b", false, "Persistent", "AGE"],
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    plural: "csinodes",
    clusterScoped: true,
    given: { spec: { drivers: [{ name: "csi.example.com", nodeID: "n", topologyKeys: [] }] } },
    cells: ["NAME", 1, "AGE"],
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    plural: "volumeattachments",
    clusterScoped: true,
    given: { spec: { attacher: "a.example.com", nodeName: "n", source: { persistentVolumeName: "pv" } } },
    status: { attached: true },
    cells: ["NAME", "a.example.com", "pv", "n", true, "AGE"],
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttributesClass",
    plural: "volumeattributesclasses",
    clusterScoped: true,
    given: { driverName: "csi.example.com", parameters: { a: "b" } },
    cells: ["NAME", "csi.example.com", "AGE"],
  },
  {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    plural: "priorityclasses",
    clusterScoped: true,
    given: { value: 5 },
    cells: ["NAME", 5, false, "AGE", "PreemptLowerPriority"],
  },
  {
    apiVersion: "node.k8s.io/v1",
    kind: "RuntimeClass",
    plural: "runtimeclasses",
    clusterScoped: true,
    given: { handler: "runc", overhead: { podFixed: { cpu: "1000m" } } },
    cells: ["NAME", "runc", "AGE"],
  },
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    plural: "endpointslices",
    given: { addressType: "IPv4", endpoints: [{ addresses: ["1.2.3.4"] }], ports: [{ port: 1 }] },
    cells: ["NAME", "IPv4", "1", "1.2.3.4", "AGE"],
  },
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    plural: "endpointslices",
    given: { addressType: "IPv4", endpoints: [], ports: [] },
    cells: ["NAME", "IPv4", "<unset>", "<unset>", "AGE"],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    plural: "rolebindings",
    given: {
      roleRef: { kind: "Role", name: "x" },
      subjects: [
        { kind: "User", name: "u" },
        { kind: "ServiceAccount", name: "s", namespace: "n" },
      ],
    },
    cells: ["NAME", "Role/x", "AGE", "u", "", "n/s"],
  },
  {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    plural: "resourceclaims",
    given: { spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "x" } }] } } },
    cells: ["NAME", "pending", "AGE"],
  },
  {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    plural: "resourceslices",
    clusterScoped: true,
    given: {
      spec: {
        driver: "d.example.com",
        pool: { name: "p", resourceSliceCount: 1 },
        nodeName: "n",
        devices: [{ name: "d" }],
      },
    },
    cells: ["NAME", "n", "d.example.com", "p", "AGE"],
  },
  {
    apiVersion: "resource.k8s.io/v1",
    kind: "DeviceClass",
    plural: "deviceclasses",
    clusterScoped: true,
    given: { spec: {} },
    cells: ["NAME", "AGE"],
  },
  {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    plural: "leases",
    given: { spec: { holderIdentity: "me" } },
    cells: ["NAME", "me", "AGE"],
  },
];
