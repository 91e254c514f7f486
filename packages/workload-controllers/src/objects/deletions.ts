import { isConflict, isNotFound, type KubeObject, type ResourceType } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import type { Target } from "./claim.ts";

/** How long a deletion that the cache does not show yet is remembered, in milliseconds. */
const MEMORY = 30_000;

/** Deletions that the server accepted and that the cache may not show yet: they are not planned again. */
export class Deletions {
  readonly #context: Context;
  readonly #since = new Map<string, number>();

  constructor(context: Context) {
    this.#context = context;
  }

  async perform<T extends KubeObject>(
    type: ResourceType<T>,
    target: Target,
    signal: AbortSignal,
    gracePeriodSeconds?: number,
  ): Promise<void> {
    const { client } = this.#context.informers;
    const options = { preconditions: { uid: target.uid }, signal };
    try {
      await client.delete(type, target, {
        ...options,
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    this.note(target.uid);
  }

  note(uid: string): void {
    const now = this.#context.clock.now();
    for (const [known, at] of this.#since) {
      if (now - at <= MEMORY) break;
      this.#since.delete(known);
    }
    this.#since.set(uid, now);
  }

  /** When the deletion was accepted, in milliseconds since the epoch. */
  at({ metadata }: KubeObject): number | undefined {
    const at = this.#since.get(metadata.uid ?? "");
    return at === undefined || this.#context.clock.now() - at > MEMORY ? undefined : at;
  }

  /** The objects that were not deleted. */
  remaining<T extends KubeObject>(objects: readonly T[]): readonly T[] {
    return this.#since.size === 0 ? objects : objects.filter((object) => this.at(object) === undefined);
  }

  /** The object as it is: being deleted, if it was. */
  view<T extends KubeObject>(object: T): T {
    const at = object.metadata.deletionTimestamp === undefined ? this.at(object) : undefined;
    if (at === undefined) return object;
    return { ...object, metadata: { ...object.metadata, deletionTimestamp: new Date(at).toISOString() } };
  }
}
