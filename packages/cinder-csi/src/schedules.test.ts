/**
 * Seeded schedules of what goes wrong: lost answers, refused calls, controllers that are killed, two at once, servers that are deleted, volumes that other
 * users reserve. A failure names its seed: CAUSEWAY_CSI_SEED=7 runs that schedule alone, CAUSEWAY_CSI_SCHEDULES=2000 that many.
 */
import type { CallRecord, Fault } from "@causeway/simulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DRIVER_AGENT, eventually, fileSystem, gib, openWorld, type Driver, type World } from "./testing/world.ts";

const seed = process.env["CAUSEWAY_CSI_SEED"];
const count = Number(process.env["CAUSEWAY_CSI_SCHEDULES"] ?? 6);
const seeds = seed === undefined ? Array.from({ length: count }, (_, at) => at + 1) : [Number(seed)];
const STEPS = 14;

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** Mulberry32. */
function random(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What Kubernetes knows of one claim. */
interface Claim {
  readonly name: string;
  /** Of the first successful CreateVolume. */
  id?: string;
  /** Which server it is, or may be, attached to. */
  node?: string;
}

class Schedule {
  readonly #next: () => number;
  readonly #claims: readonly Claim[];
  #drivers: Driver[] = [];
  #servers: string[] = [];
  readonly problems: string[] = [];

  constructor(start: number) {
    this.#next = random(start);
    this.#claims = ["a", "b", "c"].map((name) => ({ name: `s${start}-${name}` }));
  }

  #one<T>(all: readonly T[]): T {
    const found = all[Math.floor(this.#next() * all.length)];
    if (found === undefined) throw new Error("nothing to choose from");
    return found;
  }

  async run(): Promise<void> {
    this.#drivers = [await world.driver(), await world.driver()];
    this.#servers = [await world.server("n1"), await world.server("n2")];
    for (let step = 0; step < STEPS; step += 1) {
      this.#disturb();
      // Claims are handled at the same time, and each claim by both controllers now and then.
      await Promise.all(this.#claims.map((claim) => this.#step(claim)));
      await this.#accident();
    }
    world.simulator.setFaults(undefined);
    await this.#requireNoDoubleAttach();
    for (const claim of this.#claims) await this.#requireReturnedVolume(claim);
    for (const claim of this.#claims) await this.#release(claim);
    for (const id of this.#servers) await world.cloud.compute.servers.delete(id);
    for (const driver of this.#drivers) await driver.close();
  }

  /** One call in four meets a fault before or after the cloud handles it. */
  #disturb(): void {
    const { simulator } = world;
    simulator.setFaults((call: CallRecord): Fault | undefined => {
      if (!call.userAgent.includes(DRIVER_AGENT) || call.service === "identity" || this.#next() > 0.25)
        return undefined;
      const when = this.#next() < 0.5 ? "before" : "after";
      return this.#next() < 0.5 ? { when, cut: true } : { when, status: this.#one([500, 503, 409]) };
    });
  }

  async #step(claim: Claim): Promise<void> {
    const kind = this.#next();
    if (claim.id === undefined) return this.#create(claim, kind < 0.3);
    if (kind < 0.1) return this.#create(claim, true);
    if (kind < 0.6 || claim.node === undefined) return this.#publish(claim);
    return this.#unpublish(claim);
  }

  async #create(claim: Claim, both: boolean): Promise<void> {
    const request = { name: claim.name, capacityRange: gib(1), volumeCapabilities: [fileSystem] };
    const drivers = both ? this.#drivers : [this.#one(this.#drivers)];
    const results = await Promise.allSettled(drivers.map((driver) => driver.client.controller.createVolume(request)));
    for (const result of results) {
      const id = result.status === "fulfilled" ? result.value.volume?.volumeId : undefined;
      if (id === undefined) continue;
      if (claim.id !== undefined && claim.id !== id) this.problems.push(`${claim.name}: ${claim.id}, then ${id}`);
      claim.id = id;
    }
  }

  async #publish(claim: Claim): Promise<void> {
    const nodeId = claim.node ?? this.#one(this.#servers);
    claim.node = nodeId;
    const request = { volumeId: claim.id ?? "", nodeId, volumeCapability: fileSystem };
    const isDone = await this.#one(this.#drivers)
      .client.controller.controllerPublishVolume(request)
      .then(
        () => true,
        () => false,
      );
    if (isDone && !(await this.#attached(claim)).includes(nodeId))
      this.problems.push(`${claim.name} is published and not attached`);
  }

  async #unpublish(claim: Claim): Promise<void> {
    const { id: volumeId = "", node: nodeId = "" } = claim;
    const request = { volumeId, nodeId };
    const isDone = await this.#one(this.#drivers)
      .client.controller.controllerUnpublishVolume(request)
      .then(
        () => true,
        () => false,
      );
    if (!isDone) return;
    if ((await this.#attached(claim)).includes(nodeId)) this.problems.push(`${claim.name} is unpublished and attached`);
    delete claim.node;
  }

  async #attached({ id = "" }: Claim): Promise<readonly string[]> {
    const volume = await world.cloud.blockStorage.volumes.find(id);
    return volume?.attachments.map(({ server_id }) => server_id) ?? [];
  }

  /** A controller is killed, a server is deleted with its volumes, or another user reserves a volume. */
  async #accident(): Promise<void> {
    const kind = this.#next();
    if (kind < 0.12) {
      await this.#drivers.shift()?.close();
      this.#drivers.push(await world.driver());
    } else if (kind < 0.2) {
      const gone = this.#servers.shift() ?? "";
      await world.cloud.compute.servers.delete(gone);
      await eventually(async () => (await world.cloud.compute.servers.find(gone)) === undefined);
      this.#servers.push(await world.server("n"));
    } else if (kind < 0.3) {
      const { id } = this.#one(this.#claims);
      const request = { volume_uuid: id ?? "", instance_uuid: this.#one(this.#servers) };
      if (id !== undefined) await world.cloud.blockStorage.attachments.create(request).catch(() => {});
    }
  }

  async #requireNoDoubleAttach(): Promise<void> {
    for (const volume of await world.cloud.blockStorage.volumes.all()) {
      if (volume.attachments.length > 1)
        this.problems.push(`${volume.name} is attached ${volume.attachments.length} times`);
    }
  }

  /** A volume that was returned once is there, and no other has its name. */
  async #requireReturnedVolume(claim: Claim): Promise<void> {
    await retried(() => this.#createOrFail(claim));
    const named = await world.cloud.blockStorage.volumes.all({ name: claim.name });
    const ids = named.filter(({ status }) => status !== "deleting").map(({ id }) => id);
    if (ids.length !== 1 || ids[0] !== claim.id)
      this.problems.push(`${claim.name} is ${ids.join(", ")}, and ${claim.id} was returned`);
  }

  async #createOrFail(claim: Claim): Promise<void> {
    const before = claim.id;
    await this.#create(claim, false);
    if (claim.id === undefined) throw new Error(`${claim.name} was never created (${before})`);
  }

  /** What Kubernetes does when a claim is deleted. */
  async #release(claim: Claim): Promise<void> {
    const [driver] = this.#drivers;
    const volumeId = claim.id ?? "";
    await retried(async () => {
      await driver?.client.controller.controllerUnpublishVolume({ volumeId, nodeId: "" });
      await driver?.client.controller.deleteVolume({ volumeId });
    });
  }
}

/** Kubernetes' sidecars repeat a call that fails. */
async function retried(work: () => Promise<void>): Promise<void> {
  for (let left = 10; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

test.each(seeds)(
  "no volume is lost, doubled, left behind or attached twice in schedule %i",
  { timeout: 120_000 },
  async (start) => {
    const schedule = new Schedule(start);
    await schedule.run();
    expect(schedule.problems).toEqual([]);
    const left = (await world.cloud.blockStorage.volumes.all()).filter(({ name }) => name.startsWith(`s${start}-`));
    expect(left.map(({ name, status }) => `${name} ${status}`)).toEqual([]);
  },
);
