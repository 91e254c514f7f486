import { channel } from "node:diagnostics_channel";
import { connect as connectSession, constants, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { isIP } from "node:net";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import type { Readable } from "node:stream";
import { unlessAborted } from "@causeway/foundation";

/** The head of a response, and its body as it comes. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
  /** Once the body has ended: it ended too early. Undefined: such a body ends with an error. */
  readonly isCut?: () => boolean;
}

/** A request without a body. */
export interface StreamRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** The server and the TLS options of all connections to it. */
export interface StreamsOptions {
  readonly origin: string;
  readonly tls: Readonly<Record<string, unknown>>;
  /** Milliseconds for the connection with its handshake, and for the head of a response. */
  readonly connectTimeout: number;
  readonly headersTimeout: number;
  /**
   * Milliseconds: a connection that was silent for so long is probed when it is used again, and has as long to respond.
   * Default 15 seconds.
   */
  readonly silence?: number;
}

/** What one stream may have unread: its reader is slow, or does not read at all. */
const STREAM_WINDOW = 256 * 1024;
/** Of the whole connection: so many streams must be unread before the others have to wait for them. */
const UNREAD_STREAMS = 64;
const SILENCE = 15_000;

/** Milliseconds without a byte after which the operating system probes a connection. */
const KEEP_ALIVE = 30_000;

/** What watches a process' requests, such as a test's clock, hears when one begins and ends. */
const begun = channel("causeway:stream:begin");
const ended = channel("causeway:stream:end");

/**
 * GET requests over HTTP/2: all on one connection, which takes a quarter of the memory and a sixth of the processor
 * time of a connection for each. A server without HTTP/2 gets none of them: its requests are the caller's.
 */
export class Streams {
  readonly #options: StreamsOptions;
  #session: Promise<Session | undefined> | undefined;
  readonly #open = new Set<Session>();
  #isClosed = false;

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  /** There is a connection that takes requests. */
  get isOpen(): boolean {
    return [...this.#open].some((session) => session.isUsable);
  }

  /**
   * Undefined: the server does not speak HTTP/2, or not for another stream. Rejects when it cannot be reached, with the
   * signal's reason, and when the response does not begin in time.
   */
  async request(request: StreamRequest): Promise<Answer | undefined> {
    const session = await unlessAborted(this.#current(), request.signal);
    // A signal that aborts between the two would not be heard by the stream.
    request.signal?.throwIfAborted();
    return session?.isFull === false ? session.request(request) : undefined;
  }

  /** Lets the streams of today end; there are no new ones. */
  close(): void {
    this.#isClosed = true;
    for (const session of this.#open) session.close();
  }

  destroy(): void {
    this.#isClosed = true;
    for (const session of this.#open) session.destroy();
  }

  /** Undefined: the server does not choose HTTP/2. It is not tried again by this object. */
  async #current(): Promise<Session | undefined> {
    if (!this.#options.origin.startsWith("https:")) return undefined;
    const known = this.#session;
    const session = await known;
    if (known !== undefined && (session === undefined || session.isUsable)) return session;
    if (this.#session === known) {
      const opening = this.#begin();
      this.#session = opening;
      opening.catch(() => {
        if (this.#session === opening) this.#session = undefined;
      });
    }
    return this.#session;
  }

  async #begin(): Promise<Session | undefined> {
    const socket = await this.#connect();
    if (socket.alpnProtocol !== "h2") {
      socket.destroy();
      return undefined;
    }
    const session = new Session(this.#options, socket);
    this.#open.add(session);
    session.onClosed(() => this.#open.delete(session));
    if (this.#isClosed) session.destroy();
    await session.ready;
    return session;
  }

  #connect(): Promise<TLSSocket> {
    const { origin, tls, connectTimeout } = this.#options;
    const { hostname, port } = new URL(origin);
    return new Promise((resolve, reject) => {
      const host = hostname.replace(/^\[(.*)\]$/, "$1");
      const options: ConnectionOptions = {
        host,
        port: port === "" ? 443 : Number(port),
        ALPNProtocols: ["h2", "http/1.1"],
        ...(isIP(host) === 0 ? { servername: host } : {}),
        // Has a getter, which throws what is wrong with a certificate.
        ...tls,
      };
      const socket = connectTls(options).setKeepAlive(true, KEEP_ALIVE);
      const timer = setTimeout(
        () => socket.destroy(new Error(`no connection within ${connectTimeout / 1000} s`)),
        connectTimeout,
      );
      const failed = (error: Error): void => {
        clearTimeout(timer);
        reject(error);
      };
      const closed = (): void => failed(new Error("the server ended the connection before it was made"));
      socket.once("error", failed);
      socket.once("close", closed);
      socket.once("secureConnect", () => {
        clearTimeout(timer);
        socket.off("error", failed);
        socket.off("close", closed);
        socket.on("error", ignore);
        resolve(socket);
      });
    });
  }
}

/** One connection. It does not keep the process running while no request is under way. */
class Session {
  /** Resolves once the server has said how many streams it accepts; rejects when it does not. */
  readonly ready: Promise<void>;
  readonly #http2: ClientHttp2Session;
  readonly #options: StreamsOptions;
  #count = 0;
  #heardAt = performance.now();
  #probe: NodeJS.Timeout | undefined;

  constructor(options: StreamsOptions, socket: TLSSocket) {
    this.#options = options;
    const { origin, connectTimeout } = options;
    const http2 = connectSession(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
    });
    this.#http2 = http2;
    http2.on("connect", () => {
      // Comes for one that was closed meanwhile, too.
      if (!http2.destroyed) http2.setLocalWindowSize(STREAM_WINDOW * UNREAD_STREAMS);
    });
    http2.on("error", ignore);
    http2.once("close", () => clearTimeout(this.#probe));
    this.ready = new Promise((resolve, reject) => {
      const late = new Error(`no HTTP/2 settings within ${connectTimeout / 1000} s`);
      const timer = setTimeout(() => http2.destroy(late), connectTimeout);
      http2.once("error", reject);
      http2.once("close", () => {
        clearTimeout(timer);
        reject(new Error("the server ended the connection before its settings"));
      });
      http2.once("remoteSettings", () => {
        clearTimeout(timer);
        if (this.#count === 0) http2.unref();
        resolve();
      });
    });
  }

  /** It has not ended, and the server has not said that it is going to end it. */
  get isUsable(): boolean {
    return !this.#http2.closed && !this.#http2.destroyed;
  }

  /** It has as many streams as the server accepts. */
  get isFull(): boolean {
    return this.#count >= (this.#http2.remoteSettings?.maxConcurrentStreams ?? Infinity);
  }

  onClosed(listener: () => void): void {
    this.#http2.once("close", listener);
  }

  close(): void {
    this.#http2.close();
  }

  destroy(): void {
    this.#http2.destroy();
  }

  request({ path, headers, signal }: StreamRequest): Promise<Answer> {
    this.#probeIfSilent();
    const stream = this.#http2.request({ ":method": "GET", ":path": path, ...headers }, { endStream: true });
    this.#count += 1;
    if (this.#count === 1) this.#http2.ref();
    if (begun.hasSubscribers) begun.publish({ request: stream });
    // The reader may begin later than the stream breaks.
    stream.on("error", ignore);
    const abort = (): void => {
      stream.close(constants.NGHTTP2_CANCEL);
      stream.destroy(signal?.reason as Error);
    };
    signal?.addEventListener("abort", abort, { once: true });
    stream.once("close", () => {
      signal?.removeEventListener("abort", abort);
      this.#count -= 1;
      if (this.#count === 0) this.#http2.unref();
      if (ended.hasSubscribers) ended.publish({ request: stream });
    });
    return this.#answerOf(stream);
  }

  #answerOf(stream: ClientHttp2Stream): Promise<Answer> {
    const { headersTimeout } = this.#options;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const error = new Error(`no response within ${headersTimeout / 1000} s`);
        stream.destroy(error);
        // Whatever the reason is, the next request does not wait for it.
        this.#http2.close();
      }, headersTimeout);
      const failed = (error?: Error): void => {
        clearTimeout(timer);
        reject(error ?? new Error("the server ended the stream before it responded"));
      };
      stream.once("error", failed);
      stream.once("close", failed);
      stream.once("response", (head) => {
        clearTimeout(timer);
        this.#heardAt = performance.now();
        stream.off("close", failed);
        stream.off("error", failed);
        const { ":status": status = 0, ...headers } = head;
        // Node ends the body of a stream that was reset, or lost its connection, as if it were whole.
        const isCut = (): boolean => stream.rstCode !== constants.NGHTTP2_NO_ERROR;
        resolve({ statusCode: status, headers, body: stream, isCut });
      });
    });
  }

  /** A peer that is gone without a word leaves a connection on which requests would wait for their time limits. */
  #probeIfSilent(): void {
    const { silence = SILENCE } = this.#options;
    if (this.#probe !== undefined || performance.now() - this.#heardAt < silence) return;
    this.#probe = setTimeout(() => this.#http2.destroy(new Error("the server does not respond")), silence).unref();
    this.#http2.ping(() => {
      clearTimeout(this.#probe);
      this.#probe = undefined;
      this.#heardAt = performance.now();
    });
  }
}

const ignore = (): void => {};
