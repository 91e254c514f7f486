import { InputError } from "@causeway/foundation";
import { isForbidden } from "@causeway/openstack";
import { readRoots } from "../../masters/roots.ts";
import { machinesOf, readUnits, stopUnits } from "../../masters/units.ts";
import { definePhase, type Tools } from "../../phase.ts";
import { machineChangers } from "../../workloads/driver.ts";
import { findWorkloads, stopWorkload } from "../../workloads/workloads.ts";
import { readCalledServices } from "../switch/services.ts";
import { planFreeze, type FreezeFacts, type FreezeStep } from "./plan.ts";

/** The unit on the driver's machines by which Heat changes them. */
export const AGENT = "heat-container-agent";
const DENIED = "denied";

/** Phase 2: Magnum, Heat and the autoscaler change nothing of the cluster from here on. */
export const freeze = definePhase<FreezeFacts, FreezeStep>({
  name: "freeze",
  async gather(tools, record, signal) {
    const machines = await readUnits(tools, machinesOf(record.inventory), [AGENT], signal);
    return {
      changers: await findWorkloads(tools.source, machineChangers, signal),
      agents: machines.map(({ name, address, active }) => ({ name, address, isActive: active.length > 0 })),
      isDenied: tools.checked.has(DENIED),
      called: await readCalledServices(tools.source, signal),
      // What phase import is going to need is checked here, while everything still runs.
      hasCaKey: (await readRoots(tools, record.inventory, signal)).caKey !== undefined,
    };
  },
  plan: planFreeze,
  async perform(tools, { inventory }, step, signal) {
    switch (step.type) {
      case "check-denied":
        await requireDenied(tools, inventory.uuid, signal);
        tools.checked.add(DENIED);
        return;
      case "stop-workload":
        await stopWorkload(tools.source, step.workload, signal);
        return;
      case "stop-agent":
        await stopUnits(tools, step.address, [AGENT], signal);
        return;
    }
  },
});

/** A change that Magnum could not apply anyway: denied, it gets 403; else 400, and nothing has changed. */
async function requireDenied({ cloud }: Tools, uuid: string, signal: AbortSignal): Promise<void> {
  let problem: unknown;
  try {
    await cloud.containerInfrastructure.clusters.update(
      uuid,
      [{ op: "remove", path: "/labels/causeway-migration-check" }],
      { signal },
    );
  } catch (error) {
    if (isForbidden(error)) return;
    problem = error;
  }
  const actions = ["update", "delete", "resize", "upgrade"].map((action) => `cluster:${action}`).join(", ");
  throw new InputError("MIGRATE_NOT_DENIED", `Magnum still accepts changes of cluster ${uuid}`, {
    cause: problem,
    // A rule that names another that this release does not have denies every change of every cluster.
    hint: `Add " and not '${uuid}':%(uuid)s" in its policy file to the rules ${actions}, behind what this release has there: "rule:deny_cluster_user" as far as Zed (15), "rule:admin_or_project_member" since Bobcat (17). The _all_projects rules of administrators need the same. Magnum reads the file by itself; afterwards empty it ("{}") rather than remove it.`,
  });
}
