import { Agent, request, type RequestOptions } from "node:https";
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { KeyPair } from "@causeway/foundation";
import type { Extension } from "../contract/aggregation.ts";
import type { ClusterView } from "../contract/resource.ts";
import type { User } from "../contract/user.ts";
import { dialBy, type Dial } from "../webhooks/connections.ts";
import { resolveService } from "../webhooks/services.ts";

/** Pools of connections that are kept; the oldest is closed for another one. */
const AGENTS = 32;
const IDLE = 60_000;
/** Connections to one server at a time. */
const SOCKETS = 256;

interface Sent {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: OutgoingHttpHeaders;
  readonly user: User;
  readonly signal: AbortSignal;
}

/** Connections to extension servers, with the certificate of the front proxy, by which they believe who the user is. */
export class Transport {
  readonly #agents = new Map<string, Agent>();
  readonly #cluster: Pick<ClusterView, "name" | "store">;
  readonly #dial: Dial | undefined;

  constructor(cluster: Pick<ClusterView, "name" | "store">, dial: Dial | undefined) {
    this.#cluster = cluster;
    this.#dial = dial;
  }

  /** Begins a request; its body is the caller's to write. Throws what is wrong with the Service. */
  begin(extension: Extension, client: KeyPair, { method, url, headers, user, signal }: Sent): ClientRequest {
    const { service } = extension;
    const { host, port } = resolveService(this.#cluster, service);
    const servername = `${service.name}.${service.namespace}.svc`;
    const options: RequestOptions = {
      agent: this.#agent(extension, client),
      method,
      host,
      port,
      path: url,
      servername,
      headers: { ...headers, host: servername, ...identityHeaders(user) },
      signal,
    };
    return request(options);
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  /** One pool for each authority and Service: what one bundle trusts is not used for another. */
  #agent({ authority, insecure, service }: Extension, { certificate, key }: KeyPair): Agent {
    const id = JSON.stringify([authority, insecure, service, certificate]);
    const known = this.#agents.get(id);
    if (known) return known;
    const [oldest] = this.#agents.keys();
    if (oldest !== undefined && this.#agents.size >= AGENTS) {
      this.#agents.get(oldest)?.destroy();
      this.#agents.delete(oldest);
    }
    const trusted = authority === undefined ? {} : { ca: authority, allowPartialTrustChain: true };
    const agent = new Agent({
      keepAlive: true,
      timeout: IDLE,
      maxSockets: SOCKETS,
      maxFreeSockets: 8,
      cert: certificate,
      key,
      rejectUnauthorized: !insecure,
      ...trusted,
    });
    if (this.#dial) dialBy(agent, this.#dial);
    this.#agents.set(id, agent);
    return agent;
  }
}

/** Source: client-go, transport.SetAuthProxyHeaders. */
function identityHeaders({ name, uid, groups, extra = {} }: User): OutgoingHttpHeaders {
  const extras = Object.entries(extra).map(([key, values]) => [`x-remote-extra-${escaped(key)}`, [...values]]);
  return {
    "x-remote-user": headerText(name),
    ...(uid === undefined ? {} : { "x-remote-uid": headerText(uid) }),
    "x-remote-group": groups.map(headerText),
    ...(Object.fromEntries(extras) as OutgoingHttpHeaders),
  };
}

/** A header holds bytes: other characters are written as Go writes them, in UTF-8. */
function headerText(value: string): string {
  return Buffer.from(value.replaceAll(/[\r\n\0]/g, ""), "utf8").toString("latin1");
}

/** Characters that no header's name may have are percent-encoded. */
function escaped(key: string): string {
  return [...Buffer.from(key.toLowerCase())]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[a-z0-9!#$&'*+.^_`|~-]/.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}

/** The body as text. Throws beyond `limit` bytes. */
export async function bodyOf(response: IncomingMessage, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      response.destroy();
      throw new Error(`the response is longer than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
