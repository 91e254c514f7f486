import { CausewayError, hasCode } from "@causeway/foundation";
import { Machine, MagnumCluster } from "@causeway/api";
import { heatAnnotation, migratingAnnotation } from "@causeway/magnum-api";
import { Node } from "@causeway/kubernetes";
import type { Cloud } from "@causeway/openstack";
import { openEtcd } from "../../etcd/access.ts";
import { createEtcdClient } from "../../etcd/client.ts";
import type { Resource } from "../../inventory/model.ts";
import { definePhase, type Tools } from "../../phase.ts";
import { adoptedLabel } from "../adopt/objects.ts";
import { deleteDriverObject, readDriver } from "./driver.ts";
import { hostedUrlOf } from "./hosted.ts";
import { performMagnum, readMagnum } from "./magnum.ts";
import { predictRetire } from "./predict.ts";
import {
  driverReads,
  keptOf,
  leftoversOf,
  planRetire,
  type DeletedType,
  type RetireFacts,
  type RetireStep,
} from "./plan.ts";
import { deleteStackProject, readStackProjects } from "./stack-projects.ts";

/** Phase 7: what only Heat and the masters needed is deleted, and the Magnum API takes the cluster over. */
export const retire = definePhase<RetireFacts, RetireStep>({
  name: "retire",
  async gather(tools, record, signal) {
    const { inventory, namespace, name } = record;
    const found = await Promise.all(inventory.stacks.map(({ id }) => tools.cloud.orchestration.find(id, { signal })));
    const hosted = await hostedUrlOf(tools, record, signal);
    const members = await (await membersClient(tools, record, signal)).members(signal);
    const own = members.find(({ peerURLs }) => peerURLs.includes(hosted.peerURL));
    const nodes = await Promise.all(
      inventory.masters.map((master) => tools.source.find(Node, { namespace: "", name: master.name }, { signal })),
    );
    const { items: old } = await tools.management.list(Machine, { namespace, labelSelector: adoptedLabel, signal });
    const groups = new Set(inventory.groups.map(({ uuid }) => uuid));
    const there = await presentIn(tools.cloud, signal);
    const magnum = await readMagnum(tools, record, signal);
    const trusteeId = magnum.row === undefined || magnum.row === "unknown" ? "" : magnum.row.trusteeId;
    const cluster = await tools.management.find(MagnumCluster, { namespace, name }, { signal });
    const facts = {
      stacks: inventory.stacks.filter((_, index) => stateOf(found[index]) === "there"),
      leaving: inventory.stacks.filter((_, index) => stateOf(found[index]) === "leaving"),
      oldMembers: members.filter((one) => one !== own),
      hasHostedMember: own !== undefined && !own.isLearner,
      oldMachines: old
        .filter(({ metadata }) => groups.has(metadata.labels?.[adoptedLabel] ?? ""))
        .map(({ metadata }) => metadata.name),
      masterNodes: nodes.flatMap((node) => (node ? [node.metadata.name] : [])),
      leftovers: leftoversOf(
        inventory,
        ({ id }) => there.all.has(id),
        ({ id }) => there.free.has(id),
      ),
      changing: there.changing,
      kept: keptOf(inventory.resources, ({ id }) => there.all.has(id)),
      isMigrating: cluster?.metadata.annotations?.[migratingAnnotation] !== undefined,
      status: cluster?.status && { status: cluster.status.status ?? "", reason: cluster.status.reason ?? "" },
      stackProjects: await readStackProjects(tools, record, signal),
      magnum,
    };
    return { ...facts, driver: await readDriver(tools.source, trusteeId, driverReads(facts), signal) };
  },
  plan: planRetire,
  predict: predictRetire,
  async perform(tools, record, step, signal) {
    switch (step.type) {
      case "abandon":
        await abandon(tools, step.stack, signal);
        return;
      case "remove-member":
        await (await membersClient(tools, record, signal)).remove(step.id, signal);
        return;
      case "delete-node":
        await tools.source.delete(Node, { namespace: "", name: step.name }, { signal });
        return;
      case "delete-driver-object":
        await deleteDriverObject(tools.source, step.object, signal);
        return;
      case "delete-resource":
        await deleteResource(tools, step.resource, signal);
        return;
      case "hand-over": {
        const { namespace, name } = record;
        const body = { metadata: { annotations: { [migratingAnnotation]: null, [heatAnnotation]: null } } };
        await tools.management.patch(MagnumCluster, { namespace, name }, { type: "merge", body }, { signal });
        return;
      }
      case "delete-stack-project":
        await deleteStackProject(tools, step.project, signal);
        return;
      case "disable-trustee":
      case "delete-trustee":
      case "delete-row":
        await performMagnum(tools, record, step, signal);
        return;
    }
  },
});

/** Heat lists a stack for a moment after it was abandoned or deleted. */
function stateOf(stack: { readonly stack_status: string } | undefined): "there" | "leaving" | "gone" {
  if (stack === undefined || stack.stack_status === "DELETE_COMPLETE") return "gone";
  return stack.stack_status.endsWith("_IN_PROGRESS") ? "leaving" : "there";
}

/** By the hosted member where it is reached, since the others go; else by theirs. */
async function membersClient(tools: Tools, record: Parameters<typeof openEtcd>[1], signal: AbortSignal) {
  const hosted = await hostedUrlOf(tools, record, signal);
  const client = createEtcdClient({ ...hosted.tls, urls: [hosted.clientURL] });
  try {
    await client.members(signal);
    return client;
  } catch (error) {
    if (!hasCode(error, "MIGRATE_ETCD_UNREACHABLE")) throw error;
    return openEtcd(tools, record, signal);
  }
}

async function abandon({ cloud }: Tools, stack: { id: string; name: string }, signal: AbortSignal): Promise<void> {
  try {
    await cloud.orchestration.abandon({ id: stack.id, stack_name: stack.name }, { signal });
  } catch (error) {
    throw new CausewayError("MIGRATE_ABANDON_REFUSED", `Heat did not abandon stack ${stack.name}`, {
      cause: error,
      hint: "Set enable_stack_abandon = true in heat.conf, restart heat-engine, and allow stacks:abandon by policy. Never delete the stack: that deletes living ports and groups.",
    });
  }
}

/** Ids that the project has; those of them that no server uses; those that the cloud is changing or deleting. */
async function presentIn(
  cloud: Cloud,
  signal: AbortSignal,
): Promise<Readonly<Record<"all" | "free" | "changing", ReadonlySet<string>>>> {
  const options = { signal };
  const servers = await cloud.compute.servers.all({}, options);
  const living = new Set(servers.filter(({ status }) => status !== "DELETED").map(({ id }) => id));
  const ports = await cloud.network.ports.all({}, options);
  const volumes = await cloud.blockStorage.volumes.all({}, options);
  const others = await Promise.all([
    cloud.network.floatingIps.all({}, options),
    cloud.network.securityGroups.all({}, options),
    cloud.compute.serverGroups.all({}, options),
    cloud.loadBalancing.loadBalancers.all({}, options),
    cloud.network.networks.all({}, options),
    cloud.network.subnets.all({}, options),
    cloud.network.routers.all({}, options),
  ]);
  const balancers = others[3].filter(({ provisioning_status }) => provisioning_status !== "DELETED");
  const [addresses, groups, serverGroups, , ...networks] = others;
  const rest = [...addresses, ...groups, ...serverGroups, ...balancers, ...networks.flat()].map(({ id }) => id);
  const free = [
    ...ports.filter(({ device_id }) => !living.has(device_id)),
    ...others[0].filter(({ port_id }) => !port_id),
    ...volumes.filter(({ status }) => status === "available" || status.startsWith("error")),
  ];
  const changing = [
    ...balancers.filter(({ provisioning_status }) => provisioning_status.startsWith("PENDING_")),
    ...volumes.filter(({ status }) => status.endsWith("ing")),
  ];
  return {
    changing: new Set(changing.map(({ id }) => id)),
    all: new Set([...living, ...ports.map(({ id }) => id), ...volumes.map(({ id }) => id), ...rest]),
    free: new Set(free.map(({ id }) => id)),
  };
}

/** Deletes, and waits a little where the service needs longer: the next round asks again. */
async function deleteResource({ cloud, clock }: Tools, { type, id }: Resource, signal: AbortSignal): Promise<void> {
  const delete_: Readonly<Record<DeletedType, () => Promise<void>>> = {
    "OS::Nova::Server": () => cloud.compute.servers.delete(id, { signal }),
    "OS::Neutron::FloatingIP": () => cloud.network.floatingIps.delete(id, { signal }),
    "OS::Octavia::LoadBalancer": () => cloud.loadBalancing.deleteLoadBalancer(id, { cascade: true, signal }),
    "OS::Neutron::Port": () => cloud.network.ports.delete(id, { signal }),
    "OS::Cinder::Volume": () => cloud.blockStorage.volumes.delete(id, { signal }),
    "OS::Nova::ServerGroup": () => cloud.compute.serverGroups.delete(id, { signal }),
    "OS::Neutron::SecurityGroup": () => cloud.network.securityGroups.delete(id, { signal }),
  };
  await delete_[type as DeletedType]();
  await clock.sleep(250, signal);
}
