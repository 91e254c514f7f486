import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { InputError, messageOf, readTextFile } from "@causeway/foundation";

/** PEM files of the webhook's TLS; `clientCaFile` has the authorities of clients. */
export interface CertificateFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly clientCaFile?: string | undefined;
}

/** Options of a TLS server; PEM. */
export interface SecureContext {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
  readonly requestCert?: boolean;
  readonly rejectUnauthorized?: boolean;
}

const LARGEST = 1024 * 1024;
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const HINTS = {
  "tls-cert-file": "Set --tls-cert-file to a PEM file with the webhook's certificate and those that signed it.",
  "tls-private-key-file": "Set --tls-private-key-file to the unencrypted PEM file of the key of --tls-cert-file.",
  "client-ca-file": "Set --client-ca-file to a PEM file with the certificates of the clients' authorities.",
};

/**
 * The files of the webhook, read and checked: Node itself names no file, and ignores an authority that is none. @throws
 * KEYSTONE_AUTH_CERTIFICATE
 */
export function secureContext({ certificateFile, keyFile, clientCaFile }: CertificateFiles): SecureContext {
  const cert = load("tls-cert-file", certificateFile, (pem) => {
    checkCertificates(pem);
    createSecureContext({ cert: pem });
  });
  const key = load("tls-private-key-file", keyFile, (pem) => createSecureContext({ cert, key: pem }));
  if (clientCaFile === undefined) return { cert, key };
  const ca = load("client-ca-file", clientCaFile, checkCertificates);
  // Probes of the kubelet have no certificate: who may send reviews is decided for each request.
  return { cert, key, ca, requestCert: true, rejectUnauthorized: false };
}

function load(flag: keyof typeof HINTS, path: string, check: (pem: string) => unknown): string {
  try {
    const pem = readTextFile(path, LARGEST);
    check(pem);
    return pem;
  } catch (cause) {
    const message = `The file ${path} of --${flag} cannot be used: ${messageOf(cause)}`;
    throw new InputError("KEYSTONE_AUTH_CERTIFICATE", message, { cause, hint: HINTS[flag] });
  }
}

function checkCertificates(pem: string): void {
  const blocks = pem.match(BLOCK) ?? [];
  if (blocks.length === 0) throw new Error("it has no block BEGIN CERTIFICATE");
  for (const block of blocks) new X509Certificate(block);
}
