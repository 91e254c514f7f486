/** As libuv reads, in bytes. */
const SIZE = 64 * 1024;
/** Less is copied to the memory that Node keeps for small buffers. */
const SMALL = 2 * 1024;

/**
 * What sockets are read into, one after the other: what came is copied at once. Otherwise each read takes 64 KiB of new
 * memory, however little comes.
 */
export class Blocks {
  readonly #input = Buffer.allocUnsafeSlow(SIZE);

  /** The memory for the next read of a socket, of so many bytes at most. */
  input(most: number): Buffer {
    return most < SIZE ? this.#input.subarray(0, most) : this.#input;
  }

  /** A copy of what was read: of much with memory of its own, which is freed when it was sent. */
  take(size: number): Buffer {
    const read = this.#input.subarray(0, size);
    if (size <= SMALL) return Buffer.from(read);
    const copy = Buffer.allocUnsafeSlow(size);
    copy.set(read);
    return copy;
  }
}
