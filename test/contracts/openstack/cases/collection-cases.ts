import type { RawCase } from "../case.ts";

/** A collection of a service, as its URLs and bodies name it. */
export interface Collection {
  /** "/networks" */
  readonly path: string;
  /** Key of one in bodies: "network". */
  readonly one: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Method of updates. Undefined: there is no case for them. */
  readonly change?: "PUT" | "PATCH";
  /** A filter without match. Default: an unknown name. */
  readonly filter?: string;
  /** Cases that this collection does not support. */
  readonly without?: readonly ("delete" | "show" | "create" | "filter")[];
}

/** Cases of every collection: a missing resource, a body without the resource, an empty list, no token. */
export function collectionCases(collection: Collection): readonly RawCase[] {
  const { path, one, change, filter = "name={run}", without = [] } = collection;
  const headers = collection.headers ?? {};
  const more = { headers };
  const all: readonly (readonly [string, RawCase])[] = [
    [
      "filter",
      { says: `GET ${path} returns an empty list for a filter without match`, call: `GET ${path}?${filter}`, ...more },
    ],
    ["show", { says: `a missing ${one} is not found`, call: `GET ${path}/{nothing}`, ...more }],
    ["delete", { says: `a deletion of a missing ${one} is rejected`, call: `DELETE ${path}/{nothing}`, ...more }],
    ["create", { says: `a POST body without the ${one} is rejected`, call: `POST ${path}`, body: {}, ...more }],
    [
      "token",
      {
        says: `GET ${path} without a token is rejected`,
        call: `GET ${path}`,
        headers: { ...headers, "x-auth-token": "none" },
      },
    ],
    ...(change === undefined ? [] : [["change", changed({ path, one, change, headers })] as const]),
  ];
  return all.filter(([kind]) => !(without as readonly string[]).includes(kind)).map(([, each]) => each);
}

const changed = ({ path, one, change = "PUT", headers = {} }: Collection): RawCase => ({
  says: `an update of a missing ${one} is rejected`,
  call: `${change} ${path}/{nothing}`,
  body: { [one]: { name: "x" } },
  headers,
});
