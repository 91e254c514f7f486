import type { Api, Json } from "./api.ts";
import { COLLECTIONS, payload, type Collection } from "./collections.ts";
import type { Ledger } from "./ledger.ts";

const NAMES = 4;

/** Numbers from 0 to below 1, the same for the same seed. */
export type Random = () => number;

interface Target {
  readonly collection: Collection;
  readonly name: string;
}

interface Ask {
  readonly target: Target;
  /** What the object is to be; undefined: gone. */
  readonly serial: number | undefined;
  send(api: Api): ReturnType<Api["send"]>;
}

/** Changes its own objects one after the other, in every collection, until the server goes away. */
export async function write(
  { number, random, ledger }: { number: number; random: Random; ledger: Ledger },
  clients: ReadonlyMap<string, Api>,
): Promise<void> {
  for (;;) {
    const ask = next(number, random, ledger);
    const { collection, name } = ask.target;
    const api = clients.get(collection.cluster);
    if (!api) return;
    try {
      const { code, body } = await ask.send(api);
      if (code >= 300) ledger.problems.push(`${collection.path}/${name}: ${code} ${JSON.stringify(body)}`);
      else ledger.promise(collection, name, heldOf(body, ask.serial));
    } catch {
      ledger.unknown(collection, name, ask.serial);
      return;
    }
  }
}

function heldOf(body: Json, serial: number | undefined): { serial: number; revision: number } | undefined {
  if (serial === undefined) return undefined;
  const { resourceVersion } = body["metadata"] as { resourceVersion: string };
  return { serial, revision: Number(resourceVersion) };
}

function next(number: number, random: Random, ledger: Ledger): Ask {
  const pick = (count: number): number => Math.floor(random() * count);
  const collection = COLLECTIONS[pick(COLLECTIONS.length)] as Collection;
  const target = { collection, name: `w${number}-${pick(NAMES)}` };
  const serial = 1 + pick(1e9);
  const held = ledger.held(collection, target.name);
  const verbs = held ? [put(held.revision), merge, apply, remove] : [create, apply];
  return (verbs[pick(verbs.length)] ?? apply)(target, serial);
}

type Verb = (target: Target, serial: number) => Ask;

function manifest({ collection, name }: Target, serial: number): Json {
  const { apiVersion, kind, fields } = collection;
  return { apiVersion, kind, metadata: { name, ...payload(serial) }, ...fields };
}

function pathOf({ collection, name }: Target): string {
  return `${collection.path}/${name}`;
}

const create: Verb = (target, serial) => ({
  target,
  serial,
  send: (api) => api.send("POST", target.collection.path, manifest(target, serial)),
});

const apply: Verb = (target, serial) => ({
  target,
  serial,
  send: (api) =>
    api.send(
      "PATCH",
      `${pathOf(target)}?fieldManager=writer&force=true`,
      manifest(target, serial),
      "application/apply-patch+yaml",
    ),
});

const merge: Verb = (target, serial) => ({
  target,
  serial,
  send: (api) => api.send("PATCH", pathOf(target), { metadata: payload(serial) }, "application/merge-patch+json"),
});

const remove: Verb = (target) => ({ target, serial: undefined, send: (api) => api.send("DELETE", pathOf(target)) });

function put(revision: number): Verb {
  return (target, serial) => {
    const body = manifest(target, serial);
    const metadata = { ...(body["metadata"] as Json), resourceVersion: String(revision) };
    return { target, serial, send: (api) => api.send("PUT", pathOf(target), { ...body, metadata }) };
  };
}
