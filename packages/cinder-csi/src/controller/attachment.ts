import { CausewayError, type Clock, type Log } from "@causeway/foundation";
import { isOpenStackNotFound, isOutcomeUnknown, until, type Attachment, type Volume } from "@causeway/openstack";
import type { StorageCloud } from "../clouds.ts";
import { LONGEST_CALL } from "./call.ts";
import { planPublish, planUnpublish, STUCK, type AttachmentStep, type AttachmentView } from "./plan-attachment.ts";

/** One call that attaches a volume to a server, or detaches it. */
export interface AttachmentCall {
  readonly storage: StorageCloud;
  readonly volumeId: string;
  /** "" (detach only): every server. */
  readonly server: string;
  readonly sharable: boolean;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Steps of one call. Each waits for a change, a list or a call of the cloud; a cloud that undoes every step ends the
 * call.
 */
const MOST_STEPS = 40;

/** The device's path as Nova names it, after the volume is attached. */
export function attach(call: AttachmentCall): Promise<string> {
  return new AttachmentRun(call, planPublish).run();
}

/** Resolves when the volume is not attached to the server. */
export async function detach(call: AttachmentCall): Promise<void> {
  await new AttachmentRun(call, planUnpublish).run();
}

/**
 * Runs the plan's steps until it is done. The state of the volume is that of the informer: however many calls wait, one
 * list shows all of them their volumes.
 */
class AttachmentRun {
  readonly #call: AttachmentCall;
  readonly #plan: (view: AttachmentView) => AttachmentStep;
  readonly #begun: number;
  #fresh = false;
  #detached = false;
  #released = false;
  #changedAt: number;
  #refused: unknown;

  constructor(call: AttachmentCall, plan: (view: AttachmentView) => AttachmentStep) {
    this.#call = call;
    this.#plan = plan;
    this.#begun = call.clock.now();
    this.#changedAt = this.#begun;
  }

  async run(): Promise<string> {
    await this.#call.storage.volumes.start(this.#call.signal);
    for (let count = 0; count < MOST_STEPS; count += 1) {
      const step = this.#plan(this.#view(this.#volume()));
      if (step.type === "done") return step.device;
      if (step.type === "fail") throw failure(step.code, this.#call.volumeId, step.message);
      await this.#perform(step);
    }
    throw new CausewayError("CSI_ABORTED", `The attachment of volume ${this.#call.volumeId} keeps changing.`);
  }

  #volume(): Volume | undefined {
    return this.#call.storage.volumes.get(this.#call.volumeId);
  }

  #view(volume: Volume | undefined): AttachmentView {
    const { server, sharable, clock } = this.#call;
    const waited = clock.now() - this.#changedAt;
    return { volume, server, sharable, fresh: this.#fresh, waited, detached: this.#detached, released: this.#released };
  }

  async #perform(step: Exclude<AttachmentStep, { type: "done" | "fail" }>): Promise<void> {
    switch (step.type) {
      case "refresh":
        return this.#refresh(this.#isShownByChanges() ? "changes" : "all");
      case "wait":
        return this.#wait();
      case "attach":
        return this.#attach();
      case "detach":
        return this.#detach(step.servers);
      case "recover":
        return this.#recover();
    }
  }

  async #refresh(scope: "all" | "changes" = "all"): Promise<void> {
    const before = this.#volume();
    await this.#call.storage.volumes.refresh(this.#call.signal, scope);
    this.#fresh = true;
    // A state that began just now is not stuck, however long this call has waited before: the answer of the call that
    // began it may have been lost.
    if (!sameState(this.#volume(), before)) this.#changedAt = this.#call.clock.now();
  }

  /**
   * A volume that is unknown, or whose detachment is to be confirmed, may be gone. A further attachment need not show
   * as a change.
   */
  #isShownByChanges(): boolean {
    const volume = this.#volume();
    return volume !== undefined && volume.multiattach !== true && !this.#detached;
  }

  /** Until the informer shows a state in which the plan has another step, or the state may be stuck. */
  async #wait(): Promise<void> {
    const { storage, volumeId, signal, clock } = this.#call;
    const left = this.#begun + LONGEST_CALL - clock.now();
    const timeout = Math.min(left, Math.max(1, this.#changedAt + STUCK - clock.now()));
    const before = this.#volume();
    const isOther = (volume: Volume | undefined) => !sameState(volume, before);
    if (left <= 0) {
      const status = before?.status ?? "unknown";
      throw new CausewayError("CSI_DEADLINE_EXCEEDED", `Volume ${volumeId} still has status ${status}.`);
    }
    try {
      // An informer does not poll soon what is in use.
      const hurry = before === undefined || before.status === "in-use";
      await until(storage.volumes, volumeId, isOther, { signal, clock, timeout, hurry });
      this.#changed();
      // A list showed the change; what follows from it is not out of date.
      this.#fresh = true;
    } catch (error) {
      if (!(error instanceof CausewayError) || error.code !== "OPENSTACK_WAIT_TIMEOUT") throw error;
      this.#fresh = false;
      if (clock.now() >= this.#begun + LONGEST_CALL) throw error;
    }
  }

  /** What was refused in another state may be accepted now. */
  #changed(): void {
    this.#changedAt = this.#call.clock.now();
    this.#refused = undefined;
  }

  async #attach(): Promise<void> {
    const { storage, volumeId, server, signal } = this.#call;
    if (this.#refused !== undefined && this.#fresh) throw this.#refused;
    try {
      await storage.cloud.compute.volumeAttachments(server).attach({ volumeId }, { signal });
      this.#refused = undefined;
    } catch (error) {
      await this.#requireServer(error);
      // The volume may have changed since it was listed, or the answer was lost: a list decides.
      this.#refused = isOutcomeUnknown(error) ? undefined : error;
      return this.#refresh();
    }
    this.#expect("attaching");
  }

  /** After a refusal with 404: which of the two does not exist. */
  async #requireServer(error: unknown): Promise<void> {
    const { storage, server, signal } = this.#call;
    if (!isOpenStackNotFound(error)) return;
    if (await storage.cloud.compute.servers.find(server, { signal })) return;
    throw failure("CSI_NOT_FOUND", this.#call.volumeId, `Server ${server} does not exist.`);
  }

  async #detach(servers: readonly string[]): Promise<void> {
    const { storage, volumeId, signal } = this.#call;
    for (const server of servers) {
      try {
        await storage.cloud.compute.volumeAttachments(server).detach(volumeId, { signal });
      } catch (error) {
        if (this.#refused !== undefined) throw error;
        // It may be detached by now, or Nova is busy with the server: a list decides whether to try again.
        this.#refused = error;
        return this.#refresh();
      }
    }
    this.#detached = true;
    this.#expect("detaching");
  }

  /** The state that the cloud gave the volume with the accepted call. */
  #expect(status: string): void {
    const volume = this.#volume();
    this.#fresh = false;
    this.#changedAt = this.#call.clock.now();
    if (volume) this.#call.storage.volumes.observe({ ...volume, status });
  }

  /**
   * Deletes the attachments that Cinder has and Nova does not: Nova failed between the two, or the server is gone. An
   * attachment that Nova has is in use by a node and is never deleted here; Cinder refuses that, too.
   */
  async #recover(): Promise<void> {
    const { storage, volumeId, server, signal } = this.#call;
    const before = this.#volume();
    const all = await storage.cloud.blockStorage.attachments.all({ volume_id: volumeId }, { signal });
    const found = all.filter((attachment) => attachment.volume_id === volumeId);
    for (const holder of this.#holders(found)) {
      if (await this.#novaHas(holder)) continue;
      await this.#release(found.filter(({ instance }) => instance === holder));
      if (holder === server) this.#released = true;
    }
    this.#changed();
    await this.#refresh();
    if (this.#detached && !this.#released && sameState(this.#volume(), before)) {
      const why = `Volume ${volumeId} is still attached to server ${server} after Nova accepted the detach.`;
      throw new CausewayError("CSI_INTERNAL", why, {
        hint: "Compare `openstack volume attachment list` with `openstack server volume list`.",
      });
    }
  }

  /** The servers whose attachments may be deleted: a detach is about its own server only. */
  #holders(found: readonly Pick<Attachment, "instance">[]): ReadonlySet<string> {
    if (this.#plan === planUnpublish && this.#call.server !== "") return new Set([this.#call.server]);
    const recorded = this.#volume()?.attachments.map(({ server_id }) => server_id) ?? [];
    return new Set([...found.flatMap(({ instance }) => instance ?? []), ...recorded]);
  }

  async #release(attachments: readonly Attachment[]): Promise<void> {
    const { storage, volumeId, signal, log } = this.#call;
    for (const { id, instance } of attachments) {
      log.warn("deleting a volume attachment that Nova does not have", { volumeId, server: instance, attachment: id });
      await storage.cloud.blockStorage.attachments.delete(id, { signal });
    }
  }

  async #novaHas(server: string): Promise<boolean> {
    const { storage, volumeId, signal } = this.#call;
    try {
      const all = await storage.cloud.compute.volumeAttachments(server).all({ signal });
      return all.some((each) => each.volumeId === volumeId);
    } catch (error) {
      if (isOpenStackNotFound(error)) return false;
      throw error;
    }
  }
}

function sameState(a: Volume | undefined, b: Volume | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const servers = (volume: Volume) => volume.attachments.map(({ server_id }) => server_id).join(" ");
  return a.status === b.status && servers(a) === servers(b);
}

function failure(code: string, volumeId: string, message: string): CausewayError {
  const text = message.includes(volumeId) ? message : `Volume ${volumeId}: ${message}`;
  return new CausewayError(code, text);
}
