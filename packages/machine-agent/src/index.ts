export type { BootedMachine, MachineAgentOptions, MachineSource } from "./interface.ts";
export { runMachineAgent } from "./agent.ts";
export { runMachine, type MachineUsing } from "./kubelet.ts";
export { fileIdentity, memoryIdentity, type Identity, type IdentityStore } from "./identity.ts";
