import { stringify } from "yaml";
import { imageOf, type BuiltIn, type CatalogueChoice, type ClusterFacts } from "./facts.ts";

const metadata = { name: "kube-proxy", namespace: "kube-system" };
const account = "/var/run/secrets/kubernetes.io/serviceaccount";

/** kube-proxy as kubeadm installs it, in nftables mode unless another one is chosen. */
export function kubeProxy(facts: ClusterFacts, choice: CatalogueChoice): BuiltIn {
  const config = {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: choice.proxyMode ?? "nftables",
    clusterCIDR: facts.podCidr,
    clientConnection: { kubeconfig: "/var/lib/kube-proxy/kubeconfig.conf" },
    conntrack: { maxPerCore: 0 },
  };
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "default", cluster: { "certificate-authority": `${account}/ca.crt`, server: facts.server } }],
    contexts: [{ name: "default", context: { cluster: "default", namespace: "default", user: "default" } }],
    "current-context": "default",
    users: [{ name: "default", user: { tokenFile: `${account}/token` } }],
  };
  const container = {
    name: "kube-proxy",
    image: imageOf(choice, `registry.k8s.io/kube-proxy:${facts.version}`),
    imagePullPolicy: "IfNotPresent",
    command: [
      "/usr/local/bin/kube-proxy",
      "--config=/var/lib/kube-proxy/config.conf",
      "--hostname-override=$(NODE_NAME)",
    ],
    env: [{ name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
    // Cloud controllers make a node a member of load balancers once this is Ready.
    readinessProbe: { httpGet: { path: "/healthz", port: 10256 }, periodSeconds: 2 },
    securityContext: { privileged: true },
    volumeMounts: [{ name: "kube-proxy", mountPath: "/var/lib/kube-proxy" }],
  };
  const spec = {
    serviceAccountName: "kube-proxy",
    hostNetwork: true,
    priorityClassName: "system-node-critical",
    tolerations: [{ operator: "Exists" }],
    nodeSelector: { "kubernetes.io/os": "linux", ...choice.nodeSelector },
    containers: [container],
    volumes: [{ name: "kube-proxy", configMap: { name: "kube-proxy" } }],
  };
  const selected = { "k8s-app": "kube-proxy" };
  return {
    probes: [],
    objects: [
      { apiVersion: "v1", kind: "ServiceAccount", metadata },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name: "kube-proxy" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:node-proxier" },
        subjects: [{ kind: "ServiceAccount", ...metadata }],
      },
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { ...metadata, labels: { app: "kube-proxy" } },
        data: { "config.conf": stringify(config), "kubeconfig.conf": stringify(kubeconfig) },
      },
      {
        apiVersion: "apps/v1",
        kind: "DaemonSet",
        metadata: { ...metadata, labels: selected },
        spec: {
          selector: { matchLabels: selected },
          updateStrategy: { type: "RollingUpdate" },
          template: { metadata: { labels: selected }, spec },
        },
      },
    ],
  };
}
