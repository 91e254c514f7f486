import { connect as connectTcp, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from "node:tls";
import { createAuthority, createMetrics, issueCertificate, silentLog, systemClock } from "@causeway/foundation";
import { startApiGateway, type ApiGateway, type ApiGatewayOptions } from "../gateway/gateway.ts";
import type { Route } from "../routes/routes.ts";

const LIFETIME = 86_400_000;

/** A gateway in front of backends of this process, and what ends with it. */
export class World {
  readonly metrics = createMetrics();
  readonly routes = new Map<string, Route>();
  readonly #closers: (() => Promise<unknown> | void)[] = [];
  #gateway: ApiGateway | undefined;

  get gateway(): ApiGateway {
    if (!this.#gateway) throw new Error("the gateway was not started");
    return this.#gateway;
  }

  async start(options: Partial<ApiGatewayOptions> = {}): Promise<ApiGateway> {
    const { routes, metrics } = this;
    const gateway = await startApiGateway({
      host: "127.0.0.1",
      port: 0,
      routes: { find: (name) => routes.get(name), ready: true },
      metrics,
      clock: systemClock,
      log: silentLog,
      ...options,
    });
    this.#gateway = gateway;
    this.after(() => gateway.close());
    return gateway;
  }

  after(close: () => Promise<unknown> | void): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).toReversed()) await close();
  }

  /** A TLS server for NAME.test that says its name and echoes. */
  async tlsTenant(name: string): Promise<string> {
    const authority = await createAuthority({ commonName: `authority of ${name}`, lifetime: LIFETIME });
    const dnsNames = [`${name}.test`];
    const pair = await issueCertificate(authority, {
      commonName: name,
      dnsNames,
      usages: ["server"],
      lifetime: LIFETIME,
    });
    const server = createTlsServer({ cert: pair.certificate, key: pair.key, ALPNProtocols: ["h2"] }, (socket) => {
      socket.on("error", () => {});
      socket.write(`${name} ${socket.alpnProtocol || "none"}\n`);
      socket.pipe(socket);
    });
    this.route(name, await this.#listen(server));
    return authority.certificate;
  }

  /** A server behind the name NAME.test that gets the connections as they are. */
  async rawTenant(name: string, onConnection: (socket: Socket) => void): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => {});
      onConnection(socket);
    });
    this.route(name, await this.#listen(server));
  }

  route(name: string, port: number): void {
    this.routes.set(`${name}.test`, { tenant: name, host: "127.0.0.1", port });
  }

  /** A TLS client of NAME.test, or without a server name, at the port. */
  tls(ca: string, name: string | undefined, port = this.gateway.port): TLSSocket {
    const server = name === undefined ? {} : { servername: `${name}.test` };
    const options = { host: "127.0.0.1", port, ca, ALPNProtocols: ["h2"], ...server };
    // Without a name the certificate is judged by the tenant's.
    const socket = connectTls({ ...options, checkServerIdentity: () => undefined });
    this.after(() => void socket.destroy());
    return socket;
  }

  raw(port = this.gateway.port): Socket {
    const socket = connectTcp({ host: "127.0.0.1", port, allowHalfOpen: true });
    socket.on("error", () => {});
    this.after(() => void socket.destroy());
    return socket;
  }

  /** A client that reads what comes, and ends when the other side does. */
  reading(): Socket {
    const socket = this.raw().resume();
    return socket.on("end", () => socket.end());
  }

  async metric(line: string): Promise<number> {
    const text = await this.metrics.render();
    const found = text.split("\n").find((each) => each.startsWith(`${line} `));
    return Number(found?.split(" ").at(-1) ?? 0);
  }

  async #listen(server: Server): Promise<number> {
    const sockets = new Set<Socket>();
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.after(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }
}

/** The first bytes that come. */
export function firstOf(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    socket.once("data", resolve);
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("closed before a byte came")));
  });
}

/** Everything until the other side ends. */
export async function allOf(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    socket.once("close", () => resolve());
  });
}

export async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 1_000; i++) {
    if (await check()) return;
    await systemClock.sleep(10);
  }
  throw new Error(`not in time: ${what}`);
}
