import { createGzip, type Gzip } from "node:zlib";
import { isOver, roomIn, whenOver, writeTo } from "./pace.ts";
import type { Response } from "../contract/exchange.ts";
import { tooManyRequests } from "../errors/status.ts";

/** What one answer may take at a time: what is written ahead of the client, and the step that is made meanwhile. */
const RESERVED = 1024 * 1024;

/** An answer whose length is not known, written at the pace of its client. */
export class BodyStream {
  readonly #response: Response;
  readonly #gzip: Gzip | undefined;

  /** Begins the answer. Throws 429 while too much waits for clients to read it. */
  constructor(response: Response, { type, gzip }: { type: string; gzip: boolean }) {
    const release = response.inFlight?.(RESERVED);
    if (response.inFlight && !release) throw tooManyRequests();
    if (release) whenOver(response, release);
    this.#response = response;
    response.isStreamed = true;
    response.bytesSent = 0;
    response.statusCode = 200;
    response.setHeader("content-type", type);
    response.setHeader("cache-control", "no-cache, private");
    if (!gzip) return;
    response.setHeader("content-encoding", "gzip");
    response.setHeader("vary", "Accept-Encoding");
    this.#gzip = createGzip({ level: 1 });
    this.#gzip.on("data", (chunk: Buffer) => this.#send(chunk));
    this.#gzip.on("end", () => response.end());
    this.#gzip.on("error", (error) => response.destroy(error));
  }

  /** Resolves when there is room for more. */
  async write(text: string): Promise<void> {
    if (text === "") return;
    const bytes = Buffer.from(text);
    const { bytesSent = 0 } = this.#response;
    this.#response.bytesSent = bytesSent + bytes.length;
    if (this.#gzip) await this.#compressed(this.#gzip, bytes);
    else this.#send(bytes);
    await roomIn(this.#response);
  }

  end(): void {
    if (this.#gzip) this.#gzip.end();
    else this.#response.end();
  }

  #compressed(gzip: Gzip, bytes: Buffer): Promise<void> {
    return new Promise((resolve) => gzip.write(bytes, () => resolve()));
  }

  #send(bytes: Buffer): void {
    if (!isOver(this.#response)) writeTo(this.#response, bytes);
  }
}
