import type { ObjectStep } from "../objects/steps.ts";

/** What can be done for a MachineDeployment: writes of objects in the management cluster. */
export type DeploymentStep = ObjectStep;
