import { CausewayError } from "@causeway/foundation";
import { imageOf, type BuiltIn, type CatalogueChoice, type ClusterFacts } from "./facts.ts";

const metadata = { name: "konnectivity-agent", namespace: "kube-system" };
const selected = { "k8s-app": "konnectivity-agent" };
const folder = "/etc/konnectivity";
/** konnectivity's server ends connections whose agents ping more often than twice a minute. */
const KEEPALIVE = "40s";

/**
 * konnectivity's agent, one on each node; it dials for the API server. It runs on nodes whose pod network is down,
 * since it is how one finds out why.
 */
export function tunnelAgent({ serviceAddress }: ClusterFacts, choice: CatalogueChoice): BuiltIn {
  const { tunnelServer, tunnelAuthority, tunnelPort = 8091 } = choice;
  if (tunnelServer === undefined)
    throw new CausewayError("ADDON_CATALOGUE_INCOMPLETE", "catalogue TunnelAgent needs tunnelServer", {
      hint: "Specify the host at which nodes reach the tunnel's servers.",
    });
  const account = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
  const authority = tunnelAuthority === undefined ? account : `${folder}/ca.crt`;
  const container = {
    name: "konnectivity-agent",
    image: imageOf(choice, "registry.k8s.io/kas-network-proxy/proxy-agent:v0.34.0"),
    imagePullPolicy: "IfNotPresent",
    command: ["/proxy-agent"],
    args: [
      "--logtostderr=true",
      `--ca-cert=${authority}`,
      `--proxy-server-host=${tunnelServer}`,
      `--proxy-server-port=${tunnelPort}`,
      "--admin-server-port=8133",
      "--health-server-port=8134",
      // Its own is an hour, in which it would not notice that a router on the way forgot the connection.
      `--keepalive-time=${KEEPALIVE}`,
      "--service-account-token-path=/var/run/secrets/tokens/konnectivity-agent-token",
    ],
    livenessProbe: { httpGet: { path: "/healthz", port: 8134 }, initialDelaySeconds: 15, timeoutSeconds: 15 },
    volumeMounts: [
      { name: "token", mountPath: "/var/run/secrets/tokens" },
      ...(tunnelAuthority === undefined ? [] : [{ name: "authority", mountPath: folder, readOnly: true }]),
    ],
  };
  const token = { path: "konnectivity-agent-token", audience: "system:konnectivity-server", expirationSeconds: 3600 };
  const spec = {
    serviceAccountName: "konnectivity-agent",
    hostNetwork: true,
    priorityClassName: "system-node-critical",
    tolerations: [{ operator: "Exists" }],
    nodeSelector: { "kubernetes.io/os": "linux" },
    containers: [container],
    volumes: [
      { name: "token", projected: { sources: [{ serviceAccountToken: token }] } },
      ...(tunnelAuthority === undefined ? [] : [{ name: "authority", configMap: { name: "konnectivity-agent" } }]),
    ],
  };
  return {
    probes: [{ type: "Dial", host: serviceAddress, port: 443 }],
    objects: [
      { apiVersion: "v1", kind: "ServiceAccount", metadata },
      ...(tunnelAuthority === undefined
        ? []
        : [{ apiVersion: "v1", kind: "ConfigMap", metadata, data: { "ca.crt": tunnelAuthority } }]),
      {
        apiVersion: "apps/v1",
        kind: "DaemonSet",
        metadata: { ...metadata, labels: selected },
        spec: { selector: { matchLabels: selected }, template: { metadata: { labels: selected }, spec } },
      },
    ],
  };
}
