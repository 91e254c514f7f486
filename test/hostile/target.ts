/**
 * The tenant that is attacked from within, and the raw requests that attacks are made of. Runs in the attacker's
 * process.
 */
import { request, Agent, type RequestOptions } from "node:https";
import type { Socket } from "node:net";

/** The API of one tenant, and the identities that its hostile users have. */
export interface Place {
  readonly host: string;
  readonly port: number;
  /** PEM. */
  readonly authority: string;
  /** The tenant's own administrator: all rights, in this tenant alone. */
  readonly admin: { readonly cert: string; readonly key: string };
  /** Bearer tokens: an account without rights; one that may only get and patch the ConfigMap default/victim. */
  readonly tokens: { readonly powerless: string; readonly patcher: string };
}

export interface TestRequest {
  readonly method?: string;
  readonly path: string;
  readonly body?: string | Buffer;
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the administrator. */
  readonly as?: "admin" | "powerless" | "patcher" | "anonymous";
  /** Leaves the response unread after its head. */
  readonly unread?: boolean;
}

export interface Received {
  readonly status: number;
  readonly bytes: number;
  /** The first 2,000 characters. */
  readonly start: string;
}

/**
 * An attack's view of its target: requests end with the signal, and what goes wrong with one is its outcome, not an
 * exception.
 */
export class Target {
  readonly place: Place;
  readonly signal: AbortSignal;
  readonly #agents = new Map<string, Agent>();
  /** How many requests ended with each status; 0: no response came. */
  readonly statuses = new Map<number, number>();
  /** Connections that were opened in addition to those of requests. */
  connections = 0;

  constructor(place: Place, signal: AbortSignal) {
    this.place = place;
    this.signal = signal;
  }

  /**
   * Sends one request. The outcome has status 0 when the connection ended, or the attack's time was over, before a
   * response came.
   */
  async send(sending: TestRequest): Promise<Received> {
    const nothing = { status: 0, bytes: 0, start: "" };
    if (this.signal.aborted) return nothing;
    const received = await this.#exchange(sending, nothing);
    this.statuses.set(received.status, (this.statuses.get(received.status) ?? 0) + 1);
    return received;
  }

  #exchange(sending: TestRequest, nothing: Received): Promise<Received> {
    return new Promise((done) => {
      const call = request(this.#options(sending), (response) => {
        const status = response.statusCode ?? 0;
        if (sending.unread === true) {
          response.pause();
          response.on("error", () => {});
          done({ status, bytes: 0, start: "" });
          return;
        }
        let bytes = 0;
        let start = "";
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (start.length < 2000) start += chunk.toString("utf8", 0, 2000 - start.length);
        });
        response.on("error", () => done({ status, bytes, start }));
        response.on("close", () => done({ status, bytes, start }));
      });
      call.on("error", () => done(nothing));
      call.end(sending.body);
    });
  }

  /** `count` times the same or a numbered request, `width` at once. */
  async repeat(count: number, width: number, sending: (n: number) => TestRequest): Promise<readonly Received[]> {
    const all: Received[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < count && !this.signal.aborted) all.push(await this.send(sending(next++)));
    };
    await Promise.all(Array.from({ length: width }, lane));
    return all;
  }

  /** Sends an object as JSON to a collection of namespace default, or of the cluster. */
  create(path: string, object: unknown, query = ""): Promise<Received> {
    return this.send({
      method: "POST",
      path: `${path}${query}`,
      body: JSON.stringify(object),
      type: "application/json",
    });
  }

  /** Waits until the attack's time is over. */
  rest(): Promise<void> {
    if (this.signal.aborted) return Promise.resolve();
    return new Promise((done) => this.signal.addEventListener("abort", () => done(), { once: true }));
  }

  /** Keeps a socket from failing the process, and ends it with the attack. */
  hold<T extends Socket>(socket: T): T {
    this.connections += 1;
    socket.on("error", () => {});
    this.signal.addEventListener("abort", () => socket.destroy(), { once: true });
    return socket;
  }

  #options({ method = "GET", path, type, accept, headers = {}, as = "admin" }: TestRequest): RequestOptions {
    const { host, port, authority: ca, admin, tokens } = this.place;
    const token = as === "powerless" || as === "patcher" ? { authorization: `Bearer ${tokens[as]}` } : {};
    const agent =
      this.#agents.get(as) ?? new Agent({ keepAlive: true, maxSockets: 400, ca, ...(as === "admin" ? admin : {}) });
    this.#agents.set(as, agent);
    return {
      host,
      port,
      method,
      path,
      agent,
      ca,
      signal: this.signal,
      headers: {
        ...token,
        ...(type === undefined ? {} : { "content-type": type }),
        ...(accept === undefined ? {} : { accept }),
        ...headers,
      },
    };
  }
}

export interface Attack {
  /** A sentence of its own: "an account without rights sends …". */
  readonly title: string;
  /** Milliseconds after which what is still under way is given up. Default 1,500. */
  readonly lasts?: number;
  /** Attacks as hard as it can until the target's signal aborts, or until it has nothing more to send. */
  run(target: Target): Promise<unknown>;
}

export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
export const JSON_PATCH = "application/json-patch+json";
export const MERGE_PATCH = "application/merge-patch+json";
export const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
export const APPLY = "application/apply-patch+yaml";
export const YAML = "application/yaml";

/** A ConfigMap as JSON text would have it. */
export const configMap = (name: string, data: Readonly<Record<string, string>> = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data,
});

/** The numbers from 0 up. */
export const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
