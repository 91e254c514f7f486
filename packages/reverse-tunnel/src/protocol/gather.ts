import { KeptChunks } from "./kept-chunks.ts";

/**
 * Keeps copies of what arrived until as much is there as is needed: each byte is copied three times at most for each
 * need, however it is cut.
 */
export class Gather {
  readonly #kept = new KeptChunks();
  #size = 0;
  #needed = 1;

  /** All that is kept, once it is as much as needed; it is kept no more. */
  push(chunk: Buffer): Buffer | undefined {
    if (this.#size === 0 && chunk.length >= this.#needed) return chunk;
    this.#keep(chunk);
    if (this.#size < this.#needed) return undefined;
    this.#size = 0;
    return this.#kept.take();
  }

  /** Keeps the rest until `needed` bytes are there. */
  keep(rest: Buffer, needed: number): void {
    this.#needed = needed;
    if (rest.length > 0) this.#keep(rest);
  }

  /** A copy: the memory of what arrived is freed when it was read. */
  #keep(chunk: Buffer): void {
    this.#kept.add(Buffer.from(chunk));
    this.#size += chunk.length;
  }
}
