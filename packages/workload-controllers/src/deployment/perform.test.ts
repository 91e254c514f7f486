import { createLog, systemClock } from "@causeway/foundation";
import { createInformers, Deployment, isConflict, ReplicaSet } from "@causeway/kubernetes";
import { startApiServer } from "@causeway/apiserver";
import { afterEach, expect, test } from "vitest";
import { indexed, podsOf } from "../objects/caches.ts";
import { Deletions } from "../objects/deletions.ts";
import { template } from "../testing/objects.ts";
import { key, namespace, World } from "../testing/world.ts";
import { perform } from "./perform.ts";
import type { Step } from "./steps.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

/** Deployment web of three pods, at most four, with ReplicaSets of these sizes; none of it is in the caches. */
async function staged(...sizes: number[]) {
  const w = (world = await World.start((clock) => startApiServer({ clock })));
  const labels = { app: "web" };
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
  const selector = { matchLabels: labels };
  const strategy = { type: "RollingUpdate", rollingUpdate };
  await w.create(Deployment, "web", { spec: { replicas: 3, selector, strategy, template: template() } });
  const deployment = await w.client.get(Deployment, key("web"));
  const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: deployment.metadata.uid ?? "" };
  const sets: ReplicaSet[] = [];
  for (const [i, replicas] of sizes.entries()) {
    const metadata = { namespace, name: `web-${i}`, labels, ownerReferences: [{ ...owner, controller: true }] };
    const spec = { replicas, selector, template: template() };
    sets.push(await w.client.create(ReplicaSet, { apiVersion: "apps/v1", kind: "ReplicaSet", metadata, spec }));
  }
  const informers = createInformers(w.client, { clock: systemClock });
  const events = { event() {}, flush: () => Promise.resolve() };
  const log = createLog({ level: "error" });
  const context = {
    informers,
    events,
    clock: systemClock,
    log,
    clusterCIDRs: [],
    charge: <T>(work: () => T) => work(),
  };
  const caches = {
    context,
    deployments: indexed(context, informers.for(Deployment)),
    sets: indexed(context, informers.for(ReplicaSet)),
    pods: podsOf(context),
    deletions: new Deletions(context),
  };
  const observed = { deployment, sets: [], orphans: [], pods: new Map() };
  const grow = (set: ReplicaSet | undefined, from: number, to: number) => {
    const { uid = "", name = "", resourceVersion } = set?.metadata ?? {};
    const target = { uid, name, namespace };
    const step: Step = { type: "change-replica-set", target, resourceVersion, annotations: {}, scale: { from, to } };
    return perform(caches, observed, step, AbortSignal.timeout(30_000)).catch((error: unknown) => error);
  };
  const size = async (name: string) => (await w.client.get(ReplicaSet, key(name))).spec.replicas;
  return { grow, size, sets };
}

test("a ReplicaSet does not grow when another one, as the server has it, leaves no room below maxSurge", async () => {
  const { grow, size, sets } = await staged(3, 1);
  expect(isConflict(await grow(sets[1], 1, 2))).toBe(true);
  expect(await size("web-1")).toBe(1);
});

test("a ReplicaSet grows where the sizes of all leave room", async () => {
  const { grow, size, sets } = await staged(2, 1);
  expect(await grow(sets[1], 1, 2)).toBeUndefined();
  expect(await size("web-1")).toBe(2);
});
