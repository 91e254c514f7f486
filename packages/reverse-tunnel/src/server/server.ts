import type { Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type Clock, type KeyPair, type Log, type Metrics } from "@causeway/foundation";
import { Connection } from "../flow/connection.ts";
import type { Codec } from "../protocol/codec.ts";
import { STATUS } from "../protocol/headers.ts";
import { identifyAgent, identifyServer, type TunnelTenant } from "../tenants/tenants.ts";
import { createAgentServer, type Accepted, type Arrival, type Refused } from "./agents.ts";
import { readIdentifiers, type ProxyStrategy } from "./choose-agent.ts";
import { DialError } from "./dial-error.ts";
import { createFront, peerCertificate } from "./front.ts";
import { listen, removeSocket, type Listen, type ListeningServer } from "./listen.ts";
import { serverMetrics } from "./metrics.ts";
import { EXPIRED, Pool, type Agent, type Target } from "./pool.ts";
import { Validity, type Reviewed } from "./validity.ts";

/** Where it listens for API servers and agents, and whom it trusts. */
export interface TunnelServerOptions {
  readonly serverId: string;
  /** Servers that each agent has to connect to. */
  readonly serverCount: number;
  readonly tenants: readonly TunnelTenant[];
  readonly agents: Listen & { readonly certificate?: KeyPair };
  /** HTTP CONNECT over TCP, with certificates on both sides; without it, API servers use the tenants' sockets. */
  readonly servers?: Listen & { readonly certificate: KeyPair };
  readonly strategies?: readonly ProxyStrategy[];
  /**
   * Milliseconds: how long a dial waits for the first agent (5 s), and for an agent's response (30 s); between pings to
   * agents (30 s).
   */
  readonly agentWait?: number;
  readonly dialTimeout?: number;
  readonly keepalive?: number;
  /** Milliseconds that open streams of an agent may outlive its credentials (1 h). */
  readonly expiredGrace?: number;
  /** Deletes a file that has the name of a tenant's socket. */
  readonly deleteExistingSockets?: boolean;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** The server that API servers dial through. */
export interface TunnelServer {
  readonly agentPort: number;
  /** The TCP port of API servers. */
  readonly serverPort: number | undefined;
  /** Agents and streams of a tenant. */
  status(tenant: string): { readonly agents: number; readonly streams: number };
  /** Takes tenants in and out. The streams of a tenant that is gone end. */
  setTenants(tenants: readonly TunnelTenant[]): Promise<void>;
  /** Accepts no more dials, and resolves when no stream is open or the signal aborts. */
  drain(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Of which time tokens of ServiceAccounts are valid that a kubelet requests (ms). */
const HOUR = 3_600_000;

/** Agents of one tenant at a time. */
const MOST_AGENTS = 2_000;

/**
 * One server for all tenants.
 *
 * @example const server = await startTunnelServer({ serverId: "a", serverCount: 1, tenants, agents: { port: 8091,
 * certificate }, metrics, clock, log });
 *
 * @throws TUNNEL_LISTEN_FAILED
 */
export async function startTunnelServer(options: TunnelServerOptions): Promise<TunnelServer> {
  const { clock, log } = options;
  const metrics = serverMetrics(options.metrics);
  const pools = new Map<string, Pool>();
  const sockets = new Map<string, ListeningServer>();
  /** Tenants by their socket. */
  let owners: ReadonlyMap<string, string> = new Map();
  let isDraining = false;
  const poolOptions = {
    strategies: options.strategies ?? (["destHost", "defaultRoute", "default"] as const),
    agentWait: options.agentWait ?? 5_000,
    dialTimeout: options.dialTimeout ?? 30_000,
    clock,
    metrics,
  };
  /** Another list whenever tenants change: what is known of certificates is kept with it. */
  let tenants: readonly TunnelTenant[] = [];

  const dial = async (
    pool: Pool | undefined,
    target: Target,
    accept: () => Duplex,
    signal: AbortSignal,
  ): Promise<void> => {
    try {
      if (!pool) throw new DialError("refused", 403, "the certificate is of no tenant of this tunnel");
      if (isDraining) throw new DialError("draining", 503, "this server of the tunnel drains; use another one");
      await pool.dial(target, accept, signal);
    } catch (error) {
      const reason = error instanceof DialError ? error.reason : "error_response";
      metrics.dialFailures.increment({ reason });
      metrics.tenantFailures.increment({ tenant: pool?.tenant.name ?? "", reason });
      throw error;
    }
  };
  const front = (find: (peer: Socket) => Pool | undefined, certificate?: KeyPair): Server =>
    createFront(
      {
        clock,
        log,
        onConnections: (by) => metrics.httpConnections.add(by),
        agents(peer) {
          const pool = find(peer);
          return pool && { agents: pool.agents, since: new Date(pool.since).toISOString() };
        },
        dial: (target, accept, peer, signal) => dial(find(peer), target, accept, signal),
      },
      certificate,
    );
  const byCertificate = (peer: Socket): Pool | undefined => {
    const certificate = peerCertificate(peer);
    const found = certificate === undefined ? undefined : identifyServer(tenants, certificate, clock.now());
    return found && "tenant" in found ? pools.get(found.tenant.name) : undefined;
  };

  const judge = async (arrival: Arrival, signal: AbortSignal): Promise<Accepted | Refused> => {
    const found = await identifyAgent(tenants, arrival.credentials, { now: clock.now(), signal });
    if ("refusal" in found) return { status: STATUS.unauthenticated, refusal: found.refusal };
    const pool = pools.get(found.tenant.name);
    if (!pool) return { status: STATUS.unauthenticated, refusal: `tenant ${found.tenant.name} is gone` };
    if (pool.agents >= MOST_AGENTS) {
      return { status: STATUS.exhausted, refusal: `tenant ${found.tenant.name} has ${MOST_AGENTS} agents, the limit` };
    }
    return { accept: (wire, codec) => accept(pool, arrival, { wire, codec, expires: found.expires }) };
  };
  /** Another token of an agent: it has to name the same tenant. */
  const reviewOf =
    (pool: Pool, { credentials }: Arrival) =>
    async (token: string, signal: AbortSignal): Promise<Reviewed> => {
      const found = await identifyAgent(tenants, { ...credentials, token }, { now: clock.now(), signal });
      if ("refusal" in found || pools.get(found.tenant.name) === pool) return found;
      return { refusal: `the token is of tenant ${found.tenant.name}` };
    };
  const accept = (
    pool: Pool,
    arrival: Arrival,
    { wire, codec, expires }: { readonly wire: Duplex; readonly codec: Codec; readonly expires: number | undefined },
  ): ((token: string) => void) => {
    const { agentId, identifiers, peerWindow } = arrival;
    const { name } = pool.tenant;
    const onPacket: ConstructorParameters<typeof Connection>[0]["onPacket"] = (packet) => pool.receive(agent, packet);
    const connection = new Connection({
      wire,
      codec,
      role: "server",
      peerWindow,
      clock,
      onPacket,
      onBytes: (_direction, bytes) => metrics.tenantBytes.increment({ tenant: name }, bytes),
      onLost(reason) {
        validity.end();
        pool.remove(agent);
        metrics.readyBackends.add(-1);
        metrics.grpcConnections.add(-1, { service_method: "Connect" });
        log.info("an agent is gone", { tenant: name, agent: agentId, reason });
      },
    });
    const agent: Agent = {
      id: agentId,
      identifiers: readIdentifiers(identifiers),
      connection,
      pending: new Map(),
      isDraining: false,
      isExpired: false,
    };
    const validity = new Validity({
      expires,
      grace: options.expiredGrace ?? HOUR,
      clock,
      review: reviewOf(pool, arrival),
      onChange(isExpired) {
        const message = isExpired ? "an agent's credentials have expired" : "an agent's new token was accepted";
        log.info(message, { tenant: name, agent: agentId, streams: connection.streams });
        pool.expire(agent, isExpired);
      },
      onOver: () => connection.lose(EXPIRED),
      onRefused: (reason) =>
        log.warn("the new token of an agent was refused", { tenant: name, agent: agentId, reason }),
    });
    metrics.readyBackends.add(1);
    metrics.grpcConnections.add(1, { service_method: "Connect" });
    log.info("an agent is connected", { tenant: name, agent: agentId, windows: peerWindow !== undefined });
    pool.add(agent);
    return (token) => validity.renew(token);
  };

  const setTenants = async (next: readonly TunnelTenant[]): Promise<void> => {
    const wanted = new Map(next.map((tenant) => [tenant.name, tenant]));
    for (const [name, pool] of pools) {
      const tenant = wanted.get(name);
      if (tenant) pool.tenant = tenant;
      else {
        pools.delete(name);
        pool.close(`tenant ${name} is gone`);
      }
    }
    for (const tenant of next) if (!pools.has(tenant.name)) pools.set(tenant.name, new Pool(tenant, poolOptions));
    tenants = [...pools.values()].map(({ tenant }) => tenant);
    owners = new Map(next.flatMap(({ name, udsName }) => (udsName === undefined ? [] : [[udsName, name]])));
    for (const [path, server] of sockets) {
      if (owners.has(path)) continue;
      sockets.delete(path);
      await server.close();
    }
    for (const path of owners.keys()) {
      if (sockets.has(path)) continue;
      if (options.deleteExistingSockets ?? true) removeSocket(path);
      const server = front(() => pools.get(owners.get(path) ?? ""));
      sockets.set(path, await listen(server, { path }));
    }
  };

  await setTenants(options.tenants);
  const agentServer = createAgentServer(
    {
      serverId: options.serverId,
      serverCount: () => options.serverCount,
      judge,
      keepalive: options.keepalive ?? 30_000,
      log,
    },
    options.agents.certificate,
  );
  const agents = await listen(agentServer, options.agents);
  const { servers } = options;
  const tcp = servers && (await listen(front(byCertificate, servers.certificate), servers));

  return {
    agentPort: agents.port,
    serverPort: tcp?.port,
    status: (tenant) => ({ agents: pools.get(tenant)?.agents ?? 0, streams: pools.get(tenant)?.streams ?? 0 }),
    setTenants,
    async drain(signal) {
      isDraining = true;
      const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      await Promise.race([Promise.all([...pools.values()].map((pool) => pool.idle())), aborted]);
    },
    async close() {
      isDraining = true;
      for (const pool of pools.values()) pool.close("the server stops");
      await Promise.all([...sockets.values(), agents, ...(tcp ? [tcp] : [])].map((each) => each.close()));
    },
  };
}
