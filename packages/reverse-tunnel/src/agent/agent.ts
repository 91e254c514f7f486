import { backoff, messageOf, type Clock, type Log, type Metrics, type DialRules } from "@causeway/foundation";
import { Blocks } from "../flow/blocks.ts";
import { Connection } from "../flow/connection.ts";
import { roomOf } from "../flow/plan-stream.ts";
import type { TunnelPacket } from "../protocol/packets.ts";
import { callServer, type Call, type CallOptions } from "./call.ts";
import { dialTarget } from "./dial.ts";
import { renewToken } from "./renew-token.ts";
import { agentMetrics, type AgentMetrics } from "./metrics.ts";
import { OVER } from "../flow/over.ts";

/** The server, the credentials, and what the agent may dial. */
export interface TunnelAgentOptions {
  /** Reads credentials again for each connection: tokens and certificates are rotated. */
  readonly target: () => CallOptions;
  readonly rules: DialRules;
  /**
   * Milliseconds: interval between searches for further servers (1 s), and longest interval between failed attempts (10
   * s).
   */
  readonly syncInterval?: number;
  readonly syncIntervalCap?: number;
  /** Searches for more servers even if there are as many connections as the servers say. */
  readonly syncForever?: boolean;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** The agent in a tenant's network: it dials for the server of the tunnel. */
export interface TunnelAgent {
  /** Servers with a connection. */
  readonly connections: number;
  readonly streams: number;
  /** Asks the servers for no more dials, and resolves when no stream is open or the signal aborts. */
  drain(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * An agent of konnectivity: it holds a connection to each server behind an address, and dials what they ask for.
 *
 * @example const agent = startTunnelAgent({ target: () => ({ host: "gateway", port: 8091, agentId: "node-1",
 * agentIdentifiers: "", keepalive: 30_000 }), rules, metrics, clock, log });
 */
export function startTunnelAgent(options: TunnelAgentOptions): TunnelAgent {
  const { clock, log } = options;
  const metrics = agentMetrics(options.metrics);
  const connections = new Map<string, Served>();
  const blocks = new Blocks();
  const stop = new AbortController();
  let lost = Promise.withResolvers<void>();
  let serverCount = 1;
  let isDraining = false;

  const connectOnce = async (): Promise<void> => {
    const target = options.target();
    const call = await callServer(target, stop.signal);
    if (connections.has(call.serverId)) return call.close();
    serverCount = call.serverCount;
    metrics.knownServers.set(serverCount);
    log.info("connected to a server of the tunnel", { server: call.serverId, servers: serverCount });
    const over = new AbortController();
    if (call.renew !== undefined && target.token !== undefined) {
      const read = (): string | undefined => options.target().token;
      void renewToken({ renew: call.renew, sent: target.token, read, clock, log }, over.signal);
    }
    const served = serve(call, { options, metrics, blocks }, (reason) => {
      over.abort(OVER);
      connections.delete(call.serverId);
      metrics.openServers.set(connections.size);
      log.warn("the connection to a server of the tunnel is lost", { server: call.serverId, reason });
      lost.resolve();
    });
    connections.set(call.serverId, served);
    metrics.openServers.set(connections.size);
    if (isDraining) served.connection.send({ type: "drain" });
  };
  const syncing = (async () => {
    const { syncInterval = 1_000, syncIntervalCap = 10_000 } = options;
    const delay = backoff({ base: syncInterval, cap: syncIntervalCap, factor: 1.5, jitter: 0.2 });
    for (let failures = 0; !stop.signal.aborted;) {
      try {
        if (connections.size < serverCount || options.syncForever === true) await connectOnce();
        failures = 0;
      } catch (error) {
        failures++;
        if (!stop.signal.aborted) log.warn("the agent cannot connect", { error: messageOf(error), attempt: failures });
      }
      const pause = clock.sleep(failures > 0 ? delay(failures) : delay(1), stop.signal).catch(() => {});
      // A lost connection is replaced soon, after a pause that differs between agents.
      const soon = lost.promise.then(() => clock.sleep(Math.random() * 500, stop.signal)).catch(() => {});
      await Promise.race(failures > 0 ? [pause] : [pause, soon]);
      lost = Promise.withResolvers();
    }
  })();
  const streams = (): number => [...connections.values()].reduce((sum, { connection }) => sum + connection.streams, 0);

  return {
    get connections() {
      return connections.size;
    },
    get streams() {
      return streams();
    },
    async drain(signal) {
      isDraining = true;
      for (const { connection } of connections.values()) connection.send({ type: "drain" });
      while (streams() > 0 && !signal.aborted) await clock.sleep(100, signal).catch(() => {});
    },
    async close() {
      stop.abort(new Error("the agent stops"));
      for (const { connection } of connections.values()) connection.lose("the agent stops");
      await syncing;
    },
  };
}

interface Served {
  readonly connection: Connection;
}

interface Context {
  readonly options: TunnelAgentOptions;
  readonly metrics: AgentMetrics;
  readonly blocks: Blocks;
}

function serve(call: Call, { options, metrics, blocks }: Context, onLost: (reason: string) => void): Served {
  const { clock, log, rules } = options;
  let isOver = false;
  const dials = new Map<bigint, AbortController>();
  let lastId = 0n;
  const most = (): number => roomOf(connection.streams);
  const dial = async ({ random, protocol, address }: Extract<TunnelPacket, { type: "dial" }>): Promise<void> => {
    const cancelled = new AbortController();
    dials.set(random, cancelled);
    const started = clock.now();
    try {
      const socket = await dialTarget({ protocol, address }, rules, { signal: cancelled.signal, blocks, most });
      metrics.dialDuration.observe((clock.now() - started) / 1000);
      const id = ++lastId;
      connection.send({ type: "dialled", random, id, error: "" });
      metrics.endpoints.add(1);
      connection.open(id, socket, () => metrics.endpoints.add(-1));
    } catch (error) {
      if (isOver) return;
      const message = messageOf(error);
      log.info("a dial failed", { address, error: message });
      metrics.dialFailures.increment({ reason: message.includes("i/o timeout") ? "timeout" : "unknown" });
      connection.send({ type: "dialled", random, id: 0n, error: message });
    } finally {
      dials.delete(random);
    }
  };
  const connection = new Connection({
    wire: call.wire,
    codec: call.codec,
    role: "agent",
    peerWindow: call.peerWindow,
    clock,
    onPacket(packet) {
      if (packet.type === "dial") void dial(packet);
      if (packet.type === "cancel-dial") dials.get(packet.random)?.abort(OVER);
    },
    onLost(reason) {
      isOver = true;
      for (const dialling of dials.values()) dialling.abort(OVER);
      onLost(reason);
    },
  });
  return { connection };
}
