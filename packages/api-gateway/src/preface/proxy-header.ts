/**
 * Version 2 of the PROXY protocol (haproxy's proxy-protocol.txt §2.2): who connects, and with PP2_TYPE_AUTHORITY to
 * which name.
 */
import { formatIp, type IpAddress } from "@causeway/foundation";
import { normalName } from "./client-hello.ts";

const SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const FIXED = 16;
const AUTHORITY = 0x02;
const PROXY = 0x21;
const LOCAL = 0x20;
/** Families of addresses with TCP, and the length of their addresses and ports. */
const TCP4 = 0x11;
const TCP6 = 0x21;
const UNSPEC = 0x00;
/** Of all that follows the fixed part. */
const LARGEST = 2048;

/** What the beginning of a connection is; "more": the bytes so far do not show it. */
export type ProxyHeader =
  | {
      readonly type: "header";
      readonly length: number;
      /** The address of the client; undefined: the header has none. */
      readonly source: string | undefined;
      readonly authority: string | undefined;
    }
  /** The bytes do not begin with the signature. */
  | { readonly type: "none" }
  | { readonly type: "more" }
  | { readonly type: "invalid"; readonly reason: string };

/** The header at the beginning of a connection. */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  const seen = Math.min(bytes.length, SIGNATURE.length);
  if (!bytes.subarray(0, seen).equals(SIGNATURE.subarray(0, seen))) return { type: "none" };
  if (bytes.length < FIXED) return { type: "more" };
  const [command, family] = [bytes[12], bytes[13]];
  const following = bytes.readUInt16BE(14);
  if (command !== PROXY && command !== LOCAL) return invalid(`version and command are 0x${command?.toString(16)}`);
  if (following > LARGEST) return invalid(`it has ${following} bytes; the limit is ${LARGEST}`);
  const length = FIXED + following;
  if (bytes.length < length) return { type: "more" };
  // The load balancer's own connection, as of a health check.
  if (command === LOCAL) return { type: "header", length, source: undefined, authority: undefined };
  const content = bytes.subarray(FIXED, length);
  const addresses = family === TCP4 ? 12 : family === TCP6 ? 36 : 0;
  if (family !== TCP4 && family !== TCP6 && family !== UNSPEC)
    return invalid(`family 0x${family?.toString(16)} is not TCP`);
  if (content.length < addresses) return invalid("its addresses are cut off");
  const authority = authorityOf(content.subarray(addresses));
  if ("reason" in authority) return invalid(authority.reason);
  return { type: "header", length, source: sourceOf(content, addresses), authority: authority.name };
}

function invalid(reason: string): ProxyHeader {
  return { type: "invalid", reason };
}

function sourceOf(content: Buffer, addresses: number): string | undefined {
  if (addresses === 0) return undefined;
  const size = addresses === 12 ? 4 : 16;
  const value = BigInt(`0x${content.subarray(0, size).toString("hex")}`);
  const address: IpAddress = { version: size === 4 ? 4 : 6, value };
  return formatIp(address);
}

function authorityOf(tlvs: Buffer): { readonly name: string | undefined } | { readonly reason: string } {
  let name: string | undefined;
  for (let at = 0; at < tlvs.length;) {
    if (tlvs.length < at + 3) return { reason: "a field is cut off" };
    const [type, length] = [tlvs[at], tlvs.readUInt16BE(at + 1)];
    const end = at + 3 + length;
    if (tlvs.length < end) return { reason: "a field is cut off" };
    if (type === AUTHORITY) {
      if (name !== undefined) return { reason: "it has two authorities" };
      name = normalName(tlvs.subarray(at + 3, end));
      if (name === undefined) return { reason: "its authority is not a DNS name" };
    }
    at = end;
  }
  return { name };
}

/** A header with an authority and no addresses: those of a tenant's pods mean nothing elsewhere. */
export function authorityHeader(authority: string): Buffer {
  const name = Buffer.from(authority, "latin1");
  const fixed = Buffer.alloc(FIXED + 3);
  SIGNATURE.copy(fixed);
  fixed[12] = PROXY;
  fixed[13] = UNSPEC;
  fixed.writeUInt16BE(3 + name.length, 14);
  fixed[16] = AUTHORITY;
  fixed.writeUInt16BE(name.length, 17);
  return Buffer.concat([fixed, name]);
}
