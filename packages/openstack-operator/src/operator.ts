import type { Clock, Log, Metrics } from "@causeway/foundation";
import type { EventRecorder, Informers } from "@causeway/kubernetes";
import { createDeploymentController } from "./deployment/controller.ts";
import { createMaintenance } from "./maintenance/controller.ts";
import { novaInside, type OpenNova } from "./maintenance/nova.ts";

/** The cluster that the services run in, and switches of the controllers. */
export interface OpenStackOperatorOptions {
  readonly informers: Informers;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** How Nova of a deployment is reached. Default: by its Services inside the cluster. */
  readonly openNova?: OpenNova;
}

/** The controllers of OpenStackDeployment objects. The owner of the informers runs them. */
export function createOpenStackOperator(options: OpenStackOperatorOptions): {
  run(signal: AbortSignal): Promise<void>;
} {
  const { openNova = novaInside(options), ...rest } = options;
  const parts = [createDeploymentController(rest), createMaintenance({ ...rest, openNova })];
  return {
    async run(signal) {
      await Promise.all(parts.map((part) => part.run(signal)));
    },
  };
}
