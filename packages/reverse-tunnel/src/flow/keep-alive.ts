import type { Duplex } from "node:stream";
import type { PlainCodec } from "../protocol/plain-codec.ts";

/**
 * With so much unsent (bytes) the response to a ping waits: the other side may read nothing. A stream at full speed
 * fills as much for a moment.
 */
const MOST_UNSENT = 4 * 1024 * 1024;

/**
 * Sends a ping each `interval` (ms), and ends the wire with an error when nothing came since the one before, neither
 * its response nor anything else. Answers the other side's.
 */
export function keepAlive(
  { wire, codec }: { readonly wire: Duplex & { readonly bytesRead?: number }; readonly codec: PlainCodec },
  interval: number,
): void {
  let [answered, owes, read] = [true, false, wire.bytesRead];
  const pong = (): void => {
    owes = false;
    wire.write(codec.pong());
  };
  codec.onPong = () => (answered = true);
  codec.onPing = () => {
    // One response for all pings that wait: a peer that reads nothing makes no more of them.
    if (wire.writableLength < MOST_UNSENT) pong();
    else owes = true;
  };
  wire.on("drain", () => {
    if (owes) pong();
  });
  const timer = setInterval(() => {
    if (!answered && wire.bytesRead === read) return void wire.destroy(new Error("the peer did not respond to a ping"));
    [answered, read] = [false, wire.bytesRead];
    wire.write(codec.ping());
  }, interval).unref();
  wire.once("close", () => clearInterval(timer));
}
