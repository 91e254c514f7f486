import { connect, type Socket } from "node:net";
import { connect as connectTls, type SecureContextOptions } from "node:tls";
import type { AddressTable } from "./addresses.ts";
import type { PoolMemory } from "./balance.ts";
import type { Backend, BackendMember } from "./model.ts";

/** The client's connection, as members learn of it. */
export interface ClientConnection {
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly port: number;
}

/** What the choice of a member, and the connection to it, depend on; `timeout` is in milliseconds. */
export interface ConnectOptions {
  readonly pool: Backend;
  readonly memory: PoolMemory;
  readonly table: AddressTable;
  /** The member of the session, if there is one. */
  readonly preferred: BackendMember | undefined;
  readonly client: ClientConnection;
  readonly timeout: number;
  /** Of a pool with TLS. */
  readonly tls: SecureContextOptions | undefined;
}

/** The member that has accepted, and the open connection to it. */
export interface Connected {
  readonly member: BackendMember;
  readonly socket: Socket;
}

/** HAProxy connects once more, to another member, when one does not accept (`retries`, `option redispatch`). */
const ATTEMPTS = 4;

/** Connects to a member of the pool; undefined: there is none that accepts, and `reason` of HAProxy's 503. */
export async function connectMember(options: ConnectOptions): Promise<Connected | undefined> {
  const { pool, memory, table, client, timeout } = options;
  const refused = new Set<string>();
  let next = options.preferred ?? memory.choose(pool, client.source);
  for (let i = 0; i < ATTEMPTS && next; i += 1) {
    const member = next;
    const place = table.member(member.address, member.port);
    const socket = place && (await open(place, options, timeout));
    if (socket) {
      socket.once("close", memory.connected(member));
      return { member, socket };
    }
    refused.add(member.id);
    next = memory.choose(pool, client.source, refused);
  }
  return undefined;
}

function open(
  place: { readonly host: string; readonly port: number },
  { pool, client, tls }: ConnectOptions,
  timeout: number,
): Promise<Socket | undefined> {
  return new Promise((done) => {
    const plain = connect(place);
    const failed = (): void => {
      clearTimeout(timer);
      plain.destroy();
      done(undefined);
    };
    const timer = setTimeout(failed, timeout);
    const ready = (socket: Socket): void => {
      clearTimeout(timer);
      plain.removeListener("error", failed);
      plain.removeListener("close", failed);
      // Errors of a connection in use are seen by what uses it; this keeps them from ending the process.
      plain.on("error", () => {});
      socket.on("error", () => {});
      done(socket);
    };
    plain.once("error", failed);
    plain.once("close", failed);
    plain.once("connect", () => {
      plain.setNoDelay(true);
      if (pool.proxyProtocol) plain.write(proxyHeader(pool.proxyProtocol, client));
      if (!pool.tls) return ready(plain);
      const secured = connectTls({ ...tls, socket: plain, rejectUnauthorized: pool.tls.caRef !== undefined });
      secured.once("error", failed);
      secured.once("secureConnect", () => ready(secured));
    });
  });
}

/**
 * The header of the PROXY protocol, in its version 1 or 2, for addresses of IPv4; other addresses are UNKNOWN and
 * LOCAL.
 */
export function proxyHeader(version: 1 | 2, { source, sourcePort, destination, port }: ClientConnection): Buffer {
  const known = [source, destination].every((address) => /^\d+(\.\d+){3}$/.test(address));
  if (version === 1)
    return Buffer.from(known ? `PROXY TCP4 ${source} ${destination} ${sourcePort} ${port}\r\n` : "PROXY UNKNOWN\r\n");
  const signature = Buffer.from("0d0a0d0a000d0a515549540a", "hex");
  if (!known) return Buffer.concat([signature, Buffer.from([0x20, 0, 0, 0])]);
  const addresses = [source, destination].flatMap((address) => address.split(".").map(Number));
  const ports = [sourcePort >> 8, sourcePort & 255, port >> 8, port & 255];
  return Buffer.concat([signature, Buffer.from([0x21, 0x11, 0, 12, ...addresses, ...ports])]);
}
