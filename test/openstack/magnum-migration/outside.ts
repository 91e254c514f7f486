/** A client of the API outside of the cloud: another host of the network that floating IPs are of. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { eventually } from "../../support/processes.ts";
import { trace } from "./traces.ts";

const run = promisify(execFile);
const NAMESPACE = "causeway-outside";
const [DEVICE, PEER] = ["cwoutside", "eth0"];
/** Of the external network, and none of its floating IPs. */
export const OUTSIDE = "172.24.4.5";

export interface Outside {
  /** What the API responds to a request without credentials for its version. */
  version(): Promise<string>;
}

export async function openOutside(floating: string, port: string): Promise<Outside> {
  trace({ outside: { namespace: NAMESPACE, device: DEVICE } });
  await run("ip", ["netns", "add", NAMESPACE]);
  const inside = (...args: readonly string[]) => run("ip", ["netns", "exec", NAMESPACE, ...args]);
  // An interface of Open vSwitch itself would be another one after ovs-vswitchd was started again.
  await run("ip", ["link", "add", DEVICE, "type", "veth", "peer", "name", PEER, "netns", NAMESPACE]);
  await run("ethtool", ["-K", DEVICE, "tx", "off"]);
  await inside("ethtool", "-K", PEER, "tx", "off");
  await run("ovs-vsctl", ["--timeout=20", "--may-exist", "add-port", "br-ex", DEVICE]);
  await run("ip", ["link", "set", DEVICE, "up"]);
  await inside("ip", "address", "add", `${OUTSIDE}/24`, "dev", PEER);
  await inside("ip", "link", "set", PEER, "up");
  return {
    async version() {
      const url = `https://${floating}:${port}/version`;
      // ovs-vswitchd may have ended a moment ago, and is started again within seconds.
      const { stdout } = await eventually(60_000, () => inside("curl", "-ksS", "--max-time", "10", url));
      return (JSON.parse(stdout) as { gitVersion: string }).gitVersion;
    },
  };
}
