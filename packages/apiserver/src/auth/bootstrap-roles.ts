import { componentRoles } from "./component-roles.ts";
import {
  aggregated,
  binding,
  clusterBinding,
  clusterRole,
  group,
  GROUP,
  path,
  READ,
  role,
  rule,
  user,
  WRITE,
  type Manifest,
  type Rule,
} from "./role-manifests.ts";

const DISCOVERY = [
  "/api",
  "/api/*",
  "/apis",
  "/apis/*",
  "/healthz",
  "/livez",
  "/openapi",
  "/openapi/*",
  "/readyz",
  "/version",
  "/version/",
];
const PUBLIC = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
const ISSUER = [
  "/.well-known/openid-configuration",
  "/.well-known/openid-configuration/",
  "/openid/v1/jwks",
  "/openid/v1/jwks/",
];
const TOKEN_GROUP = "system:bootstrappers:kubeadm:default-node-token";
const CSR = "certificates.k8s.io";

const DRA = "resource.k8s.io";

const view: readonly Rule[] = [
  rule(
    "core",
    "pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,configmaps",
    READ,
  ),
  rule(
    "core",
    "limitranges,resourcequotas,bindings,events,pods/status,resourcequotas/status,namespaces/status,replicationcontrollers/status,pods/log",
    READ,
  ),
  rule("core", "namespaces", READ),
  rule("discovery.k8s.io", "endpointslices", READ),
  rule(
    "apps",
    "controllerrevisions,statefulsets,statefulsets/status,statefulsets/scale,daemonsets,daemonsets/status,deployments,deployments/status,deployments/scale,replicasets,replicasets/status,replicasets/scale",
    READ,
  ),
  rule("autoscaling", "horizontalpodautoscalers,horizontalpodautoscalers/status", READ),
  rule("batch", "jobs,cronjobs,cronjobs/status,jobs/status", READ),
  rule(
    "extensions",
    "daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale,networkpolicies",
    READ,
  ),
  rule("policy", "poddisruptionbudgets,poddisruptionbudgets/status", READ),
  rule("networking.k8s.io", "networkpolicies,ingresses,ingresses/status", READ),
  rule(DRA, "resourceclaims,resourceclaims/status,resourceclaimtemplates", READ),
];
const edit: readonly Rule[] = [
  rule("core", "pods/attach,pods/proxy,pods/exec,pods/portforward,secrets,services/proxy", READ),
  rule("core", "serviceaccounts", ["impersonate"]),
  rule("core", "pods,pods/attach,pods/proxy,pods/exec,pods/portforward", WRITE),
  rule("core", "pods/eviction", ["create"]),
  rule(
    "core",
    "replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/proxy,persistentvolumeclaims,configmaps,secrets,events",
    WRITE,
  ),
  rule("core", "serviceaccounts/token", ["create"]),
  rule(
    "apps",
    "statefulsets,statefulsets/scale,daemonsets,deployments,deployments/scale,deployments/rollback,replicasets,replicasets/scale",
    WRITE,
  ),
  rule("autoscaling", "horizontalpodautoscalers", WRITE),
  rule("batch", "jobs,cronjobs", WRITE),
  rule(
    "extensions",
    "daemonsets,deployments,deployments/scale,deployments/rollback,ingresses,replicasets,replicasets/scale,replicationcontrollers/scale,networkpolicies",
    WRITE,
  ),
  rule("policy", "poddisruptionbudgets", WRITE),
  rule("networking.k8s.io", "networkpolicies,ingresses", WRITE),
  rule("coordination.k8s.io", "leases", [...READ, ...WRITE]),
  rule(DRA, "resourceclaims,resourceclaimtemplates", WRITE),
];
const admin: readonly Rule[] = [
  rule("authorization.k8s.io", "localsubjectaccessreviews", ["create"]),
  rule(GROUP, "roles,rolebindings", [...READ, ...WRITE]),
];

/**
 * Roles and bindings that a cluster has from the start: Kubernetes' own user-facing ones, and those that
 * `kubeadm join` counts on. Source: kubernetes.io "Using RBAC Authorization", kubeadm's implementation details.
 */
export function bootstrapRoles(): readonly Manifest[] {
  const to = (name: string): Record<string, string> => ({ [`${GROUP}/aggregate-to-${name}`]: "true" });
  return [
    clusterRole("cluster-admin", [rule("*", "*", ["*"]), { nonResourceURLs: ["*"], verbs: ["*"] }]),
    clusterRole("system:discovery", [path(...DISCOVERY)]),
    clusterRole("system:public-info-viewer", [path(...PUBLIC)]),
    clusterRole("system:service-account-issuer-discovery", [path(...ISSUER)]),
    clusterRole("system:monitoring", [
      path("/metrics", "/metrics/slis", "/livez", "/readyz", "/healthz", "/livez/*", "/readyz/*", "/healthz/*"),
      rule("core", "nodes/metrics", ["get"]),
    ]),
    clusterRole("system:basic-user", [
      rule("authorization.k8s.io", "selfsubjectaccessreviews,selfsubjectrulesreviews", ["create"]),
      rule("authentication.k8s.io", "selfsubjectreviews", ["create"]),
    ]),
    aggregated("admin", "admin"),
    aggregated("edit", "edit", to("admin")),
    aggregated("view", "view", to("edit")),
    clusterRole("system:aggregate-to-admin", admin, to("admin")),
    clusterRole("system:aggregate-to-edit", edit, to("edit")),
    clusterRole("system:aggregate-to-view", view, to("view")),
    clusterRole("system:auth-delegator", [
      rule("authentication.k8s.io", "tokenreviews", ["create"]),
      rule("authorization.k8s.io", "subjectaccessreviews", ["create"]),
    ]),
    ...nodeRoles(),
    ...kubeadmRoles(),
    ...componentRoles(),
    clusterBinding("cluster-admin", "cluster-admin", [group("system:masters")]),
    clusterBinding("kubeadm:cluster-admins", "cluster-admin", [group("kubeadm:cluster-admins")]),
    clusterBinding("system:discovery", "system:discovery", [group("system:authenticated")]),
    clusterBinding("system:basic-user", "system:basic-user", [group("system:authenticated")]),
    clusterBinding("system:service-account-issuer-discovery", "system:service-account-issuer-discovery", [
      group("system:serviceaccounts"),
    ]),
    clusterBinding("system:public-info-viewer", "system:public-info-viewer", [
      group("system:authenticated"),
      group("system:unauthenticated"),
    ]),
  ];
}

function nodeRoles(): readonly Manifest[] {
  return [
    clusterRole("system:node-bootstrapper", [
      rule(CSR, "certificatesigningrequests", ["create", "get", "list", "watch"]),
    ]),
    clusterRole("system:certificates.k8s.io:certificatesigningrequests:nodeclient", [
      rule(CSR, "certificatesigningrequests/nodeclient", ["create"]),
    ]),
    clusterRole("system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", [
      rule(CSR, "certificatesigningrequests/selfnodeclient", ["create"]),
    ]),
    clusterRole("system:node-proxier", [
      rule("core", "services,endpoints", ["list", "watch"]),
      rule("core", "nodes", READ),
      rule("core,events.k8s.io", "events", ["create", "patch", "update"]),
      rule("networking.k8s.io", "servicecidrs", ["list", "watch"]),
      rule("discovery.k8s.io", "endpointslices", ["list", "watch"]),
    ]),
    clusterBinding("system:node-proxier", "system:node-proxier", [user("system:kube-proxy")]),
  ];
}

/** What `kubeadm init` leaves behind for those who join. */
function kubeadmRoles(): readonly Manifest[] {
  const one = (name: string, namespace: string, resourceName: string): Manifest =>
    role(name, namespace, [{ ...rule("core", "configmaps", ["get"]), resourceNames: [resourceName] }]);
  const bound = (name: string, namespace: string, subjects: readonly ReturnType<typeof group>[]): Manifest =>
    binding(name, name, { namespace, subjects });
  const joining = [group(TOKEN_GROUP), group("system:nodes")];
  return [
    one("kubeadm:bootstrap-signer-clusterinfo", "kube-public", "cluster-info"),
    bound("kubeadm:bootstrap-signer-clusterinfo", "kube-public", [user("system:anonymous")]),
    one("kubeadm:nodes-kubeadm-config", "kube-system", "kubeadm-config"),
    bound("kubeadm:nodes-kubeadm-config", "kube-system", joining),
    one("kubeadm:kubelet-config", "kube-system", "kubelet-config"),
    bound("kubeadm:kubelet-config", "kube-system", joining),
    clusterRole("kubeadm:get-nodes", [rule("core", "nodes", ["get"])]),
    clusterBinding("kubeadm:get-nodes", "kubeadm:get-nodes", [group(TOKEN_GROUP)]),
    clusterBinding("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", [group(TOKEN_GROUP)]),
    clusterBinding(
      "kubeadm:node-autoapprove-bootstrap",
      "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
      [group(TOKEN_GROUP)],
    ),
    clusterBinding(
      "kubeadm:node-autoapprove-certificate-rotation",
      "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
      [group("system:nodes")],
    ),
  ];
}
