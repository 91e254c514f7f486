/** As libuv reads, in bytes. */
const SIZE = 64 * 1024;
/** Less is copied to memory that V8 collects: a block would be kept for a few bytes. */
const SMALL = 8 * 1024;
/** Blocks that are kept without use: 16 MiB, as many as 256 streams have queued at most. */
const MOST_FREE = 256;

/**
 * Memory for what sockets receive, used again once it was sent. Otherwise each read takes 64 KiB of new memory, which
 * V8 collects no sooner than when tens of MiB of it are in use no more.
 */
export class Blocks {
  /** What sockets are read into, one after the other: what came is copied at once. */
  readonly input = Buffer.allocUnsafeSlow(SIZE);
  readonly #free: ArrayBuffer[] = [];
  /** Blocks that are in use. */
  readonly #used = new WeakSet<ArrayBufferLike>();

  /** A copy of what was read into `input`. */
  take(size: number): Buffer {
    if (size <= SMALL) return Buffer.from(this.input.subarray(0, size));
    const block = this.#free.pop() ?? new ArrayBuffer(SIZE);
    this.#used.add(block);
    const copy = Buffer.from(block, 0, size);
    copy.set(this.input.subarray(0, size));
    return copy;
  }

  /** The copy, or the last part of it, was sent: its memory is used for what comes next. */
  release({ buffer }: Buffer): void {
    if (!this.#used.delete(buffer) || this.#free.length >= MOST_FREE || !(buffer instanceof ArrayBuffer)) return;
    this.#free.push(buffer);
  }
}
