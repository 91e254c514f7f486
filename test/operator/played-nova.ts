import type { Clock } from "@causeway/foundation";
import type { ComputeService, HostedServer, Nova } from "@causeway/openstack-operator";

type Host = { -readonly [Key in keyof ComputeService]: ComputeService[Key] };
type Played = { -readonly [Key in keyof HostedServer]: HostedServer[Key] };

/**
 * Nova's computes and servers, as an administrator sees them: orders are accepted at once and done after ten seconds of
 * the clock, to the first other host that is enabled and up. It refuses what the real one refuses: an evacuation of a
 * host that is up (400), an order to a server that is busy (409).
 */
export class PlayedNova {
  readonly hosts = new Map<string, Host>();
  readonly servers = new Map<string, Played>();
  /** Every change that was requested. */
  readonly orders: string[] = [];
  /** Servers whose moves fail: they remain where they are. */
  readonly stubborn = new Set<string>();
  /** It does not respond. */
  isAway = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  addHost(name: string, zone = "nova"): void {
    const host = { id: `id-${name}`, host: name, zone, isUp: true, isEnabled: true, reason: "", isForcedDown: false };
    this.hosts.set(name, host);
  }

  addServer(id: string, host: string, status = "ACTIVE"): void {
    this.servers.set(id, { id, name: id, host, status, task: "" });
  }

  on(host: string): string[] {
    return [...this.servers.values()].filter((server) => server.host === host).map(({ id }) => id);
  }

  open(): Nova {
    const hostOf = (id: string): Host => {
      const host = [...this.hosts.values()].find((each) => each.id === id);
      if (!host) throw new Error(`404: no service ${id}`);
      return host;
    };
    const change = (what: string, id: string, fields: Partial<Host>): Promise<void> => {
      this.orders.push(`${what} ${hostOf(id).host}`);
      Object.assign(hostOf(id), fields);
      return Promise.resolve();
    };
    return {
      services: () =>
        this.isAway
          ? Promise.reject(new Error("connection refused"))
          : Promise.resolve([...this.hosts.values()].map((host) => ({ ...host }))),
      servers: (hosts) =>
        Promise.resolve(
          [...this.servers.values()].filter(({ host }) => hosts.includes(host)).map((each) => ({ ...each })),
        ),
      enable: (id) => change("enable", id, { isEnabled: true, reason: "" }),
      disable: (id, reason) => change("disable", id, { isEnabled: false, reason }),
      forceDown: (id, isDown) =>
        change(isDown ? "force-down" : "force-up", id, { isForcedDown: isDown, isUp: !isDown }),
      agents: (hosts) =>
        Promise.resolve(
          hosts.map((host) => ({ id: `agent-${host}`, host, isAlive: this.hosts.get(host)?.isUp === true })),
        ),
      remove: (host, id, agents) => {
        if (this.on(host).length > 0) throw new Error(`409: compute ${host} has servers`);
        this.orders.push(`remove ${hostOf(id).host} with ${agents.join(", ")}`);
        this.hosts.delete(host);
        return Promise.resolve();
      },
      move: (order, id) => this.#move(order, id),
      close: () => Promise.resolve(),
    };
  }

  #move(order: string, id: string): Promise<void> {
    const server = this.servers.get(id);
    const from = server && this.hosts.get(server.host);
    if (!server || !from) throw new Error(`404: no server ${id}`);
    if (server.task !== "") throw new Error(`409: ${id} is ${server.task}`);
    if (order === "evacuate" && from.isUp) throw new Error(`400: compute service of ${from.host} is still in use`);
    this.orders.push(`${order} ${id}`);
    server.task = order === "evacuate" ? "rebuilding" : "migrating";
    const to = [...this.hosts.values()].find((host) => host !== from && host.isEnabled && host.isUp);
    void this.#clock.sleep(10_000).then(() => {
      server.task = "";
      if (to && !this.stubborn.has(id)) server.host = to.host;
    });
    return Promise.resolve();
  }
}
