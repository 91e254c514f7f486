import { ATOMIC, METADATA, SET, type Shape } from "../schema/shape.ts";

/*
 * How lists and maps of the built-in kinds merge, as the API reference gives it (patch merge key, list type, list map keys, map type).
 * What is not named here merges by its value: objects field by field, lists and scalars as a whole.
 */

type Fields = Readonly<Record<string, Shape>>;

const PLAIN: Shape = { kind: "struct", field: () => PLAIN, isKey: () => false };

function struct(fields: Fields): Shape {
  return {
    kind: "struct",
    field: (name) => (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? PLAIN,
    isKey: () => false,
  };
}

/** Members of a union, of which a strategic merge keeps those that the patch names. */
function union(fields: Fields = {}): Shape {
  return { ...(struct(fields) as Extract<Shape, { kind: "struct" }>), retainKeys: true };
}

/** A list of items found by keys; the first key is also the strategic merge key. */
function list(keys: string, item: Shape = PLAIN, keyDefaults: Readonly<Record<string, string>> = {}): Shape {
  return { kind: "map", keys: keys.split(" "), keyDefaults, item };
}

const CONDITIONS = list("type");
const STATUS = struct({ conditions: CONDITIONS });
const NAMED = list("name");

const ENV = list(
  "name",
  struct({
    valueFrom: struct({ configMapKeyRef: ATOMIC, secretKeyRef: ATOMIC, fieldRef: ATOMIC, resourceFieldRef: ATOMIC }),
  }),
);

const CONTAINER = struct({
  env: ENV,
  ports: list("containerPort protocol", PLAIN, { protocol: "TCP" }),
  volumeMounts: list("mountPath"),
  volumeDevices: list("devicePath"),
  resources: struct({ claims: NAMED }),
});

const POD_SPEC = struct({
  containers: list("name", CONTAINER),
  initContainers: list("name", CONTAINER),
  ephemeralContainers: list("name", CONTAINER),
  volumes: list("name", union({ projected: PLAIN })),
  imagePullSecrets: NAMED,
  hostAliases: list("ip"),
  nodeSelector: ATOMIC,
  topologySpreadConstraints: list("topologyKey whenUnsatisfiable", struct({ labelSelector: ATOMIC })),
  schedulingGates: NAMED,
  resourceClaims: NAMED,
  affinity: struct({ nodeAffinity: struct({ requiredDuringSchedulingIgnoredDuringExecution: ATOMIC }) }),
});

const POD_TEMPLATE = struct({ metadata: METADATA, spec: POD_SPEC });
const WORKLOAD = struct({ selector: ATOMIC, template: POD_TEMPLATE, strategy: union(), updateStrategy: union() });
const CLAIM_SPEC = struct({ selector: ATOMIC, dataSource: ATOMIC });
const JOB_SPEC = struct({ selector: ATOMIC, template: POD_TEMPLATE });
const WEBHOOKS = list("name", struct({ namespaceSelector: ATOMIC, objectSelector: ATOMIC }));

/** By "group/Kind": the fields beside apiVersion, kind and metadata. */
const KINDS: Readonly<Record<string, Fields>> = {
  "/Pod": {
    spec: POD_SPEC,
    status: struct({ conditions: CONDITIONS, podIPs: list("ip"), resourceClaimStatuses: NAMED }),
  },
  "/PodTemplate": { template: POD_TEMPLATE },
  "/ReplicationController": { spec: struct({ selector: ATOMIC, template: POD_TEMPLATE }), status: STATUS },
  "/Service": {
    spec: struct({ ports: list("port protocol", PLAIN, { protocol: "TCP" }), selector: ATOMIC }),
    status: STATUS,
  },
  "/Node": {
    spec: struct({ podCIDRs: SET, configSource: PLAIN }),
    status: struct({ conditions: CONDITIONS, addresses: list("type") }),
  },
  "/Namespace": { status: STATUS },
  "/Event": { involvedObject: ATOMIC, related: ATOMIC },
  "events.k8s.io/Event": { regarding: ATOMIC, related: ATOMIC },
  "apps/ControllerRevision": { data: ATOMIC },
  "/ServiceAccount": { secrets: NAMED },
  "/PersistentVolume": { spec: struct({ claimRef: PLAIN, nodeAffinity: struct({ required: ATOMIC }) }) },
  "/PersistentVolumeClaim": { spec: CLAIM_SPEC, status: STATUS },
  "/ResourceQuota": { spec: struct({ scopeSelector: ATOMIC }) },
  "apps/Deployment": { spec: WORKLOAD, status: STATUS },
  "apps/StatefulSet": { spec: WORKLOAD, status: STATUS },
  "apps/DaemonSet": { spec: WORKLOAD, status: STATUS },
  "apps/ReplicaSet": { spec: WORKLOAD, status: STATUS },
  "batch/Job": { spec: JOB_SPEC, status: struct({ conditions: ATOMIC }) },
  "batch/CronJob": { spec: struct({ jobTemplate: struct({ metadata: METADATA, spec: JOB_SPEC }) }) },
  "policy/PodDisruptionBudget": { spec: struct({ selector: ATOMIC }), status: STATUS },
  "autoscaling/HorizontalPodAutoscaler": { status: STATUS },
  "networking.k8s.io/NetworkPolicy": { spec: struct({ podSelector: ATOMIC }) },
  "networking.k8s.io/Ingress": { spec: struct({ defaultBackend: struct({ resource: ATOMIC }) }) },
  "certificates.k8s.io/CertificateSigningRequest": { status: STATUS },
  "apiextensions.k8s.io/CustomResourceDefinition": { spec: PLAIN, status: STATUS },
  "apiregistration.k8s.io/APIService": { status: STATUS },
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": { webhooks: WEBHOOKS },
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": { webhooks: WEBHOOKS },
  "storage.k8s.io/CSIDriver": { spec: struct({ volumeLifecycleModes: SET }) },
  "storage.k8s.io/CSINode": { spec: struct({ drivers: NAMED }) },
  "rbac.authorization.k8s.io/ClusterRole": { aggregationRule: PLAIN },
  "rbac.authorization.k8s.io/RoleBinding": { roleRef: ATOMIC },
  "rbac.authorization.k8s.io/ClusterRoleBinding": { roleRef: ATOMIC },
};

/** The shape of a built-in kind, whatever its version; kinds that are not in the table merge by their values. */
export function builtinShape(type: { readonly apiVersion: string; readonly kind: string }): Shape {
  const slash = type.apiVersion.indexOf("/");
  const group = slash < 0 ? "" : type.apiVersion.slice(0, slash);
  const key = `${group}/${type.kind}`;
  return struct({
    ...(Object.hasOwn(KINDS, key) ? KINDS[key] : {}),
    apiVersion: ATOMIC,
    kind: ATOMIC,
    metadata: METADATA,
  });
}

/** The same by the name of the kind alone: among the built-in ones it is enough. */
export function builtinShapeOfKind(kind: string): Shape {
  const group =
    Object.keys(KINDS)
      .find((key) => key.endsWith(`/${kind}`))
      ?.split("/")[0] ?? "";
  return builtinShape({ apiVersion: group === "" ? "v1" : `${group}/v1`, kind });
}
