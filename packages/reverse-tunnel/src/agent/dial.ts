import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import { messageOf, dialRefusal, type DialRules } from "@causeway/foundation";

/** As konnectivity's agent (ms). */
const TIMEOUT = 5_000;

/**
 * Connects to HOST:PORT if the rules allow the host and the address that it resolves to. Errors are worded as those of
 * Go's dialer.
 */
export async function dialTarget(
  { protocol, address }: { readonly protocol: string; readonly address: string },
  rules: DialRules,
  signal: AbortSignal,
): Promise<Socket> {
  if (protocol !== "tcp") throw new Error(`dial ${protocol}: unknown network ${protocol}`);
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(address);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined) throw new Error(`dial tcp: address ${address.slice(0, 300)}: missing port in address`);
  const port = Number(match?.[3]);
  const refusal = dialRefusal(rules, host, port);
  if (refusal !== undefined) throw new Error(`dial tcp ${address}: refused by the agent: ${refusal}`);
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const allowed = addresses.filter((each) => dialRefusal(rules, each, port) === undefined);
  const [first] = allowed;
  if (first === undefined)
    throw new Error(`dial tcp ${address}: refused by the agent: ${addresses.join(", ")} may not be dialled`);
  return open(first, port, signal);
}

async function resolve(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (error) {
    throw new Error(`dial tcp: lookup ${host}: no such host (${messageOf(error)})`, { cause: error });
  }
}

function open(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((done, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
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
