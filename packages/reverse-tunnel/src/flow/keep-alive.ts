import type { Duplex } from "node:stream";
import type { PlainCodec } from "../protocol/plain-codec.ts";

/** With so much unsent (bytes) a ping gets no response: the other side reads nothing. */
const MOST_UNSENT = 4 * 1024 * 1024;

/**
 * Sends a ping each `interval` (ms), and ends the wire with an error when the one before got no response. Answers the
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
    if (!answered) return void wire.destroy(new Error("the peer did not respond to a ping"));
    answered = false;
    wire.write(codec.ping());
  }, interval).unref();
  wire.once("close", () => clearInterval(timer));
}
