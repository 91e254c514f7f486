import { generateKeyPairSync } from "node:crypto";
import { CausewayError, createAuthority, type Clock, type KeyPair } from "@causeway/foundation";
import type { LogicalClusterOptions } from "../interface.ts";
import type { StateFiles } from "../store/state-files.ts";

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
  const certificate = options.authority?.certificate ?? readFilled(files, `${folder}/ca.crt`);
  const key = options.authority?.key ?? readFilled(files, `${folder}/ca.key`);
  const authority =
    certificate !== undefined && key !== undefined
      ? { certificate, key }
      : await createAuthority({ commonName: "kubernetes", lifetime: TEN_YEARS, now: clock.now() });
  const serviceAccountKey = options.serviceAccountKey ?? readFilled(files, `${folder}/sa.key`) ?? newKey();
  keep(files, `${folder}/ca.key`, authority.key);
  keep(files, `${folder}/ca.crt`, authority.certificate);
  keep(files, `${folder}/sa.key`, serviceAccountKey);
  return { authority, serviceAccountKey };
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
