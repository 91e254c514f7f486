import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the scripted server saw it. */
export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  /** Parsed JSON; undefined when there was no body. */
  readonly body: unknown;
}

export type Answer = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

/** An HTTP server on loopback that answers as the test says, and remembers what was requested. */
export class ScriptedServer {
  readonly requests: SeenRequest[] = [];
  /** Answers what the test has no answer for. */
  answer: Answer;
  readonly #server: Server;

  private constructor(answer: Answer) {
    this.answer = answer;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(answer: Answer): Promise<ScriptedServer> {
    const server = new ScriptedServer(answer);
    await server.listen(0);
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? "/", "http://server");
    const text = Buffer.concat(chunks).toString("utf8");
    const seen: SeenRequest = {
      method: request.method ?? "GET",
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: text === "" ? undefined : (JSON.parse(text) as unknown),
    };
    this.requests.push(seen);
    await this.answer(seen, response);
  }
}

/** Answers with JSON. */
export function json(response: ServerResponse, body: unknown, code = 200): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Answers with a Status, as a kube-apiserver refuses. */
export function refuse(response: ServerResponse, code: number, reason: string, message = reason): void {
  json(response, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code }, code);
}

/** Opens a watch: headers at once, events as they come. */
export function openWatch(response: ServerResponse): (type: string, object: unknown) => void {
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  return (type, object) => void response.write(`${JSON.stringify({ type, object })}\n`);
}

/** A list of a built-in kind: its items carry no kind, as on the wire. */
export function listOf(kind: string, resourceVersion: string, items: readonly object[]): object {
  return { kind: `${kind}List`, apiVersion: "v1", metadata: { resourceVersion }, items };
}
