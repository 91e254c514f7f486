import { HostedControlPlane, OpenStackCluster, type Kind } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import type { Observed } from "../cluster/observed.ts";
import { cluster } from "./objects.ts";

/** What the planner of Clusters reads, for tables about it. */

/** The owner reference to the Cluster "demo". */
export const clusterOwner = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "demo", uid: "uid-demo" };

/** The object of a provider that the Cluster "demo" names; without `fields` it does not exist. */
export const provider = (
  kind: Kind<KubeObject>,
  fields?: object,
  metadata: object = {},
): NonNullable<Observed["infrastructure"]> => ({
  reference: { apiGroup: kind.group, kind: kind.kind, name: "demo" },
  kind,
  object: fields && {
    apiVersion: `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: {
      name: "demo",
      namespace: "default",
      uid: kind.kind,
      labels: { "cluster.x-k8s.io/cluster-name": "demo" },
      ownerReferences: [clusterOwner],
      ...metadata,
    },
    ...fields,
  },
});

/** The Cluster "demo" with the objects of its providers, and no machines. */
export const observed = (fields: Partial<Observed> = {}): Observed => ({
  cluster: cluster({ spec: {}, status: {} }),
  infrastructure: provider(OpenStackCluster, {}),
  controlPlane: provider(HostedControlPlane, {}),
  deployments: [],
  pools: [],
  sets: [],
  machines: [],
  silentSince: undefined,
  ...fields,
});
