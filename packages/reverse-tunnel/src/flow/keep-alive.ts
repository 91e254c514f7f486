import type { Duplex } from "node:stream";
import type { PlainCodec } from "../protocol/plain-codec.ts";

/** With so much unsent (bytes) a ping is not answered: the other side reads nothing. */
const MOST_UNSENT = 4 * 1024 * 1024;

/**
 * Sends a ping each `interval` (ms), and ends the wire with an error when the one before was not answered. Answers the
 * other side's.
 */
export function keepAlive(
  { wire, codec }: { readonly wire: Duplex; readonly codec: PlainCodec },
  interval: number,
): void {
  let answered = true;
  codec.onPong = () => (answered = true);
  codec.onPing = () => {
    if (wire.writableLength < MOST_UNSENT) wire.write(codec.pong());
  };
  const timer = setInterval(() => {
    if (!answered) return void wire.destroy(new Error("it answered no ping"));
    answered = false;
    wire.write(codec.ping());
  }, interval).unref();
  wire.once("close", () => clearInterval(timer));
}
