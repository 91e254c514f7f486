/** Chunks of fewer bytes share a buffer of so many: one of a single byte would take 200 as a Buffer. */
const SMALL = 1024;

/**
 * Chunks of what is not whole yet. The memory that they take is in proportion to their bytes, however small each is.
 */
export class KeptChunks {
  #chunks: Buffer[] = [];
  #shared: Buffer | undefined;
  #filled = 0;

  /** A first or large chunk is kept as it is, another one is copied. */
  add(chunk: Buffer): void {
    if (this.#filled + chunk.length > SMALL) this.#closeShared();
    if (this.#chunks.length === 0 || chunk.length > SMALL) {
      this.#chunks.push(chunk);
      return;
    }
    this.#shared ??= Buffer.allocUnsafeSlow(SMALL);
    this.#filled += chunk.copy(this.#shared, this.#filled);
  }

  /** All bytes in one buffer; they are kept no more. */
  take(): Buffer {
    this.#closeShared();
    const [first] = this.#chunks;
    const all = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    this.#chunks = [];
    return all;
  }

  #closeShared(): void {
    if (this.#shared !== undefined) this.#chunks.push(this.#shared.subarray(0, this.#filled));
    this.#shared = undefined;
    this.#filled = 0;
  }
}
