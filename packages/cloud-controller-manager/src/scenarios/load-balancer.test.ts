import { describe, expect, test } from "vitest";
import type { CallRecord, Fault } from "@causeway/simulator";
import { Event, Node, Service } from "@causeway/kubernetes";
import { routeOf } from "../testing/calls.ts";
import { fastClock, type World } from "../testing/world.ts";
import { ownWorlds } from "./own-world.ts";

const start = ownWorlds();
const started = (servers = 3) => start({ prefix: "c", servers, intervals: { fast: 20, fastest: 20, slow: 500 } });

const cut = (route: string, when: "before" | "after" = "after"): ((call: CallRecord) => Fault | undefined) => {
  let done = false;
  return (call) => {
    if (done || routeOf(call) !== route) return undefined;
    done = true;
    return { when, cut: true };
  };
};
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** The Service "web", as soon as no finalizer holds it. */
const givenBack = (w: World) =>
  w.until("no finalizer", async () => {
    const service = await w.service("web");
    return (service.metadata.finalizers ?? []).length === 0 ? service : undefined;
  });
const exclude = (value: string | null) => ({
  metadata: { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": value } },
});

describe.each(["ovn", "amphora"])("a Service of type LoadBalancer on %s", (provider) => {
  test("gets one load balancer by one POST and one floating IP; reconciled again it costs nothing; it leaves nothing", async () => {
    const { w, cloud, work } = await started();
    const before = cloud.inventory("demo");
    w.run({ provider });
    await w.joinAll();
    work();
    await w.createService("web", {
      ports: [
        { name: "http", port: 80, protocol: "TCP" },
        { name: "dns", port: 53, protocol: "UDP" },
      ],
    });
    const service = await w.served("web");
    expect(work().filter((call) => !call.startsWith("GET"))).toEqual(["POST /loadbalancers", "POST /floatingips"]);
    expect(service.status?.loadBalancer?.ingress).toMatchObject([
      { ip: expect.stringMatching(/^172\.24\.4\./), ipMode: "VIP" },
    ]);
    expect(service.metadata.annotations).toMatchObject({
      "loadbalancer.openstack.org/load-balancer-id": expect.stringMatching(/-/),
      "loadbalancer.openstack.org/load-balancer-address": service.status?.loadBalancer?.ingress?.[0]?.ip,
    });
    expect((await w.members()).map((m) => m.name).toSorted()).toEqual([
      "c-node-0",
      "c-node-0",
      "c-node-1",
      "c-node-1",
      "c-node-2",
      "c-node-2",
    ]);
    expect((await w.eventsOf("web")).toSorted()).toEqual(["EnsuredLoadBalancer", "EnsuringLoadBalancer"]);

    await pause(100);
    work();
    const { metadata } = await w.change("web", { metadata: { labels: { touched: "again" } } });
    await pause(700);
    expect(work()).toEqual([]);
    expect((await w.service("web")).metadata.resourceVersion).toBe(metadata.resourceVersion);

    await w.remove("web");
    expect(work()).toEqual(["DELETE /floatingips/ID", "DELETE /loadbalancers/ID"]);
    expect(cloud.inventory("demo")).toEqual(before);
    const events = await w.until("the last event", async () => {
      const all = await w.eventsOf("web");
      return all.includes("DeletedLoadBalancer") ? all : undefined;
    });
    expect(events).toContain("DeletingLoadBalancer");
  });

  test("a change of the nodes is one batch for each pool; a port comes and goes without touching the other", async () => {
    const { w, work } = await started();
    w.run({ provider }, { clock: fastClock(10) });
    await w.joinAll();
    const [http, tls] = [80, 443].map((port) => ({ name: `p${port}`, port, protocol: "TCP" as const }));
    await w.createService("web", { ports: http && tls ? [http, tls] : [] });
    await w.served("web");
    work();

    const writes = () => work().filter((call) => !call.startsWith("GET"));
    await w.client.patch(Node, { namespace: "", name: "c-node-1" }, { type: "merge", body: exclude("true") });
    await w.settled("four members", async () => (await w.members()).length === 4);
    await pause(100);
    expect(writes()).toEqual(["PUT /pools/ID/members", "PUT /pools/ID/members"]);

    await w.change("web", { spec: { ports: [http] } });
    await w.settled("one listener", (lb) => lb.listeners.length === 1 && lb.pools.length === 1);
    expect(writes()).toEqual(["DELETE /pools/ID", "DELETE /listeners/ID"]);

    await w.change("web", { spec: { ports: [http, tls] } });
    await w.settled("both listeners with members", async () => (await w.members()).length === 4);
    expect(writes()).toEqual(["POST /listeners", "POST /pools", "PUT /pools/ID/members"]);
  });

  test("a lost answer to the POST makes one load balancer; lost answers to others repeat nothing", async () => {
    const { w, cloud } = await started();
    cloud.setFaults(cut("POST /loadbalancers"));
    w.run({ provider });
    await w.joinAll();
    await w.createService("web");
    await w.served("web");
    expect(await w.loadBalancers()).toHaveLength(1);
    expect((await w.cloud.network.floatingIps.all()).length).toBe(1);
    cloud.setFaults(cut("DELETE /loadbalancers/ID"));
    await w.remove("web");
    expect(await w.loadBalancers()).toEqual([]);
  });
});

describe("a Service of type LoadBalancer", () => {
  test("a controller that is killed at any call is followed by one that finds everything", async () => {
    const { w, cloud } = await started(1);
    for (const route of [
      "POST /loadbalancers",
      "POST /floatingips",
      "DELETE /floatingips/ID",
      "DELETE /loadbalancers/ID",
    ]) {
      const name = `web-${route.length}`;
      const first = w.run({ provider: "ovn" });
      if (route === "POST /loadbalancers") await w.joinAll();
      const creating = route.startsWith("POST");
      if (!creating) {
        await w.createService(name);
        await w.served(name);
      }
      const killed = Promise.withResolvers<void>();
      cloud.setFaults((call) => {
        if (routeOf(call) !== route) return undefined;
        cloud.setFaults(undefined);
        killed.resolve();
        return { when: "after", cut: true };
      });
      if (creating) await w.createService(name);
      const removing = creating ? undefined : w.remove(name);
      await killed.promise;
      await first.stop();
      const second = w.run({ provider: "ovn" });
      if (creating) {
        await w.served(name);
        expect(await w.loadBalancers()).toHaveLength(1);
        expect(await w.cloud.network.floatingIps.all()).toHaveLength(1);
        await w.remove(name);
      }
      await removing;
      expect(await w.loadBalancers()).toEqual([]);
      expect(await w.cloud.network.floatingIps.all()).toEqual([]);
      await second.stop();
    }
  });

  test("a load balancer that goes to ERROR during its creation is recreated, and an event reports it", async () => {
    const { w, cloud } = await started(1);
    cloud.setOutcomes([{ operation: "loadbalancer.*", outcome: "error" }]);
    cloud.setFaults((call) => {
      if (routeOf(call) === "DELETE /loadbalancers/ID") cloud.setOutcomes([]);
      return undefined;
    });
    w.run({ provider: "amphora" });
    await w.joinAll();
    await w.createService("web");
    await w.served("web");
    expect(await w.loadBalancers()).toHaveLength(1);
    expect(await w.eventsOf("web")).toContain("SyncLoadBalancerFailed");
  });

  test("whose load balancer or pool is deleted by hand gets it back", async () => {
    const { w } = await started(1);
    w.run({ provider: "ovn" });
    await w.joinAll();
    await w.createService("web");
    await w.served("web");
    const [lb] = await w.loadBalancers();
    const [pool] = await w.cloud.loadBalancing.pools.all({ loadbalancer_id: lb?.id });
    await w.cloud.loadBalancing.pools.delete(pool?.id ?? "");
    await w.settled("the pool again", async () => (await w.members()).length === 1);
    await w.cloud.loadBalancing.deleteLoadBalancer(lb?.id ?? "", { cascade: true });
    const again = await w.settled("another", (other) => other.id !== lb?.id);
    await w.until("its id", async () =>
      (await w.service("web")).metadata.annotations?.["loadbalancer.openstack.org/load-balancer-id"] === again.id
        ? true
        : undefined,
    );
    expect(await w.cloud.network.floatingIps.all()).toHaveLength(1);
  });

  test("whose pool is deleted by hand before a change is not delayed by the cached pool", async () => {
    const { w } = await started(2);
    w.run({ provider: "ovn" });
    await w.joinAll();
    await w.createService("web");
    await w.served("web");
    const [pool] = await w.cloud.loadBalancing.pools.all();
    await w.cloud.loadBalancing.pools.delete(pool?.id ?? "");
    await w.client.patch(Node, { namespace: "", name: "c-node-1" }, { type: "merge", body: exclude("") });
    await w.settled("another pool", async () => (await w.members()).length === 1);
  });

  test("whose load balancer is immutable for a moment is changed a little later, without a warning", async () => {
    const { w, cloud } = await started(2);
    w.run({ provider: "amphora" }, { clock: fastClock(10) });
    await w.joinAll();
    await w.createService("web");
    await w.served("web");
    let refusals = 2;
    cloud.setFaults((call) => {
      if (routeOf(call) !== "PUT /pools/ID/members" || refusals-- <= 0) return undefined;
      const faultstring = "Load Balancer 1 is immutable and cannot be updated.";
      return { when: "before", status: 409, body: { faultcode: "Client", faultstring, debuginfo: null } };
    });
    await w.client.patch(Node, { namespace: "", name: "c-node-1" }, { type: "merge", body: exclude("") });
    await w.settled("one member", async () => (await w.members()).length === 1);
    expect(await w.eventsOf("web")).not.toContain("SyncLoadBalancerFailed");
  });

  test("gets monitors on OVN after the create, and updates them in place", async () => {
    const { w } = await started(1);
    w.run({ provider: "ovn", createMonitor: true });
    await w.joinAll();
    await w.createService("web");
    const monitors = () => w.cloud.loadBalancing.healthMonitors.all();
    await w.settled("a monitor", async () => (await monitors()).length === 1);
    await w.change("web", { metadata: { annotations: { "loadbalancer.openstack.org/health-monitor-delay": "9" } } });
    await w.settled("its delay", async () => (await monitors())[0]?.delay === 9);
    await w.change("web", {
      metadata: { annotations: { "loadbalancer.openstack.org/enable-health-monitor": "false" } },
    });
    await w.settled("no monitor", async () => (await monitors()).length === 0);
  });

  test("gets an event with the cloud's message when the quota is exhausted, and is served when the quota is raised", async () => {
    const { w, cloud } = await started(1);
    cloud.setQuota("demo", "load_balancer", 0);
    w.run({ provider: "ovn" }, { clock: fastClock(20) });
    await w.joinAll();
    await w.createService("web");
    const message = await w.until("the event", async () => {
      const events = await w.client.list(Event, { namespace: "default" });
      return events.items.find((e) => e.reason === "SyncLoadBalancerFailed")?.message;
    });
    expect(message).toMatch(/[Qq]uota/);
    cloud.setQuota("demo", "load_balancer", 10);
    await w.served("web");
  });

  test("that becomes a ClusterIP gives everything back and remains", async () => {
    const { w, cloud } = await started(1);
    w.run({ provider: "ovn" });
    await w.joinAll();
    const before = cloud.inventory("demo");
    await w.createService("web");
    await w.served("web");
    await w.change("web", { spec: { type: "ClusterIP" } });
    const plain = await givenBack(w);
    expect(plain.status?.loadBalancer?.ingress ?? []).toEqual([]);
    expect(plain.metadata.annotations ?? {}).toEqual({});
    expect(cloud.inventory("demo")).toEqual(before);
  });

  test("of another class is left alone", async () => {
    const { w, work } = await started(1);
    w.run({ provider: "ovn" });
    await w.joinAll();
    work();
    await w.createService("web", { loadBalancerClass: "example.org/other" });
    await pause(200);
    expect(work()).toEqual([]);
    expect((await w.service("web")).metadata.finalizers ?? []).toEqual([]);
  });

  test("of another class is left alone with the finalizer of its controller, too, until it goes", async () => {
    const { w, work } = await started(1);
    w.run({ provider: "ovn" });
    await w.joinAll();
    work();
    await w.createService("web", { loadBalancerClass: "example.org/other" });
    await w.change("web", { metadata: { finalizers: ["service.kubernetes.io/load-balancer-cleanup"] } });
    const ingress = [{ ip: "198.51.100.7", ipMode: "VIP" }];
    const body = { status: { loadBalancer: { ingress } } };
    await w.client.patch(
      Service,
      { namespace: "default", name: "web" },
      { type: "merge", body },
      { subresource: "status" },
    );
    await pause(200);
    expect(work()).toEqual([]);
    expect((await w.service("web")).status?.loadBalancer?.ingress).toEqual(ingress);
    await w.remove("web");
    expect(work()).toEqual([]);
  });

  test("that takes another class gives back what it had, and is that other's then", async () => {
    const { w, cloud, work } = await started(1);
    w.run({ provider: "ovn" });
    await w.joinAll();
    const before = cloud.inventory("demo");
    await w.createService("web");
    await w.served("web");
    // In one step no API server lets it: the type has to change between.
    await w.change("web", { spec: { type: "ClusterIP" } });
    await w.change("web", { spec: { type: "LoadBalancer", loadBalancerClass: "example.org/other" } });
    const given = await givenBack(w);
    expect(given.status?.loadBalancer?.ingress ?? []).toEqual([]);
    expect(cloud.inventory("demo")).toEqual(before);
    work();
    await pause(200);
    expect(work()).toEqual([]);
  });

  test("is deleted with its cluster, and its load balancer with it", async () => {
    const { w } = await started(1);
    w.run({ provider: "ovn" });
    await w.joinAll();
    await w.createService("web");
    await w.createService("theirs", { loadBalancerClass: "example.org/other" });
    await w.served("web");
    await w.release();
    expect(await w.loadBalancers()).toEqual([]);
    expect((await w.service("theirs")).metadata.deletionTimestamp).toBeUndefined();
  });
});
