import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf, type KeyPair, readTextFile, InputError } from "@causeway/foundation";

/** Paths as the flags name them; the two files come before the folder. */
export interface CertificateFiles {
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly certDir?: string;
}

/** The named pair, the one in the folder, or one made for this process. @throws CERTIFICATE_UNREADABLE */
export async function servingCertificate(files: CertificateFiles): Promise<KeyPair> {
  const { tlsCertFile, tlsPrivateKeyFile, certDir } = files;
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) return readPair(tlsCertFile, tlsPrivateKeyFile);
  const [crt, key] = ["crt", "key"].map((end) => join(certDir ?? "", `cloud-controller-manager.${end}`));
  if (certDir !== undefined && crt !== undefined && key !== undefined && existsSync(crt)) return readPair(crt, key);
  return (await import("./self-signed.ts")).selfSigned();
}

function readPair(certificate: string, key: string): KeyPair {
  try {
    return { certificate: readTextFile(certificate), key: readTextFile(key) };
  } catch (cause) {
    throw new InputError("CERTIFICATE_UNREADABLE", `The certificate or its key cannot be read: ${messageOf(cause)}`, {
      cause,
      hint: "See --tls-cert-file, --tls-private-key-file and --cert-dir.",
    });
  }
}
