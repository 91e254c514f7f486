import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createAuthority,
  createMetrics,
  issueCertificate,
  parseCidr,
  silentLog,
  systemClock,
  type DialRules,
  type KeyPair,
} from "@causeway/foundation";
import { afterAll, afterEach, beforeAll, expect, vi } from "vitest";
import { startTunnelAgent, type TunnelAgent, type TunnelAgentOptions } from "../agent/agent.ts";
import type { CallOptions } from "../agent/call.ts";
import { startTunnelServer, type TunnelServer } from "../server/server.ts";
import type { TunnelTenant } from "../tenants/tenants.ts";

const local = parseCidr("127.0.0.1/32");
/** Only this machine's usual address may be dialled. */
export const localRules: DialRules = { allow: local ? [local] : [], deny: [], names: [] };
/** Milliseconds that a certificate is valid for. */
export const YEAR = 365 * 86_400_000;

/** Settings of an agent: of each connection, and of the whole. */
export type AgentSettings = Partial<CallOptions> & {
  readonly each?: () => Partial<CallOptions>;
  readonly options?: Partial<TunnelAgentOptions>;
};

/** Servers, agents and targets of one test file; what a test starts is closed after it. */
export class Stage {
  folder = "";
  /** Whether agents offer gRPC alone. */
  grpcOnly = false;
  /** Of tenants a and b, and of the server. */
  authorities = {} as { readonly a: KeyPair; readonly b: KeyPair; readonly serving: KeyPair };
  readonly closers: (() => Promise<unknown> | void)[] = [];
  #certificate: KeyPair | undefined;

  constructor() {
    beforeAll(async () => {
      this.folder = mkdtempSync(join(tmpdir(), "tunnel-"));
      // Both tenants' authorities have one name, as kubeadm's have.
      const [a, b, serving] = await Promise.all(
        [1, 2, 3].map(() => createAuthority({ commonName: "kubernetes", lifetime: YEAR })),
      );
      if (!a || !b || !serving) throw new Error("no authority");
      this.authorities = { a, b, serving };
      this.#certificate = await issueCertificate(serving, {
        commonName: "gateway",
        dnsNames: ["localhost"],
        ipAddresses: ["127.0.0.1"],
        usages: ["server"],
        lifetime: YEAR,
      });
    });
    afterAll(() => rmSync(this.folder, { recursive: true }));
    afterEach(async () => {
      for (const close of this.closers.splice(0).toReversed()) await close();
    });
  }

  tenant(name: string, authority: KeyPair, more: Partial<TunnelTenant> = {}): TunnelTenant {
    return {
      name,
      udsName: join(this.folder, `${name}.sock`),
      serverAuthorities: [authority.certificate],
      agentAuthorities: [authority.certificate],
      serverNames: [],
      rules: localRules,
      maxStreams: 300,
      ...more,
    };
  }

  /** A server of tenants a and b. */
  async serve(more: Partial<Parameters<typeof startTunnelServer>[0]> = {}): Promise<TunnelServer> {
    const { a, b } = this.authorities;
    const certificate = this.#certificate;
    if (certificate === undefined) throw new Error("no certificate");
    const server = await startTunnelServer({
      serverId: "one",
      serverCount: 1,
      tenants: [this.tenant("a", a), this.tenant("b", b)],
      agents: { host: "127.0.0.1", port: 0, certificate },
      servers: { host: "127.0.0.1", port: 0, certificate },
      agentWait: 300,
      metrics: createMetrics(),
      clock: systemClock,
      log: silentLog,
      ...more,
    });
    this.closers.push(() => server.close());
    return server;
  }

  async agentOf(server: TunnelServer, authority: KeyPair, settings: AgentSettings = {}): Promise<TunnelAgent> {
    const { each = () => ({}), options = {}, ...more } = settings;
    const own = await issueCertificate(authority, { commonName: "agent", usages: ["client"], lifetime: YEAR });
    const target = (): CallOptions => ({
      host: "127.0.0.1",
      port: server.agentPort,
      tls: { ca: this.authorities.serving.certificate, cert: own.certificate, key: own.key },
      agentId: "node-1",
      agentIdentifiers: "",
      keepalive: 30_000,
      grpcOnly: this.grpcOnly,
      ...more,
      ...each(),
    });
    const using = { rules: localRules, syncInterval: 50, metrics: createMetrics() };
    const agent = startTunnelAgent({ target, ...using, clock: systemClock, log: silentLog, ...options });
    this.closers.push(() => agent.close());
    return agent;
  }

  /** A TCP server that handles each connection: its port. */
  async target(handle: (socket: Socket) => void): Promise<number> {
    const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => socket.destroy());
      handle(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.closers.push(() => void server.close());
    return (server.address() as AddressInfo).port;
  }

  /** A connection to a tenant's socket. */
  unix(name: string): Socket {
    return connect({ path: join(this.folder, `${name}.sock`), allowHalfOpen: true });
  }
}

/** Waits until a server has so many agents of a tenant. */
export function agents(server: TunnelServer, name: string, count: number): Promise<void> {
  return vi.waitFor(() => expect(server.status(name).agents).toBe(count), { timeout: 10_000, interval: 5 });
}

/** The status line of a CONNECT, and the socket. */
export async function dial(through: Socket, host: string): Promise<{ line: string; socket: Socket }> {
  through.write(`CONNECT ${host} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  let head = "";
  for (;;) {
    const chunk = await new Promise<Buffer | undefined>((resolve) => {
      through.once("data", resolve);
      through.once("close", () => resolve(undefined));
    });
    if (!chunk) break;
    through.pause();
    head += chunk.toString("latin1");
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) continue;
    const rest = head.slice(end + 4);
    if (rest !== "") through.unshift(Buffer.from(rest, "latin1"));
    break;
  }
  return { line: head.split("\r\n")[0] ?? "", socket: through };
}

/** All bytes until the end. */
export async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** What comes back of a text on a stream that echoes. */
export async function echoed(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  let read = "";
  while (read.length < text.length) {
    const chunk = (socket.read() ?? undefined) as Buffer | undefined;
    if (chunk === undefined) {
      await new Promise<void>((resolve, reject) => {
        socket.once("readable", resolve);
        socket.once("close", () => reject(new Error(`the stream ended after ${JSON.stringify(read)}`)));
      });
      if (socket.readableEnded) throw new Error(`the stream ended after ${JSON.stringify(read)}`);
    } else read += chunk.toString();
  }
  return read;
}
