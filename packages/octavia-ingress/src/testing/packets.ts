import { createServer, request as requestOf, type IncomingHttpHeaders, type Server } from "node:http";
import { request as secureRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import type { IngressWorld } from "./world.ts";

export interface Got {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

export interface PacketRequest {
  readonly host: string;
  readonly path?: string;
  readonly method?: string;
  /** With it, over TLS. */
  readonly ca?: string;
  readonly headers?: Record<string, string>;
}

/** Clients and members of a world whose load balancers serve. */
export class Packets {
  readonly #world: IngressWorld;
  readonly #servers: Server[] = [];
  readonly #members: Record<string, string> = {};
  readonly #pods = new Map<string, Server>();
  readonly #open = new Map<string, number>();

  constructor(world: IngressWorld) {
    this.#world = world;
  }

  /** A Service whose members respond with its name, and with `perNode` with their node's address. */
  async serve(name: string, nodePort: number, { perNode = false } = {}): Promise<void> {
    await this.#world.service(name, nodePort);
    for (const node of ["10.88.0.10", "10.88.0.11"]) {
      const server = createServer((_, response) => response.end(perNode ? `${name} ${node}` : name));
      this.#servers.push(server);
      await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
      this.#members[`${node}:${nodePort}`] = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    }
    this.#world.simulator.dataPath?.setMembers(this.#members);
  }

  /** A pod at an address of its own. */
  async servePod(address: string, port: number, text: string): Promise<void> {
    const server = createServer((_, response) => {
      this.#open.set(address, this.openRequests(address) + 1);
      response.on("close", () => this.#open.set(address, this.openRequests(address) - 1));
      response.end(text);
    });
    this.#servers.push(server);
    this.#pods.set(`${address}:${port}`, server);
    await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
    this.#members[`${address}:${port}`] = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#world.simulator.dataPath?.setMembers(this.#members);
  }

  /** Requests that a pod has begun to serve. */
  openRequests(address: string): number {
    return this.#open.get(address) ?? 0;
  }

  /** The end of a pod: connections to it are refused, and those it has are cut. */
  stopPod(address: string, port: number): void {
    const server = this.#pods.get(`${address}:${port}`);
    server?.close();
    server?.closeAllConnections();
  }

  /** Where an address of the cloud is on this machine. */
  async place(address: string, port: number): Promise<{ host: string; port: number }> {
    const rows = (await this.#world.simulator.dataPath?.listeners()) ?? [];
    const [host = "", local] = (rows.find((row) => row.address === address && row.port === port)?.at ?? "").split(":");
    return { host, port: Number(local) };
  }

  async get(address: string, { host, path = "/", method = "GET", ca, headers = {} }: PacketRequest): Promise<Got> {
    const at = await this.place(address, ca === undefined ? 80 : 443);
    return new Promise((done, failed) => {
      const options = { ...at, path, method, agent: false, headers: { host, ...headers }, servername: host };
      const asked = ca === undefined ? requestOf(options) : secureRequest({ ...options, ca });
      asked.on("error", failed);
      asked.on("response", (response) => {
        const got = (text: string): Got => ({ status: response.statusCode ?? 0, text, headers: response.headers });
        done(textOf(response).then(got));
      });
      asked.end();
    });
  }

  /** What a client gets: the member's name, or the status. */
  async seen(address: string, asking: PacketRequest): Promise<string> {
    const { status, text } = await this.get(address, asking);
    return status === 200 ? text : String(status);
  }

  close(): void {
    for (const server of this.#servers) server.close();
  }
}
