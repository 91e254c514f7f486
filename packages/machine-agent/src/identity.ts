import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readValidity, type KeyPair } from "@causeway/foundation";
import type { MachineDisks } from "./interface.ts";

/** What a joined machine keeps on its disk: who it is in which cluster. */
export interface Identity {
  readonly nodeName: string;
  readonly server: string;
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
  /** What the kubelet serves with; undefined until the cluster has signed it. */
  readonly serving?: KeyPair;
}

/** The disk of a machine, as far as its identity goes. */
export interface IdentityStore {
  /** Undefined when the machine has not joined, or what it kept has expired or is damaged. */
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
      return text === undefined ? undefined : current(parse(text), now);
    },
    async save(identity) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      await rm(`${path}.new`, { force: true });
      await writeFile(`${path}.new`, JSON.stringify(identity), { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
    forget: () => rm(dir, { recursive: true, force: true }),
  };
}

/** A machine without a disk: it joins again each time it is started. */
export function memoryIdentity(): IdentityStore {
  let kept: Identity | undefined;
  return {
    load: async (now) => current(kept, now),
    save: async (identity) => {
      kept = identity;
    },
    forget: async () => {
      kept = undefined;
    },
  };
}

/** Disks as folders of `dir`, named by the machine's UUID. A folder with any other name is not touched. */
export function folderDisks(dir: string): MachineDisks & { path(id: string): string } {
  const path = (id: string) => join(dir, id);
  return {
    path,
    async ids() {
      const names = await readdir(dir).catch(() => []);
      return names.filter(isUuid);
    },
    async remove(id) {
      if (isUuid(id)) await rm(path(id), { recursive: true, force: true });
    },
  };
}

function isUuid(name: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name);
}

function current(identity: Identity | undefined, now: number): Identity | undefined {
  try {
    return identity && readValidity(identity.certificate).notAfter > now ? identity : undefined;
  } catch {
    return undefined;
  }
}

function parse(text: string): Identity | undefined {
  try {
    const { nodeName, server, authority, certificate, key, serving } = JSON.parse(text) as Partial<Identity>;
    if (
      nodeName === undefined ||
      server === undefined ||
      authority === undefined ||
      certificate === undefined ||
      key === undefined
    )
      return undefined;
    return { nodeName, server, authority, certificate, key, ...(serving === undefined ? {} : { serving }) };
  } catch {
    return undefined;
  }
}
