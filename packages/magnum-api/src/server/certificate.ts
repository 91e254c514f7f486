import { createSecureContext } from "node:tls";
import { InputError, messageOf, readTextFile } from "@causeway/foundation";

/** The files of --tls-cert-file and --tls-private-key-file. */
export interface CertificateFiles {
  /** PEM: the certificate of the server, and those that signed it. */
  readonly certificateFile: string;
  /** PEM: its key, unencrypted. */
  readonly keyFile: string;
}

const LARGEST = 1024 * 1024;
const HINTS = {
  "tls-cert-file": "Set --tls-cert-file to a PEM file with the server's certificate and those that signed it.",
  "tls-private-key-file": "Set --tls-private-key-file to the unencrypted PEM file of the key of --tls-cert-file.",
};

/**
 * Both files, read and checked: a key of another certificate is refused here, since Node would refuse each connection.
 * @throws MAGNUM_CERTIFICATE
 */
export function servingCertificate({ certificateFile, keyFile }: CertificateFiles): { cert: string; key: string } {
  const cert = load("tls-cert-file", certificateFile, (pem) => {
    if (!pem.includes("-----BEGIN CERTIFICATE-----")) throw new Error("it has no block BEGIN CERTIFICATE");
    createSecureContext({ cert: pem });
  });
  const key = load("tls-private-key-file", keyFile, (pem) => createSecureContext({ cert, key: pem }));
  return { cert, key };
}

function load(flag: keyof typeof HINTS, path: string, check: (pem: string) => unknown): string {
  try {
    const pem = readTextFile(path, LARGEST);
    check(pem);
    return pem;
  } catch (cause) {
    const message = `The file ${path} of --${flag} cannot be used: ${messageOf(cause)}`;
    throw new InputError("MAGNUM_CERTIFICATE", message, { cause, hint: HINTS[flag] });
  }
}
