import { systemClock } from "@causeway/foundation";
import { describe, expect, test, vi } from "vitest";
import { fastClock } from "../testing/world.ts";
import { internal, os, ownerOf, pause, refuse, setStage, tcp, udp } from "./stage.ts";

// It waits in real time.
vi.setConfig({ testTimeout: 300_000 });

const stage = setStage(3);
const exclude = "node.kubernetes.io/exclude-from-external-load-balancers";

async function served(config: Parameters<ReturnType<typeof stage>["run"]>[0], spec = {}, annotations = {}) {
  const { w, run, writes, hears, messagesOf, cloud, skip } = stage();
  const running = run(config);
  await w.createService("web", spec, annotations);
  const service = await w.served("web");
  const [lb] = await w.loadBalancers();
  await pause(50);
  writes();
  return { w, run, writes, hears, messagesOf, cloud, skip, lb, service, running };
}

describe.each(["amphora", "ovn"])("in trouble on %s", (provider) => {
  test("a pool, a monitor or a member that is deleted by hand comes back within one list interval", async () => {
    const { w } = await served({ provider, createMonitor: true });
    const { pools, healthMonitors } = w.cloud.loadBalancing;
    const monitor = async () => (await healthMonitors.all())[0];
    await w.settled("its monitor", async () => (await monitor()) !== undefined);
    const [pool] = await pools.all();
    await pools.delete(pool?.id ?? "");
    await w.settled(
      "pool, members and monitor",
      async () => (await w.members()).length === 3 && (await monitor()) !== undefined,
    );
    const lost = await monitor();
    await healthMonitors.delete(lost?.id ?? "");
    await w.settled("another monitor", async () => ![undefined, lost?.id].includes((await monitor())?.id));
    const [again] = await pools.all();
    const [member] = await w.members();
    await w.cloud.loadBalancing.members(again?.id ?? "").delete(member?.id ?? "");
    await w.settled("the member", async () => (await w.members()).length === 3);
  });

  test("a load balancer that is deleted by hand is created again, behind the same floating IP, and its id noted", async () => {
    const { w, lb, service } = await served({ provider });
    await w.cloud.loadBalancing.deleteLoadBalancer(lb?.id ?? "", { cascade: true });
    const again = await w.settled("another", (other) => other.id !== lb?.id);
    const now = await w.until("its id", async () => {
      const found = await w.service("web");
      return found.metadata.annotations?.[os("load-balancer-id")] === again.id ? found : undefined;
    });
    expect(now.metadata.annotations?.[os("load-balancer-address")]).toBe(
      service.status?.loadBalancer?.ingress?.[0]?.ip,
    );
  });

  test("drift of settings is reverted: a method, a limit and a monitor that were changed by hand", async () => {
    const { w } = await served({ provider, createMonitor: true });
    const { listeners, healthMonitors } = w.cloud.loadBalancing;
    await w.settled("its monitor", async () => (await healthMonitors.all()).length === 1);
    const [listener] = await listeners.all();
    await listeners.update(listener?.id ?? "", { connection_limit: 5 });
    await w.settled("no limit", async () => (await listeners.all())[0]?.connection_limit === -1);
  });

  test("another cluster name renames all parts and tags; nothing that carries traffic is recreated", async () => {
    const { w, lb, running, run, writes, hears } = await served({ provider, createMonitor: true });
    const { listeners, pools, healthMonitors } = w.cloud.loadBalancing;
    await w.settled("its monitor", async () => (await healthMonitors.all()).length === 1);
    await running.stop();
    writes();
    run({ provider, createMonitor: true }, { clusterName: "c_renamed" });
    const name = "kube_service_c_renamed_default_web";
    await w.until("the new name", async () => {
      const now = await w.cloud.loadBalancing.loadBalancers.get(lb?.id ?? "");
      return now.name === name && now.provisioning_status === "ACTIVE" ? now : undefined;
    });
    const owner = await ownerOf(w, "web", "c_renamed");
    expect((await w.cloud.loadBalancing.loadBalancers.get(lb?.id ?? "")).tags.toSorted()).toEqual([owner, name]);
    expect((await listeners.all()).map((l) => [l.name, l.tags])).toEqual([[`listener_0_${name}`, [name]]]);
    expect((await pools.all()).map((p) => p.name)).toEqual([`pool_0_${name}`]);
    expect((await healthMonitors.all()).map((m) => m.name)).toEqual([`monitor_0_${name}`]);
    expect(await hears("web", "LoadBalancerRename")).toMatch(/c_renamed/);
    await w.until("the floating IP's description", async () =>
      (await w.cloud.network.floatingIps.all()).every((ip) => ip.description.endsWith("from cluster c_renamed"))
        ? true
        : undefined,
    );
    expect(writes().filter((call) => !call.startsWith("PUT"))).toEqual([]);
    await w.remove("web");
    expect(await w.cloud.network.floatingIps.all()).toEqual([]);
  });

  test("a load balancer of another cluster is shared, and keeps its name", async () => {
    const { w, lb, running, run } = await served({ provider });
    await running.stop();
    await w.change("web", { metadata: { annotations: { [os("load-balancer-address")]: null } } });
    run({ provider }, { clusterName: "stranger" });
    await pause(300);
    expect((await w.cloud.loadBalancing.loadBalancers.get(lb?.id ?? "")).name).toBe("kube_service_c_default_web");
    await w.remove("web");
    for (const ip of await w.cloud.network.floatingIps.all()) await w.cloud.network.floatingIps.delete(ip.id);
    await w.cloud.loadBalancing.deleteLoadBalancer(lb?.id ?? "", { cascade: true });
  });

  test("in ERROR after it has served it is repaired without a user, behind the same address", async () => {
    const { w, cloud, lb, hears } = await served({ provider });
    const address = (await w.service("web")).status?.loadBalancer?.ingress?.[0]?.ip;
    cloud.setOutcomes([{ operation: "loadbalancer.update", outcome: "error" }]);
    await w.change("web", { spec: { ports: [tcp(80), tcp(443)] } });
    expect(await hears("web", "SyncLoadBalancerFailed", /ERROR/)).toMatch(/failed over|recreated/);
    cloud.setOutcomes([]);
    await w.settled("another", (now) => now.id !== lb?.id && now.listeners.length === 2);
    await w.until("the address", async () =>
      (await w.service("web")).status?.loadBalancer?.ingress?.[0]?.ip === address ? true : undefined,
    );
    expect(await w.cloud.network.floatingIps.all()).toHaveLength(1);
  });

  test("that remains PENDING gets an event that names the cloud's operator as the one to act", async () => {
    const { w, cloud, skip, run, running, hears, lb } = await served({ provider }, {}, internal);
    await running.stop();
    run({ provider }, { clock: fastClock(3_000) });
    cloud.setDelay(`loadbalancer.${provider}.update`, 3_600_000);
    await w.cloud.loadBalancing.loadBalancers.update(lb?.id ?? "", { description: "stuck" });
    expect(await hears("web", "SyncLoadBalancerFailed")).toMatch(/PENDING_UPDATE for more than ten minutes/);
    cloud.setDelay(`loadbalancer.${provider}.update`, 0);
    skip(3_600_000);
    await w.settled("it");
  });

  test("immutable for a while it is retried, without a warning", async () => {
    const { w, cloud, messagesOf } = await served({ provider }, { ports: [tcp(80)] });
    const message = "Load Balancer 1 is immutable and cannot be updated.";
    refuse(cloud, "PUT /pools/ID/members", { status: 409, message, times: 2 });
    await w.label("c-node-2", { [exclude]: "true" });
    await w.settled("two", async () => (await w.members()).length === 2);
    expect(await messagesOf("web", "SyncLoadBalancerFailed")).toEqual([]);
  });
});

test.each([500, 503, 502])(
  "a create that Octavia refuses with %i is reported in its words after the second time, and tried ever more rarely",
  async (status) => {
    const { w, cloud, run, hears, writes } = stage();
    const message = "Provider 'amphora' reports error: No more IP addresses available on network n.";
    refuse(cloud, "POST /loadbalancers", { status, message, times: 1_000 });
    run({ provider: "amphora" }, { clock: fastClock(600) });
    writes();
    await w.createService("web");
    expect(await hears("web", "SyncLoadBalancerFailed")).toContain(message);
    await pause(500);
    const posts = writes().filter((call) => call === "POST /loadbalancers");
    // Five minutes: after 2 s, 4 s, 8 s and so on.
    expect(posts.length).toBeGreaterThanOrEqual(2);
    expect(posts.length).toBeLessThanOrEqual(11);
    cloud.setFaults(undefined);
    await w.change("web", { metadata: { annotations: { changed: "so that it is not waited for minutes" } } });
    await w.served("web");
  },
);

test("a create that Octavia refused is tried at once when its owner corrects the Service, and waits otherwise", async () => {
  const { w, cloud, run, hears, writes } = stage();
  const fast = fastClock(10);
  let stopped: number | undefined;
  run({ provider: "amphora" }, { clock: { ...fast, now: () => stopped ?? fast.now() } });
  const message = "Provider 'amphora' reports error: the address is in use";
  refuse(cloud, "POST /loadbalancers", { status: 500, message, times: 1_000 });
  await w.createService("web");
  expect(await hears("web", "SyncLoadBalancerFailed")).toContain(message);
  // No hold ends from now on.
  stopped = fast.now();
  cloud.setFaults(undefined);
  await pause(200);
  writes();
  await w.label("c-node-0", { x: "y" });
  await pause(200);
  expect(writes()).toEqual([]);
  await w.change("web", { spec: { ports: [tcp(81)] } });
  await w.until("another create", async () => (writes().includes("POST /loadbalancers") ? true : undefined));
  stopped = undefined;
});

test.each([500, 502, 503, 504])(
  "a create that a proxy before Octavia answers with %i is searched for before it is sent again, since Octavia may be at work",
  async (status) => {
    const { w, cloud, run } = stage();
    let posts = 0;
    cloud.setFaults((call) => {
      if (call.method !== "POST" || !call.path.endsWith("/loadbalancers")) return undefined;
      posts += 1;
      return { when: "before", status, body: { message: "upstream connect error" } };
    });
    run({ provider: "amphora" }, { clock: fastClock(10) });
    await w.createService("web");
    await w.until("a create", async () => (posts > 0 ? true : undefined));
    // Octavia's own refusal would be tried again after two seconds, which are 200 ms here; what it may be at work on
    // has 10 s.
    await pause(600);
    expect(posts).toBe(1);
    const [subnet] = (await w.cloud.network.subnets.all()).filter(({ name }) => name.startsWith("c"));
    const name = "kube_service_c_default_web";
    cloud.setFaults(undefined);
    const tags = [name, await ownerOf(w, "web")];
    const made = await w.cloud.loadBalancing.loadBalancers.create({ name, tags, vip_subnet_id: subnet?.id ?? "" });
    await w.served("web");
    expect((await w.loadBalancers()).map(({ id }) => id)).toEqual([made.id]);
  },
);

test("a create under way when the process ends is found by the next one, though no list has it when that begins", async () => {
  const { w, cloud, run } = stage();
  let posts = 0;
  cloud.setFaults((call) => {
    if (call.method !== "POST" || !call.path.endsWith("/loadbalancers")) return undefined;
    posts += 1;
    return { when: "before", status: 504, body: "" };
  });
  const first = run({ provider: "ovn" });
  await w.createService("web");
  await w.until("a create", async () => (posts > 0 ? true : undefined));
  await first.stop();
  cloud.setFaults(undefined);
  run({ provider: "ovn" }, { clock: fastClock(10) });
  await pause(400);
  expect(await w.loadBalancers()).toEqual([]);
  const [subnet] = (await w.cloud.network.subnets.all()).filter(({ name }) => name.startsWith("c"));
  const name = "kube_service_c_default_web";
  const tags = [name, await ownerOf(w, "web")];
  const body = { name, tags, provider: "ovn", vip_subnet_id: subnet?.id ?? "" };
  const made = await w.cloud.loadBalancing.loadBalancers.create(body);
  await w.served("web");
  expect((await w.loadBalancers()).map(({ id }) => id)).toEqual([made.id]);
});

test.each([400, 403, 409, 501])(
  "a create that is refused with %i is tried again after 5 s, 10 s and so on, reported once, and tried at once when the Service changes",
  async (status) => {
    const { w, cloud, run, hears, messagesOf, writes } = stage();
    refuse(cloud, "POST /loadbalancers", { status, message: "this cannot be", times: 1_000 });
    const clock = fastClock(50);
    run({ provider: "amphora" }, { clock });
    const begun = clock.now();
    writes();
    await w.createService("web");
    expect(await hears("web", "SyncLoadBalancerFailed")).toContain("this cannot be");
    await pause(190);
    const posts = writes().filter((call) => call === "POST /loadbalancers").length;
    const allowed = [0, 5_000, 15_000, 35_000, 75_000, 155_000].filter((at) => at <= clock.now() - begun).length;
    expect(posts).toBeLessThanOrEqual(allowed);
    expect(await messagesOf("web", "SyncLoadBalancerFailed")).toHaveLength(1);
    cloud.setFaults(undefined);
    await w.change("web", { spec: { ports: [tcp(81)] } });
    await w.served("web");
  },
);

test("nodes that the cloud refuses as members are reported with the cloud's message", async () => {
  const { w, cloud, hears, messagesOf } = await served({ provider: "amphora" });
  refuse(cloud, "PUT /pools/ID/members", { status: 400, message: "no such subnet" });
  await w.label("c-node-0", { [exclude]: "true" });
  expect(await hears("web", "UpdateLoadBalancerFailed")).toMatch(
    /new hosts \[c-node-1 c-node-2\].* 2\], error: .*no such subnet/,
  );
  expect(await messagesOf("web", "SyncLoadBalancerFailed")).toEqual([]);
  await w.settled("two members", async () => (await w.members()).length === 2);
});

test("twenty node changes in a burst are at most two batches for each pool", async () => {
  const { w, run, writes } = stage();
  run({ provider: "amphora" }, { clock: systemClock });
  await w.createService("web", { ports: [tcp(80), udp(53)] });
  await w.served("web");
  await pause(100);
  writes();
  for (let i = 0; i < 19; i++) {
    await w.label("c-node-0", { [exclude]: i % 2 === 0 ? "true" : null });
    await pause(100);
  }
  await w.label("c-node-2", { [exclude]: "true" });
  await w.settled("two", async () => (await w.members()).length === 2);
  await pause(300);
  expect(writes().length).toBeLessThanOrEqual(4);
});
