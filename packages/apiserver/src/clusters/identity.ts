import { generateKeyPairSync } from "node:crypto";
import { CausewayError, createAuthority, splitCertificates, type Clock, type KeyPair } from "@causeway/foundation";
import type { LogicalClusterOptions, RootRotation } from "../interface.ts";
import type { StateFiles } from "../store/state-files.ts";

const TEN_YEARS = 10 * 365 * 86_400_000;

/** A cluster's roots. */
export interface Identity {
  readonly authority: KeyPair;
  readonly serviceAccountKey: string;
  /** Undefined: no other roots are believed. */
  readonly rotation: RootRotation | undefined;
}

/**
 * A cluster's roots: those given, else those kept in `folder`, else new ones, which are kept. Once they were rotated
 * they are in one file, since a crash between two files would leave a certificate without its key.
 */
export async function clusterIdentity(
  files: StateFiles,
  folder: string,
  { options, clock }: { options: LogicalClusterOptions; clock: Clock },
): Promise<Identity> {
  const kept = keptIdentity(files, folder);
  const certificate =
    options.authority?.certificate ?? kept?.authority.certificate ?? readFilled(files, `${folder}/ca.crt`);
  const key = options.authority?.key ?? kept?.authority.key ?? readFilled(files, `${folder}/ca.key`);
  const authority =
    certificate !== undefined && key !== undefined
      ? { certificate, key }
      : await createAuthority({ commonName: "kubernetes", lifetime: TEN_YEARS, now: clock.now() });
  const serviceAccountKey =
    options.serviceAccountKey ?? kept?.serviceAccountKey ?? readFilled(files, `${folder}/sa.key`) ?? newKey();
  const rotation = options.rotation === "none" ? undefined : (options.rotation ?? kept?.rotation);
  const identity = { authority, serviceAccountKey, rotation };
  if (kept !== undefined || rotation !== undefined) keep(files, rotatedFile(folder), JSON.stringify(identity));
  keep(files, `${folder}/ca.key`, authority.key);
  keep(files, `${folder}/ca.crt`, authority.certificate);
  keep(files, `${folder}/sa.key`, serviceAccountKey);
  return identity;
}

const rotatedFile = (folder: string): string => `${folder}/roots.json`;

function keptIdentity(files: StateFiles, folder: string): Identity | undefined {
  const text = readFilled(files, rotatedFile(folder));
  return text === undefined ? undefined : (JSON.parse(text) as Identity);
}

/** PEM: every authority that the cluster trusts, the one that signs first. */
export function trustedRoots({ authority, rotation }: Pick<Identity, "authority" | "rotation">): string {
  return [authority.certificate, ...(rotation?.trusted ?? [])].flatMap(splitCertificates).join("");
}

/** Throws STATE_FILE_EMPTY. */
function readFilled(files: StateFiles, name: string): string | undefined {
  const content = files.read(name);
  if (content === undefined || content.trim() !== "") return content;
  throw new CausewayError("STATE_FILE_EMPTY", `${name} in the state folder is empty`, {
    hint: "Put the file back from a backup. A cluster whose authority is lost must be made again.",
  });
}

function keep(files: StateFiles, name: string, content: string): void {
  if (files.read(name) !== content) files.write(name, content);
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}
