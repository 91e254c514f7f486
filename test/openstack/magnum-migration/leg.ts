/** A port of this host in the network of a cluster: what a management cluster next to it has by routes. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Cloud } from "@causeway/openstack";
import { OUTSIDE } from "./outside.ts";
import { LEG, trace } from "./traces.ts";

const run = promisify(execFile);
const MTU = "1442";

export interface Leg {
  readonly address: string;
}

export interface LegOf {
  readonly projectId: string;
  readonly networkId: string;
  readonly subnetId: string;
  /** Security groups of the cluster, which let this host in from now on. */
  readonly groups: readonly string[];
  /** The floating IP of the cluster's API. */
  readonly floating: string;
}

export async function openLeg(
  { cloud, admin }: { readonly cloud: Cloud; readonly admin: Cloud },
  { projectId, networkId, subnetId, groups, floating }: LegOf,
): Promise<Leg> {
  const own = await cloud.network.securityGroups.create({ name: LEG });
  const rule = { direction: "ingress", ethertype: "IPv4", protocol: "tcp" } as const;
  await cloud.network.securityGroupRules.create({ ...rule, security_group_id: own.id });
  const body = {
    network_id: networkId,
    project_id: projectId,
    name: LEG,
    fixed_ips: [{ subnet_id: subnetId }],
    security_groups: [own.id],
    "binding:host_id": "compute-1",
  };
  const port = await admin.network.ports.create(body as Parameters<typeof admin.network.ports.create>[0]);
  const device = `mgmt${port.id.slice(0, 8)}`;
  const address = port.fixed_ips[0]?.ip_address ?? "";
  trace({ devices: [device] });
  const from = { ...rule, remote_ip_prefix: `${address}/32` };
  for (const security_group_id of groups) await cloud.network.securityGroupRules.create({ ...from, security_group_id });
  const add = ["--timeout=20", "--may-exist", "add-port", "br-int", device];
  const set = ["--", "set", "interface", device, "type=internal", `external_ids:iface-id=${port.id}`];
  await run("ovs-vsctl", [...add, ...set]);
  await run("ip", ["link", "set", device, "address", port.mac_address, "mtu", MTU, "up"]);
  await run("ip", ["address", "replace", `${address}/24`, "dev", device]);
  const { gateway_ip: gateway } = await cloud.network.subnets.get(subnetId);
  // This host is a neighbour of both by br-ex, which the management cluster would not be.
  for (const far of [floating, OUTSIDE])
    await run("ip", ["route", "replace", `${far}/32`, "via", gateway ?? "", "dev", device, "src", address]);
  return { address };
}
