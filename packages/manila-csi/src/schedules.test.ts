/**
 * Seeded schedules of what goes wrong: lost answers, refused calls, controllers that are killed, two at once, backends
 * that fail, rules that other users remove. The clock moves when all are idle, and what is random is seeded: a schedule
 * is the same each time. The content that represents each share's files decides that no data is lost. A failure names
 * its seed: CAUSEWAY_MANILA_SEED=7 runs that schedule alone, CAUSEWAY_MANILA_SCHEDULES=2000 that many from
 * CAUSEWAY_MANILA_FIRST on (default 1).
 */
import type { CallRecord, Fault } from "@causeway/simulator";
import { seeded, seededIds } from "@causeway/foundation/testing";
import { expect, test, vi } from "vitest";
import { DRIVER_AGENT, fileSystem, gib, openWorld, type Driver, type World } from "./testing/world.ts";

const seed = process.env["CAUSEWAY_MANILA_SEED"];
const count = Number(process.env["CAUSEWAY_MANILA_SCHEDULES"] ?? 4);
const first = Number(process.env["CAUSEWAY_MANILA_FIRST"] ?? 1);
const seeds = seed === undefined ? Array.from({ length: count }, (_, at) => first + at) : [Number(seed)];
const STEPS = 10;

/** What Kubernetes knows of one claim. */
interface Claim {
  readonly name: string;
  /** Of the first successful CreateVolume. */
  id?: string;
  size: number;
  /** Of the first successful CreateSnapshot. */
  snapshotId?: string;
  /** What pods have written. */
  content: string;
}

class Schedule {
  readonly #world: World;
  readonly #next: () => number;
  /** Of faults: how many calls there are has no influence on what is done. */
  readonly #nextFault: () => number;
  readonly #claims: readonly Claim[];
  #drivers: Driver[] = [];
  readonly problems: string[] = [];

  constructor(world: World, start: number) {
    this.#world = world;
    this.#next = seeded(start);
    this.#nextFault = seeded(start + 1_000_000);
    this.#claims = ["a", "b", "c"].map((name) => ({ name: `s${start}-${name}`, size: 1, content: "" }));
  }

  #one<T>(all: readonly T[], next = this.#next): T {
    const found = all[Math.floor(next() * all.length)];
    if (found === undefined) throw new Error("nothing to choose from");
    return found;
  }

  async run(): Promise<void> {
    this.#drivers = [await this.#world.driver(), await this.#world.driver()];
    for (let step = 0; step < STEPS; step += 1) {
      this.#disturb();
      await Promise.all(this.#claims.map((claim) => this.#step(claim)));
      await this.#accident();
    }
    this.#world.simulator.setFaults(undefined);
    this.#world.simulator.setOutcomes([]);
    for (const claim of this.#claims) await this.#requireShare(claim);
    for (const claim of this.#claims) await this.#release(claim);
    for (const driver of this.#drivers) await driver.close();
  }

  /** One call in four meets a fault before or after the cloud handles it; one share in six cannot be created. */
  #disturb(): void {
    const { simulator } = this.#world;
    simulator.setFaults((call: CallRecord): Fault | undefined => {
      if (!call.userAgent.includes(DRIVER_AGENT) || call.service === "identity" || this.#nextFault() > 0.25)
        return undefined;
      const when = this.#nextFault() < 0.5 ? "before" : "after";
      return this.#nextFault() < 0.5
        ? { when, cut: true }
        : { when, status: this.#one([500, 503, 409], this.#nextFault) };
    });
    const isDown = this.#next() < 0.17;
    simulator.setOutcomes(isDown ? [{ operation: "share.*", outcome: "error" }] : []);
  }

  async #step(claim: Claim): Promise<void> {
    const kind = this.#next();
    if (claim.id === undefined) return this.#create(claim, kind < 0.3);
    claim.content += kind.toFixed(6);
    if (!this.#world.simulator.write(claim.id, { content: claim.content }))
      this.problems.push(`${claim.name} cannot be written: share ${claim.id} is gone`);
    if (kind < 0.2) return this.#create(claim, true);
    if (kind < 0.5) return this.#expand(claim);
    return this.#snapshot(claim);
  }

  async #create(claim: Claim, both: boolean): Promise<void> {
    // As the provisioner does, only until the claim is bound: afterwards its size may differ.
    if (claim.size > 1) return;
    const request = {
      name: claim.name,
      capacityRange: gib(1),
      volumeCapabilities: [fileSystem],
      secrets: this.#world.secrets(),
    };
    const drivers = both ? this.#drivers : [this.#one(this.#drivers)];
    const results = await Promise.allSettled(drivers.map((driver) => driver.client.controller.createVolume(request)));
    for (const result of results) {
      const id = result.status === "fulfilled" ? result.value.volume?.volumeId : undefined;
      if (id === undefined) continue;
      if (claim.id !== undefined && claim.id !== id) this.problems.push(`${claim.name}: ${claim.id}, then ${id}`);
      claim.id = id;
    }
  }

  async #expand(claim: Claim): Promise<void> {
    claim.size = Math.min(claim.size + 1, 3);
    const request = { volumeId: claim.id ?? "", capacityRange: gib(claim.size), secrets: this.#world.secrets() };
    const done = await this.#one(this.#drivers)
      .client.controller.controllerExpandVolume(request)
      .catch(() => undefined);
    if (done && done.capacityBytes < gib(claim.size).requiredBytes) this.problems.push(`${claim.name} did not grow`);
  }

  async #snapshot(claim: Claim): Promise<void> {
    const request = { name: `${claim.name}-snap`, sourceVolumeId: claim.id ?? "", secrets: this.#world.secrets() };
    const done = await this.#one(this.#drivers)
      .client.controller.createSnapshot(request)
      .catch(() => undefined);
    if (done?.snapshot?.readyToUse !== true) return;
    const id = done.snapshot.snapshotId;
    if (claim.snapshotId !== undefined && claim.snapshotId !== id)
      this.problems.push(`${claim.name}: snapshot ${claim.snapshotId}, then ${id}`);
    claim.snapshotId = id;
  }

  /** A controller is killed, or another user removes a share's rules. */
  async #accident(): Promise<void> {
    const kind = this.#next();
    if (kind < 0.15) {
      await this.#drivers.shift()?.close();
      this.#drivers.push(await this.#world.driver());
    } else if (kind < 0.3) {
      const { id } = this.#one(this.#claims);
      const manila = this.#world.cloud.sharedFileSystem;
      const rules = id === undefined ? [] : await manila.accessRules(id).catch(() => []);
      for (const rule of rules) await manila.deny(id ?? "", rule.id);
    }
  }

  /** A share that was returned once is there, no other has its name, and its client has access after the next call. */
  async #requireShare(claim: Claim): Promise<void> {
    if (claim.id === undefined) {
      await this.#retried(async () => {
        await this.#createOrFail(claim);
        await this.#create(claim, false);
      });
    }
    const manila = this.#world.cloud.sharedFileSystem;
    const named = await manila.shares.all({ name: claim.name });
    const ids = named.filter(({ status }) => status !== "deleting").map(({ id }) => id);
    if (ids.length !== 1 || ids[0] !== claim.id)
      this.problems.push(`${claim.name} is ${ids.join(", ")}, and ${claim.id} was returned`);
    if (this.#world.simulator.content(claim.id ?? "") !== claim.content)
      this.problems.push(`${claim.name} does not hold what was written`);
    if (claim.size > 1) return;
    await this.#retried(() => this.#createOrFail(claim));
    const rules = await manila.accessRules(claim.id ?? "");
    if (rules.filter(({ state }) => state === "active").length !== 1)
      this.problems.push(`${claim.name} has rules ${rules.map(({ state }) => state).join(", ")}`);
  }

  async #createOrFail(claim: Claim): Promise<void> {
    const request = {
      name: claim.name,
      capacityRange: gib(1),
      volumeCapabilities: [fileSystem],
      secrets: this.#world.secrets(),
    };
    await this.#one(this.#drivers).client.controller.createVolume(request);
  }

  /** What Kubernetes does when a claim and its snapshots are deleted. */
  async #release(claim: Claim): Promise<void> {
    const [driver] = this.#drivers;
    const secrets = this.#world.secrets();
    const manila = this.#world.cloud.sharedFileSystem;
    await this.#retried(async () => {
      for (const { id } of await manila.snapshots.all({ share_id: claim.id ?? "" }))
        await driver?.client.controller.deleteSnapshot({ snapshotId: id, secrets });
      await driver?.client.controller.deleteVolume({ volumeId: claim.id ?? "", secrets });
    });
  }

  /** Kubernetes' sidecars repeat a call that fails, with longer and longer pauses. */
  async #retried(work: () => Promise<void>): Promise<void> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await work();
      } catch (error) {
        if (failures === 12) throw error;
        await this.#world.clock.sleep(Math.min(300_000, 1_000 * 2 ** failures));
      }
    }
  }
}

test.each(seeds)("no share is lost, doubled or left behind in schedule %i", { timeout: 120_000 }, async (start) => {
  // The jitter of pauses.
  const random = vi.spyOn(Math, "random").mockImplementation(seeded(start));
  const world = await openWorld({ newId: seededIds(start) });
  try {
    const schedule = new Schedule(world, start);
    await schedule.run();
    expect(schedule.problems).toEqual([]);
    const left = await world.cloud.sharedFileSystem.shares.all();
    expect(left.map(({ name, status }) => `${name} ${status}`)).toEqual([]);
  } finally {
    await world.close();
    random.mockRestore();
  }
});
