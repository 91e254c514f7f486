import { describe, expect, test } from "vitest";
import { systemClock } from "@causeway/foundation";
import { Service } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { sweepAbandoned } from "../sweep/abandoned.ts";
import { sweepOrphans, type Swept } from "../sweep/sweep.ts";
import type { World } from "../testing/world.ts";
import { ownWorlds, type OwnWorld } from "./own-world.ts";

const start = ownWorlds();

/** A cluster with Services "live" and "dead"; the latter's finalizer is torn off, as by a person in a hurry. */
async function started(): Promise<OwnWorld> {
  const own = await start({ prefix: "s", servers: 1, timeout: 60_000 });
  const { w } = own;
  const manager = w.run({ provider: "amphora", manageSecurityGroups: true });
  await w.joinAll();
  for (const name of ["live", "dead"]) {
    await w.createService(name);
    await w.served(name);
  }
  await manager.stop();
  await w.change("dead", { metadata: { finalizers: null } });
  await w.client.delete(Service, { namespace: "default", name: "dead" });
  return own;
}

function sweep(w: World, options: { dryRun?: boolean; floatingIps?: boolean; clusterName?: string } = {}) {
  const { dryRun = false, floatingIps = false, clusterName = "s" } = options;
  const { client, cloud } = w;
  const request = { client, cloud, clusterName, dryRun, floatingIps, clock: systemClock };
  return sweepOrphans(request, new AbortController().signal);
}

const words = (all: readonly Swept[]) => all.map((s) => `${s.kind} of ${s.service}: ${s.outcome}`);

describe("a sweep", () => {
  test("finds what a dead Service left, and in a dry run touches nothing", async () => {
    const { w, cloud } = await started();
    const before = cloud.inventory();
    expect(words(await sweep(w, { dryRun: true }))).toEqual([
      "load balancer of default/dead: found",
      "floating IP of default/dead: kept",
      "security group of default/dead: found",
    ]);
    expect(cloud.inventory()).toEqual(before);
  });

  test("removes it, and nothing of a Service that lives; the address only when requested", async () => {
    const { w } = await started();
    expect(words(await sweep(w))).toEqual([
      "load balancer of default/dead: removed",
      "floating IP of default/dead: kept",
      "security group of default/dead: removed",
    ]);
    expect(words(await sweep(w, { floatingIps: true }))).toEqual(["floating IP of default/dead: removed"]);
    expect(await sweep(w, { floatingIps: true })).toEqual([]);
    expect((await w.loadBalancers()).map((lb) => lb.name)).toEqual(["kube_service_s_default_live"]);
    const left = await w.cloud.network.floatingIps.all();
    expect(left.map((ip) => ip.description)).toEqual([expect.stringContaining("default/live")]);
  });

  test("leaves alone a resource with our name but not our description, another cluster's, and what a live Service uses", async () => {
    const { w } = await started();
    const { loadBalancing, network } = w.cloud;
    const vip = { vip_subnet_id: w.infrastructure.subnet.id };
    const mine = await loadBalancing.loadBalancers.create({ name: "kube_service_s_default_mine", ...vip });
    await network.securityGroups.create({ name: "lb-sg-0b0c0d0e-0000-4000-8000-000000000000-default-x" });
    const [dead] = (await w.loadBalancers()).filter((lb) => lb.name.endsWith("_dead"));
    await w.change("live", { metadata: { annotations: { "loadbalancer.openstack.org/load-balancer-id": dead?.id } } });
    const all = await sweep(w, { floatingIps: true });
    expect(all.find((s) => s.kind === "load balancer")?.kept).toBe("Service default/live uses it");
    expect(await sweep(w, { clusterName: "other" })).toEqual([]);
    expect(await loadBalancing.loadBalancers.find(mine.id)).toBeDefined();
    await w.client.delete(Service, { namespace: "default", name: "live" });
  });

  test("refuses a cluster whose nodes are not in the project: all of its Services would seem dead", async () => {
    const { w, cloud } = await started();
    const { items } = await w.client.list(Service);
    expect(items.length).toBeGreaterThan(0);
    const elsewhere = loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator-alt" });
    const other = connectCloud(elsewhere);
    const request = {
      client: w.client,
      cloud: other,
      clusterName: "s",
      dryRun: false,
      floatingIps: true,
      clock: systemClock,
    };
    await expect(sweepOrphans(request, new AbortController().signal)).rejects.toMatchObject({
      code: "SWEEP_OTHER_CLUSTER",
    });
    await other.close();
  });

  test("without the API of a deleted cluster removes all that is the cluster's and on its network, and says what it keeps", async () => {
    const { w } = await started();
    const { loadBalancing, network } = w.cloud;
    const vip = { vip_subnet_id: w.infrastructure.subnet.id };
    const ingress = {
      name: "kube_ingress_s_default_shop",
      description: "Kubernetes ingress shop in namespace default from cluster s",
      tags: ["k8s-ingress-owner=s/0b0c0d0e-0000-4000-8000-000000000000"],
    };
    await loadBalancing.loadBalancers.create({ ...ingress, ...vip });
    const others = [
      { ...ingress, tags: [] },
      { ...ingress, description: `${ingress.description}2`, tags: ["k8s-ingress-owner=s2/0b0c"] },
      { name: "kube_service_s2_default_web", description: "Kubernetes external service default/web from cluster s2" },
      { name: "kube_service_s_default_mine" },
    ];
    for (const other of others) await loadBalancing.loadBalancers.create({ ...other, ...vip });
    await w.until("all load balancers to be active", async () =>
      (await w.loadBalancers()).every((lb) => lb.provisioning_status === "ACTIVE") ? true : undefined,
    );
    const request = { cloud: w.cloud, clusterName: "s", clock: systemClock };
    const { signal } = new AbortController();
    // Another management cluster may have a cluster of this name, on another network.
    const elsewhere = await sweepAbandoned({ ...request, networkId: "another" }, signal);
    expect(elsewhere.filter(({ kind }) => kind === "load balancer").map(({ kept }) => kept)).toEqual(
      Array.from({ length: 3 }, () => "it is not on the cluster's own network"),
    );
    // Nor is anything proved by a network that both may use.
    const shared = await sweepAbandoned({ ...request, networkId: undefined }, signal);
    expect(shared.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 7 }, () => "kept"));
    expect(shared.find(({ kind }) => kind === "load balancer")?.kept).toBe(
      "the cluster has no network of its own: delete it if no other cluster of this name uses it",
    );
    const networkId = w.infrastructure.subnet.network_id;
    expect(words(await sweepAbandoned({ ...request, networkId }, signal)).toSorted()).toEqual([
      "floating IP of default/dead: kept",
      "floating IP of default/live: kept",
      "load balancer of default/dead: removed",
      "load balancer of default/live: removed",
      "load balancer of default/shop: removed",
      "security group of default/dead: removed",
      "security group of default/live: removed",
    ]);
    expect((await loadBalancing.loadBalancers.all()).map(({ name }) => name).toSorted()).toEqual(
      others.map(({ name }) => name).toSorted(),
    );
    const all = await network.securityGroups.all();
    expect(all.filter(({ name }) => name.startsWith("lb-sg-"))).toEqual([]);
  });
});
