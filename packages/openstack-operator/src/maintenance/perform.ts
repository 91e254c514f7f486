import { isAlreadyExists, Pod, type KubernetesClient } from "@causeway/kubernetes";
import type { Clock } from "@causeway/foundation";
import { fieldManager } from "../model/names.ts";
import { PodDisruptionBudget } from "../render/types.ts";
import { guardBudget, guardImage, guardName, guardPod } from "./guards.ts";
import type { Gathered } from "./gather.ts";
import type { MaintenanceStep } from "./steps.ts";

/** What steps are performed with, in addition to what was gathered. */
export interface PerformMaintenance {
  readonly client: KubernetesClient;
  readonly clock: Clock;
}

/** Performs one step. Orders to move a server are counted, so that the plan can leave time between them. */
export async function perform(
  { client, clock }: PerformMaintenance,
  step: MaintenanceStep,
  { deployment, open, memory, nodes, budgets }: Gathered,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = "", name: of } = deployment.metadata;
  switch (step.type) {
    case "guard": {
      // A guard of an older release gets its new image in place: the node is never without one.
      const isCompute = nodes.some(({ name }) => name === step.name);
      const pod = guardPod(deployment, step.name, guardImage(deployment, { isCompute }));
      await client.apply(Pod, pod, { fieldManager, signal });
      return;
    }
    case "hold":
      return creating(() =>
        client.create(PodDisruptionBudget, guardBudget(deployment, step.name), { fieldManager, signal }),
      );
    case "release": {
      const name = guardName(of, step.name);
      await client.delete(PodDisruptionBudget, { namespace, name }, { signal });
      const uid = budgets.get(name);
      if (uid !== undefined) memory.deleted.add(uid);
      return;
    }
    case "forget":
      return client.delete(PodDisruptionBudget, { namespace, name: step.name }, { signal });
    case "remove":
      return open?.remove(step.name, step.service, step.agents, signal);
    case "enable":
      return open?.enable(step.service, signal);
    case "disable":
      return open?.disable(step.service, step.reason, signal);
    case "force-down":
    case "force-up":
      return open?.forceDown(step.service, step.type === "force-down", signal);
    default: {
      // Noted first: an order whose response is lost counts, too.
      const count = (memory.attempts.get(step.name)?.count ?? 0) + 1;
      memory.attempts.set(step.name, { count, at: clock.now() });
      return open?.move(step.type, step.name, signal);
    }
  }
}

/** Another leader, or an attempt whose response was lost, may have made it. */
async function creating(create: () => Promise<unknown>): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
