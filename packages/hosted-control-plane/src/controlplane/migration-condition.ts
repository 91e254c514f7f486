import type { HostedControlPlane } from "@causeway/api";
import type { PlannedEvent, WantedCondition } from "@causeway/kubernetes";
import type { ControlPlaneState, MigrationState } from "../runtime.ts";
import { storageConditions, storageEvents } from "./storage-condition.ts";

const TYPE = "DatastoreMigrated";

/** Of each stage: its reason, and what happens. */
const stages: Readonly<Record<MigrationState["stage"], readonly [reason: string, text: string]>> = {
  Starting: ["MigrationStarting", "the members of its own etcd start"],
  Copying: ["MigrationCopying", "data is copied to its own etcd while its API serves"],
  Freezing: [
    "MigrationFreezing",
    "its API refuses writes while the last changes are copied and both etcds are compared",
  ],
  Switching: ["MigrationSwitching", "API servers with its own etcd start, and its API refuses writes until they serve"],
  Returning: ["MigrationReturning", "it returns to the shared etcd, which has all data"],
  Withdrawn: ["MigrationWithdrawn", "the shared etcd serves as before"],
  Retained: ["Migrated", "its own etcd serves, and the shared one keeps the old data for a while"],
  Done: ["Migrated", "its own etcd serves"],
};

/** Only for control planes that move, or moved, from the shared etcd to their own. */
export function migrationConditions(state: MigrationState | undefined): WantedCondition[] {
  if (state === undefined || state.stage === "Withdrawn") return [];
  const [reason] = stages[state.stage];
  const isOver = state.stage === "Retained" || state.stage === "Done";
  if (isOver) return [{ type: TYPE, status: "True", reason, message: textOf(state) }];
  const hasFailed = state.stage === "Starting" && state.failure !== undefined;
  return [{ type: TYPE, status: "False", reason: hasFailed ? "MigrationFailed" : reason, message: textOf(state) }];
}

function textOf({ stage, attempt, keys, hash, failure }: MigrationState): string {
  const compared = hash === undefined ? "" : `; both had ${keys} keys with SHA-256 ${hash}`;
  const failed = failure === undefined ? "" : `; attempt ${attempt - 1} failed: ${failure}`;
  return `${stages[stage][1]}${compared}${failed}`.slice(0, 1_000);
}

/** One event for each stage: when the status does not say it yet. */
export function migrationEvents({ status }: HostedControlPlane, state: MigrationState | undefined): PlannedEvent[] {
  if (state === undefined) return [];
  const { stage, attempt } = status?.migration ?? {};
  if (stage === state.stage && attempt === state.attempt) return [];
  const isBad = state.stage === "Returning" && state.failure !== undefined;
  const message = `${state.stage}: ${textOf(state)}`;
  return [{ type: isBad ? "Warning" : "Normal", reason: "DatastoreMigration", message }];
}

/** Of where its objects are stored. */
export function datastoreConditions(state: ControlPlaneState | undefined): WantedCondition[] {
  return [...storageConditions(state?.storage), ...migrationConditions(state?.migration)];
}

/** What changed there. */
export function datastoreEvents(object: HostedControlPlane, state: ControlPlaneState | undefined): PlannedEvent[] {
  return [...storageEvents(object, state?.storage), ...migrationEvents(object, state?.migration)];
}
