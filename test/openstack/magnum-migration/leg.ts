/** A port of this host in the network of a cluster: what a management cluster next to it has by routes. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Cloud } from "@causeway/openstack";

const run = promisify(execFile);
const MTU = "1442";

export interface Leg {
  readonly address: string;
  close(): Promise<void>;
}

export interface LegOf {
  readonly projectId: string;
  readonly networkId: string;
  readonly subnetId: string;
  /** Security groups of the cluster whose members this host is to be. */
  readonly groups: readonly string[];
}

export async function openLeg(
  { cloud, admin }: { readonly cloud: Cloud; readonly admin: Cloud },
  { projectId, networkId, subnetId, groups }: LegOf,
): Promise<Leg> {
  const own = await cloud.network.securityGroups.create({ name: "management" });
  const rule = { security_group_id: own.id, direction: "ingress", ethertype: "IPv4", protocol: "tcp" } as const;
  await cloud.network.securityGroupRules.create(rule);
  const body = {
    network_id: networkId,
    project_id: projectId,
    name: "management",
    fixed_ips: [{ subnet_id: subnetId }],
    security_groups: [...groups, own.id],
    "binding:host_id": "compute-1",
  };
  const port = await admin.network.ports.create(body as Parameters<typeof admin.network.ports.create>[0]);
  const device = `mgmt${port.id.slice(0, 8)}`;
  const address = port.fixed_ips[0]?.ip_address ?? "";
  const add = ["--timeout=20", "--may-exist", "add-port", "br-int", device];
  const set = ["--", "set", "interface", device, "type=internal", `external_ids:iface-id=${port.id}`];
  await run("ovs-vsctl", [...add, ...set]);
  await run("ip", ["link", "set", device, "address", port.mac_address, "mtu", MTU, "up"]);
  await run("ip", ["address", "replace", `${address}/24`, "dev", device]);
  return {
    address,
    async close() {
      await run("ovs-vsctl", ["--timeout=20", "--if-exists", "del-port", "br-int", device]);
      await admin.network.ports.delete(port.id);
    },
  };
}
