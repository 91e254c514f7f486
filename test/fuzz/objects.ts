/** Valid objects of many kinds, from which inputs are made by changes. */
export const NAMESPACE = "fuzz";
/** The name of the object of each kind that exists throughout a run. */
export const FIXED = "fixed";

export type Tree = { [key: string]: unknown };

interface Seed {
  readonly group: string;
  readonly kind: string;
  readonly isClusterScoped?: boolean;
  readonly rest: Tree;
}

const LABELS = { app: "web", tier: "front" };
const POD = {
  containers: [
    {
      name: "main",
      image: "example/web:1",
      args: ["--verbose"],
      ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
      env: [
        { name: "A", value: "1" },
        { name: "B", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      ],
      resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "128Mi" } },
      volumeMounts: [{ name: "data", mountPath: "/data" }],
      readinessProbe: { httpGet: { path: "/", port: "http" } },
    },
  ],
  volumes: [{ name: "data", emptyDir: {} }],
  tolerations: [{ key: "a", operator: "Exists" }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a", "b"] }] }],
      },
    },
  },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway", labelSelector: { matchLabels: LABELS } },
  ],
  hostAliases: [{ ip: "10.0.0.1", hostnames: ["a.example"] }],
};
const TEMPLATE = { metadata: { labels: LABELS }, spec: POD };
const SELECTOR = { matchLabels: LABELS };

const SEEDS: Readonly<Record<string, Seed>> = {
  configmaps: { group: "v1", kind: "ConfigMap", rest: { data: { a: "1", b: "two" }, binaryData: { c: "AAAA" } } },
  secrets: { group: "v1", kind: "Secret", rest: { type: "Opaque", stringData: { a: "1" } } },
  pods: { group: "v1", kind: "Pod", rest: { spec: POD } },
  services: {
    group: "v1",
    kind: "Service",
    rest: { spec: { selector: LABELS, ports: [{ name: "http", port: 80, targetPort: "http" }] } },
  },
  persistentvolumeclaims: {
    group: "v1",
    kind: "PersistentVolumeClaim",
    rest: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
  },
  resourcequotas: { group: "v1", kind: "ResourceQuota", rest: { spec: { hard: { pods: "100000" } } } },
  serviceaccounts: { group: "v1", kind: "ServiceAccount", rest: { imagePullSecrets: [{ name: "a" }] } },
  nodes: {
    group: "v1",
    kind: "Node",
    isClusterScoped: true,
    rest: { spec: { podCIDR: "10.0.0.0/24", taints: [{ key: "a", effect: "NoSchedule" }] } },
  },
  deployments: {
    group: "apps/v1",
    kind: "Deployment",
    rest: { spec: { replicas: 0, selector: SELECTOR, template: TEMPLATE } },
  },
  statefulsets: {
    group: "apps/v1",
    kind: "StatefulSet",
    rest: { spec: { replicas: 0, serviceName: "a", selector: SELECTOR, template: TEMPLATE } },
  },
  cronjobs: {
    group: "batch/v1",
    kind: "CronJob",
    rest: {
      spec: {
        schedule: "0 0 1 1 *",
        suspend: true,
        jobTemplate: { spec: { template: { ...TEMPLATE, spec: { ...POD, restartPolicy: "Never" } } } },
      },
    },
  },
  ingresses: {
    group: "networking.k8s.io/v1",
    kind: "Ingress",
    rest: {
      spec: {
        tls: [{ hosts: ["a.example"], secretName: "tls" }],
        rules: [
          {
            host: "a.example",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "web", port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
  },
  networkpolicies: {
    group: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    rest: {
      spec: {
        podSelector: SELECTOR,
        ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }], ports: [{ port: 80 }] }],
      },
    },
  },
  roles: {
    group: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    rest: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] }] },
  },
  clusterroles: {
    group: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    isClusterScoped: true,
    rest: {
      rules: [{ apiGroups: ["apps"], resources: ["deployments"], verbs: ["*"] }],
      aggregationRule: undefined,
    },
  },
  rolebindings: {
    group: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    rest: {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: FIXED },
      subjects: [{ kind: "ServiceAccount", name: "default", namespace: NAMESPACE }],
    },
  },
  horizontalpodautoscalers: {
    group: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    rest: {
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: FIXED },
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
        ],
      },
    },
  },
  poddisruptionbudgets: {
    group: "policy/v1",
    kind: "PodDisruptionBudget",
    rest: { spec: { minAvailable: 1, selector: SELECTOR } },
  },
  leases: { group: "coordination.k8s.io/v1", kind: "Lease", rest: { spec: { holderIdentity: "a" } } },
  endpointslices: {
    group: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    rest: {
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: true } }],
      ports: [{ name: "http", port: 80 }],
    },
  },
  storageclasses: {
    group: "storage.k8s.io/v1",
    kind: "StorageClass",
    isClusterScoped: true,
    rest: { provisioner: "example.com/none", parameters: { a: "b" } },
  },
  priorityclasses: {
    group: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    isClusterScoped: true,
    rest: { value: 5 },
  },
  validatingadmissionpolicies: {
    group: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    isClusterScoped: true,
    rest: {
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ["none.example"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["nones"] },
          ],
        },
        validations: [{ expression: "object.metadata.name != 'x'" }],
      },
    },
  },
  flowschemas: {
    group: "flowcontrol.apiserver.k8s.io/v1",
    kind: "FlowSchema",
    isClusterScoped: true,
    rest: {
      spec: {
        priorityLevelConfiguration: { name: "global-default" },
        rules: [
          {
            subjects: [{ kind: "User", user: { name: "absent" } }],
            resourceRules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], namespaces: ["*"] }],
          },
        ],
      },
    },
  },
  widgets: {
    group: "fuzz.example/v1",
    kind: "Widget",
    rest: {
      spec: {
        text: "ab",
        either: 1,
        free: { a: { b: 1 } },
        set: ["a", "b"],
        map: [{ key: "a" }, { key: "b", value: "c" }],
        choices: [{ a: 1 }],
      },
    },
  },
};

export const PLURALS: readonly string[] = Object.keys(SEEDS);

function seed(plural: string): Seed {
  const found = SEEDS[plural];
  if (!found) throw new Error(`no seed for ${plural}`);
  return found;
}

/** A new valid object. */
export function objectOf(plural: string, name: string): Tree {
  const { group, kind, rest, isClusterScoped } = seed(plural);
  const place = isClusterScoped ? {} : { namespace: NAMESPACE };
  return structuredClone({
    apiVersion: group,
    kind,
    metadata: { name, ...place, labels: LABELS, annotations: { note: "x" } },
    ...rest,
  });
}

/** The path of the collection, or of one object. */
export function pathOf(plural: string, name?: string): string {
  const { group, isClusterScoped } = seed(plural);
  const root = group.includes("/") ? `/apis/${group}` : `/api/${group}`;
  const place = isClusterScoped ? root : `${root}/namespaces/${NAMESPACE}`;
  return `${place}/${plural}${name === undefined ? "" : `/${name}`}`;
}
