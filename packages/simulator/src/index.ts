export { startSimulator } from "./start.ts";
export type {
  CallRecord,
  DataPathListener,
  Fault,
  RunningMachine,
  Simulator,
  SimulatorDataPath,
  SimulatorOptions,
  StartSimulator,
} from "./interface.ts";
export type { Outcome } from "./kernel/interface.ts";
export type { OutcomeRule } from "./kernel/settings.ts";
