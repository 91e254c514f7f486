import { labels, Machine, MachineDeployment, MagnumCluster, OpenStackCluster, type Manifest } from "@causeway/api";
import { poolNameOf } from "@causeway/magnum-api";
import { getCondition, isTrue, type Condition } from "@causeway/kubernetes";
import type { MigrationRecord } from "../../record/record.ts";
import { definePhase, type Tools } from "../../phase.ts";
import { readNodePlugin, restrictPlugin } from "../../workloads/node-plugin.ts";
import { adoptedLabel, poolManifests } from "../adopt/objects.ts";
import { apply, isApplied, readGroupImages, withGivenImage, writeRow } from "../adopt/pools.ts";
import { withNodeImage } from "../adopt/row.ts";
import { adoptedMachineOf, setHeld } from "./drain-hook.ts";
import { readKubeProxy, withKubeProxy } from "./kube-proxy.ts";
import { withKubeletSource } from "./kubelet-source.ts";
import { readNodeProblems } from "./new-nodes.ts";
import { predictRoll } from "./predict.ts";
import { planRoll, type RollFacts, type RollPool, type RollStart, type RollStep } from "./plan.ts";

/** Phase 6: Cluster API replaces the adopted machines by its own. */
export const roll = definePhase<RollFacts, RollStep>({
  name: "roll",
  prepare: withGivenImage,
  async gather(tools, record, signal) {
    const machines = await readMachines(tools, record, signal);
    const pools = await readPools(tools, record, machines, signal);
    const hasBegun = pools.some(({ isPaused }) => !isPaused);
    const row = await readRow(tools, record, signal);
    return {
      pools,
      problems: await readProblems(tools, pools, machines, signal),
      kubeProxy: { isChosen: withKubeProxy(row) === row, ...(await readKubeProxy(tools, record, signal)) },
      start: hasBegun ? undefined : await readStart(tools, record, row, signal),
    };
  },
  plan: planRoll,
  predict: predictRoll,
  async perform(tools, record, step, signal) {
    switch (step.type) {
      case "set-image":
        await writeRow(tools, withNodeImage(await readRow(tools, record, signal), record), signal);
        return;
      case "set-kube-proxy":
        await writeRow(tools, withKubeProxy(await readRow(tools, record, signal)), signal);
        return;
      case "set-kubelet-source":
        await writeRow(tools, withKubeletSource(await readRow(tools, record, signal), tools.peerHost), signal);
        return;
      case "restrict-node-plugin":
        await restrictPlugin(tools.source, signal);
        return;
      case "write": {
        const one = manifestsOf(tools, record, await readRow(tools, record, signal))[step.index];
        if (one) await apply(tools, one, signal);
        return;
      }
      case "hold":
      case "release": {
        const key = { namespace: record.namespace, name: step.machine };
        await setHeld(tools, key, step.type === "hold", signal);
        return;
      }
      case "roll":
        await tools.management.patch(
          MachineDeployment,
          { namespace: record.namespace, name: step.pool },
          { type: "merge", body: { spec: { paused: false } } },
          { signal },
        );
        return;
    }
  },
});

const readRow = ({ management }: Tools, { namespace, name }: MigrationRecord, signal: AbortSignal) =>
  management.get(MagnumCluster, { namespace, name }, { signal });

const manifestsOf = ({ keystone, peerHost }: Tools, record: MigrationRecord, row: MagnumCluster): readonly Manifest[] =>
  poolManifests(withKubeletSource(withKubeProxy(withNodeImage(row, record)), peerHost), keystone);

async function readStart(
  tools: Tools,
  record: MigrationRecord,
  row: MagnumCluster,
  signal: AbortSignal,
): Promise<RollStart> {
  const manifests = manifestsOf(tools, record, row);
  const applied = await Promise.all(manifests.map((one) => isApplied(tools, one, signal)));
  return {
    images: await readGroupImages(tools, record, signal),
    hasImage: withNodeImage(row, record) === row,
    hasKubeletSource: withKubeletSource(row, tools.peerHost) === row,
    nodePlugin: await readNodePlugin(tools.source, signal),
    outdated: manifests.flatMap(({ object: { kind, metadata } }, index) =>
      applied[index] === true ? [] : [{ index, kind, name: metadata.name }],
    ),
  };
}

async function readMachines(
  { management }: Tools,
  { namespace, name }: MigrationRecord,
  signal: AbortSignal,
): Promise<readonly Machine[]> {
  const labelSelector = `${labels.clusterName}=${name}`;
  return (await management.list(Machine, { namespace, labelSelector, signal })).items;
}

const isAdopted = ({ metadata }: Machine): boolean => metadata.labels?.[adoptedLabel] !== undefined;

/** Only while a Machine waits for its drain: they say whether it may begin. */
async function readProblems(
  tools: Tools,
  pools: readonly RollPool[],
  machines: readonly Machine[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (!pools.some(({ adopted }) => adopted.some(({ isHeld, isDeleting }) => isHeld && isDeleting))) return [];
  const nodesOf = (some: readonly Machine[]): string[] => some.flatMap(({ status }) => status?.nodeRef?.name ?? []);
  const fresh = machines.filter((one) => !isAdopted(one) && one.metadata.deletionTimestamp === undefined);
  return readNodeProblems(tools, { fresh: nodesOf(fresh), adopted: nodesOf(machines.filter(isAdopted)) }, signal);
}

async function readPools(
  { management }: Tools,
  { namespace, name, inventory }: MigrationRecord,
  machines: readonly Machine[],
  signal: AbortSignal,
): Promise<RollPool[]> {
  const infrastructure = await management.find(OpenStackCluster, { namespace, name }, { signal });
  const ready = getCondition((infrastructure?.status?.conditions ?? []) as Condition[], "Ready");
  const blocked = ready?.status === "False" ? `OpenStackCluster ${name}: ${ready.message ?? ""}` : undefined;
  return Promise.all(
    inventory.groups.map(async (group): Promise<RollPool> => {
      const pool = poolNameOf(name, group);
      const deployment = await management.get(MachineDeployment, { namespace, name: pool }, { signal });
      const own = machines.filter(({ metadata }) => metadata.labels?.[labels.deploymentName] === pool);
      const fresh = own.filter((one) => !isAdopted(one));
      const failed = fresh.find(({ status }) => isFailed((status?.conditions ?? []) as Condition[]));
      return {
        name: pool,
        group: group.name,
        isPaused: deployment.spec.paused === true,
        replicas: deployment.spec.replicas ?? 1,
        fresh: fresh.filter(({ status }) => isTrue((status?.conditions ?? []) as Condition[], "NodeReady")).length,
        adopted: own.filter(isAdopted).map(adoptedMachineOf),
        failure: failed
          ? `Machine ${failed.metadata.name}: ${infrastructureMessage((failed.status?.conditions ?? []) as Condition[])}`
          : blocked,
      };
    }),
  );
}

const infrastructureMessage = (conditions: Condition[]): string =>
  getCondition(conditions, "InfrastructureReady")?.message ?? "";

/** Refused or in ERROR, and not on its way. */
function isFailed(conditions: Condition[]): boolean {
  const found = getCondition(conditions, "InfrastructureReady");
  return found?.status === "False" && /ERROR|refused|quota|No valid host/i.test(found.message ?? "");
}
