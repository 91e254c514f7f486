/**
 * Seeded schedules of what goes wrong: lost answers, refused calls, controllers that are killed, two at once, servers
 * that are deleted, volumes that other users reserve, states that users set by hand. The clock moves when all are
 * idle, and what is random is seeded: a schedule is the same each time. The content that represents each volume's bytes
 * decides that no data is lost. A failure names its seed: CAUSEWAY_CSI_SEED=7 runs that schedule alone,
 * CAUSEWAY_CSI_SCHEDULES=2000 that many from CAUSEWAY_CSI_FIRST on (default 1).
 */
import type { CallRecord, Fault } from "@causeway/simulator";
import { seeded, seededIds } from "@causeway/foundation/testing";
import { expect, test, vi } from "vitest";
import { DRIVER_AGENT, fileSystem, gib, openWorld, type Driver, type World } from "./testing/world.ts";

const seed = process.env["CAUSEWAY_CSI_SEED"];
const count = Number(process.env["CAUSEWAY_CSI_SCHEDULES"] ?? 6);
const first = Number(process.env["CAUSEWAY_CSI_FIRST"] ?? 1);
const seeds = seed === undefined ? Array.from({ length: count }, (_, at) => first + at) : [Number(seed)];
const STEPS = 14;

/** What Kubernetes knows of one claim. */
interface Claim {
  readonly name: string;
  /** Of the first successful CreateVolume. */
  id?: string;
  /** Which server it is, or may be, attached to. */
  node?: string;
  /** The node's pod uses it: it was published, and is not yet being unpublished. */
  isUsed: boolean;
  /** What pods have written. */
  content: string;
  /** `least` was written before the snapshot was first requested. */
  snapshot?: { id?: string; readonly least: string };
}

class Schedule {
  readonly #world: World;
  readonly #next: () => number;
  /** Of faults: how many calls there are has no influence on what is done. */
  readonly #nextFault: () => number;
  readonly #claims: readonly Claim[];
  #drivers: Driver[] = [];
  #servers: string[] = [];
  readonly problems: string[] = [];

  constructor(world: World, start: number) {
    this.#world = world;
    this.#next = seeded(start);
    this.#nextFault = seeded(start + 1_000_000);
    this.#claims = ["a", "b", "c"].map((name) => ({ name: `s${start}-${name}`, isUsed: false, content: "" }));
  }

  #one<T>(all: readonly T[], next = this.#next): T {
    const found = all[Math.floor(next() * all.length)];
    if (found === undefined) throw new Error("nothing to choose from");
    return found;
  }

  async run(): Promise<void> {
    this.#drivers = [await this.#world.driver(), await this.#world.driver()];
    this.#servers = [await this.#world.server("n1"), await this.#world.server("n2")];
    for (let step = 0; step < STEPS; step += 1) {
      this.#disturb();
      const isDown = this.#next() < 0.15;
      this.#world.simulator.setOutcomes(isDown ? [{ operation: "volume.create", outcome: "error" }] : []);
      // Claims are handled at the same time, and each claim by both controllers now and then.
      await Promise.all(this.#claims.map((claim) => this.#step(claim)));
      await this.#accident();
    }
    this.#world.simulator.setFaults(undefined);
    this.#world.simulator.setOutcomes([]);
    await this.#requireNoDoubleAttach();
    for (const claim of this.#claims) await this.#requireReturnedVolume(claim);
    for (const claim of this.#claims) await this.#release(claim);
    for (const id of this.#servers) await this.#world.cloud.compute.servers.delete(id);
    for (const driver of this.#drivers) await driver.close();
  }

  /** One call in four meets a fault before or after the cloud handles it. */
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
  }

  async #step(claim: Claim): Promise<void> {
    const kind = this.#next();
    if (claim.id === undefined) return this.#create(claim, kind < 0.3);
    if (kind < 0.1) return this.#create(claim, true);
    this.#write(claim, kind);
    if (kind < 0.25) return this.#snapshot(claim);
    if (kind < 0.65 || claim.node === undefined) return this.#publish(claim);
    return this.#unpublish(claim);
  }

  /** A pod writes as long as its volume is published: the volume must not be detached meanwhile. */
  #write(claim: Claim, kind: number): void {
    const { id = "", node = "" } = claim;
    if (!claim.isUsed || !this.#servers.includes(node)) return;
    const content = claim.content + kind.toFixed(6);
    if (this.#world.simulator.write(id, { content, serverId: node })) claim.content = content;
    else this.problems.push(`${claim.name} is not attached to the node that uses it`);
  }

  async #snapshot(claim: Claim): Promise<void> {
    const snapshot = (claim.snapshot ??= { least: claim.content });
    const parameters = { "force-create": "true" };
    const request = { name: `${claim.name}-snap`, sourceVolumeId: claim.id ?? "", parameters };
    const done = await this.#one(this.#drivers)
      .client.controller.createSnapshot(request)
      .catch(() => undefined);
    const id = done?.snapshot?.snapshotId;
    if (id === undefined) return;
    if (snapshot.id !== undefined && snapshot.id !== id)
      this.problems.push(`${claim.name}: snapshot ${snapshot.id}, then ${id}`);
    snapshot.id = id;
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
    if (isDone) claim.isUsed = true;
    if (isDone && !(await this.#attached(claim)).includes(nodeId))
      this.problems.push(`${claim.name} is published and not attached`);
  }

  async #unpublish(claim: Claim): Promise<void> {
    const { id: volumeId = "", node: nodeId = "" } = claim;
    const request = { volumeId, nodeId };
    claim.isUsed = false;
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
    const volume = await this.#world.cloud.blockStorage.volumes.find(id);
    return volume?.attachments.map(({ server_id }) => server_id) ?? [];
  }

  /** A controller is killed, a server is deleted with its volumes, another user reserves a volume, or detaches one. */
  async #accident(): Promise<void> {
    const kind = this.#next();
    if (kind < 0.12) {
      await this.#drivers.shift()?.close();
      this.#drivers.push(await this.#world.driver());
    } else if (kind < 0.2) {
      const gone = this.#servers.shift() ?? "";
      await this.#world.cloud.compute.servers.delete(gone);
      await this.#world.eventually(async () => (await this.#world.cloud.compute.servers.find(gone)) === undefined);
      this.#servers.push(await this.#world.server("n"));
    } else if (kind < 0.3) {
      const { id } = this.#one(this.#claims);
      const request = { volume_uuid: id ?? "", instance_uuid: this.#one(this.#servers) };
      if (id !== undefined) await this.#world.cloud.blockStorage.attachments.create(request).catch(() => {});
    } else if (kind < 0.4) {
      const claim = this.#one(this.#claims);
      claim.isUsed = false;
      const attachments = this.#world.cloud.compute.volumeAttachments(claim.node ?? "");
      if (claim.node !== undefined) await attachments.detach(claim.id ?? "").catch(() => {});
    }
  }

  async #requireNoDoubleAttach(): Promise<void> {
    for (const volume of await this.#world.cloud.blockStorage.volumes.all()) {
      if (volume.attachments.length > 1)
        this.problems.push(`${volume.name} is attached ${volume.attachments.length} times`);
    }
  }

  /** A volume that was returned once is there, and no other has its name. */
  async #requireReturnedVolume(claim: Claim): Promise<void> {
    await this.#retried(() => this.#createOrFail(claim));
    const named = await this.#world.cloud.blockStorage.volumes.all({ name: claim.name });
    const ids = named.filter(({ status }) => status !== "deleting").map(({ id }) => id);
    if (ids.length !== 1 || ids[0] !== claim.id)
      this.problems.push(`${claim.name} is ${ids.join(", ")}, and ${claim.id} was returned`);
    if (this.#world.simulator.content(claim.id ?? "") !== claim.content)
      this.problems.push(`${claim.name} does not hold what was written`);
    if (claim.snapshot?.id !== undefined) await this.#requireRestored(claim, claim.snapshot.id, claim.snapshot.least);
  }

  /** A volume of the snapshot holds what was written when it was created. */
  async #requireRestored(claim: Claim, snapshotId: string, least: string): Promise<void> {
    const request = {
      name: `${claim.name}-copy`,
      capacityRange: gib(1),
      volumeCapabilities: [fileSystem],
      volumeContentSource: { type: { case: "snapshot" as const, value: { snapshotId } } },
    };
    const { controller } = this.#one(this.#drivers).client;
    const { volume } = await controller.createVolume(request);
    const content = this.#world.simulator.content(volume?.volumeId ?? "") ?? "gone";
    if (!claim.content.startsWith(content) || !content.startsWith(least))
      this.problems.push(`${claim.name}'s snapshot does not hold what was written`);
    await controller.deleteVolume({ volumeId: volume?.volumeId ?? "" });
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
    for (const { id } of await this.#world.cloud.blockStorage.snapshots.all({ volume_id: volumeId }))
      await this.#retried(async () => void (await driver?.client.controller.deleteSnapshot({ snapshotId: id })));
    await this.#retried(async () => {
      await driver?.client.controller.controllerUnpublishVolume({ volumeId, nodeId: "" });
      await driver?.client.controller.deleteVolume({ volumeId });
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

test.each(seeds)(
  "no volume is lost, doubled, left behind or attached twice in schedule %i",
  { timeout: 120_000 },
  async (start) => {
    // The jitter of pauses.
    const random = vi.spyOn(Math, "random").mockImplementation(seeded(start));
    const world = await openWorld({ newId: seededIds(start) });
    try {
      const schedule = new Schedule(world, start);
      await schedule.run();
      expect(schedule.problems).toEqual([]);
      const { volumes, snapshots } = world.cloud.blockStorage;
      const left = [...(await volumes.all()), ...(await snapshots.all())];
      expect(left.map(({ name, status }) => `${name} ${status}`)).toEqual([]);
    } finally {
      await world.close();
      random.mockRestore();
    }
  },
);
