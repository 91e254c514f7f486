export { startSimulator } from "./start.ts";
export type { CallRecord, Fault, RunningMachine, Simulator, SimulatorOptions, StartSimulator } from "./interface.ts";
export type { Outcome } from "./kernel/interface.ts";
export type { OutcomeRule } from "./kernel/settings.ts";
