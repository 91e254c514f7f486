import { CausewayError } from "@causeway/foundation";
import type { BuiltIn, CatalogueChoice, ClusterFacts } from "./facts.ts";

const metadata = { name: "api-proxy", namespace: "kube-system" };
const selected = { "k8s-app": "api-proxy" };
/** Of the pods of API servers behind a gateway, and so of Service kubernetes' endpoint. */
const PORT = 6443;
const HEALTH = 10_270;

/**
 * The proxy that leads Service kubernetes to the gateway of all tenants, one on each node. It runs without a pod
 * network and without Service kubernetes, since both need it.
 */
export function apiProxy({ server }: ClusterFacts, choice: CatalogueChoice): BuiltIn {
  const { image, nodeAddress = "198.18.0.1" } = choice;
  const { hostname, port } = new URL(server);
  if (image === undefined)
    throw new CausewayError("ADDON_CATALOGUE_INCOMPLETE", "catalogue APIProxy needs image", {
      hint: "Specify an image of Causeway.",
    });
  // A URL has addresses of IPv4 and IPv6 in one form each.
  if (/^\[|^[0-9.]+$/.test(hostname))
    throw new CausewayError(
      "ADDON_CATALOGUE_INCOMPLETE",
      `catalogue APIProxy needs a control plane behind a gateway: its endpoint is the address ${hostname}, not a name`,
      { hint: "Remove the add-on, or set spec.pods.exposure of the HostedControlPlane to Gateway." },
    );
  const proxy = {
    name: "api-proxy",
    image,
    imagePullPolicy: "IfNotPresent",
    args: [
      "run",
      "api-proxy",
      `--bind-address=${bracketed(nodeAddress)}:${PORT}`,
      `--gateways=${hostname}:${port === "" ? "443" : port}`,
      `--server-name=${hostname}`,
      `--metrics-address=127.0.0.1:${HEALTH}`,
    ],
    livenessProbe: {
      httpGet: { host: "127.0.0.1", path: "/livez", port: HEALTH },
      periodSeconds: 10,
      timeoutSeconds: 5,
    },
    readinessProbe: { tcpSocket: { host: nodeAddress, port: PORT }, periodSeconds: 5, timeoutSeconds: 5 },
    resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "256Mi" } },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65_532,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
  };
  const spec = {
    automountServiceAccountToken: false,
    hostNetwork: true,
    dnsPolicy: "Default",
    priorityClassName: "system-node-critical",
    tolerations: [{ operator: "Exists" }],
    nodeSelector: { "kubernetes.io/os": "linux" },
    terminationGracePeriodSeconds: 600,
    initContainers: [addressContainer(choice, nodeAddress)],
    containers: [proxy],
  };
  return {
    probes: [],
    objects: [
      {
        apiVersion: "apps/v1",
        kind: "DaemonSet",
        metadata: { ...metadata, labels: selected },
        spec: {
          selector: { matchLabels: selected },
          // The new one listens next to the old one, which keeps its connections.
          updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
          template: { metadata: { labels: selected }, spec },
        },
      },
    ],
  };
}

/** Gives the node the address, on its loopback interface: no other machine sees it. */
function addressContainer({ addressImage }: CatalogueChoice, address: string) {
  const prefix = `${address}/${address.includes(":") ? 128 : 32}`;
  return {
    name: "address",
    image: addressImage ?? "registry.k8s.io/e2e-test-images/busybox:1.36.1-1",
    imagePullPolicy: "IfNotPresent",
    command: ["sh", "-c", 'ip address show dev lo | grep -qF " $PREFIX " || ip address add "$PREFIX" dev lo'],
    env: [{ name: "PREFIX", value: prefix }],
    resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { memory: "64Mi" } },
    securityContext: {
      runAsUser: 0,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"], add: ["NET_ADMIN"] },
    },
  };
}

function bracketed(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
