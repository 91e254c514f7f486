import { VirtualClock } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import type { Json } from "../json/json.ts";
import { openStore } from "../store/index.ts";

/** Objects by resource: "/pods", "rbac.authorization.k8s.io/roles". */
export type Stored = Readonly<Record<string, readonly Json[]>>;

export const NOW = Date.UTC(2026, 5, 1);

/** As much of a cluster as rules about access read: a store with these objects, and a clock. */
export async function clusterWith(stored: Stored): Promise<Cluster> {
  const store = openStore({});
  for (const [resource, objects] of Object.entries(stored)) {
    for (const object of objects as readonly unknown[] as readonly KubeObject[]) {
      const { name, namespace = "" } = object.metadata;
      await store.create({ cluster: "", resource, namespace, name }, object);
    }
  }
  return { name: "", store, clock: new VirtualClock(NOW) } as unknown as Cluster;
}
