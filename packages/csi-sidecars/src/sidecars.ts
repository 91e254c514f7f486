import { runController, type ControllerOptions } from "@causeway/kubernetes";
import { attachController } from "./attach/controller.ts";
import { capacityController } from "./capacity/controller.ts";
import type { Context } from "./context.ts";
import { groupSnapshotController } from "./group-snapshot/controller.ts";
import { groupSnapshotContentController } from "./group-snapshot-content/controller.ts";
import { provisionController } from "./provision/controller.ts";
import { reclaimController } from "./reclaim/controller.ts";
import { modifyController } from "./modify/controller.ts";
import { resizeController } from "./resize/controller.ts";
import { snapshotContentController } from "./snapshot-content/controller.ts";
import { snapshotController } from "./snapshot/controller.ts";

/** What the sidecars of a CSI driver do for one cluster, to run until a signal aborts. */
export interface Sidecars {
  /** Runs every controller until `signal` aborts and what is under way has ended. */
  run(signal: AbortSignal): Promise<void>;
}

const controllers: readonly ((context: Context) => ControllerOptions)[] = [
  provisionController,
  reclaimController,
  attachController,
  resizeController,
  modifyController,
  capacityController,
];
/** They need the CRDs of snapshot.storage.k8s.io. */
const ofSnapshots = [snapshotController, snapshotContentController];
/** They need those of groupsnapshot.storage.k8s.io, too. */
const ofGroups = [groupSnapshotController, groupSnapshotContentController];

/**
 * The controllers of one cluster for one driver. The owner of the context runs its informers, and lets one process at a
 * time work for the cluster.
 *
 * @example
 * const sidecars = createSidecars({ informers, driver: { name, controller: client.controller }, clock, log, events });
 * await Promise.all([informers.run(signal), sidecars.run(signal)]);
 */
export function createSidecars(context: Context): Sidecars {
  const { withSnapshots = false, groupController } = context.driver;
  const more = withSnapshots ? [...ofSnapshots, ...(groupController ? ofGroups : [])] : [];
  const all = [...controllers, ...more];
  const made = all.map((create) => create(context));
  return {
    async run(signal) {
      await Promise.all(made.map((controller) => runController(controller, signal)));
    },
  };
}
