import { expect, it } from "vitest";
import { VirtualClock } from "@causeway/foundation";
import type { Cluster, Machine } from "@causeway/api";
import type { Context } from "../objects/context.ts";
import { cluster, servingMachine } from "../testing/objects.ts";
import { gather } from "./gather.ts";

const deletionTimestamp = "2026-11-29T00:00:00Z";
const leaving = <T extends Machine | Cluster>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp },
});

/** How often the workload cluster is requested to list what is on the Node of a Machine. */
async function listsOf(machine: Machine, of: Cluster | undefined, host: object | undefined): Promise<number> {
  let lists = 0;
  const node = { metadata: { name: machine.status?.nodeRef?.name ?? "" } };
  const nodes = { synced: true, get: () => node, byIndex: () => [node] };
  const list = () => {
    lists += 1;
    return Promise.resolve({ items: [] });
  };
  const remote = { informers: { for: () => nodes, index: () => {} }, client: { list } };
  const context = {
    clock: new VirtualClock(),
    machines: { get: () => machine },
    clusters: { get: () => of },
    sets: { get: () => undefined },
    kinds: { find: () => ({}) },
    informers: { for: () => ({ get: () => host }) },
    pendingDeletions: { view: (object: unknown) => object },
    drainRules: { list: () => [] },
    remoteClusters: { get: () => remote },
  } as unknown as Context;
  await gather(context, { namespace: "default", name: machine.metadata.name }, new AbortController().signal);
  return lists;
}

const one = servingMachine("w-1");
const metadata = { ...one.metadata, finalizers: ["machine.cluster.x-k8s.io"] };
const joined: Machine = { ...one, metadata, status: { nodeRef: { name: "w-1" } } };
const host = { metadata: { name: "w-1" } };

it.each<[string, Machine, Cluster | undefined, object | undefined, boolean]>([
  ["is drained", leaving(joined), cluster(), host, true],
  ["is not being deleted", joined, cluster(), host, false],
  ["goes with its cluster, whose API may not respond any more", leaving(joined), leaving(cluster()), host, false],
  ["is left by a cluster that is gone", leaving(joined), undefined, host, false],
  ["has lost its host", leaving(joined), cluster(), undefined, false],
])(
  "a Machine that %s: its workload cluster is requested to list what is on its Node: %#",
  async (_what, machine, of, on, expected) => {
    expect((await listsOf(machine, of, on)) > 0).toBe(expected);
  },
);
