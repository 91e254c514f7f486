import { formatCidr, hasCode, parseCidr } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { bootstrapRoles } from "../auth/bootstrap-roles.ts";
import { withAggregates } from "../controllers/role-aggregation.ts";
import type { Json } from "../json/json.ts";
import { mandatoryFlowObjects, suggestedFlowObjects } from "../flow/bootstrap.ts";
import { serviceNetworks } from "../kinds/core/addresses.ts";
import { internalCall } from "../contract/call.ts";
import { create } from "../registry/create.ts";
import type { Cluster } from "../contract/cluster.ts";
import { writeFirst, type FirstObjects } from "./first-objects.ts";

const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/**
 * Makes the objects that every cluster has from the start; those that exist remain as they are. What is the same in all
 * of them comes from `first`.
 */
export async function bootstrapCluster(cluster: Cluster, first: FirstObjects): Promise<void> {
  const isNew = cluster.store.list({ cluster: cluster.name, resource: "/namespaces", limit: 1 }).items.length === 0;
  const known = (manifest: Manifest): KubeObject | undefined => (isNew ? first.find(manifest) : undefined);
  const write = async (manifest: Manifest): Promise<void> => {
    const made = await ensure(cluster, manifest, known(manifest));
    if (isNew && made) first.learn(made);
  };
  const namespaces = NAMESPACES.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  const flows = [...mandatoryFlowObjects(), ...suggestedFlowObjects()];
  const unbound = [...bootstrapRoles(), ...flows, ...priorityClasses()];
  const onNetwork = [serviceCidr(cluster), kubernetesService(cluster)];
  const all = [...namespaces, ...unbound, ...onNetwork];
  // What is made needs its namespace; what is known is written at once, with one sync to disk.
  const isKnown = all.every((manifest) => known(manifest));
  for (const batch of isKnown ? [all] : [namespaces, unbound, onNetwork]) await Promise.all(batch.map(write));
  if (isNew && !isKnown) for (const role of withAggregates(first.all)) first.learn(role);
}

interface Manifest extends Json {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: Json;
}

/** Answers what was made, where it had to be made without `known`. */
async function ensure(cluster: Cluster, manifest: Manifest, known?: KubeObject): Promise<KubeObject | undefined> {
  const slash = manifest.apiVersion.indexOf("/");
  const group = slash < 0 ? "" : manifest.apiVersion.slice(0, slash);
  const resource = cluster.catalog.byKind(group, manifest.kind);
  if (!resource) return undefined;
  const { name, namespace = "" } = manifest.metadata;
  if (cluster.store.has({ cluster: cluster.name, resource: resource.storage, namespace, name })) return undefined;
  try {
    if (!known) return await create(internalCall(cluster, resource, { namespace }), structuredClone(manifest));
    await writeFirst(cluster, resource, known);
  } catch (error) {
    if (!hasCode(error, "KUBERNETES_ALREADY_EXISTS")) throw error;
  }
  return undefined;
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

/** The object that represents the networks that the cluster was made with. */
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
