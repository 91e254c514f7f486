import { describe, expect, test } from "vitest";
import { Service } from "@causeway/kubernetes";
import type { World } from "../testing/world.ts";
import { internal, os, ownerOf, pause, setStage, tcp } from "./stage.ts";

const stage = setStage(2);
const name = (service: string) => `kube_service_c_default_${service}`;

/** Name, tags, listeners and members, as their owner set them. */
async function treeOf(w: World, id: string): Promise<unknown> {
  const { loadBalancing } = w.cloud;
  const lb = await loadBalancing.loadBalancers.get(id);
  const listeners = await loadBalancing.listeners.all({ loadbalancer_id: id });
  const pools = await loadBalancing.pools.all({ loadbalancer_id: id });
  const members = await Promise.all(pools.map((pool) => loadBalancing.members(pool.id).all()));
  return [
    lb.name,
    lb.tags,
    listeners.map((l) => [l.name, l.protocol_port]),
    members.map((m) => m.map((x) => x.address)),
  ];
}

/** What a cluster of which nothing is left would have removed. */
async function removed(w: World, id: string): Promise<void> {
  for (const ip of await w.cloud.network.floatingIps.all()) await w.cloud.network.floatingIps.delete(ip.id);
  await w.cloud.loadBalancing.deleteLoadBalancer(id, { cascade: true });
  await w.until("the load balancer to be gone", async () =>
    (await w.cloud.loadBalancing.loadBalancers.find(id)) === undefined ? true : undefined,
  );
}

/** Service "a" on port 80, served; and what "b" needs to share its load balancer. */
async function owned(config = {}) {
  const { w, run, writes, hears } = stage();
  run({ provider: "ovn", ...config });
  await w.createService("a", { ports: [tcp(80)] });
  await w.served("a");
  const [lb] = await w.loadBalancers();
  const share = { [os("load-balancer-id")]: lb?.id ?? "" };
  writes();
  return { w, writes, hears, lb, share };
}

describe("a load balancer that Services share", () => {
  test("has the tags of both, and each listener its Service's", async () => {
    const { w, share, writes, lb } = await owned();
    await w.createService("b", { ports: [tcp(81)] }, share);
    const b = await w.served("b");
    await w.settled("both tags", (now) => now.tags.includes(name("a")) && now.tags.includes(name("b")));
    expect(writes()).toEqual(["POST /listeners", "POST /pools", "PUT /pools/ID/members", "PUT /loadbalancers/ID"]);
    const listeners = await w.cloud.loadBalancing.listeners.all({ loadbalancer_id: lb?.id });
    expect(Object.fromEntries(listeners.map((l) => [l.protocol_port, l.tags]))).toEqual({
      80: [name("a")],
      81: [name("b")],
    });
    expect(b.status?.loadBalancer?.ingress?.[0]?.ip).toBe(
      (await w.service("a")).status?.loadBalancer?.ingress?.[0]?.ip,
    );
    await w.remove("b");
    expect((await w.loadBalancers())[0]?.tags.toSorted()).toEqual([await ownerOf(w, "a"), name("a")]);
  });

  test("a third Service is refused where two are the most", async () => {
    const { w, share, hears } = await owned({ maxSharedLoadBalancers: 2 });
    await w.createService("b", { ports: [tcp(81)] }, share);
    await w.served("b");
    await w.createService("third", { ports: [tcp(82)] }, share);
    expect(await hears("third", "SyncLoadBalancerFailed")).toMatch(/shared by 2 Services already/);
    expect((await w.loadBalancers())[0]?.listeners).toHaveLength(2);
    await w.remove("third");
    await w.remove("b");
  });

  test("a port of the other's is refused before anything is changed, whatever speaks on it", async () => {
    const { w, share, hears, writes } = await owned({ provider: "amphora" });
    await w.createService("b", { ports: [tcp(80)] }, share);
    expect(await hears("b", "SyncLoadBalancerFailed")).toMatch(/TCP 80 .* in use/);
    await w.createService("http", { ports: [tcp(80)] }, { ...share, [os("x-forwarded-for")]: "true" });
    expect(await hears("http", "SyncLoadBalancerFailed")).toMatch(/HTTP 80 .* in use/);
    expect(writes()).toEqual([]);
    await w.remove("b");
    await w.remove("http");
  });

  test("remains when its owner goes, without the owner's parts; the last one takes it along", async () => {
    const { w, share, lb } = await owned();
    await w.createService("b", { ports: [tcp(81)] }, share);
    await w.served("b");
    const sharer = (await ownerOf(w, "b")).replace("owner", "sharer");
    await w.settled("both tags", (now) => now.tags.length === 4);
    await w.remove("a");
    const left = await w.settled("b's alone", (now) => now.listeners.length === 1);
    expect([left.id, left.tags.toSorted()]).toEqual([lb?.id, [sharer, name("b")]]);
    expect(await w.cloud.network.floatingIps.all()).toHaveLength(1);
    await w.remove("b");
    expect(await w.loadBalancers()).toEqual([]);
    expect(await w.cloud.network.floatingIps.all()).toEqual([]);
  });

  test("is not adopted by a copy of its Service with id and address in another cluster, nor deleted with it", async () => {
    const { w, run } = stage();
    const first = run({ provider: "ovn" });
    await w.createService("a", { ports: [tcp(80)] });
    await w.served("a");
    const [lb] = await w.loadBalancers();
    const copied = await w.service("a");
    await first.stop();
    // Another cluster has no finalizers of this one, and its Service has another UID.
    await w.change("a", { metadata: { finalizers: null } });
    await w.client.delete(Service, { namespace: "default", name: "a" });
    const { annotations = {} } = copied.metadata;
    await w.createService("a", { ports: [tcp(80), tcp(81)] }, annotations);
    const before = await treeOf(w, lb?.id ?? "");
    stage().writes();
    const stranger = run({ provider: "ovn" }, { clusterName: "stranger" });
    expect(await stage().hears("a", "SyncLoadBalancerFailed")).toMatch(/TCP 80 .* in use by another Service/);
    await pause(200);
    expect((await w.service("a")).status?.loadBalancer ?? {}).toEqual({});
    await w.remove("a");
    expect(stage().writes()).toEqual([]);
    expect(await treeOf(w, lb?.id ?? "")).toEqual(before);
    expect(await w.cloud.network.floatingIps.all()).toHaveLength(1);
    await stranger.stop();
    await removed(w, lb?.id ?? "");
  });

  test("of another cluster with the same --cluster-name is left alone, and the copy gets one of its own", async () => {
    const { w, run } = stage();
    const first = run({ provider: "ovn" });
    await w.createService("a", { ports: [tcp(80)] });
    await w.served("a");
    const [lb] = await w.loadBalancers();
    const { annotations = {} } = (await w.service("a")).metadata;
    await first.stop();
    await w.change("a", { metadata: { finalizers: null } });
    await w.client.delete(Service, { namespace: "default", name: "a" });
    // Its members are another cluster's nodes.
    const [pool] = await w.cloud.loadBalancing.pools.all();
    await w.cloud.loadBalancing.replaceMembers(pool?.id ?? "", [{ address: "10.99.0.1", protocol_port: 30000 }]);
    await w.settled("other members");
    await w.createService("a", { ports: [tcp(80)] }, annotations);
    const before = await treeOf(w, lb?.id ?? "");
    run({ provider: "ovn" });
    expect(await stage().hears("a", "LoadBalancerOwnedByAnother")).toContain(lb?.id ?? "no id");
    const own = await w.until("an id of its own", async () => {
      const id = (await w.service("a")).metadata.annotations?.[os("load-balancer-id")];
      return id === lb?.id ? undefined : id;
    });
    await w.served("a");
    expect(await treeOf(w, lb?.id ?? "")).toEqual(before);
    await w.remove("a");
    expect((await w.loadBalancers()).map(({ id }) => id)).toEqual([lb?.id]);
    expect(own).not.toBe(lb?.id);
    await removed(w, lb?.id ?? "");
  });

  test("whose Service was restored from a backup with another UID is adopted, since it serves this cluster's nodes", async () => {
    const { w, run, writes, hears } = stage();
    const first = run({ provider: "ovn" });
    await w.createService("a", { ports: [tcp(80)] });
    const before = await w.served("a");
    const [lb] = await w.loadBalancers();
    await first.stop();
    await w.change("a", { metadata: { finalizers: null } });
    await w.client.delete(Service, { namespace: "default", name: "a" });
    const [{ nodePort = 0 } = {}] = before.spec.ports ?? [];
    await w.createService("a", { ports: [{ ...tcp(80), nodePort }] }, before.metadata.annotations);
    const { uid } = before.metadata;
    expect((await w.service("a")).metadata.uid).not.toBe(uid);
    writes();
    run({ provider: "ovn" });
    expect(await hears("a", "LoadBalancerAdopted")).toContain(uid);
    const now = await w.served("a");
    expect(now.status).toEqual(before.status);
    const owner = await ownerOf(w, "a");
    const adopted = await w.settled("its owner's tag", ({ tags }) => tags.includes(owner));
    expect(adopted.id).toBe(lb?.id);
    expect(adopted.tags.toSorted()).toEqual([owner, name("a")]);
    expect(writes()).toEqual(["PUT /loadbalancers/ID"]);
  });

  test("from before the cluster was renamed, without a tag of its owner, is recognised by name, description and address", async () => {
    const { w, run, writes, hears } = stage();
    const first = run({ provider: "ovn" });
    await w.createService("a", { ports: [tcp(80)] });
    const before = await w.served("a");
    const [lb] = await w.loadBalancers();
    await first.stop();
    await w.cloud.loadBalancing.loadBalancers.update(lb?.id ?? "", { tags: [name("a")] });
    await w.settled("it");
    writes();
    run({ provider: "ovn" }, { clusterName: "c_renamed" });
    expect(await hears("a", "LoadBalancerAdopted")).toMatch(/renamed from c to c_renamed/);
    const owner = await ownerOf(w, "a", "c_renamed");
    const renamed = await w.settled("its owner's tag", ({ tags }) => tags.includes(owner));
    expect(renamed).toMatchObject({ id: lb?.id, name: "kube_service_c_renamed_default_a" });
    expect(renamed.tags.toSorted()).toEqual([owner, "kube_service_c_renamed_default_a"]);
    expect((await w.service("a")).status).toEqual(before.status);
    expect(writes().filter((call) => !call.startsWith("PUT"))).toEqual([]);
    expect(await w.cloud.network.floatingIps.all()).toHaveLength(1);
  });

  test("of another cluster's name that nothing proves to be the Service's serves on unchanged, with one Warning of what to do", async () => {
    const { w, run, writes, hears, messagesOf } = stage();
    const first = run({ provider: "ovn" });
    await w.createService("a", { ports: [tcp(80)] });
    const before = await w.served("a");
    const [lb] = await w.loadBalancers();
    await first.stop();
    const change = { tags: [name("a")], description: "written by a person" };
    await w.cloud.loadBalancing.loadBalancers.update(lb?.id ?? "", change);
    await w.settled("it");
    const tree = await treeOf(w, lb?.id ?? "");
    writes();
    const second = run({ provider: "ovn" }, { clusterName: "c_renamed" });
    expect(await hears("a", "LoadBalancerOwnerUnknown")).toMatch(/start the controller once with --cluster-name=c,/);
    await w.label("c-node-0", { x: "y" });
    await pause(300);
    expect(await messagesOf("a", "LoadBalancerOwnerUnknown")).toHaveLength(1);
    expect(writes()).toEqual([]);
    expect(await treeOf(w, lb?.id ?? "")).toEqual(tree);
    expect((await w.service("a")).status).toEqual(before.status);
    await w.remove("a");
    await second.stop();
    await removed(w, lb?.id ?? "");
  });

  test("that an earlier release or upstream's manager created, without a tag of its owner, is adopted by its exact name", async () => {
    const { w, run, writes } = stage();
    const first = run({ provider: "ovn" });
    await w.createService("a", { ports: [tcp(80)] });
    await w.served("a");
    const [lb] = await w.loadBalancers();
    await first.stop();
    await w.cloud.loadBalancing.loadBalancers.update(lb?.id ?? "", { tags: [name("a")] });
    await w.settled("it");
    writes();
    run({ provider: "ovn" });
    const owner = await ownerOf(w, "a");
    await w.settled("its owner's tag", (now) => now.tags.includes(owner));
    expect(writes()).toEqual(["PUT /loadbalancers/ID"]);
  });

  test("is kept when the last Service goes, where a person made it", async () => {
    const { w, run } = stage();
    const { loadBalancing } = w.cloud;
    const own = await loadBalancing.loadBalancers.create({
      name: "mine",
      provider: "ovn",
      vip_subnet_id: w.infrastructure.subnet.id,
    });
    const [network] = await w.cloud.network.networks.all({ name: "public" });
    const ip = await w.cloud.network.floatingIps.create({
      floating_network_id: network?.id ?? "",
      port_id: own.vip_port_id,
    });
    run({ provider: "ovn" });
    await w.createService("web", {}, { [os("load-balancer-id")]: own.id });
    await w.served("web");
    expect((await w.service("web")).status?.loadBalancer?.ingress?.[0]?.ip).toBe(ip.floating_ip_address);
    await w.remove("web");
    const kept = await loadBalancing.loadBalancers.get(own.id);
    expect([kept.listeners, kept.pools, kept.tags]).toEqual([[], [], []]);
    expect((await w.cloud.network.floatingIps.get(ip.id)).port_id).toBe(own.vip_port_id);
    await w.cloud.network.floatingIps.delete(ip.id);
    await loadBalancing.deleteLoadBalancer(own.id, { cascade: true });
  });

  test("that has no floating IP gets none from a Service that does not own it", async () => {
    const { w, run, hears } = stage();
    run({ provider: "ovn" });
    await w.createService("a", { ports: [tcp(80)] }, internal);
    await w.served("a");
    const [lb] = await w.loadBalancers();
    await w.createService("b", { ports: [tcp(81)] }, { [os("load-balancer-id")]: lb?.id ?? "" });
    expect(await hears("b", "SyncLoadBalancerFailed")).toMatch(/only the Service that owns it/);
    await pause(100);
    expect(await w.cloud.network.floatingIps.all()).toEqual([]);
    await w.remove("b");
  });
});
