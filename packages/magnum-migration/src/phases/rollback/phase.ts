import { CausewayError } from "@causeway/foundation";
import { Cluster, HostedControlPlane } from "@causeway/api";
import { Node } from "@causeway/kubernetes";
import { openEtcd } from "../../etcd/access.ts";
import { controlPlaneUnits, machinesOf, readUnits, startUnits } from "../../masters/units.ts";
import type { MigrationRecord } from "../../record/record.ts";
import { definePhase, type Tools } from "../../phase.ts";
import { isTransient } from "../../transient.ts";
import { stoppable } from "../../workloads/driver.ts";
import { releasePlugin } from "../../workloads/node-plugin.ts";
import { findWorkloads, startWorkload } from "../../workloads/workloads.ts";
import { AGENT } from "../freeze/phase.ts";
import { setStage } from "../import/phase.ts";
import { readPool } from "../switch/phase.ts";
import { memberNameOf } from "../switch/plan.ts";
import { deleteBroughtProxy, readBroughtProxy } from "./kube-proxy.ts";
import { forgetObject, objectsOf, securityGroupNames } from "./objects.ts";
import { predictRollback } from "./predict.ts";
import { planRollback, type RollbackFacts, type RollbackStep, type UnreadCluster } from "./plan.ts";

/** Not one of the seven phases: undoes what the phases did, while retire was not begun. */
export const rollback = definePhase<RollbackFacts, RollbackStep>({
  name: "rollback",
  gather: gatherRollback,
  plan: planRollback,
  predict: predictRollback,
  async perform(tools, record, step, signal) {
    const { inventory, namespace, name } = record;
    const pool = inventory.api?.poolId ?? "";
    switch (step.type) {
      case "start-control-plane":
        await startUnits(tools, step.address, controlPlaneUnits.toReversed(), signal);
        return;
      case "add-pool-members": {
        const members = (inventory.api?.members ?? []).map((one) => ({
          name: one.name,
          address: one.address,
          protocol_port: one.port,
        }));
        await tools.cloud.loadBalancing.replaceMembers(pool, members, { additive: true, signal });
        return;
      }
      case "remove-pool-member":
        await tools.cloud.loadBalancing.members(pool).delete(step.id, { signal });
        return;
      case "pause":
        await tools.management.patch(
          Cluster,
          { namespace, name },
          { type: "merge", body: { spec: { paused: true } } },
          { signal },
        );
        return;
      case "forget-object":
        await forgetObject(tools.management, record, step.object, signal);
        return;
      case "follow":
        // A paused Cluster's control plane would not follow.
        await tools.management.patch(
          Cluster,
          { namespace, name },
          { type: "merge", body: { spec: { paused: false } } },
          { signal },
        );
        await setStage(tools.management, record, "Follow", signal);
        return;
      case "remove-member":
        await (await openEtcd(tools, record, signal)).remove(step.id, signal);
        return;
      case "delete-kube-proxy":
        await deleteBroughtProxy(tools, step.object, signal);
        return;
      case "release-node-plugin":
        await releasePlugin(tools.source, signal);
        return;
      case "delete-group":
        await tools.cloud.network.securityGroups.delete(step.id, { signal });
        return;
      case "start-agent":
        await startUnits(tools, step.address, [AGENT], signal);
        return;
      case "start-workload":
        await startWorkload(tools.source, step.workload, signal);
        return;
    }
  },
});

async function gatherRollback(tools: Tools, record: MigrationRecord, signal: AbortSignal): Promise<RollbackFacts> {
  const { inventory, namespace, name } = record;
  const inactive = async (machines: ReturnType<typeof machinesOf>, units: readonly string[]) =>
    (await readUnits(tools, machines, units, signal)).filter(({ active }) => active.length < units.length);
  const etcd = await (await openEtcd(tools, record, signal)).members(signal);
  const controlPlane = await tools.management.find(HostedControlPlane, { namespace, name }, { signal });
  const peerURL = controlPlane?.status?.datastore?.peerURL;
  const own = etcd.find((member) => peerURL !== undefined && member.peerURLs.includes(peerURL));
  const cluster = await tools.management.find(Cluster, { namespace, name }, { signal });
  const objects = await objectsOf(tools.management, record, signal);
  // By their Nodes: the objects that represented them are deleted before the proof is made.
  const reading = readingOf(signal);
  const nodes = await reading.of(async () => (await tools.source.list(Node, { signal })).items);
  const old = new Set(machinesOf(inventory).map(({ serverId }) => serverId));
  const made = (nodes ?? []).flatMap(({ spec }) => spec?.providerID?.split("/").at(-1) ?? []);
  const workloads = await reading.of(() => findWorkloads(tools.source, stoppable, signal));
  const kubeProxy =
    record.begun === "roll" ? await reading.of(() => readBroughtProxy(tools, record, signal)) : undefined;
  const present = machinesOf(inventory).filter((machine) => !record.phases.roll || inventory.masters.includes(machine));
  return {
    stopped: await inactive(inventory.masters, controlPlaneUnits),
    ...(await readPool(tools, record, signal)),
    ownMember: memberNameOf(name),
    etcdLost: inventory.masters.length - etcd.filter((member) => member !== own).length,
    hostedMember: own?.id,
    wantedStage: controlPlane?.spec.datastore?.stage,
    isPaused: cluster?.spec.paused === true,
    machineObjects: objects.machines,
    otherObjects: objects.others,
    unread: reading.unread(),
    kubeProxy,
    groups: await freeGroups(tools, record, signal),
    newServers: made.filter((id) => !old.has(id)),
    agents: await inactive(present, [AGENT]),
    // The proof needs the nodes, too.
    stoppedWorkloads: nodes && workloads?.filter(({ isOurs }) => isOurs),
  };
}

/** Reads the cluster, whose API may not serve yet. The first problem is kept, or the first that does not pass. */
export function readingOf(signal: AbortSignal) {
  let unread: UnreadCluster | undefined;
  return {
    unread: (): UnreadCluster | undefined => unread,
    async of<T>(read: () => Promise<T>): Promise<T | undefined> {
      try {
        return await read();
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof CausewayError)) throw error;
        if (unread === undefined || unread.isTransient)
          unread = { code: error.code, message: error.message, isTransient: isTransient(error) };
        return undefined;
      }
    },
  };
}

/** Groups are forgotten with the object that made them: those of servers that remain, which `roll` made, are in use. */
async function freeGroups(
  { cloud }: Tools,
  { namespace, name, inventory }: MigrationRecord,
  signal: AbortSignal,
): Promise<RollbackFacts["groups"]> {
  const names = securityGroupNames({ namespace, name });
  // An administrator's list has the groups of all projects.
  const all = await cloud.network.securityGroups.all({ project_id: inventory.projectId }, { signal });
  const own = all.filter((one) => names.includes(one.name));
  if (own.length === 0) return [];
  const used = new Set((await cloud.network.ports.all({}, { signal })).flatMap((port) => port.security_groups));
  return own.filter(({ id }) => !used.has(id)).map((one) => ({ id: one.id, name: one.name }));
}
