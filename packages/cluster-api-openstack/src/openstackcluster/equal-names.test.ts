/**
 * Two management clusters create Clusters of one name in one project at the same moment, in every order of their calls.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { OpenStackCluster } from "@causeway/api";
import { clusterAfter } from "../dry-run/objects.ts";
import { now, openStackCluster } from "../testing/objects.ts";
import { condition, deleting, full, settle, world } from "../testing/cluster-world.ts";
import {
  adoptAnnotation,
  clusterFinalizer,
  cloudIdentityAnnotation,
  ownerAnnotation,
  ownNetworkAnnotation,
} from "../resources/naming.ts";
import { ModelCloud } from "../testing/model-cloud.ts";
import { withNameIndex } from "../testing/name-index.ts";
import type { ClusterCloud } from "./model.ts";
import { plan } from "./plan.ts";
import { possessionOf } from "./possession.ts";
import type { ClusterStep } from "./steps.ts";

const lists = ["networks", "subnets", "routers", "ports", "securityGroups", "floatingIps"] as const;
const balancing = ["loadBalancers", "listeners", "pools"] as const;
type Identified = { readonly id: string };

/** The IDs of everything that a project has. */
function idsOf(cloud: ClusterCloud): Set<string> {
  const all: readonly (readonly Identified[])[] = [
    ...lists.map((name) => cloud[name]),
    ...balancing.map((name) => cloud.loadBalancing[name]),
  ];
  return new Set(all.flat().map(({ id }) => id));
}

/** What an actor's lists show: of the project as it is, the resources with these IDs. */
function shown(cloud: ClusterCloud, ids: ReadonlySet<string>): ClusterCloud {
  const of = <T extends Identified>(list: readonly T[]): readonly T[] => list.filter(({ id }) => ids.has(id));
  return withNameIndex({
    ...cloud,
    ...Object.fromEntries(lists.map((name) => [name, of<Identified>(cloud[name])])),
    loadBalancing: {
      ...cloud.loadBalancing,
      ...Object.fromEntries(balancing.map((name) => [name, of<Identified>(cloud.loadBalancing[name])])),
    },
  });
}

/** After a lost response: what is found by the name and the description in the request. */
function searched(step: ClusterStep, cloud: ClusterCloud): Identified | undefined {
  const lists = {
    "create-network": cloud.networks,
    "create-security-group": cloud.securityGroups,
    "create-load-balancer": cloud.loadBalancing.loadBalancers,
  };
  if (!("body" in step) || !(step.type in lists)) return undefined;
  const { name, description: text } = step.body as { readonly name?: string; readonly description?: string };
  return lists[step.type as keyof typeof lists].find((r) => r.name === name && r.description === text);
}

/** One management cluster with its Cluster of the name. */
class Actor {
  object: OpenStackCluster;
  #seen: Set<string>;
  #steps: readonly ClusterStep[] = [];
  readonly #cloud: ModelCloud;
  readonly #own = new Set<string>();
  readonly violations: string[] = [];
  time = now;

  constructor(cloud: ModelCloud, uid: string, spec: Partial<OpenStackCluster["spec"]> = full) {
    this.#cloud = cloud;
    this.#seen = idsOf(cloud.forCluster());
    this.object = openStackCluster(spec, { finalizers: [], uid });
  }

  /** The IDs of what it has created and is still there; parts of load balancers have those of their names here. */
  get left(): string[] {
    return [...idsOf(this.#cloud.forCluster())].filter((id) => this.#own.has(id) && !id.startsWith("(new "));
  }

  /** Reads the lists of the cloud again. */
  list(): void {
    this.#seen = idsOf(this.#cloud.forCluster());
  }

  /** The process ends, and another one starts with lists of its own; what was not published is lost. */
  crash(): void {
    this.#steps = [];
    this.list();
  }

  /** Performs the next step of the plan, or plans. True: nothing is to be done. */
  act(isLost: boolean): boolean {
    const [step, ...rest] = this.#steps;
    if (step === undefined) {
      const cloud = shown(this.#cloud.forCluster(), this.#seen);
      const observed = {
        object: this.object,
        clusterName: "demo",
        paused: false,
        machines: [],
        identity: { ok: true, cloud },
      } as const;
      const planned = plan(observed, (this.time += 60_000));
      this.#steps = planned.steps;
      if (planned.steps.length === 0) this.object = { ...this.object, status: planned.status };
      return planned.steps.length === 0;
    }
    this.#steps = rest;
    this.#judge(step);
    const before = idsOf(this.#cloud.forCluster());
    this.#cloud.applyCluster(step);
    const after = this.#cloud.forCluster();
    const created = [...idsOf(after)].filter((id) => !before.has(id));
    for (const id of created) this.#own.add(id);
    if (step.type === "check-names") for (const { id } of after.networks) this.#seen.add(id);
    if (step.type !== "check-names" || this.#mayRecord(step, after)) this.object = clusterAfter(this.object, step);
    const lost = isLost ? searched(step, after) : undefined;
    if (lost) this.#seen.add(lost.id);
    else for (const id of created) this.#seen.add(id);
    return false;
  }

  #mayRecord({ crn }: Extract<ClusterStep, { type: "check-names" }>, cloud: ClusterCloud): boolean {
    return possessionOf({ object: this.object, cloud, crn }).kind === "unchecked";
  }

  /** No step may change what the other has created, or build upon it. */
  #judge(step: ClusterStep): void {
    const body = "body" in step ? step.body : step;
    const named = Object.entries(body).filter(([key]) => /(^id|_id|Id)$/.test(key));
    for (const [key, id] of named) {
      const known = ["net-public", "sub-public"];
      if (
        typeof id === "string" &&
        !this.#own.has(id) &&
        !known.includes(id) &&
        idsOf(this.#cloud.forCluster()).has(id)
      ) {
        this.violations.push(`${step.type} ${key} ${id}`);
      }
    }
  }

  get isReady(): boolean {
    return condition(this.object.status, "NetworkReady") === "True NetworkReady";
  }

  delete(): void {
    this.object = { ...this.object, metadata: { ...this.object.metadata, deletionTimestamp: "2026-11-29T00:00:00Z" } };
  }

  get isGone(): boolean {
    return this.object.metadata.deletionTimestamp !== undefined && this.object.metadata.finalizers?.length === 0;
  }
}

const event = fc.record({
  who: fc.nat(1),
  do: fc.constantFrom("act", "act", "act", "act", "act", "lose", "list", "crash"),
});

/** On a network that is there. */
const onNetwork = { ...full, managedSubnets: [], subnets: [{ id: "sub-public" }] };
const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_EQUAL_NAMES"] ?? 60);

/** Two actors and their project after a schedule, when nothing goes wrong any more. */
function played(
  { schedule, first }: { readonly schedule: readonly Event[]; readonly first: number },
  spec: Partial<OpenStackCluster["spec"]>,
) {
  const cloud = new ModelCloud();
  const empty = cloud.inventory;
  const actors = [new Actor(cloud, "uid-one", spec), new Actor(cloud, "uid-two", spec)] as const;
  for (const { who, do: what } of schedule) {
    const actor = actors[who === 0 ? 0 : 1];
    if (what === "list") actor.list();
    else if (what === "crash") actor.crash();
    else actor.act(what === "lose");
  }
  // Then both run on, one after the other, with lists that show all.
  const rest = () => {
    for (let round = 0, idle = 0; round < 400 && idle < 6; round++) {
      const actor = actors[(round + first) % 2 === 0 ? 0 : 1];
      actor.list();
      let isIdle = true;
      for (let turn = 0; turn < 80 && !actor.act(false); turn++) isIdle = false;
      idle = isIdle ? idle + 1 : 0;
    }
  };
  rest();
  return { cloud, empty, actors, rest, violations: () => actors.map(({ violations }) => violations) };
}

type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;
const schedules = fc.record({ schedule: fc.array(event, { maxLength: 60 }), first: fc.nat(1) });
const runs = { numRuns: SCHEDULES, seed: Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 1) };

it("two objects of one name never use what the other has created, whatever the order of their calls", () => {
  fc.assert(
    fc.property(schedules, (given) => {
      const { cloud, empty, actors, rest, violations } = played(given, full);
      expect(violations()).toEqual([[], []]);
      expect(actors.filter(({ isReady }) => isReady)).toHaveLength(1);
      const [winner, loser] = actors[0].isReady ? actors : [actors[1], actors[0]];
      const whole = cloud.inventory;
      loser.delete();
      rest();
      expect([loser.isGone, cloud.inventory]).toEqual([true, whole]);
      winner.delete();
      rest();
      expect([winner.isGone, cloud.inventory]).toEqual([true, empty]);
      expect(violations()).toEqual([[], []]);
    }),
    runs,
  );
});

it("two objects of one name whose specs name their network have resources of their own, or one is refused", () => {
  fc.assert(
    fc.property(schedules, (given) => {
      const { cloud, empty, actors, rest, violations } = played(given, onNetwork);
      const ready = actors.filter(({ object }) => condition(object.status, "Ready") === "True Ready");
      for (const { object } of actors.filter((actor) => !ready.includes(actor)))
        expect(condition(object.status, "Ready")).toBe("False NameInUse");
      expect([violations(), ready.length > 0]).toEqual([[[], []], true]);
      const [stays, goes] = ready[0] === actors[0] ? actors : [actors[1], actors[0]];
      const before = stays.left;
      goes.delete();
      rest();
      expect([goes.isGone, goes.left, stays.left]).toEqual([true, [], before]);
      stays.delete();
      rest();
      expect([stays.isGone, cloud.inventory]).toEqual([true, empty]);
      expect(violations()).toEqual([[], []]);
    }),
    runs,
  );
});

const described = "Created by cluster-api-provider-openstack cluster default-demo";
const networkOf = ({ cloud }: ReturnType<typeof world>) => cloud.networks.at(-1);

it("an object that an earlier release began knows its resources by their names, as before", () => {
  const w = world(full, {
    finalizers: [clusterFinalizer],
    annotations: { [cloudIdentityAnnotation]: "RegionOne/project-1" },
  });
  const empty = w.cloud.inventory;
  settle(w);
  expect(networkOf(w)?.description).toBe(described);
  expect(w.object.metadata.annotations).not.toHaveProperty([ownerAnnotation]);
  deleting(w);
  settle(w);
  expect(w.cloud.inventory).toEqual(empty);
});

it("an object that has its network ignores one of its name that another object has created since", () => {
  const w = world(full);
  const { wait } = settle(w);
  const own = networkOf(w);
  if (!own) throw new Error("no network was created");
  w.cloud.networks.push({ ...own, id: "net-other", description: `${described} (uid-other)` });
  delete w.object.status;
  const { status } = settle(w);
  expect([condition(status, "NetworkReady"), status.network?.id]).toEqual(["True NetworkReady", own.id]);
  expect(settle(w).wait).toEqual(wait);
});

it("an object whose spec names its network creates no other, and has its owner in what it creates", () => {
  const w = world(onNetwork);
  const empty = w.cloud.inventory;
  settle(w);
  const { networks, loadBalancing, securityGroups, floatingIps } = w.cloud.forCluster();
  expect(networks.map(({ id }) => id)).toEqual(["net-public"]);
  const owner = `(${w.object.metadata.uid})`;
  expect(w.object.metadata.annotations).toHaveProperty([ownerAnnotation]);
  expect(
    [...loadBalancing.loadBalancers, ...floatingIps, ...securityGroups.filter(({ name }) => name.includes("demo"))]
      .map(({ description }) => description)
      .sort(),
  ).toEqual([
    ...Array.from({ length: 2 }, () => `Cluster API managed group ${owner}`),
    ...Array.from({ length: 2 }, () => `${described} ${owner}`),
  ]);
  // Moved, it has another UID and no status.
  const { status: _gone, ...object } = w.object;
  w.object = { ...object, metadata: { ...object.metadata, uid: "uid-after-the-move" } };
  const before = w.cloud.inventory;
  settle(w);
  expect(w.cloud.inventory).toEqual(before);
  deleting(w);
  settle(w);
  expect(w.cloud.inventory).toEqual(empty);
});

it.each([
  ["is refused what another object created", {}, "False NameInUse"],
  [
    "adopts it where the annotation says so, and keeps it when that is gone",
    { [adoptAnnotation]: "true" },
    "True Ready",
  ],
])("an object whose spec names its network %s", (_what, annotations, expected) => {
  const first = world(onNetwork);
  settle(first);
  const w = { ...world(onNetwork, { finalizers: [], uid: "uid-second", annotations }), cloud: first.cloud };
  const before = w.cloud.inventory;
  const { status } = settle(w);
  expect([condition(status, "Ready"), w.cloud.inventory]).toEqual([expected, before]);
  w.object = {
    ...w.object,
    metadata: { ...w.object.metadata, annotations: without(w.object.metadata.annotations ?? {}, adoptAnnotation) },
  };
  settle(w);
  expect(w.cloud.inventory).toEqual(before);
});

it("an object of an earlier release, whose spec names its network, knows its resources by their names, and no others", () => {
  const w = world(onNetwork, {
    finalizers: [clusterFinalizer],
    annotations: { [cloudIdentityAnnotation]: "RegionOne/project-1" },
  });
  const empty = w.cloud.inventory;
  settle(w);
  expect(w.cloud.forCluster().loadBalancing.loadBalancers.map(({ description }) => description)).toEqual([described]);
  deleting(w);
  settle(w);
  expect(w.cloud.inventory).toEqual(empty);
});

it.each([
  ["with its notes", ({ annotations }: { annotations?: Record<string, string> }) => annotations],
  [
    "without the note of its network",
    ({ annotations = {} }: { annotations?: Record<string, string> }) => without(annotations, ownNetworkAnnotation),
  ],
])("an object that is moved %s, and so has another UID and no status, keeps what it created", (_what, notes) => {
  const w = world(full);
  const empty = w.cloud.inventory;
  settle(w);
  expect(networkOf(w)?.description).toBe(`${described} (${w.object.metadata.uid})`);
  const before = w.cloud.inventory;
  const { status: _gone, ...object } = w.object;
  w.object = {
    ...object,
    metadata: { ...object.metadata, uid: "uid-after-the-move", annotations: notes(object.metadata) ?? {} },
  };
  settle(w);
  expect(w.cloud.inventory).toEqual(before);
  deleting(w);
  settle(w);
  expect(w.cloud.inventory).toEqual(empty);
});

it("an owner that a user writes in place of ours leads to no second network", () => {
  const w = world(full);
  settle(w);
  const { status: _gone, ...object } = w.object;
  const before = w.cloud.inventory;
  for (const owner of ["another one", "(x)", "x".repeat(300), ""]) {
    const annotations = {
      ...without(object.metadata.annotations ?? {}, ownNetworkAnnotation),
      [ownerAnnotation]: owner,
    };
    w.object = { ...object, metadata: { ...object.metadata, annotations } };
    settle(w);
    expect(w.cloud.inventory).toEqual(before);
  }
});

it("an object is deleted that has lost its network to a hand, with all else that it created", () => {
  const w = world({ ...full, apiServer: { enableFloatingIP: false } });
  const empty = w.cloud.inventory;
  settle(w);
  for (const list of ["subnets", "ports", "networks"] as const) w.cloud[list].splice(list === "ports" ? 0 : 1);
  deleting(w);
  settle(w);
  expect(w.cloud.inventory).toEqual(empty);
});

function without(notes: Readonly<Record<string, string>>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(notes).filter(([key]) => key !== name));
}
