import { readFileSync } from "node:fs";
import { startSimulator, type SimulatorOptions } from "@causeway/simulator";

/** A cloud to run a suite that others wrote on. */
export interface SuiteCloud {
  /** Its administrator's entry in the clouds.yaml. */
  readonly cloud: string;
  /** A member's entry there. */
  readonly member: string;
  /** The clouds.yaml. */
  readonly text: string;
}

export interface OpenedCloud {
  readonly cloud: SuiteCloud;
  readonly recordAs: "real" | "simulated";
  readonly close: () => Promise<void>;
}

/**
 * "simulated" starts one, with these delays; "real" is devcloud; another name is that cloud of OS_CLIENT_CONFIG_FILE,
 * of devcloud's if that is not set.
 */
export async function openCloud(name: string, delays: SimulatorOptions["delays"] = {}): Promise<OpenedCloud> {
  if (name === "simulated") {
    const simulator = await startSimulator({ delays });
    const cloud = entriesOf("simulator", simulator.cloudsYaml);
    return { cloud, recordAs: "simulated", close: () => simulator.close() };
  }
  const text = readFileSync(process.env["OS_CLIENT_CONFIG_FILE"] ?? "/var/lib/devcloud/clouds.yaml", "utf8");
  const cloud = entriesOf(name === "real" ? "devcloud" : name, text);
  return { cloud, recordAs: "real", close: async () => {} };
}

/** The administrator's entry is named NAME-admin. */
export const entriesOf = (member: string, text: string): SuiteCloud => ({ cloud: `${member}-admin`, member, text });
