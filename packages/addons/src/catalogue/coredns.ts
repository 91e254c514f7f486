import { imageOf, type BuiltIn, type CatalogueChoice, type ClusterFacts } from "./facts.ts";

const metadata = { name: "coredns", namespace: "kube-system" };
const selected = { "k8s-app": "kube-dns" };
const rbac = "rbac.authorization.k8s.io";

/** The version that kubeadm installs with each minor version of Kubernetes; others get the newest of them. */
const versions: Readonly<Record<string, string>> = {
  "v1.31": "v1.11.3",
  "v1.32": "v1.11.3",
  "v1.33": "v1.12.0",
  "v1.34": "v1.12.1",
};
const NEWEST = "v1.12.1";

/** CoreDNS as kubeadm installs it, in the version that belongs to that of Kubernetes. */
export function coreDns(facts: ClusterFacts, choice: CatalogueChoice): BuiltIn {
  const { replicas = 2 } = choice;
  const version = versions[facts.version.split(".").slice(0, 2).join(".")] ?? NEWEST;
  const container = {
    name: "coredns",
    image: imageOf(choice, `registry.k8s.io/coredns/coredns:${version}`),
    imagePullPolicy: "IfNotPresent",
    args: ["-conf", "/etc/coredns/Corefile"],
    ports: [
      { name: "dns", containerPort: 53, protocol: "UDP" },
      { name: "dns-tcp", containerPort: 53, protocol: "TCP" },
    ],
    readinessProbe: { httpGet: { path: "/ready", port: 8181 }, periodSeconds: 2 },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { add: ["NET_BIND_SERVICE"], drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    },
    volumeMounts: [{ name: "config", mountPath: "/etc/coredns", readOnly: true }],
  };
  const spec = {
    serviceAccountName: "coredns",
    priorityClassName: "system-cluster-critical",
    dnsPolicy: "Default",
    tolerations: [{ key: "CriticalAddonsOnly", operator: "Exists" }],
    containers: [container],
    volumes: [{ name: "config", configMap: { name: "coredns" } }],
  };
  const verbs = ["list", "watch"];
  return {
    probes: [{ type: "DNS", host: facts.dnsAddress, port: 53, question: `kubernetes.default.svc.${facts.dnsDomain}` }],
    objects: [
      { apiVersion: "v1", kind: "ServiceAccount", metadata },
      {
        apiVersion: `${rbac}/v1`,
        kind: "ClusterRole",
        metadata: { name: "system:coredns" },
        rules: [
          { apiGroups: [""], resources: ["endpoints", "services", "pods", "namespaces"], verbs },
          { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs },
        ],
      },
      {
        apiVersion: `${rbac}/v1`,
        kind: "ClusterRoleBinding",
        metadata: { name: "system:coredns" },
        roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "system:coredns" },
        subjects: [{ kind: "ServiceAccount", ...metadata }],
      },
      { apiVersion: "v1", kind: "ConfigMap", metadata, data: { Corefile: corefile(facts.dnsDomain) } },
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: {
          name: "kube-dns",
          namespace: "kube-system",
          labels: { ...selected, "kubernetes.io/cluster-service": "true" },
        },
        spec: {
          clusterIP: facts.dnsAddress,
          selector: selected,
          ports: [
            { name: "dns", port: 53, protocol: "UDP" },
            { name: "dns-tcp", port: 53, protocol: "TCP" },
          ],
        },
      },
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { ...metadata, labels: selected },
        spec: { replicas, selector: { matchLabels: selected }, template: { metadata: { labels: selected }, spec } },
      },
    ],
  };
}

/**
 * Names outside the cluster are those of the node's own resolvers. Those of the cluster are not cached, as in kubeadm's
 * file: CoreDNS has all of them in memory, and a pod would get the address of one that was replaced, or that there is
 * none yet, for half a minute.
 */
function corefile(domain: string): string {
  return `.:53 {
    errors
    health {
        lameduck 5s
    }
    ready
    kubernetes ${domain} in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
        max_concurrent 1000
    }
    cache 30 {
        disable success ${domain}
        disable denial ${domain}
    }
    loop
    reload
    loadbalance
}
`;
}
