import { Agent, request } from "node:https";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { callbackify } from "node:util";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { refuseOddResponses } from "@causeway/foundation";

/** What a webhook may answer at most, unless the call says less. */
const LIMIT = 32 * 1024 * 1024;
const IDLE = 90_000;
/** Of making a connection (ms). */
const DIALLED = 30_000;
/** More authorities than this at once are not kept. */
const AUTHORITIES = 64;

interface Post {
  readonly target: URL;
  /** Where to connect to when that is not the target's own host. */
  readonly address: { readonly host: string; readonly port: number } | undefined;
  readonly ca: string | undefined;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly limit?: number | undefined;
}

interface Answer {
  readonly code: number;
  readonly text: string;
}

/**
 * Kept HTTPS connections, one pool per authority: what one caBundle vouches for is not called with another. HTTP/1.1,
 * as kube-apiserver's.
 */
export class Connections {
  readonly #agents = new Map<string, Agent>();
  readonly #dial: Dial | undefined;

  /** `dial` makes the connections; default: from here. */
  constructor(dial?: Dial) {
    this.#dial = dial;
  }

  async post({ target, address, ca, body, signal, limit }: Post): Promise<Answer> {
    const agent = this.#agent(ca ?? "");
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(
        {
          method: "POST",
          agent,
          host: address?.host ?? target.hostname.replace(/^\[(.*)\]$/, "$1"),
          port: address?.port ?? (target.port || 443),
          path: target.pathname + target.search,
          ...(address ? { servername: target.hostname } : {}),
          headers: {
            host: target.host,
            "content-type": "application/json",
            accept: "application/json, */*",
            "content-length": Buffer.byteLength(body),
            "user-agent": "causeway-apiserver",
          },
          signal,
        },
        resolve,
      );
      sent.on("error", reject);
      refuseOddResponses(sent, reject);
      sent.end(body);
    });
    return { code: response.statusCode ?? 0, text: await textOf(response, limit ?? LIMIT) };
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  #agent(ca: string): Agent {
    const known = this.#agents.get(ca);
    if (known) return known;
    const [oldest] = this.#agents.keys();
    if (oldest !== undefined && this.#agents.size >= AUTHORITIES) {
      this.#agents.get(oldest)?.destroy();
      this.#agents.delete(oldest);
    }
    // A certificate of the bundle is trusted itself, whatever its issuer, as in Go: it may be the server's own.
    const trusted = ca === "" ? {} : { ca, allowPartialTrustChain: true };
    const agent = new Agent({ keepAlive: true, timeout: IDLE, ...trusted });
    if (this.#dial) dialBy(agent, this.#dial);
    this.#agents.set(ca, agent);
    return agent;
  }
}

/** Makes a TCP connection, or throws. */
export type Dial = (target: { readonly host: string; readonly port: number }, signal: AbortSignal) => Promise<Socket>;

/** Has an HTTPS agent open its TCP connections by `dial`, within 30 s each, and speak TLS over them. */
export function dialBy(agent: Agent, dial: Dial): void {
  const connected = callbackify(async (options: ConnectionOptions) => {
    const { host, port } = options;
    const socket = await dial({ host: host ?? "", port: Number(port) }, AbortSignal.timeout(DIALLED));
    const secured: ConnectionOptions = { ...options, socket };
    delete secured.path;
    return connectTls(secured);
  });
  agent.createConnection = (options, done) => {
    connected(options as ConnectionOptions, (error, socket) => done?.(error, socket));
    return undefined;
  };
}

async function textOf(response: IncomingMessage, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      response.destroy();
      throw new Error(`the answer is longer than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
