import { createServer, type Server, type Socket } from "node:net";
import { InputError, messageOf, type Cidr, type Clock, type Log, type Metrics } from "@causeway/foundation";
import type { Routes } from "../routes/routes.ts";
import { serve, type ConnectionLimits } from "./connection.ts";
import { ConnectionLimiter, type Limits } from "./connection-limiter.ts";
import { gatewayMetrics } from "./metrics.ts";

/** Where it listens, which server names lead where, and its limits. */
export interface ApiGatewayOptions {
  readonly host: string;
  readonly port: number;
  readonly routes: Routes;
  readonly limits?: Partial<Limits>;
  readonly timing?: Partial<ConnectionLimits>;
  /** Networks of load balancers whose PROXY headers say who the client is. Default: none. */
  readonly trusted?: readonly Cidr[];
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** One TCP port for many API servers: a connection goes where its TLS server name says. */
export interface ApiGateway {
  readonly port: number;
  /** Connections to API servers. */
  readonly connections: number;
  /** Accepts nothing more, and resolves when no connection is open or the signal aborts. */
  drain(signal: AbortSignal): Promise<void>;
  /** Ends every connection. */
  close(): Promise<void>;
}

const LIMITS: Limits = { total: 20_000, perTenant: 2_000, pending: 1_000 };
const TIMING: ConnectionLimits = {
  helloTimeout: 10_000,
  helloLimit: 16_384,
  dialTimeout: 5_000,
  halfOpenTimeout: 60_000,
};

/**
 * Passes connections on to the API server whose name the client says. @throws GATEWAY_LISTEN_FAILED
 * @example
 * const routes = fileRoutes("/etc/causeway/routes.json");
 * const gateway = await startApiGateway({ host: "::", port: 6443, routes, metrics, clock: systemClock, log });
 * await gateway.drain(AbortSignal.timeout(30_000));
 */
export async function startApiGateway(options: ApiGatewayOptions): Promise<ApiGateway> {
  const { routes, trusted = [], clock, log } = options;
  const limiter = new ConnectionLimiter({ ...LIMITS, ...options.limits });
  const metrics = gatewayMetrics(options.metrics);
  const timing = { ...TIMING, ...options.timing };
  const stopCounting = metrics.connections.onRender(() => {
    metrics.connections.clear();
    for (const [tenant, count] of limiter.tenants()) metrics.connections.set(count, { tenant });
    metrics.pending.set(limiter.waiting);
  });
  const context = { routes, limiter, timing, trusted, metrics, clock, log };
  const listening = await listen(options, (client) => {
    serve(client, context).catch((error: unknown) => {
      log.error("a connection failed", { error: messageOf(error) });
      client.destroy();
    });
  });
  return {
    port: listening.port,
    get connections() {
      return limiter.total;
    },
    drain: (signal) => listening.drain(signal),
    async close() {
      stopCounting();
      await listening.close();
    },
  };
}

/** A listening port. `drain` accepts no more and waits for the open connections or the signal; `close` ends them. */
export interface GatewayServer {
  readonly port: number;
  drain(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

interface Where {
  readonly host: string;
  readonly port: number;
  /** Next to the process that this one replaces. */
  readonly reusePort?: boolean;
}

/** Accepts connections, half-open ones included. @throws GATEWAY_LISTEN_FAILED */
export async function listen(where: Where, onConnection: (socket: Socket) => void): Promise<GatewayServer> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: false }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    onConnection(socket);
  });
  await start(server, where);
  const closed = new Promise<void>((resolve) => server.once("close", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : where.port,
    async drain(signal) {
      server.close();
      const over = new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      await Promise.race([closed, over]);
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function start(server: Server, { host, port, reusePort = false }: Where): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) =>
      reject(
        new InputError("GATEWAY_LISTEN_FAILED", `${host}:${port} cannot be opened for listening: ${messageOf(cause)}`, {
          cause,
          hint: "Specify an address of this machine and a free port.",
        }),
      ),
    );
    server.listen({ host, port, reusePort, backlog: 1024 }, () => resolve());
  });
}
