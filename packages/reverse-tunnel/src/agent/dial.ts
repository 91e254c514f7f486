import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import { messageOf, dialRefusal, type DialRules } from "@causeway/foundation";
import type { Blocks } from "../flow/blocks.ts";

/** As konnectivity's agent (ms). */
const TIMEOUT = 5_000;

/** What a dial is cancelled by, and what its socket is read into. */
export interface DialOptions {
  readonly signal: AbortSignal;
  readonly blocks: Blocks;
  /** Bytes of one read, at most. */
  readonly most: () => number;
}

/**
 * Connects to HOST:PORT if the rules allow the host and the address that it resolves to. Its events "data" must have a
 * listener as soon as this resolves. Errors are worded as those of Go's dialer.
 */
export async function dialTarget(
  { protocol, address }: { readonly protocol: string; readonly address: string },
  rules: DialRules,
  options: DialOptions,
): Promise<Socket> {
  if (protocol !== "tcp") throw new Error(`dial ${protocol}: unknown network ${protocol}`);
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(address);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined) throw new Error(`dial tcp: address ${address.slice(0, 300)}: missing port in address`);
  const port = Number(match?.[3]);
  const refusal = dialRefusal(rules, host, port);
  if (refusal !== undefined) throw new Error(`dial tcp ${address}: refused by the agent: ${refusal}`);
  if (isIP(host) !== 0) return open(host, port, options);
  const addresses = await resolve(host);
  const allowed = addresses.filter((each) => dialRefusal(rules, each, port) === undefined);
  const [first] = allowed;
  if (first === undefined)
    throw new Error(`dial tcp ${address}: refused by the agent: ${addresses.join(", ")} may not be dialled`);
  return open(first, port, options);
}

async function resolve(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (error) {
    throw new Error(`dial tcp: lookup ${host}: no such host (${messageOf(error)})`, { cause: error });
  }
}

function open(host: string, port: number, { signal, blocks, most }: DialOptions): Promise<Socket> {
  return new Promise((done, reject) => {
    const onread = {
      buffer: (): Buffer => blocks.input(most()),
      callback: (size: number): boolean => socket.emit("data", blocks.take(size)),
    };
    const socket: Socket = connect({ host, port, allowHalfOpen: true, noDelay: true, onread });
    const fail = (why: string): void => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      reject(new Error(`dial tcp ${host}:${port}: ${why}`));
    };
    const onAbort = (): void => fail("operation was canceled");
    const onError = (error: NodeJS.ErrnoException): void => fail(WORDS[error.code ?? ""] ?? error.message);
    signal.addEventListener("abort", onAbort, { once: true });
    socket.setTimeout(TIMEOUT, () => fail("i/o timeout"));
    socket.once("error", onError);
    socket.once("connect", () => {
      signal.removeEventListener("abort", onAbort);
      socket.setTimeout(0);
      socket.removeAllListeners("timeout");
      socket.off("error", onError);
      done(socket);
    });
  });
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
  ECONNRESET: "connect: connection reset by peer",
  EMFILE: "socket: too many open files",
};
