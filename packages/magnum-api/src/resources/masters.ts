import { MagnumCluster } from "@causeway/api";
import { keyOf, timestamp } from "@causeway/kubernetes";
import type { Answer, Api, Call } from "../call/call.ts";
import { invalid } from "../wire/error.ts";
import { accepted } from "./clusters.ts";
import { requireIdle } from "./find-cluster.ts";
import { requireMasters } from "./master-count.ts";

/** Another number of API servers. @throws MagnumError 400, 409 */
export async function resizeMasters(
  api: Api,
  { signal }: Call,
  cluster: MagnumCluster,
  { count, named }: { readonly count: number; readonly named: number },
): Promise<Answer> {
  if (named > 0)
    throw invalid("nodes_to_remove cannot be used with default-master: the masters of a cluster are all the same.");
  requireMasters(count, cluster.spec.masterLBEnabled);
  requireIdle(cluster, ["UPDATE_FAILED", "UPDATE_IN_PROGRESS"], "Resizing");
  const changed = await api.store.change(
    MagnumCluster,
    keyOf(cluster),
    (current) => ({
      ...current,
      spec: { ...current.spec, masterCount: count, updatedAt: timestamp(api.clock.now()) },
    }),
    signal,
  );
  return accepted(changed);
}
