/**
 * Schedules of faults, from a seed: users who delete and change what add-ons have, sets that change meanwhile (also in
 * fields that are immutable, and with manifests that are wrong), and controllers that end anywhere. Whatever happened,
 * what is declared last is there in the end and nothing else, what users have is untouched, and then it is quiet.
 * CAUSEWAY_FAULT_ADDONS is the number of schedules.
 */
import type { AddonSetSpec } from "@causeway/api";
import { seededIntegers } from "@causeway/foundation/testing";
import { ConfigMap, Deployment, getCondition, type Condition } from "@causeway/kubernetes";
import { expect, test, vi } from "vitest";
import { startWorld, type World } from "./testing/world.ts";

const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_ADDONS"] ?? 2);
const FIRST = Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 1);
const TURNS = 12;
const NAMES = ["a", "b", "c"] as const;

vi.setConfig({ testTimeout: 120_000 });

type Random = (below: number) => number;

/** The content of each add-on; undefined: it is not declared. */
interface Wanted {
  texts: Partial<Record<(typeof NAMES)[number], readonly string[]>>;
  /** The label that selects the pods of the Deployment: immutable. */
  selector: string;
  broken: boolean;
}

const key = (name: string) => ({ namespace: "default", name });

function manifests(name: string, { texts, selector, broken }: Wanted): string {
  const maps = (texts[name as "a"] ?? []).map((value, index) =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { ...key(`${name}-${index}`) },
      data: { value },
    }),
  );
  const labels = { app: selector };
  const web = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...key("web"), annotations: { "addons.causeway.dev/recreate": "true" } },
    spec: {
      replicas: broken ? -1 : 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "example.com/web:1" }] } },
    },
  };
  return [...maps, ...(name === "c" ? [JSON.stringify(web)] : [])].join("\n---\n");
}

function addonsOf(wanted: Wanted): AddonSetSpec["addons"] {
  return NAMES.filter((name) => wanted.texts[name] !== undefined).map((name) => ({
    name,
    manifests: manifests(name, wanted),
  }));
}

async function declare(world: World, wanted: Wanted, random: Random): Promise<void> {
  const name = NAMES[random(NAMES.length)] ?? "a";
  // The Deployment has no health of its own here, so that it remains the last.
  if (name !== "c" && random(4) === 0) delete wanted.texts[name];
  else wanted.texts[name] = Array.from({ length: 1 + random(3) }, () => `text ${random(1_000)}`);
  if (random(3) === 0) wanted.selector = `app-${random(3)}`;
  wanted.broken = random(5) === 0;
  await world.declare(addonsOf(wanted));
}

/** A user of the cluster deletes or changes something of the add-ons. */
async function disturb({ tenant }: World, random: Random): Promise<void> {
  const { items } = await tenant.list(ConfigMap, { namespace: "default", labelSelector: "addons.causeway.dev/set" });
  const victim = items[random(Math.max(items.length, 1))];
  if (random(4) === 0) return tenant.delete(Deployment, key("web")).catch(() => {});
  if (victim === undefined) return;
  const place = key(victim.metadata.name);
  // It may be pruned in the meantime.
  if (random(2) === 0) return tenant.delete(ConfigMap, place).catch(() => {});
  await tenant.patch(ConfigMap, place, { type: "merge", body: { data: { value: "mine" } } }).catch(() => {});
}

/** Everything that the add-ons have, and what it is. */
async function held({ tenant }: World): Promise<Record<string, string | undefined>> {
  const scope = { namespace: "default", labelSelector: "addons.causeway.dev/set" };
  const maps = (await tenant.list(ConfigMap, scope)).items;
  const workloads = (await tenant.list(Deployment, scope)).items;
  return Object.fromEntries([
    ...maps.map(({ metadata, data }) => [metadata.name, data?.["value"]]),
    ...workloads.map(({ metadata, spec }) => [metadata.name, spec.selector.matchLabels?.["app"]]),
  ]) as Record<string, string | undefined>;
}

function declared({ texts, selector }: Wanted): Record<string, string> {
  const maps = NAMES.flatMap((name) => (texts[name] ?? []).map((value, index) => [`${name}-${index}`, value]));
  return Object.fromEntries([...maps, ...(texts.c === undefined ? [] : [["web", selector]])]) as Record<string, string>;
}

test.for(Array.from({ length: SCHEDULES }, (_, index) => FIRST + index))(
  "seed %d ends as declared last",
  async (seed) => {
    const next = seededIntegers(seed);
    const random: Random = (below) => next() % below;
    const world = await startWorld();
    try {
      await world.tenant.create(ConfigMap, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: key("users"),
        data: { value: "own" },
      });
      const wanted: Wanted = { texts: { c: ["first"] }, selector: "app-0", broken: false };
      await declare(world, wanted, random);
      for (let turn = 0; turn < TURNS; turn++) {
        const what = random(10);
        if (what < 3) await declare(world, wanted, random);
        else if (what < 7) await disturb(world, random);
        else if (what < 8) await world.restart();
        else await world.clock.advance(random(5) * 500);
        await new Promise((resolve) => setTimeout(resolve, random(60)));
      }
      // Manifests that are wrong hold up their own add-on until they are put right.
      wanted.broken = false;
      await world.declare(addonsOf(wanted));
      await world.pass(
        "as declared",
        async () => JSON.stringify(sorted(await held(world))) === JSON.stringify(sorted(declared(wanted))),
      );
      await world.pass("recorded", async () => {
        const { status } = await world.set();
        const names = status?.addons?.flatMap(({ objects = [] }) => objects.map(({ name }) => name)).toSorted();
        return JSON.stringify(names) === JSON.stringify(Object.keys(declared(wanted)).toSorted());
      });
      expect((await world.tenant.get(ConfigMap, key("users"))).data).toEqual({ value: "own" });
      const conditions = ((await world.set()).status?.conditions ?? []) as Condition[];
      expect(getCondition(conditions, "Applied")).toMatchObject({ status: "True" });
      // A controller that has just begun applies each object once, to know it; then nothing more is written.
      const calls = world.calls.length;
      await new Promise((resolve) => setTimeout(resolve, 400));
      const late = world.calls.slice(calls);
      expect(new Set(late).size).toBe(late.length);
      const quiet = world.calls.length;
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(world.calls.slice(quiet)).toEqual([]);
    } finally {
      await world.stop();
    }
  },
);

function sorted(record: Readonly<Record<string, unknown>>): unknown {
  return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
