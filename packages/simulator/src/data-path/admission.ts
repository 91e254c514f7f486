import { BlockList, isIPv6, type Socket } from "node:net";

/** Connections of all listeners together; further ones are closed. */
const MOST = 10_000;
/** Connections that wait for a place of their listener, as in the backlog of a socket; further ones are closed. */
const MOST_WAITING = 1_024;

/** Counts the connections of a whole data path. */
export class Connections {
  readonly #open = new Set<Socket>();

  /** False: there are too many. */
  add(socket: Socket): boolean {
    if (this.#open.size >= MOST) return false;
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    return true;
  }

  get size(): number {
    return this.#open.size;
  }

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

/**
 * Lets so many connections of a listener be served at a time; the others wait, as HAProxy leaves them in the backlog.
 */
export class Places {
  #taken = 0;
  readonly #waiting: { readonly socket: Socket; readonly serve: () => void }[] = [];

  get taken(): number {
    return this.#taken;
  }

  /** `limit`: -1 for none. */
  admit(socket: Socket, limit: number, serve: () => void): void {
    if (limit === -1 || this.#taken < limit) return this.#take(socket, limit, serve);
    if (this.#waiting.length >= MOST_WAITING) return void socket.destroy();
    this.#waiting.push({ socket, serve: () => this.#take(socket, limit, serve) });
  }

  #take(socket: Socket, limit: number, serve: () => void): void {
    this.#taken += 1;
    socket.once("close", () => {
      this.#taken -= 1;
      this.#next(limit);
    });
    serve();
  }

  #next(limit: number): void {
    while (limit === -1 || this.#taken < limit) {
      const next = this.#waiting.shift();
      if (!next) return;
      if (next.socket.destroyed) continue;
      next.serve();
      return;
    }
  }
}

/** Whether a client may connect. Octavia has this in the security group of the VIP's port. */
export function isAllowed(cidrs: readonly string[] | undefined, address: string): boolean {
  if (!cidrs) return true;
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = "", bits = ""] = cidr.split("/");
    const family = isIPv6(network) ? "ipv6" : "ipv4";
    if (bits === "") list.addAddress(network, family);
    else list.addSubnet(network, Number(bits), family);
  }
  return list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
