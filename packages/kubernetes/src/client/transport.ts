import { isIPv4 } from "node:net";
import {
  CausewayError,
  LimitExceeded,
  parseBoundedJson,
  readBeginning,
  readBounded,
  readLines,
  systemClock,
  type Clock,
  type Metrics,
} from "@causeway/foundation";
import { Agent, type Dispatcher } from "undici";
import type { ClusterConfig } from "../config/interface.ts";
import { forgetRawHeaders, tlsOptions } from "./connect.ts";
import { credentialSource, type Credentials, type CredentialSource } from "./credentials.ts";
import { refused, tooLarge, unreachable, type RequestFacts } from "./errors.ts";
import { requestMeasures, type RequestMeasures } from "./measures.ts";
import { Streams, type Answer } from "./streams.ts";

/** One HTTP request to an API server. */
export interface TransportRequest {
  readonly method: string;
  /** Below the server's base URL, query included. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  /** Default: application/json. */
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
  /** True for a stream that may remain silent. */
  readonly watch?: boolean;
}

/** What a request shows about the server's health. */
export type ClientOutcome = "responded" | "unauthorized" | "unreachable";

/** The clock, timeouts and limits of a client. */
export interface ClientOptions {
  /** For the waits that the server asks for. */
  readonly clock?: Clock;
  readonly userAgent?: string;
  /** Where requests are measured, under client-go's names. */
  readonly metrics?: Metrics;
  /** Milliseconds in which the whole of an answer comes once it has begun, however slowly. Default five minutes. */
  readonly readTimeout?: number;
  /** Bytes of a response at most: of a server that is not trusted with more. Default 64 MiB, of an error 1 MiB. */
  readonly largestResponse?: number;
  /** Responses are texts, of which only such lines are kept: those of a server that may send more than is needed. */
  readonly keepLine?: (line: string) => boolean;
  /** Called after every request; must not throw. */
  readonly onOutcome?: (outcome: ClientOutcome, path: string) => void;
  /** Called with 1 when a watch opens and with -1 when it ends. */
  readonly onWatch?: (change: 1 | -1) => void;
}

/** Webhooks may take 30 s of a request's 60 s (kube-apiserver --request-timeout). */
const ANSWER_TIMEOUT = 65_000;
const READ_TIMEOUT = 300_000;
const LARGEST_ANSWER = 64 * 1024 * 1024;
const LARGEST_ERROR = 1024 * 1024;
/** As client-go's decoder. */
const DEEPEST = 10_000;
const CONNECT_TIMEOUT = 10_000;
const CONNECTIONS = 8;
const MAX_RETRIES = 5;
const MAX_RETRY_WAIT = 30_000;

interface Connection {
  readonly credentials: Credentials;
  readonly calls: Agent;
  /** Connections of `calls` that are open. */
  callsOpen: number;
  /** Watches where the server speaks HTTP/2. */
  readonly streams: Streams;
  /** Watches where it does not. */
  readonly watches: Dispatcher;
}

/** Authenticated HTTP to one API server: the pools, the credentials, and the retries that are always right. */
export class Transport {
  readonly server: string;
  readonly #config: ClusterConfig;
  readonly #origin: string;
  readonly #base: string;
  readonly #clock: Clock;
  readonly #options: ClientOptions;
  readonly #credentials: CredentialSource;
  readonly #measures: RequestMeasures;
  #connection: Connection | undefined;
  #closed = false;

  constructor(config: ClusterConfig, options: ClientOptions = {}) {
    const url = serverUrl(config);
    this.#config = config;
    this.#options = options;
    this.#origin = url.origin;
    this.#base = url.pathname.replace(/\/+$/, "");
    this.#clock = options.clock ?? systemClock;
    this.#credentials = credentialSource(config, this.#clock);
    this.#measures = requestMeasures(options.metrics, { clock: this.#clock, host: url.host });
    this.server = this.#origin + this.#base;
  }

  /** The answer to a request that the server accepted; everything else is thrown. */
  async send(request: TransportRequest): Promise<Answer> {
    let refreshed = false;
    for (let attempt = 0; ; attempt++) {
      const ended = this.#measures.begin(request);
      const answer = await this.#once(request, attempt).catch((error: unknown) => {
        ended("<error>");
        throw error;
      });
      ended(answer?.statusCode ?? "<error>");
      if (answer === undefined) {
        this.#measures.retried(request, "<error>");
        continue;
      }
      if (answer.statusCode < 400) {
        this.#report("responded", request);
        return answer;
      }
      const error = await this.#refusal(answer, request);
      if (answer.statusCode === 401 && !refreshed && this.#credentials.refresh()) {
        refreshed = true;
        this.#measures.retried(request, 401);
        continue;
      }
      this.#report(answer.statusCode === 401 ? "unauthorized" : "responded", request);
      const wait = attempt < MAX_RETRIES ? retryWait(answer, request, this.#clock.now()) : undefined;
      if (wait === undefined) throw error;
      this.#measures.retried(request, answer.statusCode);
      await this.#clock.sleep(wait, request.signal);
    }
  }

  /**
   * The answer's body and its size in bytes. One that is too large or too slow is thrown as KUBERNETES_ANSWER_TOO_LARGE
   * or KUBERNETES_UNREACHABLE.
   */
  async read(answer: Answer, request: TransportRequest): Promise<{ body: unknown; size: number }> {
    try {
      const { keepLine, largestResponse = LARGEST_ANSWER } = this.#options;
      if (keepLine !== undefined) {
        const kept = await this.#inTime(answer, readLines(answer.body, largestResponse, keepLine));
        refuseCut(answer);
        const body = kept.join("\n");
        return { body, size: body.length };
      }
      const bytes = await this.#inTime(answer, readBounded(answer.body, largestResponse));
      refuseCut(answer);
      return { body: bytes.length === 0 ? undefined : parseIfJson(bytes.toString("utf8")), size: bytes.length };
    } catch (error) {
      throw this.broken(error, request);
    }
  }

  /** What a broken answer stream is to the caller: the abort that it requested, or an unreachable server. */
  broken(error: unknown, request: TransportRequest): unknown {
    if (request.signal?.aborted) return request.signal.reason;
    if (error instanceof CausewayError) return error;
    if (error instanceof LimitExceeded) return tooLarge(error, this.#facts(request));
    this.#report("unreachable", request);
    return unreachable(error, this.#facts(request));
  }

  watchChanged(change: 1 | -1): void {
    this.#options.onWatch?.(change);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.streams.destroy();
    if (connection) await Promise.all([connection.calls.destroy(), connection.watches.destroy()]);
  }

  /** Undefined: the connection broke under a read that is safe to repeat at once. */
  async #once(request: TransportRequest, attempt: number): Promise<Answer | undefined> {
    request.signal?.throwIfAborted();
    const credentials = await this.#credentials.current(request.signal);
    const connection = this.#connect(credentials);
    const path = this.#base + request.path;
    const headers = this.#headers(request, credentials);
    try {
      if (request.watch || isRareRead(request, connection)) {
        const answer = await connection.streams.request({ path, headers, signal: request.signal });
        if (answer) return answer;
      }
      return await (request.watch ? connection.watches : connection.calls).request({
        origin: this.#origin,
        path,
        method: request.method,
        headers,
        headersTimeout: ANSWER_TIMEOUT,
        bodyTimeout: request.watch ? 0 : ANSWER_TIMEOUT,
        ...(request.body === undefined ? {} : { body: request.body }),
        ...(request.signal ? { signal: request.signal } : {}),
      });
    } catch (error) {
      if (attempt === 0 && request.method === "GET" && isStaleConnection(error) && !request.signal?.aborted) {
        return undefined;
      }
      throw this.broken(error, request);
    }
  }

  #headers(request: TransportRequest, credentials: Credentials): Record<string, string> {
    return {
      accept: request.accept ?? "application/json",
      "user-agent": this.#options.userAgent ?? "causeway",
      ...(request.body === undefined ? {} : { "content-type": request.contentType ?? "application/json" }),
      ...(credentials.token === undefined ? {} : { authorization: `Bearer ${credentials.token}` }),
    };
  }

  #connect(credentials: Credentials): Connection {
    if (this.#closed) {
      throw new CausewayError("KUBERNETES_CLIENT_CLOSED", `the client of ${this.server} is closed`);
    }
    const current = this.#connection;
    if (
      current &&
      current.credentials.certificate === credentials.certificate &&
      current.credentials.key === credentials.key
    ) {
      return current;
    }
    const connect = tlsOptions(this.#config, credentials);
    // Calls over HTTP/1.1, which takes two thirds of the processor time of HTTP/2 for them.
    const shared = { allowH2: false, pipelining: 1, connectTimeout: CONNECT_TIMEOUT, connect };
    const calls = new Agent({ ...shared, connections: CONNECTIONS, keepAliveTimeout: 30_000 });
    const connection: Connection = {
      credentials,
      calls,
      callsOpen: 0,
      streams: new Streams({
        origin: this.#origin,
        tls: connect,
        connectTimeout: CONNECT_TIMEOUT,
        headersTimeout: ANSWER_TIMEOUT,
      }),
      watches: new Agent({ ...shared, keepAliveTimeout: 1_000 }).compose(forgetRawHeaders),
    };
    calls.on("connect", () => (connection.callsOpen += 1));
    calls.on("disconnect", () => (connection.callsOpen -= 1));
    this.#connection = connection;
    current?.streams.close();
    if (current) void Promise.all([current.calls.close(), current.watches.close()]);
    return connection;
  }

  async #refusal(answer: Answer, request: TransportRequest): Promise<CausewayError> {
    let body: unknown;
    try {
      const limit = Math.min(LARGEST_ERROR, this.#options.largestResponse ?? LARGEST_ERROR);
      body = parseIfJson((await this.#inTime(answer, readBeginning(answer.body, limit))).toString("utf8"));
    } catch (error) {
      throw this.broken(error, request);
    }
    return refused(answer.statusCode, body, this.#facts(request));
  }

  /** Reads a body, which breaks when it does not end in time: over HTTP/2 there is no other limit for a silent one. */
  async #inTime<T>(answer: Answer, reading: Promise<T>): Promise<T> {
    const { readTimeout = READ_TIMEOUT } = this.#options;
    const late = (): void =>
      void answer.body.destroy(new Error(`the answer did not end within ${readTimeout / 1000} s`));
    const timer = setTimeout(late, readTimeout);
    try {
      return await reading;
    } finally {
      clearTimeout(timer);
    }
  }

  #facts(request: TransportRequest): RequestFacts {
    return { method: request.method, path: request.path, server: this.server };
  }

  #report(outcome: ClientOutcome, request: TransportRequest): void {
    this.#options.onOutcome?.(outcome, request.path);
  }
}

/** Throws for a body that ended too early. */
export function refuseCut(answer: Answer): void {
  if (answer.isCut?.() === true) throw new Error("the answer was cut off");
}

/** A read that would need a connection of its own, and may use that of watches. */
function isRareRead({ method, body }: TransportRequest, { callsOpen, streams }: Connection): boolean {
  return method === "GET" && body === undefined && callsOpen === 0 && streams.isOpen;
}

/** JSON where the text is JSON, else the text. */
export function parseIfJson(text: string): unknown {
  try {
    return parseBoundedJson(text, DEEPEST);
  } catch (error) {
    if (error instanceof LimitExceeded) throw error;
    return text;
  }
}

function serverUrl(config: ClusterConfig): URL {
  const url = URL.parse(config.server);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new CausewayError("KUBERNETES_SERVER_URL", `"${config.server}" is not the URL of an API server`, {
      hint: "Specify an address such as https://10.0.0.1:6443.",
    });
  }
  const local =
    url.hostname === "localhost" ||
    url.hostname === "[::1]" ||
    (isIPv4(url.hostname) && url.hostname.startsWith("127."));
  if (url.protocol === "http:" && !local) {
    throw new CausewayError("KUBERNETES_PLAINTEXT", `${url.origin} would carry credentials and secrets unencrypted`, {
      hint: "Use https://; http:// is only for the loopback address.",
    });
  }
  return url;
}

/** The server closed an idle connection just as it was used again. */
function isStaleConnection(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (typeof code === "string" && code.startsWith("ERR_HTTP2_")) return true;
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE";
}

/**
 * How long the server asks to wait, if a retry is safe: a 429 was not acted on; after a 503 only
 * requests whose repetition changes nothing.
 */
function retryWait(answer: Answer, request: TransportRequest, now: number): number | undefined {
  const safe = request.method !== "POST" && request.contentType !== "application/json-patch+json";
  if (answer.statusCode !== 429 && !(answer.statusCode === 503 && safe)) return undefined;
  const header = answer.headers["retry-after"];
  if (typeof header !== "string") return undefined;
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), MAX_RETRY_WAIT);
}
