import { isAlreadyExists, isConflict, Namespace, RoleBinding, type KubernetesClient } from "@causeway/kubernetes";
import { PROJECT_LABEL } from "./plan.ts";
import type { Step } from "./steps.ts";

const RBAC = "rbac.authorization.k8s.io";

/**
 * Does one step. Each may be repeated: what exists already, or is gone, is success; the next synchronisation checks
 * it again.
 */
export async function perform(client: KubernetesClient, step: Step, signal: AbortSignal): Promise<void> {
  try {
    await act(client, step, signal);
  } catch (error) {
    // Another replica was faster. A namespace that another actor has made meanwhile is refused by the next plan.
    const settled =
      step.type === "create-binding" ? isAlreadyExists(error) : step.type === "delete-binding" && isConflict(error);
    if (!settled) throw error;
  }
}

async function act(client: KubernetesClient, step: Step, signal: AbortSignal): Promise<void> {
  switch (step.type) {
    case "create-namespace": {
      const metadata = { name: step.name, labels: { [PROJECT_LABEL]: step.projectId } };
      await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata }, { signal });
      return;
    }
    case "create-binding": {
      await client.create(
        RoleBinding,
        {
          apiVersion: `${RBAC}/v1`,
          kind: "RoleBinding",
          metadata: { name: step.name, namespace: step.namespace },
          roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: step.role },
          subjects: [{ apiGroup: RBAC, kind: "User", name: step.username }],
        },
        { signal },
      );
      return;
    }
    case "delete-binding": {
      const key = { namespace: step.namespace, name: step.name };
      await client.delete(RoleBinding, key, { signal, preconditions: { uid: step.uid } });
    }
  }
}
