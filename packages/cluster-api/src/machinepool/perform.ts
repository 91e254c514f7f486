import { CausewayError } from "@causeway/foundation";
import type { MachinePool } from "@causeway/api";
import { Node } from "@causeway/kubernetes";
import { clusterKeyOf, type Context } from "../objects/context.ts";
import { performWrite } from "../objects/pipeline.ts";
import { fieldManager } from "../objects/steps.ts";
import type { MachinePoolStep } from "./steps.ts";

/** Throws CAPI_WORKLOAD_UNREACHABLE for steps on Nodes without a connection. */
export async function perform(
  context: Context,
  order: { readonly step: MachinePoolStep; readonly pool: MachinePool },
  signal: AbortSignal,
): Promise<void> {
  const { step, pool } = order;
  if (step.type !== "patch-node" && step.type !== "delete-node") return performWrite(context, step, signal);
  const remote = context.remoteClusters.get(clusterKeyOf(pool));
  if (!remote) {
    throw new CausewayError(
      "CAPI_WORKLOAD_UNREACHABLE",
      `the workload cluster ${pool.spec.clusterName} cannot be reached`,
      { hint: "The step is retried; check the Cluster's condition RemoteConnectionProbe." },
    );
  }
  const key = { namespace: "", name: step.name };
  if (step.type === "patch-node") {
    await remote.client.patch(Node, key, { type: "merge", body: step.body }, { fieldManager, signal });
    return;
  }
  await remote.client.delete(Node, key, { preconditions: { uid: step.uid }, signal });
  context.pendingDeletions.note(step.uid, context.clock.now());
}
