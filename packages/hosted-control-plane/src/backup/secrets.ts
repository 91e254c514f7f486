import { createPublicKey } from "node:crypto";
import { CausewayError, splitCertificates, type KeyPair } from "@causeway/foundation";
import type { ControlPlaneSpec } from "../runtime.ts";
import type { BackupSecrets } from "./take.ts";

/** What a control plane cannot be restored without. `encryption`: the configuration of encryption at rest. */
export function backupSecrets(
  { authority, frontProxy, serviceAccountKey }: ControlPlaneSpec,
  encryption: string,
): BackupSecrets {
  return {
    "ca.crt": authority.certificate,
    "ca.key": authority.key,
    ...(frontProxy === undefined ? {} : { "proxy.crt": signerOf(frontProxy), "proxy.key": frontProxy.key }),
    "sa.key": serviceAccountKey,
    encryption,
  };
}

/** Of several certificates, the one that signs. */
function signerOf({ certificate }: KeyPair): string {
  return splitCertificates(certificate)[0] ?? certificate;
}

/** @throws BACKUP_INCOMPLETE */
export function restoredRoots(secrets: BackupSecrets): Readonly<Record<"ca" | "proxy" | "sa", KeyPair>> {
  const pair = (name: string): KeyPair => ({
    certificate: secretNamed(secrets, `${name}.crt`),
    key: secretNamed(secrets, `${name}.key`),
  });
  const key = secretNamed(secrets, "sa.key");
  const certificate = createPublicKey(key).export({ type: "spki", format: "pem" }).toString();
  return { ca: pair("ca"), proxy: pair("proxy"), sa: { certificate, key } };
}

/** @throws BACKUP_INCOMPLETE */
export function secretNamed(secrets: BackupSecrets, name: string): string {
  const found = secrets[name];
  if (found !== undefined) return found;
  throw new CausewayError("BACKUP_INCOMPLETE", `the backup has no ${name}`, { hint: "Restore to another time." });
}
