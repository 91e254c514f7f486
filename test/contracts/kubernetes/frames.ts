import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Frame, UpgradeAnswer } from "./interface.ts";

const TIMEOUT = 5000;

/** The headers with which a client asks for a WebSocket. */
export const HANDSHAKE: Readonly<Record<string, string>> = {
  connection: "Upgrade",
  upgrade: "websocket",
  origin: "https://contract.example",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** Of an answer that is no WebSocket. */
export const NO_FRAMES: Pick<UpgradeAnswer, "take" | "rest" | "send" | "close"> = {
  take: () => Promise.reject(new Error("this is no WebSocket")),
  rest: () => Promise.resolve([]),
  send: () => {},
  close: () => {},
};

/** A WebSocket as RFC 6455 has it, read frame by frame. */
export function upgradedOf(response: IncomingMessage, socket: Duplex, head: Buffer): UpgradeAnswer {
  const frames: Frame[] = [];
  let unread = head;
  let ended = false;
  let wake = (): void => {};
  const read = (): void => {
    for (let found = frameAt(unread); found; found = frameAt(unread)) {
      frames.push(found.frame);
      unread = unread.subarray(found.end);
    }
    wake();
  };
  socket.on("data", (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    read();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    ended = true;
    wake();
  });
  // A server that ends its side has ended the connection.
  socket.on("end", () => socket.end());
  read();
  const until = (done: () => boolean, what: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        socket.destroy();
        reject(new Error(`${what}; it sent ${JSON.stringify(frames.map((f) => [f.opcode, f.payload.toString()]))}`));
      }, TIMEOUT);
      wake = () => {
        if (!done()) return;
        clearTimeout(timer);
        wake = () => {};
        resolve();
      };
      wake();
    });
  return {
    code: response.statusCode ?? 0,
    body: {},
    text: "",
    headers: response.headers,
    async take(count) {
      await until(() => frames.length >= count || ended, `fewer than ${count} frames came`);
      return frames.splice(0, count);
    },
    async rest() {
      await until(() => ended, "the server did not end the connection");
      return frames.splice(0);
    },
    send: (opcode, payload = Buffer.alloc(0)) => void socket.write(masked(opcode, payload)),
    close: () => void socket.destroy(),
  };
}

function frameAt(bytes: Buffer): { frame: Frame; end: number } | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  if (second & 0x80) throw new Error("a server does not mask its frames");
  const short = second & 0x7f;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (bytes.length < 2 + extra) return undefined;
  const length = extra === 0 ? short : extra === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const end = 2 + extra + length;
  if (bytes.length < end) return undefined;
  const payload = Buffer.from(bytes.subarray(2 + extra, end));
  return { frame: { isLast: (first & 0x80) !== 0, opcode: first & 0x0f, payload }, end };
}

/** A frame of a client, of at most 125 bytes. */
function masked(opcode: number, payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const hidden = payload.map((byte, i) => byte ^ (mask[i % 4] ?? 0));
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length]), mask, hidden]);
}
