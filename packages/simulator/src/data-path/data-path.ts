import type { Server, Socket } from "node:net";
import type { SecureContextOptions } from "node:tls";
import type { KeyTables } from "../key-manager/model.ts";
import type { Table } from "../kernel/interface.ts";
import type { BalancerState } from "../load-balancing/model.ts";
import type { FloatingIp } from "../network/model.ts";
import { AddressTable, type Place } from "./addresses.ts";
import { Connections, isAllowed, Places } from "./admission.ts";
import { PoolMemory } from "./balance.ts";
import { authorities, tlsMaterial } from "./certificates.ts";
import type { ClientConnection } from "./connect-member.ts";
import { serverFor, type MadeServer } from "./listener-servers.ts";
import type { Backend, Frontend } from "./model.ts";
import { openSocket } from "./open-socket.ts";
import { joinSockets, type ProxyContext } from "./proxy-context.ts";
import { Probes } from "./probes.ts";
import { readFrontends } from "./read-frontends.ts";

/** The state of other services that decides what is served where. */
export interface DataPathParts {
  readonly state: BalancerState;
  readonly keys: KeyTables;
  readonly floatingIps: Table<FloatingIp>;
  /** What else decides: the identity of one of them changes with it. */
  readonly outcomes: () => readonly unknown[];
  /** Takes the ids of the members that do not respond to their monitors. */
  readonly report: (down: readonly string[]) => void;
}

/** Where a listener's address is on this machine. */
export interface ListenerRow {
  readonly loadBalancer: string;
  readonly listener: string;
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
  /** "127.1.2.3:80"; null: not served. */
  readonly at: string | null;
  /** Why it is not served. */
  readonly problem: string | null;
  readonly connections: number;
}

/** Sockets that are open at a time. */
const MOST_SOCKETS = 2_000;

interface Open {
  readonly listener: string;
  readonly address: string;
  readonly port: number;
  server: Server | undefined;
  at: Place | undefined;
  problem: string | null;
  closed: boolean;
}

interface ServedListener {
  readonly key: string;
  readonly made: MadeServer;
}

/** Serves the listeners of all load balancers, as they were when their load balancer was last ACTIVE. */
export class DataPath {
  readonly table = new AddressTable();
  readonly #parts: DataPathParts;
  readonly #frontends = new Map<string, readonly Frontend[]>();
  readonly #byListener = new Map<string, Frontend>();
  readonly #serving = new Map<string, ServedListener>();
  readonly #open = new Map<string, Open>();
  readonly #places = new Map<string, Places>();
  readonly #memory = new Map<string, PoolMemory>();
  readonly #connections = new Connections();
  readonly #opening = new Set<Promise<void>>();
  readonly #probes: Probes;
  #seen: readonly unknown[] = [];
  #isClosed = false;

  constructor(parts: DataPathParts) {
    this.#parts = parts;
    this.#probes = new Probes(this.table, (down) => {
      parts.report(down);
      this.refresh();
    });
  }

  /** Takes what has changed in the cloud. Costs nothing where nothing has. */
  refresh(): void {
    if (this.#isClosed || !this.#hasChanged()) return;
    const { loadBalancers } = this.#parts.state;
    for (const id of this.#frontends.keys()) if (!loadBalancers.get(id)) this.#frontends.delete(id);
    for (const balancer of loadBalancers.all()) {
      const { id, provisioning_status: status, vip_port_id: port } = balancer;
      const isNew = status !== "PENDING_CREATE" && status !== "ERROR" && !this.#frontends.has(id);
      if (status !== "ACTIVE" && !isNew) continue;
      const floating = this.#parts.floatingIps.by("port_id", port).map((ip) => ip.floating_ip_address);
      this.#frontends.set(id, readFrontends(this.#parts.state, balancer, floating));
    }
    this.#byListener.clear();
    for (const each of [...this.#frontends.values()].flat()) this.#byListener.set(each.id, each);
    this.#serve();
    this.#probes.follow(this.#byListener.values());
  }

  #hasChanged(): boolean {
    const { state, keys, floatingIps, outcomes } = this.#parts;
    const { loadBalancers, listeners, pools, members, monitors, policies, rules } = state;
    const tables = [loadBalancers, listeners, pools, members, monitors, policies, rules, floatingIps];
    const now = [...tables.map((table) => table.all()), keys.secrets.all(), keys.containers.all(), ...outcomes()];
    const changed = now.some((value, i) => value !== this.#seen[i]);
    this.#seen = now;
    return changed;
  }

  #serve(): void {
    const wanted = new Map<string, Frontend>();
    for (const frontend of this.#byListener.values()) {
      this.#prepare(frontend);
      for (const address of frontend.addresses) wanted.set(`${frontend.id} ${address}`, frontend);
    }
    for (const [key, open] of this.#open) if (!wanted.has(key)) this.#close(key, open);
    for (const id of this.#serving.keys()) if (!this.#byListener.has(id)) this.#serving.delete(id);
    for (const id of this.#places.keys()) if (!this.#byListener.has(id)) this.#places.delete(id);
    for (const id of this.#memory.keys()) if (!this.#parts.state.pools.get(id)) this.#memory.delete(id);
    for (const [key, frontend] of wanted) {
      if (this.#open.has(key) || this.#open.size >= MOST_SOCKETS) continue;
      this.#begin(key, frontend, key.slice(frontend.id.length + 1));
    }
  }

  /** Makes what serves a listener, where its protocol or its certificates are other ones. */
  #prepare(frontend: Frontend): void {
    const key = JSON.stringify([frontend.protocol, frontend.tls]);
    const known = this.#serving.get(frontend.id);
    if (known?.key === key && "serve" in known.made) return;
    const made = serverFor(frontend, this.#contextOf(frontend.id), this.#parts.keys);
    this.#serving.set(frontend.id, { key, made });
  }

  #begin(key: string, { id, port }: Frontend, address: string): void {
    const open: Open = { listener: id, address, port, server: undefined, at: undefined, problem: null, closed: false };
    this.#open.set(key, open);
    const opening = openSocket({ address, port }, (socket) => this.#accept(id, socket)).then((opened) => {
      if ("why" in opened) open.problem = opened.why;
      else if (open.closed) opened.server.close();
      else Object.assign(open, opened);
    });
    this.#opening.add(opening);
    void opening.finally(() => this.#opening.delete(opening));
  }

  #close(key: string, open: Open): void {
    open.closed = true;
    open.server?.close();
    this.#open.delete(key);
  }

  #accept(listener: string, socket: Socket): void {
    socket.on("error", () => {});
    const frontend = this.#byListener.get(listener);
    const made = this.#serving.get(listener)?.made;
    if (!frontend || !made || !("serve" in made) || !this.#connections.add(socket)) return void socket.destroy();
    if (!isAllowed(frontend.allowedCidrs, this.#source(socket))) return void socket.destroy();
    const places = this.#places.get(listener) ?? new Places();
    this.#places.set(listener, places);
    places.admit(socket, frontend.connectionLimit, () => made.serve(socket));
  }

  #source(socket: Socket): string {
    return this.table.client(socket.remoteAddress ?? "");
  }

  #contextOf(listener: string): ProxyContext {
    return {
      table: this.table,
      frontend: () => this.#byListener.get(listener),
      memory: (pool) => {
        const memory = this.#memory.get(pool) ?? new PoolMemory();
        this.#memory.set(pool, memory);
        return memory;
      },
      source: (socket) => this.#source(socket),
      client: (socket, { addresses, port }): ClientConnection => ({
        source: this.#source(socket),
        sourcePort: socket.remotePort ?? 0,
        destination: addresses[0] ?? "",
        port,
      }),
      memberTls: (pool) => this.#memberTls(pool),
      join: joinSockets,
    };
  }

  #memberTls({ tls }: Backend): SecureContextOptions | undefined {
    if (!tls) return undefined;
    const ca = authorities(this.#parts.keys, tls.caRef);
    return { ...tlsMaterial(this.#parts.keys, tls.clientRef), ...(ca ? { ca } : {}) };
  }

  /** Every address of every listener, once what is being opened is open. */
  async listeners(): Promise<ListenerRow[]> {
    await Promise.all(this.#opening);
    return [...this.#open.values()].map(({ listener, address, port, at, problem }) => {
      const frontend = this.#byListener.get(listener);
      const made = this.#serving.get(listener)?.made;
      const why = problem ?? (made && "why" in made ? made.why : null);
      return {
        loadBalancer: frontend?.balancer ?? "",
        listener,
        protocol: frontend?.protocol ?? "",
        address,
        port,
        at: at && why === null ? `${at.host}:${at.port}` : null,
        problem: why,
        connections: this.#places.get(listener)?.taken ?? 0,
      };
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#probes.close();
    for (const [key, open] of this.#open) this.#close(key, open);
    await Promise.all(this.#opening);
    this.#connections.destroyAll();
  }
}
