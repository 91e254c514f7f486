export { discoverCluster } from "./run/discover.ts";
export { planPhase, requireAllowed, runPhase } from "./run/run.ts";
export { phases, type RunnablePhase } from "./run/phases.ts";
export { isBlocked, type PhasePlan, type Step, type Tools } from "./phase.ts";
export { createMagnumDatabase, type MagnumDatabase } from "./database/database.ts";
export { readCaKey } from "./masters/ca-key.ts";
export { createMachineShell, type MachineShell } from "./masters/shell.ts";
export { readRecord, type MigrationRecord } from "./record/record.ts";
export type { Inventory } from "./inventory/model.ts";
