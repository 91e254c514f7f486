import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readCertificate } from "@causeway/foundation";

/** What a joined machine keeps on its disk: who it is in which cluster. */
export interface Identity {
  readonly nodeName: string;
  readonly server: string;
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** The disk of a machine, as far as its identity goes. */
export interface IdentityStore {
  /** Undefined when the machine has not joined, or what it kept has expired. */
  load(now: number): Promise<Identity | undefined>;
  save(identity: Identity): Promise<void>;
  forget(): Promise<void>;
}

/** Keeps the identity in DIR/identity.json, mode 0600, replaced in one step. */
export function fileIdentity(dir: string): IdentityStore {
  const path = join(dir, "identity.json");
  return {
    async load(now) {
      const text = await readFile(path, "utf8").catch(() => undefined);
      const identity = text === undefined ? undefined : parse(text);
      return identity && readCertificate(identity.certificate).notAfter > now ? identity : undefined;
    },
    async save(identity) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      await writeFile(`${path}.new`, JSON.stringify(identity), { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
    forget: () => rm(dir, { recursive: true, force: true }),
  };
}

function parse(text: string): Identity | undefined {
  try {
    const { nodeName, server, authority, certificate, key } = JSON.parse(text) as Partial<Identity>;
    if (
      nodeName === undefined ||
      server === undefined ||
      authority === undefined ||
      certificate === undefined ||
      key === undefined
    )
      return undefined;
    return { nodeName, server, authority, certificate, key };
  } catch {
    return undefined;
  }
}

/** A machine without a disk: it joins anew each time it is started. */
export function memoryIdentity(): IdentityStore {
  let kept: Identity | undefined;
  return {
    load: async () => kept,
    save: async (identity) => {
      kept = identity;
    },
    forget: async () => {
      kept = undefined;
    },
  };
}
