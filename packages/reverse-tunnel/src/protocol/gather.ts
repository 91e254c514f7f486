/**
 * Keeps copies of what arrived until as much is there as is needed: each byte is copied twice at most for each need,
 * however it is cut.
 */
export class Gather {
  #kept: Buffer[] = [];
  #size = 0;
  #needed = 1;

  /** All that is kept, once it is as much as needed; it is kept no more. */
  push(chunk: Buffer): Buffer | undefined {
    if (this.#size === 0 && chunk.length >= this.#needed) return chunk;
    // A copy: the memory of what arrived is freed when it was read.
    this.#kept.push(Buffer.from(chunk));
    this.#size += chunk.length;
    if (this.#size < this.#needed) return undefined;
    const all = Buffer.concat(this.#kept);
    this.#kept = [];
    this.#size = 0;
    return all;
  }

  /** Keeps the rest until `needed` bytes are there. */
  keep(rest: Buffer, needed: number): void {
    this.#needed = needed;
    if (rest.length === 0) return;
    this.#kept = [Buffer.from(rest)];
    this.#size = rest.length;
  }
}
