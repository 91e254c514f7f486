/** Flows of the switch of a node. */
import { eventually } from "../support/processes.ts";
import { TIMEOUT, type Rig } from "./rig.ts";
import { CONTROL } from "./whole-cloud.ts";

/** A node without a port has fewer flows. */
const PLUGGED = 50;
/** So often the same number of flows, a second or so apart, is all of them. */
const SETTLED = 10;

/** The pod of a component on a node. */
export function podOn(rig: Rig, component: string, node: string = CONTROL): string {
  const selector = ["-l", `openstack.causeway.dev/component=${component}`, "--field-selector", `spec.nodeName=${node}`];
  const { items } = rig.get<{ items: { metadata: { name: string; deletionTimestamp?: string } }[] }>(
    "pods",
    ...selector,
  );
  return items.find(({ metadata }) => metadata.deletionTimestamp === undefined)?.metadata.name ?? "";
}

/** Flows of the bridge of all servers, without what counts. */
export async function flowsOf(rig: Rig, pod: string): Promise<string[]> {
  const dump = ["ovs-ofctl", "-O", "OpenFlow15", "dump-flows", "--no-stats", "--no-names", "br-int"];
  const text = await rig.inContainer(pod, "openvswitch", ...dump);
  return text.split("\n").filter((line) => line.includes("actions="));
}

/** Nova's fake driver plugs nothing: an interface of a server's port has all flows of its network written. */
export async function plug(rig: Rig, pod: string, port: string, name: string): Promise<void> {
  const add = ["add-port", "br-int", name, "--", "set", "interface", name, "type=internal"];
  await rig.inContainer(pod, "openvswitch", "ovs-vsctl", ...add, `external_ids:iface-id=${port}`);
}

/** Those of a port that was just plugged, once no more are written. */
export async function settledFlows(rig: Rig, pod: string): Promise<string[]> {
  let [last, same] = [await flowsOf(rig, pod), 0];
  return eventually(TIMEOUT, async () => {
    const now = await flowsOf(rig, pod);
    same = now.length === last.length && now.length > PLUGGED ? same + 1 : 0;
    last = now;
    return same >= SETTLED && now;
  });
}
