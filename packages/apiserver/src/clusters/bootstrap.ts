import { hasCode } from "@causeway/foundation";
import { bootstrapRoles } from "../auth/bootstrap-roles.ts";
import type { Json } from "../json.ts";
import { mandatoryFlowObjects, suggestedFlowObjects } from "../flow/bootstrap.ts";
import { serviceNetwork } from "../kinds/addresses.ts";
import { internalCall } from "../registry/call.ts";
import { create } from "../registry/create.ts";
import type { Cluster } from "./cluster.ts";

const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Makes the objects that every cluster has from the start; those that exist stay as they are. */
export async function bootstrapCluster(cluster: Cluster): Promise<void> {
  const namespaces = NAMESPACES.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  await Promise.all(namespaces.map((n) => ensure(cluster, n)));
  await Promise.all(
    [...bootstrapRoles(), ...mandatoryFlowObjects(), ...suggestedFlowObjects(), kubernetesService(cluster)].map((o) =>
      ensure(cluster, o),
    ),
  );
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
  if (cluster.store.get({ cluster: cluster.name, resource: resource.storage, namespace, name })) return;
  try {
    await create(internalCall(cluster, resource, { namespace }), structuredClone(manifest));
  } catch (error) {
    if (!hasCode(error, "KUBERNETES_ALREADY_EXISTS")) throw error;
  }
}

/** The Service that leads to the API itself, at the network's first address. */
function kubernetesService(cluster: Cluster): Manifest {
  const ip = serviceNetwork(cluster.serviceCidr).address(1);
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
