import { generateKeyPairSync } from "node:crypto";
import { createAuthority, type Clock, type KeyPair } from "@causeway/foundation";
import type { LogicalClusterOptions } from "../interface.ts";
import type { StateFiles } from "./state-files.ts";

const TEN_YEARS = 10 * 365 * 86_400_000;

export interface Identity {
  readonly authority: KeyPair;
  readonly serviceAccountKey: string;
}

/** A cluster's roots: those given, else those kept in `folder`, else new ones, which are kept. */
export async function clusterIdentity(
  files: StateFiles,
  folder: string,
  { options, clock }: { options: LogicalClusterOptions; clock: Clock },
): Promise<Identity> {
  const certificate = options.authority?.certificate ?? files.read(`${folder}/ca.crt`);
  const key = options.authority?.key ?? files.read(`${folder}/ca.key`);
  const authority =
    certificate !== undefined && key !== undefined
      ? { certificate, key }
      : await createAuthority({ commonName: "kubernetes", lifetime: TEN_YEARS, now: clock.now() });
  const serviceAccountKey = options.serviceAccountKey ?? files.read(`${folder}/sa.key`) ?? newKey();
  keep(files, `${folder}/ca.key`, authority.key);
  keep(files, `${folder}/ca.crt`, authority.certificate);
  keep(files, `${folder}/sa.key`, serviceAccountKey);
  return { authority, serviceAccountKey };
}

function keep(files: StateFiles, name: string, content: string): void {
  if (files.read(name) !== content) files.write(name, content);
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}
