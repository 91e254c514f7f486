/**
 * The memory of what a connection received in one read. It is freed as soon as the last socket accepted its part: V8
 * collects it no sooner than when tens of MiB of it are in use no more.
 */
export class Received {
  readonly #chunk: Buffer;
  #users = 1;

  constructor(chunk: Buffer) {
    this.#chunk = chunk;
  }

  /** One more user of it has to end. */
  use(): void {
    this.#users++;
  }

  /** One of its users needs it no more. The first one is who made this. */
  end(): void {
    this.#users--;
    if (this.#users === 0) free(this.#chunk);
  }
}

/** Frees the memory of bytes that were the whole of a read, and that are needed no more: they are gone afterwards. */
export function free({ buffer, length }: Buffer): void {
  // A part of other memory, such as that of a pool, belongs to others, too.
  if (length === buffer.byteLength && length > 0 && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
