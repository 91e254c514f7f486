import type { Cloud } from "@causeway/openstack";
import { eventually } from "./processes.ts";

interface Named {
  readonly id: string;
  readonly name?: string;
}

/**
 * Everything a project has, as "kind id name", sorted: two of them are equal when nothing was left and nothing removed.
 */
export async function inventory(cloud: Cloud): Promise<string[]> {
  const project_id = await cloud.projectId();
  const { network, compute, loadBalancing, blockStorage } = cloud;
  const kinds: Record<string, Promise<readonly Named[]>> = {
    network: network.networks.all({ project_id }),
    subnet: network.subnets.all({ project_id }),
    router: network.routers.all({ project_id }),
    port: network.ports.all({ project_id }),
    "security group": network.securityGroups.all({ project_id }),
    "security group rule": network.securityGroupRules.all({ project_id }),
    "floating ip": network.floatingIps.all({ project_id }),
    server: compute.servers.all(),
    "load balancer": loadBalancing.loadBalancers.all({ project_id }),
    volume: blockStorage.volumes.all(),
  };
  const lines: string[] = [];
  for (const [kind, listing] of Object.entries(kinds)) {
    for (const item of await listing) lines.push(`${kind} ${item.id} ${item.name ?? ""}`.trimEnd());
  }
  return lines.sort();
}

/** What a project has once nothing changes for ten seconds: a cloud deletes what others left after they ended. */
export async function settledInventory(cloud: Cloud, milliseconds: number): Promise<string[]> {
  let found = await inventory(cloud);
  await eventually(milliseconds, async () => {
    await new Promise((done) => setTimeout(done, 10_000));
    const before = found;
    found = await inventory(cloud);
    return found.join() === before.join();
  });
  return found;
}
