import { Duplex } from "node:stream";

/** Bytes that one side has received and not read. */
const ROOM = 64 * 1024;

const gone = (): Error => Object.assign(new Error("the other side is gone"), { code: "EPIPE" });

/** One side of a pair: what is written to it is read from the other, and each direction ends on its own. */
class Side extends Duplex {
  #other: Side | undefined;
  /** Called when this side has room for more of the other one. */
  #resume: ((error?: Error) => void) | undefined;

  constructor() {
    super({ allowHalfOpen: true, readableHighWaterMark: ROOM, writableHighWaterMark: ROOM });
  }

  join(other: Side): void {
    this.#other = other;
  }

  override _read(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    const other = this.#other;
    // Also a write of nothing shows that the other side is gone, as at a Unix socket.
    if (other === undefined || other.destroyed) return done(gone());
    if (chunk.length === 0 || other.push(chunk)) return done();
    other.#resume = done;
  }

  override _final(done: (error?: Error) => void): void {
    if (this.#other?.destroyed === false) this.#other.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const [resume, other] = [this.#resume, this.#other];
    this.#resume = undefined;
    done(error);
    resume?.(gone());
    // One that did not end what it writes was reset: the other side reads no end, and is gone, too.
    if (!this.writableFinished && other?.destroyed === false) other.destroy();
  }
}

/** Two joined sockets of this process, which keep some 128 KiB for each direction. */
export function socketPair(): readonly [Duplex, Duplex] {
  const [one, other] = [new Side(), new Side()];
  one.join(other);
  other.join(one);
  return [one, other];
}
