import { createHash, createHmac, createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";

/** A certificate with its chain and key, as the key manager stores it for Octavia. */
export interface Bundle {
  /** DER of a PKCS #12 file with an empty password. Its integrity code takes milliseconds, and few callers need it. */
  pkcs12(): Buffer;
  /** Of what it was made from. */
  readonly digest: string;
}

/** More than any chain has. */
const MOST_BYTES = 256 * 1024;
const MOST_CERTIFICATES = 20;

/**
 * PKCS #12 (RFC 7292) from PEM: the key and the certificates in the clear, because the key manager encrypts what it
 * stores, and an integrity code under the empty password. The same PEM gives the same bytes. Returns why it cannot be
 * done otherwise.
 */
export function bundleOf(certificates: Buffer, key: Buffer): Bundle | { readonly problem: string } {
  if (certificates.length + key.length > MOST_BYTES) return { problem: `is larger than ${MOST_BYTES} bytes` };
  const chain = readChain(certificates.toString("latin1"));
  const [first] = chain;
  if (!first) return { problem: "has no certificate in tls.crt" };
  const secret = readKey(key);
  if (!secret) return { problem: "has no private key without password in tls.key" };
  if (!first.checkPrivateKey(secret)) return { problem: "has a key in tls.key that is not the key of its certificate" };
  const der = secret.export({ type: "pkcs8", format: "der" });
  const digest = createHash("sha256")
    .update(Buffer.concat([...chain.map(({ raw }) => raw), der]))
    .digest("hex");
  return { pkcs12: () => pfx(chain, der, Buffer.from(digest, "hex")), digest };
}

function readChain(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.slice(0, MOST_CERTIFICATES).map((block) => new X509Certificate(block));
  } catch {
    return [];
  }
}

function readKey(pem: Buffer): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

const DATA = oid("2a864886f70d010701");
const KEY_BAG = oid("2a864886f70d010c0a0101");
const CERTIFICATE_BAG = oid("2a864886f70d010c0a0103");
const X509 = oid("2a864886f70d01091601");
const SHA1 = oid("2b0e03021a");
const NULL = tlv(0x05);
const ITERATIONS = 2048;

function pfx(chain: readonly X509Certificate[], key: Buffer, seed: Buffer): Buffer {
  const certificateBags = chain.map(({ raw }) =>
    sequence(CERTIFICATE_BAG, tlv(0xa0, sequence(X509, tlv(0xa0, octets(raw))))),
  );
  const keyBag = sequence(KEY_BAG, tlv(0xa0, key));
  const safe = sequence(data(sequence(...certificateBags)), data(sequence(keyBag)));
  const salt = seed.subarray(0, 8);
  const mac = createHmac("sha1", macKey(salt)).update(safe).digest();
  const code = sequence(sequence(sequence(SHA1, NULL), octets(mac)), octets(salt), integer(ITERATIONS));
  return sequence(integer(3), data(safe), code);
}

/** Appendix B.2 with ID 3 and the empty password, which is two zero bytes; one block of SHA-1 is all that is needed. */
function macKey(salt: Buffer): Buffer {
  const block = 64;
  const repeated = (bytes: Buffer): Buffer =>
    Buffer.from(Array.from({ length: block }, (_, i) => bytes[i % bytes.length] ?? 0));
  let hash = Buffer.concat([Buffer.alloc(block, 3), repeated(salt), repeated(Buffer.alloc(2))]);
  for (let i = 0; i < ITERATIONS; i += 1) hash = createHash("sha1").update(hash).digest();
  return hash;
}

function data(content: Buffer): Buffer {
  return sequence(DATA, tlv(0xa0, octets(content)));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, ...parts);
}

function octets(content: Buffer): Buffer {
  return tlv(0x04, content);
}

function integer(value: number): Buffer {
  const bytes = Buffer.from(value.toString(16).padStart(value < 256 ? 2 : 4, "0"), "hex");
  return tlv(0x02, (bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes);
}

function oid(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, "hex"));
}

/** Tag, length and value of DER. */
function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const size = length.toString(16);
  const long = Buffer.from(size.length % 2 === 0 ? size : `0${size}`, "hex");
  const head = length < 128 ? [tag, length] : [tag, 0x80 | long.length, ...long];
  return Buffer.concat([Buffer.from(head), value]);
}
