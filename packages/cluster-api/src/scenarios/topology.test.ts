import { afterEach, describe, expect, test, vi } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import {
  allKinds,
  Cluster,
  ClusterClass,
  conversionsOf,
  HostedControlPlane,
  KubeadmConfigTemplate,
  MachineDeployment,
  OpenStackCluster,
  OpenStackMachineTemplate,
  toCustomResourceDefinition,
} from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import { classTemplates, clusterClass, topologyCluster } from "../testing/class-manifests.ts";
import { key, namespace, World } from "../testing/world.ts";

vi.setConfig({ testTimeout: 300_000 });

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function started(...objects: readonly KubeObject[]): Promise<World> {
  const crds = allKinds.map((kind) => toCustomResourceDefinition(kind));
  world = await World.start(await startApiServer({ crds, conversions: conversionsOf(allKinds) }));
  world.run();
  await world.apply(...classTemplates(), clusterClass(), ...objects);
  return world;
}

const condition = async (w: World) => {
  const cluster = await w.client.get(Cluster, key("demo"));
  return cluster.status?.conditions?.find(({ type }) => type === "TopologyReconciled");
};
const reason = (w: World, wanted: string, message = "") =>
  w.until(`TopologyReconciled ${wanted} ${message}`, async () => {
    const found = await condition(w);
    return found?.reason === wanted && (found.message ?? "").includes(message) ? found : undefined;
  });
const topology = (w: World, body: object) =>
  w.client.patch(Cluster, key("demo"), { type: "merge", body: { spec: { topology: body } } });
const owned = async (w: World) => ({
  deployments: (await w.client.list(MachineDeployment, { namespace })).items,
  machines: (await w.client.list(OpenStackMachineTemplate, { namespace })).items.filter(({ metadata }) =>
    metadata.name.startsWith("demo-"),
  ),
  configs: (await w.client.list(KubeadmConfigTemplate, { namespace })).items.filter(({ metadata }) =>
    metadata.name.startsWith("demo-"),
  ),
});

/** Waits until a machine has made way for another. */
async function replaced(w: World, name: string): Promise<void> {
  await w.until(`${name} to be replaced`, async () => {
    const machines = await w.machines();
    for (const one of machines) if (one.spec.providerID) await w.join(one.metadata.name).catch(() => {});
    return machines.length === 1 && machines[0]?.metadata.name !== name && machines[0]?.status?.phase === "Running";
  });
}

describe("a cluster with a topology", () => {
  test("is created by its class, follows its variables, is upgraded, changes its class and is deleted without a trace", async () => {
    const w = await started(topologyCluster());
    await w.running(1);
    await reason(w, "ReconcileSucceeded");
    const cluster = await w.client.get(Cluster, key("demo"));
    expect(cluster.spec.topology?.variables).toEqual([{ name: "flavor", value: "m1.small" }]);
    const infrastructure = await w.client.get(OpenStackCluster, key(cluster.spec.infrastructureRef?.name ?? ""));
    expect(infrastructure.metadata.ownerReferences).toMatchObject([
      { kind: "Cluster", name: "demo", controller: true },
    ]);
    expect(infrastructure.metadata.labels).toMatchObject({
      "cluster.x-k8s.io/cluster-name": "demo",
      "topology.cluster.x-k8s.io/owned": "",
    });
    const before = await owned(w);
    expect(before.machines.map(({ spec }) => spec.template.spec.tags)).toEqual([["demo", "md-0"]]);
    const classes = await w.client.get(ClusterClass, key("class"));
    expect(classes.status?.variables?.map(({ name }) => name)).toEqual(["flavor", "cidr"]);
    const source = await w.client.get(OpenStackMachineTemplate, key("class-machine"));
    expect(source.metadata.ownerReferences).toMatchObject([{ kind: "ClusterClass", name: "class" }]);

    // Labels of workers change in place: no template is replaced, and no machine.
    await topology(w, {
      workers: {
        machineDeployments: [
          { class: "default-worker", name: "md-0", replicas: 1, metadata: { labels: { zone: "a" } } },
        ],
      },
    });
    await w.until("the label", async () => (await owned(w)).deployments[0]?.metadata.labels?.["zone"] === "a");
    expect((await owned(w)).machines.map(({ metadata }) => metadata.name)).toEqual(
      before.machines.map(({ metadata }) => metadata.name),
    );

    // A variable of the machines: their template is replaced, and then the machines; the old template goes with its
    // last MachineSet.
    const [old] = await w.machines();
    await topology(w, { variables: [{ name: "flavor", value: "m1.large" }] });
    await replaced(w, old?.metadata.name ?? "");
    const rotated = await w.until("one template", async () => {
      const { machines, deployments } = await owned(w);
      const inUse = deployments[0]?.spec.template.spec.infrastructureRef.name;
      return machines.length === 1 && machines[0]?.metadata.name === inUse && machines[0];
    });
    expect(rotated.spec.template.spec.flavor).toEqual({ filter: { name: "m1.large" } });
    expect((await owned(w)).configs.map(({ metadata }) => metadata.name)).toEqual(
      before.configs.map(({ metadata }) => metadata.name),
    );

    // An upgrade: the control plane first, then the workers.
    await topology(w, { version: "v1.34.2" });
    await reason(w, "ClusterUpgrading", "HostedControlPlane upgrading to version v1.34.2");
    expect((await owned(w)).deployments[0]?.spec.template.spec.version).toBe("v1.34.0");
    const [control] = (await w.client.list(HostedControlPlane, { namespace })).items;
    expect(control?.spec.version).toBe("v1.34.2");
    const [outdated] = await w.machines();
    await w.client.patch(
      HostedControlPlane,
      key(control?.metadata.name ?? ""),
      { type: "merge", body: { status: { version: "v1.34.2" } } },
      { subresource: "status" },
    );
    await replaced(w, outdated?.metadata.name ?? "");
    await reason(w, "ReconcileSucceeded");
    expect((await w.machines()).map(({ spec }) => spec.version)).toEqual(["v1.34.2"]);

    // Another class of the same kinds; workers that the topology no longer has go.
    const tags = { op: "add" as const, path: "/spec/template/spec/tags", value: ["other"] };
    const selector = {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "OpenStackMachineTemplate",
      matchResources: { machineDeploymentClass: { names: ["*"] } },
    };
    await w.apply(
      clusterClass("other", { patches: [{ name: "tags", definitions: [{ selector, jsonPatches: [tags] }] }] }),
    );
    await topology(w, {
      classRef: { name: "other" },
      workers: { machineDeployments: [{ class: "default-worker", name: "md-1", replicas: 1 }] },
    });
    await w.until("the workers of the other class", async () => {
      await w.running(1).catch(() => undefined);
      const { deployments, machines } = await owned(w);
      const isOther =
        deployments.length === 1 &&
        deployments[0]?.metadata.labels?.["topology.cluster.x-k8s.io/deployment-name"] === "md-1";
      return isOther && machines.length === 1 && machines[0]?.spec.template.spec.tags?.[0] === "other";
    });

    await w.client.delete(Cluster, key("demo"));
    await w.until("no Cluster", async () => (await w.client.find(Cluster, key("demo"))) === undefined);
    await w.until("nothing of it", async () => {
      const { deployments, machines, configs } = await owned(w);
      const clusters = (await w.client.list(OpenStackCluster, { namespace })).items;
      const controls = (await w.client.list(HostedControlPlane, { namespace })).items;
      return deployments.length + machines.length + configs.length + clusters.length + controls.length === 0;
    });
    expect(
      (await w.client.list(OpenStackMachineTemplate, { namespace })).items.map(({ metadata }) => metadata.name),
    ).toEqual(["class-machine"]);
  });

  test("says why its class cannot be carried out, and continues once it can", async () => {
    const w = await started();
    await w.apply({
      ...topologyCluster(),
      spec: {
        ...topologyCluster().spec,
        topology: { ...topologyCluster().spec.topology, classRef: { name: "late" }, version: "v1.34.0" },
      },
    } as Cluster);
    await reason(w, "ReconcileFailed", "ClusterClass default/late does not exist");
    await w.apply(
      clusterClass("late", {
        variables: [
          { name: "flavor", required: true, schema: { openAPIV3Schema: { type: "string" } } },
          { name: "cidr", required: false, schema: { openAPIV3Schema: { type: "string" } } },
        ],
      }),
    );
    await reason(w, "ReconcileFailed", 'required variable "flavor" must be set');
    expect((await w.client.list(OpenStackCluster, { namespace })).items).toEqual([]);
    await topology(w, {
      variables: [{ name: "flavor", value: "m1.small" }],
      workers: { machineDeployments: [{ class: "none", name: "md-0" }] },
    });
    await reason(w, "ReconcileFailed", 'MachineDeployment class "none" not found');
    await topology(w, { workers: { machineDeployments: [{ class: "default-worker", name: "md-0", replicas: 0 }] } });
    await reason(w, "ReconcileSucceeded");
  });
});
