import { CausewayError } from "@causeway/foundation";
import { imageOf, type BuiltIn, type CatalogueChoice, type ClusterFacts } from "./facts.ts";

const namespace = "kube-flannel";
const account = { name: "flannel", namespace };
const labels = { tier: "node", app: "flannel", "k8s-app": "flannel" };
const rbac = "rbac.authorization.k8s.io";
/** Where flannel writes the node's subnet. */
const run = "/run/flannel";

/**
 * The pod network of kubelets is made from what flannel writes: a bridge with the node's subnet, as large as the
 * overlay's frames. It has the runtime's own plugins only (bridge, host-local, portmap). Pods keep their addresses
 * inside the network; flannel masquerades what leaves it.
 * @see https://www.cni.dev/plugins/current/main/bridge/
 */
const network = `write() {
  . ${run}/subnet.env || return
  [ -n "$FLANNEL_SUBNET" ] && [ -n "$FLANNEL_MTU" ] || return
  eval "$(ipcalc -n "$FLANNEL_SUBNET")"
  cat >/host/.10-flannel <<END
{
  "name": "pods",
  "cniVersion": "1.0.0",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "cni0",
      "mtu": $FLANNEL_MTU,
      "isDefaultGateway": true,
      "hairpinMode": true,
      "ipMasq": false,
      "ipam": { "type": "host-local", "ranges": [[{ "subnet": "$NETWORK/\${FLANNEL_SUBNET#*/}" }]] }
    },
    { "type": "portmap", "capabilities": { "portMappings": true } }
  ]
}
END
  cmp -s /host/.10-flannel /host/10-flannel.conflist || mv /host/.10-flannel /host/10-flannel.conflist
}
while true; do
  if [ -r ${run}/subnet.env ]; then write; sleep 30; else sleep 1; fi
done
`;

/**
 * flannel with VXLAN between the nodes: an overlay network of pods, which needs neither routes of the cloud nor allowed
 * address pairs of ports.
 */
export function flannel(facts: ClusterFacts, choice: CatalogueChoice): BuiltIn {
  if (!/^[0-9.]+\/\d+$/.test(facts.podCidr)) {
    throw new CausewayError("ADDON_CATALOGUE_INCOMPLETE", "catalogue Flannel needs an IPv4 network of pods", {
      hint: "Set spec.clusterNetwork.pods.cidrBlocks of the Cluster; its first block must be IPv4.",
    });
  }
  const { hostname, port } = new URL(facts.server);
  const config = { Network: facts.podCidr, EnableNFTables: true, Backend: { Type: "vxlan" } };
  const program = imageOf(choice, "ghcr.io/flannel-io/flannel:v0.28.4");
  const field = (fieldPath: string) => ({ valueFrom: { fieldRef: { fieldPath } } });
  const container = {
    name: "kube-flannel",
    image: program,
    imagePullPolicy: "IfNotPresent",
    command: ["/opt/bin/flanneld"],
    args: ["--ip-masq", "--kube-subnet-mgr"],
    env: [
      { name: "POD_NAME", ...field("metadata.name") },
      { name: "POD_NAMESPACE", ...field("metadata.namespace") },
      { name: "EVENT_QUEUE_DEPTH", value: "5000" },
      // It must not need kube-proxy, which may need it.
      { name: "KUBERNETES_SERVICE_HOST", value: hostname.replace(/^\[|\]$/g, "") },
      { name: "KUBERNETES_SERVICE_PORT", value: port === "" ? "443" : port },
    ],
    resources: { requests: { cpu: "100m", memory: "50Mi" } },
    securityContext: { privileged: false, capabilities: { add: ["NET_ADMIN", "NET_RAW"] } },
    volumeMounts: [
      { name: "run", mountPath: run },
      { name: "config", mountPath: "/etc/kube-flannel", readOnly: true },
    ],
  };
  const writer = {
    name: "cni-config",
    image: program,
    imagePullPolicy: "IfNotPresent",
    command: ["/bin/sh", "-c", network],
    volumeMounts: [
      { name: "run", mountPath: run, readOnly: true },
      { name: "cni", mountPath: "/host" },
    ],
  };
  const spec = {
    serviceAccountName: account.name,
    hostNetwork: true,
    priorityClassName: "system-node-critical",
    tolerations: [{ operator: "Exists" }],
    nodeSelector: { "kubernetes.io/os": "linux" },
    // The shell of the second one does not wait for signals.
    terminationGracePeriodSeconds: 5,
    containers: [container, writer],
    volumes: [
      { name: "run", hostPath: { path: run, type: "DirectoryOrCreate" } },
      { name: "cni", hostPath: { path: "/etc/cni/net.d", type: "DirectoryOrCreate" } },
      { name: "config", configMap: { name: "kube-flannel-cfg" } },
    ],
  };
  const selected = { app: "flannel" };
  return {
    probes: [],
    objects: [
      {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: {
          name: namespace,
          labels: { "k8s-app": "flannel", "pod-security.kubernetes.io/enforce": "privileged" },
        },
      },
      { apiVersion: "v1", kind: "ServiceAccount", metadata: account },
      {
        apiVersion: `${rbac}/v1`,
        kind: "ClusterRole",
        metadata: { name: "flannel" },
        rules: [
          { apiGroups: [""], resources: ["pods"], verbs: ["get"] },
          { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] },
          { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch"] },
        ],
      },
      {
        apiVersion: `${rbac}/v1`,
        kind: "ClusterRoleBinding",
        metadata: { name: "flannel" },
        roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "flannel" },
        subjects: [{ kind: "ServiceAccount", ...account }],
      },
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "kube-flannel-cfg", namespace, labels },
        data: { "net-conf.json": JSON.stringify(config, null, 2) },
      },
      {
        apiVersion: "apps/v1",
        kind: "DaemonSet",
        metadata: { name: "kube-flannel-ds", namespace, labels },
        spec: { selector: { matchLabels: selected }, template: { metadata: { labels }, spec } },
      },
    ],
  };
}
