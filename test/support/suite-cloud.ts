import { readFileSync } from "node:fs";
import { startSimulator } from "@causeway/simulator";

/** A cloud to run a suite that others wrote on. */
export interface SuiteCloud {
  /** Its administrator's entry in the clouds.yaml. */
  readonly cloud: string;
  /** The clouds.yaml. */
  readonly text: string;
}

export interface OpenedCloud {
  readonly cloud: SuiteCloud;
  readonly recordAs: "real" | "simulated";
  readonly close: () => Promise<void>;
}

/** "simulated" starts one; "real" is devcloud; another name is that cloud of OS_CLIENT_CONFIG_FILE, of devcloud's if that is not set. */
export async function openCloud(name: string): Promise<OpenedCloud> {
  if (name === "simulated") {
    const simulator = await startSimulator();
    const cloud = { cloud: "simulator-admin", text: simulator.cloudsYaml };
    return { cloud, recordAs: "simulated", close: () => simulator.close() };
  }
  const text = readFileSync(process.env["OS_CLIENT_CONFIG_FILE"] ?? "/var/lib/devcloud/clouds.yaml", "utf8");
  const cloud = { cloud: `${name === "real" ? "devcloud" : name}-admin`, text };
  return { cloud, recordAs: "real", close: async () => {} };
}
