import { isIPv4, isIPv6 } from "node:net";

/** A place on loopback. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** Where an address of the cloud is on this machine: 127 and the last three bytes of the address. */
export function loopbackOf(address: string): string {
  if (isIPv4(address)) return `127.${address.split(".").slice(1).join(".")}`;
  const groups = address.split(":").map((group) => group.padStart(4, "0"));
  const low = Number.parseInt(groups.slice(-2).join("").slice(-6), 16);
  return `127.${low >> 16}.${(low >> 8) & 255}.${low & 255}`;
}

/** 127.0.0.0/8 or ::1, as text; no host name. */
export const isLoopback = (host: string): boolean => /^127(\.\d{1,3}){3}$/.test(host) || host === "::1";

/** So many entries a table has. */
const LARGEST = 10_000;

/** Which addresses of the cloud are which ones of this machine. */
export class AddressTable {
  #members: ReadonlyMap<string, Place> = new Map();
  #clients: ReadonlyMap<string, string> = new Map();

  /** Replaces the table of members: "ADDRESS:PORT", or "ADDRESS" for all its ports, to a place. */
  setMembers(entries: Readonly<Record<string, string>>): void {
    this.#members = new Map(
      checked(entries).map(([from, to]) => {
        const [, host = "", port = ""] = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(to) ?? [];
        if (!isLoopback(host)) throw new RangeError(`${to} is not an address of loopback, with a port or without`);
        return [from, { host, port: Number(port) }];
      }),
    );
  }

  /** Replaces the table of clients: which address a connection from an address of loopback comes from. */
  setClients(entries: Readonly<Record<string, string>>): void {
    for (const [from, to] of checked(entries)) {
      if (!isLoopback(from)) throw new RangeError(`${from} is not an address of loopback`);
      if (!isIPv4(to) && !isIPv6(to)) throw new RangeError(`${to} is no IP address`);
    }
    this.#clients = new Map(Object.entries(entries));
  }

  /** Where a member is; undefined: the table does not say, and nothing is connected to. */
  member(address: string, port: number): Place | undefined {
    const exact = this.#members.get(`${address}:${port}`) ?? this.#members.get(address);
    if (exact) return { host: exact.host, port: exact.port === 0 ? port : exact.port };
    return isLoopback(address) ? { host: address, port } : undefined;
  }

  /** The address that a client has in the cloud. */
  client(address: string): string {
    const plain = address.replace(/^::ffff:/, "");
    return this.#clients.get(plain) ?? plain;
  }

  describe(): {
    readonly members: Readonly<Record<string, string>>;
    readonly clients: Readonly<Record<string, string>>;
  } {
    const members = [...this.#members].map(([from, { host, port }]) => [from, port === 0 ? host : `${host}:${port}`]);
    return { members: Object.fromEntries(members), clients: Object.fromEntries(this.#clients) };
  }
}

function checked(entries: Readonly<Record<string, string>>): [string, string][] {
  const all = Object.entries(entries);
  if (all.length > LARGEST) throw new RangeError(`the table has more than ${LARGEST} entries`);
  return all;
}
