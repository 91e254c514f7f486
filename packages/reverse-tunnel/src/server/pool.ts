import type { Duplex } from "node:stream";
import { type Clock, dialRefusal } from "@causeway/foundation";
import type { Connection, OtherPacket } from "../flow/connection.ts";
import { Deadlines } from "../flow/deadlines.ts";
import type { TunnelTenant } from "../tenants/tenants.ts";
import { chooseAgent, type Identifiers, type ProxyStrategy } from "./choose-agent.ts";
import { DialError, isRefusedByHost, statusOfAgentError } from "./dial-error.ts";
import type { ServerMetrics } from "./metrics.ts";
import { OVER } from "../flow/over.ts";

/** A connected agent. */
export interface Agent {
  readonly id: string;
  readonly identifiers: Identifiers;
  readonly connection: Connection;
  readonly pending: Map<bigint, (answer: Dialled) => void>;
  isDraining: boolean;
  /** Its credentials have expired. */
  isExpired: boolean;
}

/** Why connections of expired agents end. */
export const EXPIRED = "its credentials have expired";

/** The destination that an API server names in CONNECT. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

interface Question {
  readonly address: string;
  readonly accept: () => Duplex;
}

type Dialled = { readonly id: bigint } | { readonly error: string } | { readonly lost: true };

/** How agents are chosen, and how long a dial waits. */
export interface PoolOptions {
  readonly strategies: readonly ProxyStrategy[];
  /** A dial waits so long for the first agent of its tenant (ms). */
  readonly agentWait: number;
  /** And so long for the agent's response. */
  readonly dialTimeout: number;
  readonly clock: Clock;
  readonly metrics: ServerMetrics;
}

/** The agents of one tenant, and the streams through them. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #agents = new Set<Agent>();
  readonly #idle = new Set<() => void>();
  tenant: TunnelTenant;
  readonly #deadlines: Deadlines;
  #streams = 0;
  /** The number of the last dial: an agent's answer names it. */
  #dials = 0n;
  /** When the first agent connected, or the last one was lost. */
  #since: number;
  #changed = Promise.withResolvers<void>();

  constructor(tenant: TunnelTenant, options: PoolOptions) {
    this.tenant = tenant;
    this.#options = options;
    this.#since = options.clock.now();
    this.#deadlines = new Deadlines(options.clock);
  }

  get agents(): number {
    return this.#agents.size;
  }

  /** Since when there are agents, or none (ms since epoch). */
  get since(): number {
    return this.#since;
  }

  get streams(): number {
    return this.#streams;
  }

  add(agent: Agent): void {
    if (this.#agents.size === 0) this.#since = this.#options.clock.now();
    this.#agents.add(agent);
    this.#count();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  remove(agent: Agent): void {
    if (!this.#agents.delete(agent)) return;
    if (this.#agents.size === 0) this.#since = this.#options.clock.now();
    this.#count();
    for (const answer of agent.pending.values()) answer({ lost: true });
    agent.pending.clear();
  }

  /** Its credentials have expired, or hold again. Expired, it is chosen last, and ends when it has no stream. */
  expire(agent: Agent, isExpired: boolean): void {
    agent.isExpired = isExpired;
    this.#endIfUnused(agent);
  }

  /** Ends all connections of agents. */
  close(reason: string): void {
    for (const agent of this.#agents) agent.connection.lose(reason);
    this.#deadlines.close();
  }

  /** Resolves when no stream is open. */
  async idle(): Promise<void> {
    while (this.#streams > 0) await new Promise<void>((resolve) => this.#idle.add(resolve));
  }

  /** A packet of an agent that is not of a stream. */
  receive(agent: Agent, packet: OtherPacket): void {
    if (packet.type === "drain") agent.isDraining = true;
    if (packet.type === "dialled") {
      const answer = agent.pending.get(packet.random);
      agent.pending.delete(packet.random);
      if (answer) answer(packet.error === "" ? { id: packet.id } : { error: packet.error });
      // The API server is gone: the agent must not keep the connection.
      else if (packet.error === "") agent.connection.send({ type: "close", id: packet.id });
    }
    if (packet.type === "cancel-dial") {
      agent.pending.get(packet.random)?.({ error: "the agent cancelled the dial" });
      agent.pending.delete(packet.random);
    }
  }

  /**
   * Connects the socket that `accept` returns to the host, through an agent. `accept` is called at most once, before
   * any data is handled. A dial is tried once more if the agent was lost, and with another agent if the host refused
   * the connection: nodes learn of a Service's endpoints one after the other.
   * @throws DialError
   */
  async dial({ host, port }: Target, accept: () => Duplex, signal: AbortSignal): Promise<void> {
    const { tenant } = this;
    const { metrics, clock } = this.#options;
    const refusal = dialRefusal(tenant.rules, host, port);
    if (refusal !== undefined) throw new DialError("refused", 403, `${refusal}, so it is not dialled`);
    if (this.#streams >= tenant.maxStreams) {
      throw new DialError("limit", 503, `tenant ${tenant.name} has ${this.#streams} open streams, its limit`);
    }
    const started = clock.now();
    this.#streams++;
    metrics.pendingDials.add(1);
    const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
    try {
      let agent = await this.#agentFor(host, signal);
      for (let attempt = 1; ; attempt++) {
        const answer = await this.#ask(agent, { address, accept }, signal);
        if ("id" in answer) return metrics.dialDuration.observe((clock.now() - started) / 1000);
        if ("error" in answer) {
          const other = attempt === 1 && isRefusedByHost(answer.error) ? this.#chosen(host, agent) : undefined;
          if (other === undefined)
            throw new DialError("error_response", statusOfAgentError(answer.error), answer.error);
          agent = other;
          continue;
        }
        if (attempt === 2) throw new DialError("backend_close", 502, `agent ${agent.id} was lost during the dial`);
        agent = await this.#agentFor(host, signal);
      }
    } catch (error) {
      this.#ended();
      throw error;
    } finally {
      metrics.pendingDials.add(-1);
    }
  }

  async #agentFor(host: string, signal: AbortSignal): Promise<Agent> {
    const { clock, agentWait } = this.#options;
    const present = this.#chosen(host);
    if (present) return present;
    const timer = new AbortController();
    const timeout = clock.sleep(agentWait, AbortSignal.any([signal, timer.signal])).then(
      () => true,
      () => false,
    );
    try {
      for (;;) {
        const chosen = this.#chosen(host);
        if (chosen) return chosen;
        const isLate = await Promise.race([timeout, this.#changed.promise.then(() => false)]);
        if (signal.aborted) throw gone();
        if (isLate) throw new DialError("no_agent", 503, this.#absence());
      }
    } finally {
      timer.abort(OVER);
    }
  }

  #chosen(host: string, except?: Agent): Agent | undefined {
    const others = [...this.#agents].filter((agent) => agent !== except);
    const all = others.map((agent) => ({ ...describe(agent), agent }));
    return chooseAgent(all, host, this.#options.strategies, Math.random)?.agent;
  }

  #absence(): string {
    const { name } = this.tenant;
    if (this.#agents.size > 0) return `no agent of tenant ${name} serves this host`;
    return `no agent of tenant ${name} is connected since ${new Date(this.#since).toISOString()}`;
  }

  async #ask(agent: Agent, { address, accept }: Question, signal: AbortSignal): Promise<Dialled> {
    const { dialTimeout } = this.#options;
    const random = ++this.#dials;
    const { promise, resolve } = Promise.withResolvers<Dialled | "late" | "gone">();
    const end = (why: "late" | "gone"): void => {
      agent.pending.delete(random);
      resolve(why);
    };
    const onGone = (): void => end("gone");
    if (signal.aborted) throw gone();
    // It was lost since it was chosen, and responds no more.
    if (!this.#agents.has(agent)) return { lost: true };
    signal.addEventListener("abort", onGone, { once: true });
    agent.pending.set(random, (dialled) => {
      if ("id" in dialled) this.#join(agent, dialled.id, accept());
      resolve(dialled);
    });
    agent.connection.send({ type: "dial", random, protocol: "tcp", address });
    const cancel = this.#deadlines.after(dialTimeout, () => end("late"));
    try {
      const first = await promise;
      if (first !== "late" && first !== "gone") return first;
      agent.connection.send({ type: "cancel-dial", random });
      if (first === "gone") throw gone();
      throw new DialError("timeout", 504, `agent ${agent.id} did not respond within ${dialTimeout / 1000} s: timeout`);
    } finally {
      cancel();
      signal.removeEventListener("abort", onGone);
      this.#endIfUnused(agent);
    }
  }

  /** No stream and no dial is lost with it, and the agent connects again with what it has now. */
  #endIfUnused(agent: Agent): void {
    const { isExpired, connection, pending } = agent;
    if (isExpired && connection.streams === 0 && pending.size === 0) connection.lose(EXPIRED);
  }

  #join(agent: Agent, id: bigint, socket: Duplex): void {
    const { metrics } = this.#options;
    const { name } = this.tenant;
    metrics.established.add(1);
    metrics.tenantStreams.set(this.#streams, { tenant: name });
    agent.connection.open(id, socket, (reason) => {
      metrics.established.add(-1);
      if (reason !== undefined) metrics.aborted.increment({ tenant: name, reason });
      this.#ended();
      this.#endIfUnused(agent);
    });
  }

  #ended(): void {
    this.#streams--;
    this.#options.metrics.tenantStreams.set(this.#streams, { tenant: this.tenant.name });
    if (this.#streams > 0) return;
    for (const resolve of this.#idle) resolve();
    this.#idle.clear();
  }

  #count(): void {
    this.#options.metrics.tenantAgents.set(this.#agents.size, { tenant: this.tenant.name });
  }
}

function describe({ identifiers, isDraining, isExpired, connection }: Agent) {
  return { identifiers, isDraining: isDraining || isExpired, streams: connection.streams };
}

function gone(): DialError {
  return new DialError("frontend_close", 499, "the API server ended the connection during the dial");
}
