import { setTimeout as sleep } from "node:timers/promises";
import type { Cloud } from "@causeway/openstack";

/** One thing that is deleted. */
export interface Removal {
  readonly what: string;
  readonly run: () => Promise<void>;
}

interface Deletable {
  all(query?: Readonly<Record<string, string>>): Promise<readonly { readonly id: string }[]>;
  delete(id: string): Promise<void>;
}

/** Rounds, and milliseconds between two: what is in use ends later, and frees what it used. */
const [ROUNDS, PAUSE] = [6, 3000];

/** Deletes what is in the project, and what `more` finds; prints what could not be deleted. */
export async function sweepProject(
  cloud: Cloud,
  projectId: string,
  more: () => Promise<readonly Removal[]> = () => Promise.resolve([]),
): Promise<void> {
  let refused: string[] = [];
  const found = async () => [...(await ofProject(cloud, projectId)), ...(await more())];
  for (let round = 0; round < ROUNDS; round++) {
    refused = [];
    const removals = await found().catch((error: Error) => void refused.push(error.message));
    if (!removals) continue;
    for (const { what, run } of removals)
      await run().catch((error: Error) => refused.push(`${what}: ${error.message}`));
    if (removals.length === 0) return;
    await sleep(PAUSE);
  }
  for (const line of refused) console.log(`left over: ${line}`);
}

async function removals(
  what: string,
  collection: Deletable,
  query: Readonly<Record<string, string>> = {},
): Promise<Removal[]> {
  const rows = await collection.all(query);
  return rows.map(({ id }) => ({ what: `${what} ${id}`, run: () => collection.delete(id) }));
}

async function ofProject(cloud: Cloud, projectId: string): Promise<Removal[]> {
  const { network, loadBalancing, compute, blockStorage } = cloud;
  const own = { project_id: projectId };
  const balancers = await loadBalancing.loadBalancers.all(own);
  const [ports, routers] = [await network.ports.all(own), await network.routers.all(own)];
  const groups = (await network.securityGroups.all(own)).filter(({ name }) => name !== "default");
  const plain = ports.filter(({ device_owner }) => device_owner === "" || device_owner.startsWith("compute:"));
  return [
    ...balancers.map(({ id }) => ({
      what: `load balancer ${id}`,
      run: () => loadBalancing.deleteLoadBalancer(id, { cascade: true }),
    })),
    ...(await removals("server", compute.servers)),
    ...(await removals("floating IP", network.floatingIps, own)),
    ...(await removals("trunk", network.trunks, own)),
    ...ports
      .filter(({ device_owner }) => device_owner === "network:router_interface")
      .map(({ id, device_id }) => ({
        what: `router interface ${id}`,
        run: () => network.removeRouterInterface(device_id, { port_id: id }),
      })),
    ...routers.map(({ id }) => ({
      what: `router ${id}`,
      run: async () => {
        await network.routers.update(id, { routes: [], external_gateway_info: null });
        await network.routers.delete(id);
      },
    })),
    ...plain.map(({ id }) => ({ what: `port ${id}`, run: () => network.ports.delete(id) })),
    ...(await removals("network", network.networks, own)),
    ...groups.map(({ id }) => ({ what: `security group ${id}`, run: () => network.securityGroups.delete(id) })),
    ...(await removals("snapshot", blockStorage.snapshots)),
    ...(await removals("volume", blockStorage.volumes)),
    ...(await removals("subnet pool", network.subnetPools, own)),
    ...(await removals("QoS policy", network.qosPolicies, own)),
  ];
}
