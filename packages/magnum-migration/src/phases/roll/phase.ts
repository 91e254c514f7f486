import { labels, Machine, MachineDeployment, OpenStackCluster } from "@causeway/api";
import { poolNameOf } from "@causeway/magnum-api";
import { getCondition, isTrue, type Condition } from "@causeway/kubernetes";
import { definePhase } from "../../run/phase.ts";
import { adoptedLabel } from "../adopt/objects.ts";
import { planRoll, type RollPool, type RollStep } from "./plan.ts";

/** Phase 6: Cluster API replaces the adopted machines by its own. */
export const roll = definePhase<readonly RollPool[], RollStep>({
  name: "roll",
  async gather({ management }, { namespace, name, inventory }, signal) {
    const { items: machines } = await management.list(Machine, {
      namespace,
      labelSelector: `${labels.clusterName}=${name}`,
      signal,
    });
    const infrastructure = await management.find(OpenStackCluster, { namespace, name }, { signal });
    const ready = getCondition((infrastructure?.status?.conditions ?? []) as Condition[], "Ready");
    const blocked = ready?.status === "False" ? `OpenStackCluster ${name}: ${ready.message ?? ""}` : undefined;
    return Promise.all(
      inventory.groups.map(async (group): Promise<RollPool> => {
        const pool = poolNameOf(name, group);
        const deployment = await management.get(MachineDeployment, { namespace, name: pool }, { signal });
        const own = machines.filter(({ metadata }) => metadata.labels?.[labels.deploymentName] === pool);
        const fresh = own.filter(({ metadata }) => metadata.labels?.[adoptedLabel] === undefined);
        const failed = fresh.find(({ status }) => isFailed((status?.conditions ?? []) as Condition[]));
        return {
          name: pool,
          group: group.name,
          isPaused: deployment.spec.paused === true,
          replicas: deployment.spec.replicas ?? 1,
          fresh: fresh.filter(({ status }) => isTrue((status?.conditions ?? []) as Condition[], "NodeReady")).length,
          adopted: own.length - fresh.length,
          failure: failed
            ? `Machine ${failed.metadata.name}: ${infrastructureMessage((failed.status?.conditions ?? []) as Condition[])}`
            : blocked,
        };
      }),
    );
  },
  plan: planRoll,
  async perform({ management }, { namespace }, { pool }, signal) {
    await management.patch(
      MachineDeployment,
      { namespace, name: pool },
      { type: "merge", body: { spec: { paused: false } } },
      { signal },
    );
  },
});

const infrastructureMessage = (conditions: Condition[]): string =>
  getCondition(conditions, "InfrastructureReady")?.message ?? "";

/** Refused or in ERROR, and not on its way. */
function isFailed(conditions: Condition[]): boolean {
  const found = getCondition(conditions, "InfrastructureReady");
  return found?.status === "False" && /ERROR|refused|quota|No valid host/i.test(found.message ?? "");
}
