import type { Standard } from "./standard-workloads.ts";

/** Kinds without pods. */
export const OTHERS: readonly Standard[] = [
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    plural: "configmaps",
    given: { data: {}, binaryData: {}, immutable: false },
    wanted: { immutable: false },
  },
  { apiVersion: "v1", kind: "Secret", plural: "secrets", given: { data: {} }, wanted: { type: "Opaque" } },
  { apiVersion: "v1", kind: "ServiceAccount", plural: "serviceaccounts", given: { secrets: [] }, wanted: {} },
  {
    apiVersion: "v1",
    kind: "Endpoints",
    plural: "endpoints",
    given: { subsets: [{ addresses: [{ ip: "1.2.3.4" }], ports: [{ port: 1 }] }] },
    wanted: { subsets: [{ addresses: [{ ip: "1.2.3.4" }], ports: [{ port: 1, protocol: "TCP" }] }] },
  },
  {
    apiVersion: "v1",
    kind: "LimitRange",
    plural: "limitranges",
    given: {
      spec: {
        limits: [
          { type: "Container", max: { cpu: "2" }, min: { cpu: "100m" } },
          { type: "Pod", max: { memory: "1024Mi" } },
        ],
      },
    },
    wanted: {
      spec: {
        limits: [
          {
            type: "Container",
            max: { cpu: "2" },
            min: { cpu: "100m" },
            default: { cpu: "2" },
            defaultRequest: { cpu: "2" },
          },
          { type: "Pod", max: { memory: "1Gi" } },
        ],
      },
    },
  },
  {
    apiVersion: "v1",
    kind: "ResourceQuota",
    plural: "resourcequotas",
    given: { spec: { hard: { pods: "10", "requests.cpu": "1000m" } } },
    wanted: { spec: { hard: { pods: "10", "requests.cpu": "1" } }, status: {} },
  },
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
    given: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } } },
    wanted: {
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, volumeMode: "Filesystem" },
      status: { phase: "Pending" },
    },
  },
  {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    plural: "controllerrevisions",
    given: { data: { spec: {} }, revision: 1 },
    wanted: { data: { spec: {} }, revision: 1 },
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
    wanted: {
      spec: {
        scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" },
        minReplicas: 1,
        maxReplicas: 3,
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
        ],
        behavior: {
          scaleUp: {
            stabilizationWindowSeconds: 0,
            selectPolicy: "Max",
            policies: [
              { type: "Pods", value: 4, periodSeconds: 15 },
              { type: "Percent", value: 100, periodSeconds: 15 },
            ],
          },
          scaleDown: {
            stabilizationWindowSeconds: 5,
            selectPolicy: "Max",
            policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
          },
        },
      },
      status: { desiredReplicas: 0, currentMetrics: null },
    },
  },
  {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    generation: 1,
    given: { spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } } },
    wanted: {
      spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } },
      status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    },
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    variant: "with ingress rules",
    plural: "networkpolicies",
    generation: 1,
    given: { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } },
    wanted: {
      spec: { podSelector: {}, ingress: [{ ports: [{ protocol: "TCP", port: 80 }] }], policyTypes: ["Ingress"] },
    },
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    variant: "with egress rules",
    plural: "networkpolicies",
    generation: 1,
    given: { spec: { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8" } }] }] } },
    wanted: {
      spec: {
        podSelector: {},
        egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8" } }] }],
        policyTypes: ["Ingress", "Egress"],
      },
    },
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    plural: "ingresses",
    generation: 1,
    given: {
      spec: {
        rules: [
          {
            host: "a.example.com",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
    wanted: {
      spec: {
        rules: [
          {
            host: "a.example.com",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
            },
          },
        ],
      },
      status: { loadBalancer: {} },
    },
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    plural: "ingressclasses",
    clusterScoped: true,
    generation: 1,
    given: { spec: { controller: "example.com/c", parameters: { kind: "X", name: "y" } } },
    wanted: { spec: { controller: "example.com/c", parameters: { kind: "X", name: "y", scope: "Cluster" } } },
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    plural: "storageclasses",
    clusterScoped: true,
    given: { provisioner: "example.com/p" },
    wanted: { provisioner: "example.com/p", reclaimPolicy: "Delete", volumeBindingMode: "Immediate" },
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    plural: "csidrivers",
    clusterScoped: true,
    given: { spec: {} },
    wanted: {
      spec: {
        attachRequired: true,
        podInfoOnMount: false,
        volumeLifecycleModes: ["Persistent"],
        storageCapacity: false,
        fsGroupPolicy: "ReadWriteOnceWithFSType",
        requiresRepublish: false,
        seLinuxMount: false,
      },
    },
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    plural: "csinodes",
    clusterScoped: true,
    given: { spec: { drivers: [{ name: "csi.example.com", nodeID: "n", topologyKeys: [] }] } },
    wanted: { spec: { drivers: [{ name: "csi.example.com", nodeID: "n", topologyKeys: null }] } },
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIStorageCapacity",
    plural: "csistoragecapacities",
    given: { storageClassName: "s", capacity: "1024Mi" },
    wanted: { storageClassName: "s", capacity: "1Gi" },
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    plural: "volumeattachments",
    clusterScoped: true,
    given: { spec: { attacher: "a.example.com", nodeName: "n", source: { persistentVolumeName: "pv" } } },
    wanted: {
      spec: { attacher: "a.example.com", source: { persistentVolumeName: "pv" }, nodeName: "n" },
      status: { attached: false },
    },
  },
  {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    plural: "priorityclasses",
    clusterScoped: true,
    generation: 1,
    given: { value: 5 },
    wanted: { value: 5, preemptionPolicy: "PreemptLowerPriority" },
  },
  {
    apiVersion: "node.k8s.io/v1",
    kind: "RuntimeClass",
    plural: "runtimeclasses",
    clusterScoped: true,
    given: { handler: "runc", overhead: { podFixed: { cpu: "1000m" } } },
    wanted: { handler: "runc", overhead: { podFixed: { cpu: "1" } } },
  },
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    plural: "endpointslices",
    generation: 1,
    given: { addressType: "IPv4", endpoints: [{ addresses: ["1.2.3.4"] }], ports: [{ port: 1 }] },
    wanted: {
      addressType: "IPv4",
      endpoints: [{ addresses: ["1.2.3.4"], conditions: {} }],
      ports: [{ name: "", protocol: "TCP", port: 1 }],
    },
  },
  { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", plural: "roles", given: {}, wanted: { rules: null } },
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
    wanted: {
      subjects: [
        { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "u" },
        { kind: "ServiceAccount", name: "s", namespace: "n" },
      ],
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "x" },
    },
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    plural: "clusterrolebindings",
    clusterScoped: true,
    given: { roleRef: { kind: "ClusterRole", name: "x" } },
    wanted: { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "x" } },
  },
  {
    apiVersion: "resource.k8s.io/v1",
    kind: "DeviceClass",
    plural: "deviceclasses",
    clusterScoped: true,
    generation: 1,
    given: { spec: {} },
    wanted: { spec: {} },
  },
  {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    plural: "resourceclaims",
    given: { spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "x" } }] } } },
    wanted: {
      spec: {
        devices: {
          requests: [{ name: "r", exactly: { deviceClassName: "x", allocationMode: "ExactCount", count: 1 } }],
        },
      },
      status: {},
    },
  },
  {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaimTemplate",
    plural: "resourceclaimtemplates",
    given: { spec: { spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "x" } }] } } } },
    wanted: {
      spec: {
        metadata: {},
        spec: {
          devices: {
            requests: [{ name: "r", exactly: { deviceClassName: "x", allocationMode: "ExactCount", count: 1 } }],
          },
        },
      },
    },
  },
  {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    plural: "resourceslices",
    clusterScoped: true,
    generation: 1,
    given: {
      spec: {
        driver: "d.example.com",
        pool: { name: "p", resourceSliceCount: 1 },
        nodeName: "n",
        devices: [{ name: "d" }],
      },
    },
    wanted: {
      spec: {
        driver: "d.example.com",
        pool: { name: "p", generation: 0, resourceSliceCount: 1 },
        nodeName: "n",
        devices: [{ name: "d" }],
      },
    },
  },
];
