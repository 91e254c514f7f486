import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority, type KeyPair } from "@causeway/foundation";
import type { ControlPlaneSpec } from "../runtime.ts";

const LIFETIME = 10 * 365 * 24 * 3600_000;
const FILE = "etcd-authority.json";

/** In one file, so that a crash leaves one authority or the other with its key. */
interface Kept extends KeyPair {
  /** The rotation of the roots that it was made in. */
  readonly rotation?: string;
}

/**
 * etcd's own authority: the tenant's clients are not trusted by it. It is replaced when the new roots sign: etcd has
 * one member here, which is started again together with its only clients, so that none of them meets another authority.
 */
export async function etcdAuthority(dir: string, spec: ControlPlaneSpec, now: number): Promise<KeyPair> {
  const kept = read(dir);
  const rotation = etcdRotation(dir, spec);
  if (kept !== undefined && kept.rotation === rotation) return kept;
  const made = await createAuthority({ commonName: "etcd-ca", lifetime: LIFETIME, now });
  const file = join(dir, FILE);
  const content: Kept = { ...made, ...(rotation === undefined ? {} : { rotation }) };
  writeFileSync(`${file}.new`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return made;
}

/** The rotation whose authority etcd has, or is to have. */
export function etcdRotation(
  dir: string,
  { rotationStage }: Pick<ControlPlaneSpec, "rotationStage">,
): string | undefined {
  const isNew = rotationStage?.stage === "sign" || rotationStage?.stage === "retire";
  return isNew ? rotationStage.id : read(dir)?.rotation;
}

/** Undefined: it has none yet. */
export function readEtcdAuthority(dir: string): KeyPair | undefined {
  const kept = read(dir);
  return kept && { certificate: kept.certificate, key: kept.key };
}

function read(dir: string): Kept | undefined {
  const file = join(dir, FILE);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Kept;
  // Of a version that did not rotate it.
  const [certificate, key] = ["etcd-ca.crt", "etcd-ca.key"].map((name) => join(dir, name)) as [string, string];
  if (!existsSync(certificate) || !existsSync(key)) return undefined;
  return { certificate: readFileSync(certificate, "utf8"), key: readFileSync(key, "utf8") };
}
