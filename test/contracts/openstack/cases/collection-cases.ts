import type { RawCase } from "../case.ts";

/** A collection of a service, as its URLs and bodies name it. */
export interface Collection {
  /** "/networks" */
  readonly path: string;
  /** Key of one in bodies: "network". */
  readonly one: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How one is changed. Undefined: it is not asked. */
  readonly change?: "PUT" | "PATCH";
  /** A filter that nothing meets. Default: an unknown name. */
  readonly filter?: string;
  /** Cases that this collection has not. */
  readonly without?: readonly ("delete" | "show" | "create" | "filter")[];
}

/** What is the same question for every collection: what is not there, a body that is none, an empty list, no token. */
export function collectionCases(collection: Collection): readonly RawCase[] {
  const { path, one, change, filter = "name={run}", without = [] } = collection;
  const headers = collection.headers ?? {};
  const more = { headers };
  const all: readonly (readonly [string, RawCase])[] = [
    ["filter", { says: `${path} that meets no filter`, call: `GET ${path}?${filter}`, ...more }],
    ["show", { says: `${one} that is not there`, call: `GET ${path}/{nothing}`, ...more }],
    ["delete", { says: `deletes ${one} that is not there`, call: `DELETE ${path}/{nothing}`, ...more }],
    ["create", { says: `makes ${one} of a body without it`, call: `POST ${path}`, body: {}, ...more }],
    [
      "token",
      { says: `${path} without a token`, call: `GET ${path}`, headers: { ...headers, "x-auth-token": "none" } },
    ],
    ...(change === undefined ? [] : [["change", changed({ path, one, change, headers })] as const]),
  ];
  return all.filter(([kind]) => !(without as readonly string[]).includes(kind)).map(([, each]) => each);
}

const changed = ({ path, one, change = "PUT", headers = {} }: Collection): RawCase => ({
  says: `changes ${one} that is not there`,
  call: `${change} ${path}/{nothing}`,
  body: { [one]: { name: "x" } },
  headers,
});
