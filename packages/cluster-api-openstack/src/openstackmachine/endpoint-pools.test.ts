import { annotations, labels, type Cluster, type OpenStackCluster } from "@causeway/api";
import type { Member, Pool } from "@causeway/openstack";
import { expect, it } from "vitest";
import type { Session } from "../identity/sessions.ts";
import { openStackCluster, openStackMachine } from "../testing/objects.ts";
import { endpointPools, type EndpointObjects } from "./endpoint-pools.ts";

const pool = "k8s-clusterapi-cluster-default-demo-kubeapi-6443";
const deletionTimestamp = "2026-11-21T00:00:00Z";
const signal = new AbortController().signal;

function objects(change: (world: { -readonly [K in keyof EndpointObjects]: EndpointObjects[K] }) => void = () => {}) {
  const object = openStackMachine({}, { labels: { [labels.controlPlane]: "" }, deletionTimestamp });
  object.status = { addresses: [{ type: "InternalIP", address: "10.6.0.4" }] };
  const cluster = { metadata: { name: "demo", namespace: "default" }, spec: {} } as Cluster;
  const infrastructure = openStackCluster({ apiServer: { managedLoadBalancer: { enabled: true } } });
  const world = { object, infrastructure, cluster, crn: "default-demo", isLeaving: false };
  change(world);
  return world;
}

/** A session of which only the load balancers are read. */
function session(members: () => Promise<readonly Partial<Member>[]>, pausedUntil?: number): Session {
  const pools = [
    { id: "p", name: pool },
    { id: "q", name: "another" },
  ] as Pool[];
  const cloud = { has: () => Promise.resolve(true), pausedUntil: () => pausedUntil };
  return { cloud, watch: { pools: { list: () => pools } }, members } as unknown as Session;
}

const has = () => Promise.resolve([{ address: "10.6.0.4" }, { address: "10.6.0.5" }]);
const read = (world: EndpointObjects, members = has as () => Promise<readonly Partial<Member>[]>) =>
  endpointPools(world, { session: session(members), listed: () => Promise.resolve() }, signal);

it("a control-plane machine that is being deleted has the pools of the API that have a member for it", async () => {
  expect(await read(objects())).toEqual([pool]);
  expect(await read(objects(), () => Promise.resolve([{ address: "10.6.0.5" }]))).toEqual([]);
});

it("a control-plane machine whose Machine is being deleted has them, too", async () => {
  const world = objects(({ object }) => delete object.metadata.deletionTimestamp);
  expect(await read({ ...world, isLeaving: true })).toEqual([pool]);
});

it.each<[string, (world: ReturnType<typeof objects>) => void]>([
  ["that is not being deleted", ({ object }) => delete object.metadata.deletionTimestamp],
  ["that is a worker", ({ object }) => (object.metadata.labels = {})],
  ["of a cluster that is being deleted", ({ cluster }) => (cluster.metadata.deletionTimestamp = deletionTimestamp)],
  ["of a paused cluster", ({ cluster }) => (cluster.spec.paused = true)],
  ["of an infrastructure without a load balancer", ({ infrastructure }) => (infrastructure.spec.apiServer = {})],
  [
    "of an infrastructure that another program manages",
    ({ infrastructure }: { infrastructure: OpenStackCluster }) =>
      (infrastructure.metadata.annotations = { [annotations.managedBy]: "other" }),
  ],
])("a machine %s waits for no pool", async (_what, change) => {
  const world = objects();
  change(world);
  expect(await read(world)).toEqual([]);
});

it("a machine waits for no pool of an Octavia that fails", async () => {
  expect(await read(objects(), () => Promise.reject(new Error("503")))).toEqual([]);
});

it("a machine waits for no pool of an Octavia that wants to be left alone, and calls it for none", async () => {
  let calls = 0;
  const count = () => {
    calls += 1;
    return Promise.resolve([]);
  };
  const listed = async () => {
    await count();
  };
  expect(await endpointPools(objects(), { session: session(count, 1_000), listed }, signal)).toEqual([]);
  expect(calls).toBe(0);
});
