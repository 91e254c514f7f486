import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { InputError, messageOf, readTextFile } from "@causeway/foundation";
import type { CloudTls } from "../config/config.ts";

/** Options of Node's TLS: PEM texts, no paths. Without `ca` Node's own authorities are trusted. */
export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly rejectUnauthorized?: boolean;
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
/** OpenSSL's own form, which Node's X509Certificate does not read. */
const TRUSTED = "-----BEGIN TRUSTED CERTIFICATE-----";
const HINTS: Readonly<Record<string, string>> = {
  cacert: "Specify a PEM file with the certificate of the authority that signed the cloud's certificates.",
  cert: "Specify a PEM file with the client certificate, and its private key as key.",
  key: "Specify the unencrypted PEM file of the private key that belongs to cert.",
};

/**
 * What a TLS connection to the cloud needs, with every file read and checked: Node itself ignores an authority that is
 * no certificate, and names no file when a key is broken.
 * @throws CLOUD_CONFIG_INVALID
 */
export function tlsOptions(tls: CloudTls): TlsOptions {
  const ca = tls.ca ?? read(tls.caFile, "cacert");
  const cert = tls.certificate ?? read(tls.certificateFile, "cert");
  const key = tls.key ?? read(tls.keyFile, "key");
  if (ca !== undefined) attempt("cacert", tls.caFile, () => checkAuthorities(ca));
  if (cert !== undefined) attempt("cert", tls.certificateFile, () => checkAuthorities(cert));
  if (key !== undefined) attempt("key", tls.keyFile, () => createSecureContext({ key, ...(cert && { cert }) }));
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(tls.verify === false && { rejectUnauthorized: false }),
  };
}

function read(path: string | undefined, setting: string): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readTextFile(path);
  } catch (cause) {
    throw invalid(setting, path, `cannot be read: ${messageOf(cause)}`, cause);
  }
}

function attempt(setting: string, path: string | undefined, check: () => unknown): void {
  try {
    check();
  } catch (cause) {
    throw invalid(setting, path, `is not usable PEM: ${messageOf(cause)}`, cause);
  }
}

function checkAuthorities(pem: string): void {
  const blocks = pem.match(BLOCK) ?? [];
  if (blocks.length === 0 && !pem.includes(TRUSTED)) throw new Error("it has no block BEGIN CERTIFICATE");
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch (cause) {
      throw new Error(`certificate ${index + 1} in it is damaged (${messageOf(cause)})`, { cause });
    }
  }
}

function invalid(setting: string, path: string | undefined, why: string, cause: unknown): InputError {
  const subject = path === undefined ? `The PEM text of ${setting}` : `The ${setting} file ${path}`;
  const hint = HINTS[setting];
  return new InputError("CLOUD_CONFIG_INVALID", `${subject} ${why}.`, { cause, ...(hint !== undefined && { hint }) });
}
