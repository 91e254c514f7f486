import { connect, type Socket } from "node:net";
import { dialRefusal, type DialRules } from "@causeway/foundation";

/** As kube-apiserver's dialer (ms). */
const TIMEOUT = 30_000;
/** Of the response to CONNECT. */
const LONGEST_HEAD = 16 * 1024;

/** How nodes are reached: which addresses are allowed, and the Unix socket of a proxy that speaks CONNECT, if any. */
export interface Way {
  readonly rules: DialRules;
  readonly tunnel: string | undefined;
}

/** A TCP connection to an address that the rules allow, through the tunnel if there is one. */
export async function dial(
  { rules, tunnel }: Way,
  target: { host: string; port: number },
  signal: AbortSignal,
): Promise<Socket> {
  const { host, port } = target;
  const refusal = dialRefusal(rules, host, port);
  if (refusal !== undefined) throw new Error(`dial tcp ${host}:${port}: ${refusal}, so it is not dialled`);
  const socket = await opened(tunnel === undefined ? { host, port } : { path: tunnel }, signal);
  if (tunnel === undefined) return socket;
  const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  try {
    socket.write(`CONNECT ${address} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: causeway-apiserver\r\n\r\n`);
    const status = await statusLine(socket, signal);
    const [, code = "", reason = ""] = /^HTTP\/1\.[01] (\d{3}) ?(.*)$/.exec(status) ?? [];
    if (code !== "200") {
      throw new Error(
        `proxy error from ${tunnel} while dialing ${address}, code ${code}: ${code} ${reason.slice(0, 500)}`,
      );
    }
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function opened(where: { host: string; port: number } | { path: string }, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...where, allowHalfOpen: false, noDelay: true });
    const fail = (error: Error): void => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      reject(error);
    };
    const onAbort = (): void => fail(new Error("the client is gone"));
    signal.addEventListener("abort", onAbort, { once: true });
    socket.setTimeout(TIMEOUT, () => fail(new Error("i/o timeout")));
    socket.once("error", fail);
    socket.once("connect", () => {
      signal.removeEventListener("abort", onAbort);
      socket.setTimeout(0).removeAllListeners("timeout").off("error", fail);
      socket.on("error", () => socket.destroy());
      resolve(socket);
    });
  });
}

/** Reads the head of the response to CONNECT. What follows it is left in the socket. */
function statusLine(socket: Socket, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const over = (): void => {
      socket.off("data", onData).off("close", onClose).setTimeout(0).removeAllListeners("timeout");
      signal.removeEventListener("abort", onClose);
    };
    const fail = (why: string): void => {
      over();
      reject(new Error(why));
    };
    const onClose = (): void => fail("the tunnel closed the connection");
    const onData = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return head.length > LONGEST_HEAD ? fail("the tunnel's response has no end") : undefined;
      over();
      socket.pause();
      if (head.length > end + 4) socket.unshift(head.subarray(end + 4));
      resolve(head.subarray(0, head.indexOf("\r\n")).toString("latin1"));
    };
    socket.setTimeout(TIMEOUT, () => fail("the tunnel did not respond: i/o timeout"));
    signal.addEventListener("abort", onClose, { once: true });
    socket.on("data", onData).once("close", onClose);
  });
}
