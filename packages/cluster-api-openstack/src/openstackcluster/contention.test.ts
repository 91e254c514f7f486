import type { OpenStackCluster } from "@causeway/api";
import { VirtualClock } from "@causeway/foundation";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clusterAfter } from "../dry-run/objects.ts";
import { Contentions } from "../reactions/contentions.ts";
import {
  adoptAnnotation,
  networkDescription,
  networkOwner,
  ownerAnnotation,
  withoutOwner,
} from "../resources/naming.ts";
import { condition, deleting, full, plan as planOf, settle, world } from "../testing/cluster-world.ts";
import { ModelCloud } from "../testing/model-cloud.ts";
import { now, openStackCluster } from "../testing/objects.ts";
import { networksOfOthers } from "./contention.ts";
import type { ClusterCloud } from "./model.ts";
import { plan } from "./plan.ts";

/** An OpenStackCluster of a management cluster of its own; all of them have one name, and share a project. */
class Actor {
  object: OpenStackCluster;
  readonly #cloud: ModelCloud;
  readonly #clock: VirtualClock;
  readonly #contentions: Contentions;
  #seen: ClusterCloud | undefined;

  constructor(uid: string, cloud: ModelCloud, clock: VirtualClock) {
    this.object = openStackCluster(full, { uid, finalizers: [] });
    this.#cloud = cloud;
    this.#clock = clock;
    this.#contentions = new Contentions(clock);
  }

  /** Plans by the lists, or before its first network by older ones, and performs the first `most` steps. */
  turn({ stale = false, most = 99 } = {}): number {
    const view = stale && this.#seen && !this.#hasNetwork() ? this.#seen : structuredClone(this.#cloud.forCluster());
    this.#seen = view;
    const others = networksOfOthers({ object: this.object, cloud: view, crn: "default-demo" });
    const contendedSince = this.#contentions.note(this.object, others.length > 0);
    const { steps, status } = plan(
      {
        object: this.object,
        clusterName: "demo",
        paused: false,
        identity: { ok: true, cloud: view },
        machines: [],
        contendedSince,
      },
      this.#clock.now(),
    );
    for (const step of steps.slice(0, most)) {
      this.#cloud.applyCluster(step);
      this.object = clusterAfter(this.object, step);
    }
    if (steps.length === 0) this.object = { ...this.object, status };
    return steps.length;
  }

  get ready(): string | undefined {
    return condition(this.object.status, "Ready");
  }

  delete(): void {
    const metadata = { ...this.object.metadata, deletionTimestamp: "2026-11-21T00:00:00Z" };
    this.object = { ...this.object, metadata };
  }

  #hasNetwork(): boolean {
    return this.#cloud.networks.some(({ description }) => networkOwner(description) === this.object.metadata.uid);
  }
}

const uncut = world(full);
settle(uncut);
const ofOne = uncut.cloud.inventory;

async function rest(actors: readonly Actor[], clock: VirtualClock): Promise<void> {
  for (let round = 0; round < 40; round++) {
    for (const actor of actors) actor.turn();
    await clock.advance(2_000);
  }
}

const turns = fc.array(
  fc.record({
    actor: fc.nat({ max: 2 }),
    stale: fc.boolean(),
    most: fc.integer({ min: 0, max: 4 }),
    pause: fc.integer({ min: 0, max: 3_000 }),
  }),
  { maxLength: 14 },
);

describe("objects of one name in several management clusters that start at the same moment", () => {
  it("come to one that has the names, whatever they saw and wherever they were cut off, and leave nothing in the end", async () => {
    await fc.assert(
      fc.asyncProperty(turns, async (all) => {
        const clock = new VirtualClock(now);
        const cloud = new ModelCloud();
        const actors = ["uid-a", "uid-b", "uid-c"].map((uid) => new Actor(uid, cloud, clock));
        for (const { actor, stale, most, pause } of all) {
          actors[actor]?.turn({ stale, most });
          await clock.advance(pause);
        }
        await rest(actors, clock);
        expect(actors.map(({ ready }) => ready).sort()).toEqual(["False NameInUse", "False NameInUse", "True Ready"]);
        expect(cloud.inventory).toEqual(ofOne);
        const losers = actors.filter(({ ready }) => ready !== "True Ready");
        for (const loser of losers) loser.delete();
        await rest(actors, clock);
        expect(losers.map(({ object }) => object.metadata.finalizers)).toEqual([[], []]);
        expect(cloud.inventory).toEqual(ofOne);
        const winner = actors.find((actor) => !losers.includes(actor));
        winner?.delete();
        await rest(actors, clock);
        expect(cloud.inventory).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it("continue with the second when the first is deleted", async () => {
    const clock = new VirtualClock(now);
    const cloud = new ModelCloud();
    const [first, second] = [new Actor("uid-a", cloud, clock), new Actor("uid-b", cloud, clock)];
    for (const actor of [first, second]) actor.turn({ most: 1 });
    for (const actor of [first, second]) actor.turn({ stale: true });
    expect(cloud.networks.filter(({ name }) => name.includes("demo"))).toHaveLength(2);
    first.turn();
    expect(first.ready).toBe("False NameContended");
    await rest([first, second], clock);
    expect([first.ready, second.ready].sort()).toEqual(["False NameInUse", "True Ready"]);
    const [winner, loser] = first.ready === "True Ready" ? [first, second] : [second, first];
    winner.delete();
    await rest([first, second], clock);
    expect(loser.ready).toBe("True Ready");
    expect(cloud.inventory).toEqual(ofOne);
  });
});

describe("the networks of other objects", () => {
  const cloud = uncut.cloud.forCluster();
  const others = (metadata: object, status: OpenStackCluster["status"] = {}) =>
    networksOfOthers({ object: { ...openStackCluster({}, metadata), status }, cloud, crn: "default-demo" }).length;
  const id = cloud.networks.find(({ name }) => name.includes("demo"))?.id ?? "";

  it.each<[string, object, OpenStackCluster["status"], number]>([
    ["the object that created it", { uid: "uid-osc" }, {}, 0],
    ["another one", { uid: "other" }, {}, 1],
    [
      "one that was moved, whose annotation has the first UID",
      { uid: "x", annotations: { [ownerAnnotation]: "uid-osc" } },
      {},
      0,
    ],
    ["one that is to adopt it", { uid: "other", annotations: { [adoptAnnotation]: "true" } }, {}, 0],
    ["one whose status has recorded it", { uid: "other" }, { network: { id, name: "n" } }, 0],
  ])("are seen by %s, or not", (_who, metadata, status, expected) => {
    expect(others(metadata, status)).toBe(expected);
  });

  it("are none without an owner, as those of earlier releases", () => {
    const plain = {
      ...cloud,
      networks: cloud.networks.map((n) => ({ ...n, description: withoutOwner(n.description) ?? "" })),
    };
    expect(
      networksOfOthers({ object: openStackCluster({}, { uid: "other" }), cloud: plain, crn: "default-demo" }),
    ).toEqual([]);
  });
});

it("an estate of an earlier release, whose network has no owner, is left as it is, and deleted as before", () => {
  const w = world(full);
  settle(w);
  w.cloud.networks = w.cloud.networks.map((n) => ({ ...n, description: withoutOwner(n.description) ?? "" }));
  const { [ownerAnnotation]: _owner, ...annotations } = w.object.metadata.annotations ?? {};
  w.object = { ...w.object, metadata: { ...w.object.metadata, annotations } };
  for (const status of [w.object.status ?? {}, {}]) {
    w.object = { ...w.object, status };
    expect(planOf(w).steps).toEqual([]);
    expect(condition(planOf(w).status, "Ready")).toBe("True Ready");
  }
  deleting(w);
  settle(w);
  expect(w.cloud.inventory).toEqual([]);
});

describe("the description of a network", () => {
  it("has the owner, and can be read without it", () => {
    const text = networkDescription("default-demo", "uid-1");
    expect([networkOwner(text), withoutOwner(text)]).toEqual([
      "uid-1",
      "Created by cluster-api-provider-openstack cluster default-demo",
    ]);
    expect([networkOwner("mine"), withoutOwner("mine"), withoutOwner(null)]).toEqual([undefined, "mine", null]);
  });

  it("has none where Neutron would not take the text", () => {
    expect(networkDescription("n".repeat(200), "0".repeat(36))).toHaveLength(250);
  });
});
