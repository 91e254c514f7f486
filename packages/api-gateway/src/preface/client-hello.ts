/**
 * The server name of a TLS ClientHello (RFC 8446 §4.1.2, RFC 6066 §3). Nothing else of it is judged: versions, ciphers,
 * ALPN and encrypted names are the API server's business.
 */
import { alerts, type Alert } from "./alert.ts";

/** What the first bytes of a TLS connection say. */
export type Hello =
  | { readonly type: "hello"; readonly serverName: string | undefined }
  /** Not all of it has come. */
  | { readonly type: "more" }
  | { readonly type: "invalid"; readonly alert: Alert; readonly reason: string };

const RECORD_HEADER = 5;
const HANDSHAKE_HEADER = 4;
/** Of one record's content (RFC 8446 §5.1). */
const LARGEST_RECORD = 2 ** 14;
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;

/**
 * Collects a ClientHello from any fragments: of TCP and of TLS records. Each byte is read once, so that a client that
 * sends single bytes costs no more than one that does not.
 */
export class HelloReader {
  readonly #limit: number;
  #header = Buffer.alloc(0);
  /** Bytes of the current record that are still to come. */
  #left = 0;
  #message = Buffer.alloc(0);
  #length = 0;
  #taken = 0;

  /** `limit`: bytes of records at most. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): Hello {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#left === 0) {
        const header = Buffer.concat([this.#header, rest.subarray(0, RECORD_HEADER - this.#header.length)]);
        rest = rest.subarray(header.length - this.#header.length);
        this.#header = header;
        const problem = this.#begin(header);
        if (problem !== undefined) return problem;
        if (header.length < RECORD_HEADER) return { type: "more" };
        this.#header = Buffer.alloc(0);
        continue;
      }
      const part = rest.subarray(0, this.#left);
      this.#append(part);
      this.#left -= part.length;
      rest = rest.subarray(part.length);
      const found = this.#read();
      if (found.type !== "more") return found;
    }
    return { type: "more" };
  }

  /** What is wrong with the beginning of a record, as soon as it can be seen. */
  #begin(header: Buffer): Hello | undefined {
    const [type, major] = header;
    if (type !== undefined && type !== HANDSHAKE)
      return invalid(alerts.unexpectedMessage, `the first byte, ${type}, is not that of a TLS handshake`);
    if (major !== undefined && major !== 3)
      return invalid(alerts.protocolVersion, `the record is of version ${major}, not of TLS`);
    if (header.length < RECORD_HEADER) return undefined;
    const length = header.readUInt16BE(3);
    if (length === 0) return invalid(alerts.decodeError, "a record of the handshake is empty");
    if (length > LARGEST_RECORD) return invalid(alerts.recordOverflow, `a record has ${length} bytes`);
    this.#left = length;
    this.#taken += RECORD_HEADER + length;
    return this.#taken > this.#limit ? tooLarge(this.#taken, this.#limit) : undefined;
  }

  #append(part: Buffer): void {
    const needed = this.#length + part.length;
    if (needed > this.#message.length) {
      const grown = Buffer.alloc(Math.max(needed, 2 * this.#message.length));
      this.#message.copy(grown, 0, 0, this.#length);
      this.#message = grown;
    }
    part.copy(this.#message, this.#length);
    this.#length = needed;
  }

  #read(): Hello {
    const message = this.#message.subarray(0, this.#length);
    const [type] = message;
    if (type !== undefined && type !== CLIENT_HELLO)
      return invalid(alerts.unexpectedMessage, `the first message is of type ${type}, not a ClientHello`);
    if (message.length < HANDSHAKE_HEADER) return { type: "more" };
    const length = message.readUIntBE(1, 3);
    if (length > this.#limit) return tooLarge(length, this.#limit);
    if (message.length < HANDSHAKE_HEADER + length) return { type: "more" };
    return readHello(message.subarray(HANDSHAKE_HEADER, HANDSHAKE_HEADER + length));
  }
}

function invalid(alert: Alert, reason: string): Hello {
  return { type: "invalid", alert, reason };
}

function tooLarge(length: number, limit: number): Hello {
  return invalid(alerts.decodeError, `the ClientHello has ${length} bytes or more; the limit is ${limit}`);
}

/** Reads vectors one after another; throws a RangeError behind the end. */
class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  number(bytes: 1 | 2): number {
    const value = this.#bytes.readUIntBE(this.#at, bytes);
    this.#at += bytes;
    return value;
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError("a length leads behind the end");
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  vector(bytes: 1 | 2): Buffer {
    return this.take(this.number(bytes));
  }
}

function readHello(body: Buffer): Hello {
  try {
    const cursor = new Cursor(body);
    cursor.take(2 + 32);
    if (cursor.vector(1).length > 32) return invalid(alerts.decodeError, "the session id is longer than 32 bytes");
    cursor.vector(2);
    cursor.vector(1);
    // A ClientHello without extensions ends here.
    if (cursor.isAtEnd) return { type: "hello", serverName: undefined };
    const extensions = new Cursor(cursor.vector(2));
    if (!cursor.isAtEnd) return invalid(alerts.decodeError, "bytes follow the extensions");
    return readExtensions(extensions);
  } catch (error) {
    if (error instanceof RangeError) return invalid(alerts.decodeError, "a length leads behind the end");
    throw error;
  }
}

function readExtensions(extensions: Cursor): Hello {
  let found: Buffer | undefined;
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (type !== SERVER_NAME) continue;
    if (found !== undefined) return invalid(alerts.illegalParameter, "there are two server_name extensions");
    found = content;
  }
  return found === undefined ? { type: "hello", serverName: undefined } : readServerName(found);
}

function readServerName(content: Buffer): Hello {
  const outer = new Cursor(content);
  const names = new Cursor(outer.vector(2));
  if (!outer.isAtEnd || names.isAtEnd) return invalid(alerts.decodeError, "the list of server names is malformed");
  let found: string | undefined;
  while (!names.isAtEnd) {
    const type = names.number(1);
    const name = names.vector(2);
    if (type !== HOST_NAME) continue;
    if (found !== undefined) return invalid(alerts.illegalParameter, "there are two host names");
    found = normalName(name);
    if (found === undefined) return invalid(alerts.illegalParameter, "the host name is not a DNS name");
  }
  return { type: "hello", serverName: found };
}

/** A DNS name in lower case without the last dot; undefined: it is none. */
export function normalName(bytes: Buffer): string | undefined {
  if (bytes.length === 0 || bytes.length > 254) return undefined;
  const name = bytes.toString("latin1").toLowerCase().replace(/\.$/, "");
  return /^[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*$/.test(name) ? name : undefined;
}
