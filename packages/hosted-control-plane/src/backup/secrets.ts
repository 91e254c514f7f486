import { createPublicKey } from "node:crypto";
import { CausewayError, splitCertificates, type KeyPair } from "@causeway/foundation";
import type { AuthorityRotation, ControlPlaneSpec, RotatingRoot } from "../runtime.ts";
import type { BackupSecrets } from "./take.ts";

/** What a control plane cannot be restored without. `encryption`: the configuration of encryption at rest. */
export function backupSecrets(
  { authority, frontProxy, serviceAccountKey, rotating = {} }: ControlPlaneSpec,
  encryption: string,
): BackupSecrets {
  return {
    "ca.crt": authority.certificate,
    "ca.key": authority.key,
    ...(frontProxy === undefined ? {} : { "proxy.crt": signerOf(frontProxy), "proxy.key": frontProxy.key }),
    "sa.key": serviceAccountKey,
    encryption,
    ...Object.fromEntries(Object.entries(rotating).flatMap(([purpose, root]) => rotatingSecrets(purpose, root))),
  };
}

/** Of a root in the middle of its rotation: where it is, and the pair next to the one that signs. */
function rotatingSecrets(purpose: string, { stage, rotation, other }: RotatingRoot): [string, string][] {
  return [
    [`${purpose}.stage`, stage],
    [`${purpose}.rotation`, rotation],
    ...(other === undefined
      ? []
      : ([
          [`${purpose}.other.crt`, other.certificate],
          [`${purpose}.other.key`, other.key],
        ] satisfies [string, string][])),
  ];
}

/** Of several certificates, the one that signs. */
function signerOf({ certificate }: KeyPair): string {
  return splitCertificates(certificate)[0] ?? certificate;
}

/** A root as a backup has it: with where it is in its rotation, which continues when it is restored. */
export interface RestoredRoot {
  readonly pair: KeyPair;
  readonly rotating?: RotatingRoot;
}

/** @throws BACKUP_INCOMPLETE */
export function restoredRoot(secrets: BackupSecrets, purpose: "ca" | "proxy" | "sa"): RestoredRoot {
  const key = secretNamed(secrets, `${purpose}.key`);
  const certificate =
    purpose === "sa"
      ? createPublicKey(key).export({ type: "spki", format: "pem" }).toString()
      : secretNamed(secrets, `${purpose}.crt`);
  const rotating = rotatingRoot(secrets, purpose);
  return { pair: { certificate, key }, ...(rotating === undefined ? {} : { rotating }) };
}

const stages = ["trust", "sign", "retire"] as const satisfies readonly AuthorityRotation["stage"][];

/** Undefined: it was not rotated, or the backup is of a version that did not keep the other pair. */
function rotatingRoot(secrets: BackupSecrets, purpose: string): RotatingRoot | undefined {
  const stage = stages.find((each) => each === secrets[`${purpose}.stage`]);
  const rotation = secrets[`${purpose}.rotation`];
  if (stage === undefined || rotation === undefined) return undefined;
  if (stage === "retire") return { stage, rotation };
  const other = {
    certificate: secretNamed(secrets, `${purpose}.other.crt`),
    key: secretNamed(secrets, `${purpose}.other.key`),
  };
  return { stage, rotation, other };
}

/** @throws BACKUP_INCOMPLETE */
export function secretNamed(secrets: BackupSecrets, name: string): string {
  const found = secrets[name];
  if (found !== undefined) return found;
  throw new CausewayError("BACKUP_INCOMPLETE", `the backup has no ${name}`, { hint: "Restore to another time." });
}
