import { formatCidr, hasCode, parseCidr } from "@causeway/foundation";
import { bootstrapRoles } from "../auth/bootstrap-roles.ts";
import type { Json } from "../json.ts";
import { mandatoryFlowObjects, suggestedFlowObjects } from "../flow/bootstrap.ts";
import { serviceNetworks } from "../kinds/addresses.ts";
import { internalCall } from "../registry/call.ts";
import { create } from "../registry/create.ts";
import type { Cluster } from "./cluster.ts";

const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Makes the objects that every cluster has from the start; those that exist stay as they are. */
export async function bootstrapCluster(cluster: Cluster): Promise<void> {
  const namespaces = NAMESPACES.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  await Promise.all(namespaces.map((n) => ensure(cluster, n)));
  const flows = [...mandatoryFlowObjects(), ...suggestedFlowObjects()];
  const others = [
    ...bootstrapRoles(),
    ...flows,
    ...priorityClasses(),
    serviceCidr(cluster),
    kubernetesService(cluster),
  ];
  await Promise.all(others.map((o) => ensure(cluster, o)));
}

interface Manifest extends Json {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

async function ensure(cluster: Cluster, manifest: Manifest): Promise<void> {
  const slash = manifest.apiVersion.indexOf("/");
  const group = slash < 0 ? "" : manifest.apiVersion.slice(0, slash);
  const resource = cluster.catalog.byKind(group, manifest.kind);
  if (!resource) return;
  const { name, namespace = "" } = manifest.metadata;
  if (cluster.store.has({ cluster: cluster.name, resource: resource.storage, namespace, name })) return;
  try {
    await create(internalCall(cluster, resource, { namespace }), structuredClone(manifest));
  } catch (error) {
    if (!hasCode(error, "KUBERNETES_ALREADY_EXISTS")) throw error;
  }
}

/** The priorities of what a node, or the cluster, cannot do without. */
function priorityClasses(): Manifest[] {
  const critical = (name: string, value: number, description: string): Manifest => ({
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name },
    value,
    description,
  });
  const [node, cluster] = [
    "not be moved from their current node.",
    "run in the cluster, but can be moved to another node if necessary.",
  ];
  return [
    critical("system-node-critical", 2_000_001_000, `Used for system critical pods that must ${node}`),
    critical("system-cluster-critical", 2_000_000_000, `Used for system critical pods that must ${cluster}`),
  ];
}

/** The object that stands for the networks that the cluster was made with. */
function serviceCidr(cluster: Cluster): Manifest {
  const cidrs = cluster.serviceCidr.split(",").map((c) => parseCidr(c.trim()));
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "ServiceCIDR",
    metadata: { name: "kubernetes" },
    spec: { cidrs: cidrs.filter((c) => c !== undefined).map(formatCidr) },
  };
}

/** The Service that leads to the API itself, at the network's first address. */
function kubernetesService(cluster: Cluster): Manifest {
  const ip = serviceNetworks(cluster.serviceCidr)[0].address(1);
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: "kubernetes",
      namespace: "default",
      labels: { component: "apiserver", provider: "kubernetes" },
    } as Manifest["metadata"],
    spec: {
      type: "ClusterIP",
      clusterIP: ip,
      clusterIPs: [ip],
      sessionAffinity: "None",
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }],
    },
  };
}
