import { describe, expect, test } from "vitest";
import { Event, Node } from "@causeway/kubernetes";
import type { Route } from "@causeway/openstack";
import { routeOf } from "../testing/calls.ts";
import { fastClock, type RunOptions, type World } from "../testing/world.ts";
import { systemClock } from "@causeway/foundation";
import { ownWorlds, type OwnWorld } from "./own-world.ts";

const start = ownWorlds(async ({ w }) => {
  for (const stop of stops.splice(0)) await stop();
  await w.cloud.network.routers.update(w.infrastructure.routerId, { routes: [] });
});

interface Stage extends Pick<OwnWorld, "w" | "cloud"> {
  readonly routes: () => Promise<Route[]>;
  /** Calls of ours that write routers or ports, or read a single one. */
  readonly work: () => string[];
}

async function started(options: { servers?: number; atomic?: boolean } = {}): Promise<Stage> {
  const { w, cloud } = await start({
    prefix: "r",
    servers: options.servers ?? 2,
    intervals: { fast: 50, fastest: 50, slow: 300 },
    timeout: 60_000,
    ...(options.atomic === true ? { extensions: ["extraroute-atomic"] as const } : {}),
  });
  const router = w.infrastructure.routerId;
  const routes = async () => (await w.cloud.network.routers.get(router)).routes;
  let seen = cloud.calls.length;
  const work = () => {
    const fresh = cloud.calls.slice(seen);
    seen = cloud.calls.length;
    return fresh
      .filter((call) => call.userAgent === "causeway")
      .map(routeOf)
      .filter(isOfRoutes);
  };
  return { w, cloud, routes, work };
}

/** The test's own requests have the same names: they are left out, since they are sent between two checks only. */
function isOfRoutes(route: string): boolean {
  return /^(PUT|POST|DELETE) \/(routers|ports)|^GET \/(routers|ports)\/ID/.test(route);
}

const stops: (() => Promise<void>)[] = [];

function run(w: World, options: RunOptions = {}): void {
  const config = { routerId: w.infrastructure.routerId };
  stops.push(
    w.run({ enabled: false }, { config, clusterCidr: "10.244.0.0/16", clock: fastClock(10), ...options }).stop,
  );
}

const key = (name: string) => ({ namespace: "", name });

/** What the node IPAM controller does. */
async function givePodCidr(w: World, name: string, cidr: string): Promise<void> {
  await w.client.patch(Node, key(name), { type: "merge", body: { spec: { podCIDR: cidr, podCIDRs: [cidr] } } });
}

const cidrOf = (i: number) => `10.244.${i}.0/24`;

async function joined(w: World): Promise<void> {
  await w.joinAll();
  await Promise.all(w.infrastructure.servers.map((server, i) => givePodCidr(w, server.name, cidrOf(i))));
}

async function addressOf(w: World, i: number): Promise<string> {
  const node = await w.client.get(Node, key(`r-node-${i}`));
  return node.status?.addresses?.find((a) => a.type === "InternalIP")?.address ?? "";
}

function networkUnavailable(w: World, i: number): Promise<{ status: string; reason?: string } | undefined> {
  return w.client
    .get(Node, key(`r-node-${i}`))
    .then((node) => node.status?.conditions?.find((c) => c.type === "NetworkUnavailable"));
}

const until = (w: World, what: string, holds: () => Promise<boolean>) =>
  w.until(what, async () => ((await holds()) ? true : undefined));

async function routed(w: World, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await until(w, `node ${i} to be routed`, async () => (await networkUnavailable(w, i))?.status === "False");
}

describe("routes of the cloud controller", () => {
  test("are not managed where cloud.conf names no router; nodes are initialised all the same", async () => {
    const { w, routes } = await started();
    stops.push(w.run({ enabled: false }, { clusterCidr: "10.244.0.0/16", clock: fastClock(10) }).stop);
    await joined(w);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await routes()).toEqual([]);
    expect(await networkUnavailable(w, 0)).toBeUndefined();
  });

  test("to two nodes are one read and one write of the router; ports permit their pods' addresses; nodes get the condition", async () => {
    const { w, routes, work } = await started();
    run(w, { clock: systemClock });
    await joined(w);
    await routed(w, 2);
    expect(work().sort()).toEqual(["GET /routers/ID", "PUT /ports/ID", "PUT /ports/ID", "PUT /routers/ID"]);
    const hops = [await addressOf(w, 0), await addressOf(w, 1)];
    expect((await routes()).sort(byDestination)).toEqual([
      { destination: cidrOf(0), nexthop: hops[0] },
      { destination: cidrOf(1), nexthop: hops[1] },
    ]);
    const ports = await w.cloud.network.ports.all({ device_id: w.infrastructure.servers[0]?.id });
    expect(ports[0]?.allowed_address_pairs.map((p) => p.ip_address)).toEqual([cidrOf(0)]);
    expect(await networkUnavailable(w, 0)).toMatchObject({ status: "False", reason: "RouteCreated" });
  });

  test("are added and removed by single atomic calls where the cloud has them", async () => {
    const { w, routes, work } = await started({ atomic: true });
    run(w);
    await joined(w);
    await routed(w, 2);
    expect(work().filter((call) => call.includes("/routers"))).toEqual(["PUT /routers/ID/add_extraroutes"]);
    await w.client.delete(Node, key("r-node-1"));
    await until(w, "its route to go", async () => (await routes()).length === 1);
    const after = work().filter((call) => call.startsWith("PUT"));
    expect(after).toEqual(["PUT /ports/ID", "PUT /routers/ID/remove_extraroutes"]);
  });

  test("to 12 nodes that join together take a call or two of the router, not one for each", async () => {
    const { w, routes, work } = await started({ servers: 12, atomic: true });
    run(w, { clock: systemClock });
    await joined(w);
    await until(w, "all routes", async () => (await routes()).length === 12);
    await routed(w, 12);
    expect(work().filter((call) => call.includes("add_extraroutes")).length).toBeLessThanOrEqual(3);
  });

  test("that exist already are not written again by a controller that restarts", async () => {
    const { w, work } = await started();
    run(w);
    await joined(w);
    await routed(w, 2);
    for (const stop of stops.splice(0)) await stop();
    work();
    run(w);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(work()).toEqual([]);
  });

  test("of others outside the cluster's addresses remain; those inside that lead to no node go", async () => {
    const { w, routes } = await started();
    const foreign = { destination: "192.168.7.0/24", nexthop: "10.77.0.250" };
    const blackhole = { destination: "10.244.99.0/24", nexthop: "10.77.0.251" };
    await w.cloud.network.addRoutes(w.infrastructure.routerId, [foreign, blackhole]);
    run(w);
    await joined(w);
    await routed(w, 2);
    const left = (await routes()).map((r) => r.destination).sort();
    expect(left).toEqual([cidrOf(0), cidrOf(1), foreign.destination]);
    for (const name of ["r-node-0", "r-node-1"]) await w.client.delete(Node, key(name));
    await until(w, "ours to go", async () => (await routes()).length === 1);
    expect(await routes()).toEqual([foreign]);
  });

  test("are not created to a node whose port may not send its pods' addresses; the node gets a warning, the others are served", async () => {
    const { w, cloud, routes } = await started();
    const [port] = await w.cloud.network.ports.all({ device_id: w.infrastructure.servers[0]?.id });
    const refusal = { when: "before", status: 403, body: { NeutronError: { message: "not allowed" } } } as const;
    cloud.setFaults((call) =>
      call.method === "PUT" && call.path.includes(`/ports/${port?.id}`) ? refusal : undefined,
    );
    run(w);
    await joined(w);
    await until(w, "the other", async () => (await networkUnavailable(w, 1))?.status === "False");
    await until(w, "the word", async () => (await networkUnavailable(w, 0))?.status === "True");
    expect((await routes()).map((r) => r.destination)).toEqual([cidrOf(1)]);
    expect(await networkUnavailable(w, 0)).toMatchObject({ reason: "NoRouteCreated" });
    const message = await w.until("an event", async () => {
      const events = await w.client.list(Event);
      return events.items.find((e) => e.reason === "FailedToCreateRoute")?.message;
    });
    expect(message).toContain("not allowed");
    cloud.setFaults(undefined);
    await routed(w, 1);
  });

  test("leave alone what another writes to a node's port at the same time", async () => {
    const { w, cloud } = await started({ servers: 1 });
    const [port] = await w.cloud.network.ports.all({ device_id: w.infrastructure.servers[0]?.id });
    const id = port?.id ?? "";
    let interfered = false;
    cloud.setFaults((call) => {
      if (call.method !== "PUT" || !call.path.includes(`/ports/${id}`) || interfered) return undefined;
      interfered = true;
      return {
        when: "before",
        status: 412,
        body: { NeutronError: { message: "changed", type: "RevisionNumberConstraintFailed" } },
      };
    });
    run(w);
    await joined(w);
    await routed(w, 1);
    expect(interfered).toBe(true);
    await w.cloud.network.ports.update(id, {
      allowed_address_pairs: [{ ip_address: cidrOf(0) }, { ip_address: "10.77.0.200" }],
    });
    await w.client.delete(Node, key("r-node-0"));
    await until(w, "our pair to go", async () => {
      const pairs = (await w.cloud.network.ports.get(id)).allowed_address_pairs;
      return pairs.length === 1 && pairs[0]?.ip_address === "10.77.0.200";
    });
  });

  test("that are deleted by hand are created again", async () => {
    const { w, routes } = await started({ servers: 1 });
    run(w);
    await joined(w);
    await routed(w, 1);
    await w.cloud.network.removeRoutes(w.infrastructure.routerId, await routes());
    await until(w, "the route", async () => (await routes()).length === 1);
  });

  test("of a deleted Node is removed, although nothing else happens in the cloud", async () => {
    const { w, routes } = await started({ servers: 2 });
    run(w, { controllers: new Set(["cloud-node", "route"]) });
    await joined(w);
    await routed(w, 2);
    // What our own writes changed has been listed: from now on only the Node's end can wake the controller.
    await new Promise((resolve) => setTimeout(resolve, 700));
    await w.client.delete(Node, key("r-node-1"));
    await until(w, "one route", async () => (await routes()).length === 1);
    expect((await routes())[0]?.destination).toBe(cidrOf(0));
  });

  test("a node without an address in its pods' address family gets a warning", async () => {
    const { w } = await started({ servers: 1 });
    run(w, { clusterCidr: "10.244.0.0/16,fd00:244::/48" });
    await w.joinAll();
    const body = { spec: { podCIDR: cidrOf(0), podCIDRs: [cidrOf(0), "fd00:244:1::/64"] } };
    await w.client.patch(Node, key("r-node-0"), { type: "merge", body });
    await until(w, "the word", async () => (await networkUnavailable(w, 0))?.status === "True");
    expect(await networkUnavailable(w, 0)).toMatchObject({ message: expect.stringContaining("no InternalIP of IPv6") });
  });
});

function byDestination(a: Route, b: Route): number {
  return a.destination.localeCompare(b.destination);
}
