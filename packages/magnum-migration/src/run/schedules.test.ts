/**
 * Seeded schedules of faults: commands are killed, answers are lost, and two operators run commands at the same time.
 * CAUSEWAY_FAULT_SCHEDULES changes how many.
 */
import { VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import type { Inventory } from "../inventory/model.ts";
import { findRecord, writeRecord, type MigrationRecord } from "../record/record.ts";
import { MemoryCluster } from "../testing/memory.ts";
import { RetireWorld, SwitchWorld, type Faults } from "../testing/worlds.ts";
import type { AnyPhase, Tools } from "../phase.ts";
import { runPhase } from "./run.ts";

const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_SCHEDULES"] ?? 100);
const signal = new AbortController().signal;
const master = (name: string) => ({ serverId: name, name, address: name, flavorId: "f", portIds: [] });
const members = ["m0", "m1", "m2"].map((name) => ({ id: name, name, address: name, port: 6443 }));
const inventory = {
  uuid: "u",
  name: "web",
  stacks: [],
  masters: ["m0", "m1", "m2"].map(master),
  groups: [],
  api: { id: "lb", vip: "10.0.0.5", port: 6443, poolId: "pool", subnetId: "s", members },
} as unknown as Inventory;
const done = { at: "", proof: [] };

/** The same numbers for the same seed. */
function random(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Operator {
  readonly phase: (faults: Faults) => AnyPhase;
  /** Nothing more is to be done for it, by what a run ended with. */
  readonly isOver: (error: unknown) => boolean;
}

class Schedule {
  readonly clock = new VirtualClock();
  readonly cluster = new MemoryCluster();
  readonly #next: () => number;
  #faults = 12;
  #runs = 0;
  readonly #dead = new Set<string>();

  constructor(seed: number) {
    this.#next = random(seed);
  }

  async begin(phases: MigrationRecord["phases"]): Promise<MigrationRecord> {
    const record: MigrationRecord = { namespace: "n", name: "web-1", inventory, phases, begun: "import" };
    await writeRecord(
      this.cluster.client(() => false),
      record,
      signal,
    );
    return record;
  }

  /** Runs commands again and again until each operator is over. */
  async play(record: MigrationRecord, operators: readonly Operator[]): Promise<void> {
    let running = operators.length;
    const all = operators.map(async (one) => {
      try {
        await this.#repeat(record, one);
      } finally {
        running -= 1;
      }
    });
    const ended = Promise.all(all);
    ended.catch(() => {});
    for (let i = 0; i < 20_000 && running > 0; i += 1) {
      for (let j = 0; j < 4; j += 1) await new Promise<void>((resolve) => setImmediate(resolve));
      await this.clock.advance(500);
    }
    expect(running, "operators that do not come to an end").toBe(0);
    await ended;
  }

  async #repeat(record: MigrationRecord, { phase, isOver }: Operator): Promise<void> {
    for (let run = 0; run < 60; run += 1) {
      const outcome = await this.#run(record, phase).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (outcome === undefined || isOver(outcome)) return;
      await this.clock.sleep(500 + this.#next() * 20_000);
    }
    throw new Error("a command does not end");
  }

  async #run(record: MigrationRecord, phase: Operator["phase"]): Promise<void> {
    this.#runs += 1;
    const identity = `run-${this.#runs}`;
    const kill = (): void => void this.#dead.add(identity);
    const faults: Faults = {
      next: () => {
        if (this.#dead.has(identity)) throw new Error("the process was killed");
        const chance = this.#next();
        if (this.#faults <= 0 || chance > 0.25) return undefined;
        this.#faults -= 1;
        if (chance > 0.15) return chance > 0.2 ? "before" : "after";
        kill();
        return chance > 0.07 ? "before" : "after";
      },
      pause: () => this.clock.sleep(this.#next() * 3_000),
    };
    const tools = {
      management: this.cluster.client(() => this.#dead.has(identity)),
      clock: this.clock,
      report: () => {},
      checked: new Set<string>(),
      identity,
      isGone: (other: string) => this.#dead.has(other),
    } as unknown as Tools;
    await runPhase(phase(faults), tools, record, signal);
  }
}

const seeds = Array.from({ length: SCHEDULES }, (_, seed) => seed + 1);
const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | undefined)?.code;
const never = (): boolean => false;

test(`retire by two operators, in ${SCHEDULES} schedules`, { timeout: 300_000 }, async () => {
  for (const seed of seeds) {
    const schedule = new Schedule(seed);
    const world = new RetireWorld();
    const record = await schedule.begin({
      discover: done,
      freeze: done,
      import: done,
      switch: done,
      adopt: done,
      roll: done,
    });
    const operator = { phase: (faults: Faults) => world.phase(faults), isOver: never };
    await schedule.play(record, [operator, operator]);
    expect(world.broken, `seed ${seed}`).toEqual([]);
    const { stacks, members: left, nodes, left: resources, isMigrating, projects, trustee, hasRow, driver } = world;
    expect({ stacks, left, nodes, resources, isMigrating, projects, trustee, hasRow, driver }, `seed ${seed}`).toEqual({
      stacks: [],
      left: [],
      nodes: [],
      resources: [],
      isMigrating: false,
      projects: [],
      trustee: undefined,
      driver: [],
      hasRow: false,
    });
    const kept = await findRecord(schedule.cluster.client(never), "u", signal);
    expect(kept?.phases.retire?.proof.length).toBeGreaterThan(0);
  }
});

test(`switch by one operator and rollback by another, in ${SCHEDULES} schedules`, { timeout: 300_000 }, async () => {
  for (const seed of seeds) {
    const schedule = new Schedule(seed);
    const world = new SwitchWorld();
    const record = await schedule.begin({ discover: done, freeze: done, import: done });
    await schedule.play(record, [
      // Where the other was first, there is no migration any more.
      { phase: (faults) => world.switchPhase(faults), isOver: (error) => codeOf(error) === "MIGRATE_NOT_DISCOVERED" },
      { phase: (faults) => world.rollback(faults), isOver: (error) => codeOf(error) === "MIGRATE_NOT_DISCOVERED" },
    ]);
    expect(world.broken, `seed ${seed}`).toEqual([]);
    expect(world.stage, `seed ${seed}`).toBe("Follow");
    expect(world.members.map(({ name }) => name).toSorted()).toEqual(["m0", "m1", "m2"]);
    expect([...world.active.values()].map(({ size }) => size)).toEqual([3, 3, 3]);
    expect([world.hostedMember, world.objects]).toEqual([false, []]);
    expect(await findRecord(schedule.cluster.client(never), "u", signal)).toBeUndefined();
  }
});
