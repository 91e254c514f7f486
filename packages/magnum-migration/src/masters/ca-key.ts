import { createPrivateKey, X509Certificate } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { InputError, messageOf } from "@causeway/foundation";

/** More than any key has. */
const MOST = 64 * 1024;

const refused = (path: string, why: string, hint: string): InputError =>
  new InputError("MIGRATE_CA_KEY_INVALID", `The CA key of --ca-key, ${path}, ${why}`, { hint });

/** Reads the private key of `--ca-key`, a PEM file of its owner alone. @throws MIGRATE_CA_KEY_INVALID */
export function readCaKey(path: string): string {
  const text = readPrivate(path);
  const decrypt = `Decrypt it with the passphrase that Magnum stores next to it: openssl pkey -in ${path} -out ca.key`;
  if (/^-----BEGIN ENCRYPTED PRIVATE KEY|^Proc-Type: 4,ENCRYPTED/m.test(text))
    throw refused(path, "is encrypted", decrypt);
  try {
    createPrivateKey(text);
  } catch (error) {
    throw refused(path, `is not a private key: ${messageOf(error)}`, "It must be one private key in PEM form.");
  }
  return text;
}

function readPrivate(path: string): string {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    throw refused(
      path,
      `cannot be read: ${messageOf(error)}`,
      "Specify a file with the private key of the cluster's CA.",
    );
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > MOST)
      throw refused(path, `is not a file of at most ${MOST} bytes`, "Specify a file with the key as PEM.");
    if (process.platform !== "win32" && (stat.mode & 0o077) !== 0)
      throw refused(path, "can be read or written by other users", `Run: chmod 600 ${path}`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

/**
 * The key of the cluster's CA: the one that is given, else that of a master. Undefined: there is neither. @throws
 * MIGRATE_KEY_MISMATCH for a given one of another certificate
 */
export function caKeyOf(
  given: string | undefined,
  { ca, caKey }: { readonly ca: string; readonly caKey?: string },
): string | undefined {
  if (given === undefined || new X509Certificate(ca).checkPrivateKey(createPrivateKey(given))) return given ?? caKey;
  throw new InputError(
    "MIGRATE_KEY_MISMATCH",
    "The private key of --ca-key is not that of the cluster's CA certificate",
    {
      hint: "Take the key by the cluster's ca_cert_ref, not by magnum_cert_ref or etcd_ca_cert_ref; docs/reference/magnum-migration.md has the commands.",
    },
  );
}
