import { alerts, type Alert } from "./alert.ts";
import { HelloReader } from "./client-hello.ts";
import { readProxyHeader } from "./proxy-header.ts";

/** What may come before the TLS of a connection, and how much of it is read. */
export interface PrefaceOptions {
  /** The peer is a load balancer whose PROXY header says who the client is. */
  readonly trusted: boolean;
  /** Bytes of the ClientHello at most. */
  readonly helloLimit: number;
}

/** Who a connection is for. */
export type Preface =
  | { readonly type: "more" }
  | {
      readonly type: "route";
      readonly serverName: string | undefined;
      /** The client's address, if a trusted load balancer says it. */
      readonly source: string | undefined;
      /** All bytes so far that the API server is to get. */
      readonly bytes: Buffer;
    }
  | { readonly type: "invalid"; readonly alert: Alert; readonly reason: string };

/**
 * Reads a connection's beginning: at most one PROXY header of a trusted load balancer, at most one of a node's proxy,
 * and the ClientHello. The authority of a header goes before the server name, which is the same in every cluster
 * (kubernetes.default.svc) or missing behind a node's proxy. It chooses what a server name could choose, and nothing
 * more: addresses in the header of an untrusted peer are ignored.
 */
export class PrefaceReader {
  readonly #trusted: boolean;
  readonly #hello: HelloReader;
  /** Bytes that are not read, or that belong to the ClientHello. */
  #bytes = Buffer.alloc(0);
  #length = 0;
  #headers: number;
  #source: string | undefined;
  #authority: string | undefined;

  constructor({ trusted, helloLimit }: PrefaceOptions) {
    this.#trusted = trusted;
    this.#hello = new HelloReader(helloLimit);
    this.#headers = trusted ? 2 : 1;
  }

  /** The client's address, once a trusted load balancer has said it. */
  get source(): string | undefined {
    return this.#source;
  }

  push(chunk: Buffer): Preface {
    this.#append(chunk);
    let fresh = chunk;
    while (this.#headers > 0) {
      const bytes = this.#bytes.subarray(0, this.#length);
      const header = readProxyHeader(bytes);
      if (header.type === "more") return header;
      if (header.type === "invalid")
        return { ...header, alert: alerts.decodeError, reason: `PROXY header: ${header.reason}` };
      // All bytes so far belong to the ClientHello.
      if (header.type === "none") {
        this.#headers = 0;
        fresh = bytes;
        break;
      }
      if (this.#trusted) this.#source ??= header.source;
      this.#authority = header.authority ?? this.#authority;
      this.#headers -= 1;
      this.#length -= header.length;
      this.#bytes = Buffer.from(bytes.subarray(header.length));
      fresh = this.#bytes;
      if (this.#length === 0 && this.#headers > 0) return { type: "more" };
    }
    return this.#read(fresh);
  }

  #read(fresh: Buffer): Preface {
    const source = this.#source;
    const bytes = this.#bytes.subarray(0, this.#length);
    // With an authority the ClientHello decides nothing: the API server reads it, and has its own limits.
    if (this.#authority !== undefined) return { type: "route", serverName: this.#authority, source, bytes };
    const hello = this.#hello.push(fresh);
    return hello.type === "hello" ? { type: "route", serverName: hello.serverName, source, bytes } : hello;
  }

  #append(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    chunk.copy(this.#bytes, this.#length);
    this.#length = needed;
  }
}
