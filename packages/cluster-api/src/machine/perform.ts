import { CausewayError } from "@causeway/foundation";
import type { Machine } from "@causeway/api";
import { Node, type RemoteCluster } from "@causeway/kubernetes";
import { clusterKeyOf, type Context } from "../objects/context.ts";
import { performWrite } from "../objects/pipeline.ts";
import { fieldManager } from "../objects/steps.ts";
import { drain } from "./drain.ts";
import type { MachineStep } from "./steps.ts";

/** Throws CAPI_WORKLOAD_UNREACHABLE for steps on Nodes and pods without a connection, and CAPI_DRAIN_BLOCKED. */
export async function perform(
  context: Context,
  order: { readonly step: MachineStep; readonly machine: Machine },
  signal: AbortSignal,
): Promise<void> {
  const { step, machine } = order;
  switch (step.type) {
    case "patch-node": {
      const { client } = remoteOf(context, machine);
      const key = { namespace: "", name: step.name };
      await client.patch(Node, key, { type: "merge", body: step.body }, { fieldManager, signal });
      return;
    }
    case "drain":
      return drain(remoteOf(context, machine).client, step, signal);
    case "delete-node": {
      const remote = remoteOf(context, machine);
      await remote.client.delete(
        Node,
        { namespace: "", name: step.name },
        { preconditions: { uid: step.uid }, signal },
      );
      context.pendingDeletions.note(step.uid, context.clock.now());
      return;
    }
    case "patch":
    case "delete":
    case "create":
      return performWrite(context, step, signal);
  }
}

function remoteOf({ remoteClusters }: Context, machine: Machine): RemoteCluster {
  const remote = remoteClusters.get(clusterKeyOf(machine));
  if (remote) return remote;
  throw new CausewayError(
    "CAPI_WORKLOAD_UNREACHABLE",
    `the workload cluster ${machine.spec.clusterName} cannot be reached`,
    {
      hint: "The step is retried; check the Cluster's condition RemoteConnectionProbe.",
    },
  );
}
