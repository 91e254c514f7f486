export type { BootedMachine, MachineAgentOptions, MachineDisks, MachineSource } from "./interface.ts";
export { runMachineAgent } from "./agent.ts";
export { runMachine, type MachineUsing } from "./kubelet.ts";
export { runRealMachine, type RealMachineUsing, type RealPrograms } from "./real/real-machine.ts";
export { removeCgroup } from "./real/host.ts";
export { cgroupOf } from "./real/settings.ts";
export { fileIdentity, folderDisks, memoryIdentity, type Identity, type IdentityStore } from "./identity.ts";
export { readCloudConfig, type BootPlan, type InstanceData } from "./cloud-init.ts";
export { joinConfiguration, type JoinConfiguration } from "./join-configuration.ts";
