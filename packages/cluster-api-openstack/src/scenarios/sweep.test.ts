import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster, OpenStackCluster, OpenStackMachine } from "@causeway/api";
import { systemClock } from "@causeway/foundation";
import { removeFinalizer } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { describe, expect, it } from "vitest";
import { sweepClusters, type ClusterSweep } from "../sweep/sweep.ts";
import { clusterFinalizer, machineFinalizer, networkName } from "../resources/naming.ts";
import { demoSpec } from "../testing/objects.ts";
import { namespace, openInfrastructure } from "./world.ts";

const world = openInfrastructure();
const never = new AbortController().signal;

/** Ends the objects of a cluster as an operator does who removes finalizers: the cloud keeps everything. */
async function forget(name: string, machines: readonly string[]): Promise<void> {
  const { client } = world;
  for (const machine of machines) {
    const object = await client.get(OpenStackMachine, { namespace, name: machine });
    await removeFinalizer(client, OpenStackMachine, object, { finalizer: machineFinalizer, signal: never });
    await client.delete(OpenStackMachine, { namespace, name: machine });
  }
  const object = await client.get(OpenStackCluster, { namespace, name });
  await removeFinalizer(client, OpenStackCluster, object, { finalizer: clusterFinalizer, signal: never });
  await client.delete(OpenStackCluster, { namespace, name });
  await client.delete(Cluster, { namespace, name });
}

describe("a sweep of clusters", { timeout: 300_000 }, () => {
  it("deletes everything that a cluster without objects left, and nothing of a living one or of a user", async () => {
    const cloud = cloudOf();
    const { network } = cloud;
    const before = world.inventory();
    const controllers = world.start();
    const balanced = { ...demoSpec, apiServer: { managedLoadBalancer: { enabled: true } } };
    await world.createCluster("lives");
    await world.clusterReady("lives");
    await world.createMachine("lives", "lives-a");
    await world.machineReady("lives-a");
    const alone = world.inventory();
    await world.createCluster("gone", balanced);
    await world.clusterReady("gone");
    await world.createMachine("gone", "gone-a", { rootVolume: { sizeGiB: 1 }, trunk: true });
    await world.machineReady("gone-a");
    await controllers.kill();
    await forget("gone", ["gone-a"]);
    const user = await network.networks.create({ name: networkName("default-gone"), description: "mine" });

    const request: ClusterSweep = {
      client: world.client,
      cloud,
      clusters: [{ namespace, name: "gone" }],
      dryRun: false,
      running: true,
      clock: systemClock,
    };
    const outcomes = async (more: Partial<ClusterSweep>) =>
      (await sweepClusters({ ...request, ...more }, never)).map(({ outcome, kind }) => `${outcome} ${kind}`);
    const writes = world.writes();
    const all = await outcomes({ clusters: [] });
    expect(new Set(all)).toEqual(
      new Set(
        [
          "server",
          "volume",
          "trunk",
          "port",
          "load balancer",
          "floating IP",
          "router",
          "network",
          "security group",
        ].map((kind) => `found ${kind}`),
      ),
    );
    expect(await outcomes({ dryRun: true })).toEqual(all);
    expect(await outcomes({ confirm: () => Promise.resolve(false) })).toEqual(all);
    expect(new Set(await outcomes({ running: false }))).toEqual(
      new Set(all.map((one) => one.replace("found", "kept"))),
    );
    await expect(outcomes({ clusters: [{ namespace, name: "lives" }] })).rejects.toMatchObject({
      code: "SWEEP_CLUSTER_EXISTS",
    });
    expect(await outcomes({ clusters: [{ namespace, name: "other" }] })).toEqual([]);
    expect(world.writes()).toBe(writes);

    const stranger = await network.ports.create({
      name: "stranger",
      network_id:
        (await network.networks.all({ name: networkName("default-gone") })).find((n) => n.id !== user.id)?.id ?? "",
    });
    const blocked = await sweepClusters({ ...request, dryRun: true }, never);
    expect(blocked.filter(({ outcome }) => outcome === "kept").map(({ kind }) => kind)).toEqual(["router", "network"]);
    await network.ports.delete(stranger.id);

    expect(new Set(await outcomes({}))).toEqual(new Set(all.map((one) => one.replace("found", "removed"))));
    await network.networks.delete(user.id);
    expect(world.inventory()).toEqual(alone);
    expect(await outcomes({})).toEqual([]);
    const again = world.start();
    await world.remove("lives", ["lives-a"]);
    await again.kill();
    expect(world.inventory()).toEqual(before);
    await cloud.close();
  });
});

function cloudOf() {
  const dir = mkdtempSync(join(tmpdir(), "sweep-clusters-"));
  const path = join(dir, "clouds.yaml");
  writeFileSync(path, world.simulator.cloudsYaml, { mode: 0o600 });
  const cloud = connectCloud(loadCloudsYaml({ cloud: "simulator", path }));
  rmSync(dir, { recursive: true });
  return cloud;
}
