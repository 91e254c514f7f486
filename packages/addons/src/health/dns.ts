import { randomInt } from "node:crypto";
import type { Duplex } from "node:stream";

const HEADER = 12;
const A = 1;
const INTERNET = 1;
/** RFC 1035, section 4.1.1. */
const RECURSION_DESIRED = 0x0100;
const IS_RESPONSE = 0x8000;
const CODE = 0x000f;
const codes = [
  "no error",
  "a malformed query",
  "a failure of the server",
  "no such name",
  "not implemented",
  "refused",
];

/**
 * Asks for the A records of `name` over TCP. Resolves when there is one; rejects with what the server says otherwise.
 */
export async function askDns(connection: Duplex, name: string): Promise<void> {
  const id = randomInt(0x10000);
  const message = question(id, name);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  connection.write(Buffer.concat([length, message]));
  const response = await responseOf(connection);
  if (response.length < HEADER || response.readUInt16BE(0) !== id || (response.readUInt16BE(2) & IS_RESPONSE) === 0)
    throw new Error("what answers is not a DNS server");
  const code = response.readUInt16BE(2) & CODE;
  if (code !== 0) throw new Error(`the DNS server answers ${name} with ${codes[code] ?? `code ${code}`}`);
  if (response.readUInt16BE(6) === 0) throw new Error(`the DNS server has no address of ${name}`);
}

function question(id: number, name: string): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(RECURSION_DESIRED, 2);
  header.writeUInt16BE(1, 4);
  const labels = name.split(".").filter((label) => label !== "");
  if (labels.some((label) => label.length > 63)) throw new Error(`${name} is not a DNS name`);
  const encoded = labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, "latin1")]);
  return Buffer.concat([header, ...encoded, Buffer.from([0, 0, A, 0, INTERNET])]);
}

/** A message over TCP has its length before it, so it is never longer than 64 KiB. */
async function responseOf(connection: Duplex): Promise<Buffer> {
  let held = Buffer.alloc(0);
  for await (const chunk of connection as AsyncIterable<Buffer>) {
    held = Buffer.concat([held, chunk]);
    if (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) return held.subarray(2, 2 + held.readUInt16BE(0));
  }
  throw new Error("the DNS server closed the connection without an answer");
}
