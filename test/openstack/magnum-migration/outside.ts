/** A client of the API outside of the cloud: another host of the network that floating IPs are of. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { trace } from "./traces.ts";

const run = promisify(execFile);
const NAMESPACE = "causeway-outside";
const DEVICE = "cwoutside";
/** Of the external network, and none of its floating IPs. */
export const OUTSIDE = "172.24.4.5";

export interface Outside {
  /** What the API responds to a request without credentials for its version. */
  version(): Promise<string>;
}

export async function openOutside(floating: string, port: string): Promise<Outside> {
  trace({ outside: { namespace: NAMESPACE, device: DEVICE } });
  await run("ip", ["netns", "add", NAMESPACE]);
  const add = ["--timeout=20", "--may-exist", "add-port", "br-ex", DEVICE];
  await run("ovs-vsctl", [...add, "--", "set", "interface", DEVICE, "type=internal"]);
  await run("ip", ["link", "set", DEVICE, "netns", NAMESPACE]);
  const inside = (...args: readonly string[]) => run("ip", ["netns", "exec", NAMESPACE, ...args]);
  await inside("ip", "address", "add", `${OUTSIDE}/24`, "dev", DEVICE);
  await inside("ip", "link", "set", DEVICE, "up");
  return {
    async version() {
      const { stdout } = await inside("curl", "-ksS", "--max-time", "10", `https://${floating}:${port}/version`);
      return (JSON.parse(stdout) as { gitVersion: string }).gitVersion;
    },
  };
}
