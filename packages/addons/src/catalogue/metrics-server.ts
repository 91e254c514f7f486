import { CausewayError } from "@causeway/foundation";
import { imageOf, type BuiltIn, type CatalogueChoice, type ClusterFacts } from "./facts.ts";

const metadata = { name: "metrics-server", namespace: "kube-system" };
const selected = { "k8s-app": "metrics-server" };
const rbac = "rbac.authorization.k8s.io";
const subjects = [{ kind: "ServiceAccount", ...metadata }];
/** Where its container listens. */
const PORT = 10_250;
/** The cluster's authority, which signs the certificates of kubelets. */
const AUTHORITY = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";

/**
 * metrics-server, for `kubectl top` and the HorizontalPodAutoscaler. Other than with its published manifests, a kubelet
 * must have a certificate of the cluster's authority.
 * @throws ADDON_NOT_NEEDED
 */
export function metricsServer({ runtime }: ClusterFacts, choice: CatalogueChoice): BuiltIn {
  if (runtime === "Embedded")
    throw new CausewayError("ADDON_NOT_NEEDED", "an embedded control plane has the metrics of nodes and pods itself", {
      hint: "Remove MetricsServer from the add-ons: it is for control planes of runtime Process or Pods.",
    });
  return {
    // The condition of its APIService says whether the API server reaches it.
    probes: [],
    objects: [{ apiVersion: "v1", kind: "ServiceAccount", metadata }, ...rights, ...api, deployment(choice)],
  };
}

const rights = [
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata: {
      name: "system:aggregated-metrics-reader",
      labels: Object.fromEntries(["admin", "edit", "view"].map((role) => [`${rbac}/aggregate-to-${role}`, "true"])),
    },
    rules: [{ apiGroups: ["metrics.k8s.io"], resources: ["pods", "nodes"], verbs: ["get", "list", "watch"] }],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata: { name: "system:metrics-server" },
    rules: [
      { apiGroups: [""], resources: ["nodes/metrics"], verbs: ["get"] },
      { apiGroups: [""], resources: ["pods", "nodes"], verbs: ["get", "list", "watch"] },
    ],
  },
  ...[
    { name: "system:metrics-server", role: "system:metrics-server" },
    { name: "metrics-server:system:auth-delegator", role: "system:auth-delegator" },
  ].map(({ name, role }) => ({
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: role },
    subjects,
  })),
  {
    apiVersion: `${rbac}/v1`,
    kind: "RoleBinding",
    metadata: { name: "metrics-server-auth-reader", namespace: "kube-system" },
    roleRef: { apiGroup: rbac, kind: "Role", name: "extension-apiserver-authentication-reader" },
    subjects,
  },
];

const api = [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { ...metadata, labels: selected },
    spec: { selector: selected, ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: "https" }] },
  },
  {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: "v1beta1.metrics.k8s.io", labels: selected },
    spec: {
      group: "metrics.k8s.io",
      version: "v1beta1",
      groupPriorityMinimum: 100,
      versionPriority: 100,
      // It makes its certificate when it starts, as its published manifests have it.
      insecureSkipTLSVerify: true,
      service: metadata,
    },
  },
];

function deployment(choice: CatalogueChoice) {
  const { replicas = 1 } = choice;
  const probe = (path: string) => ({ httpGet: { path, port: "https", scheme: "HTTPS" }, periodSeconds: 10 });
  const container = {
    name: "metrics-server",
    image: imageOf(choice, "registry.k8s.io/metrics-server/metrics-server:v0.8.0"),
    imagePullPolicy: "IfNotPresent",
    args: [
      "--cert-dir=/tmp",
      `--secure-port=${PORT}`,
      "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
      "--kubelet-use-node-status-port",
      `--kubelet-certificate-authority=${AUTHORITY}`,
      "--metric-resolution=15s",
    ],
    ports: [{ name: "https", containerPort: PORT, protocol: "TCP" }],
    livenessProbe: probe("/livez"),
    readinessProbe: { ...probe("/readyz"), initialDelaySeconds: 20 },
    resources: { requests: { cpu: "100m", memory: "200Mi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: 1000,
      seccompProfile: { type: "RuntimeDefault" },
    },
    volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
  };
  const spec = {
    serviceAccountName: "metrics-server",
    priorityClassName: "system-cluster-critical",
    nodeSelector: { "kubernetes.io/os": "linux" },
    containers: [container],
    volumes: [{ name: "tmp", emptyDir: {} }],
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...metadata, labels: selected },
    spec: {
      replicas,
      strategy: { rollingUpdate: { maxUnavailable: 0 } },
      selector: { matchLabels: selected },
      template: { metadata: { labels: selected }, spec },
    },
  };
}
