import type { RawCase, Account } from "../case.ts";

/** A list of a service, and what makes one object in it. */
export interface FilteredList {
  /** Type of the service in the catalog. */
  readonly service: string;
  /** "/v2.0/networks", or a kept address: "{ref}/consumers". */
  readonly path: string;
  /** What it is called if not by its path. */
  readonly name?: string;
  /** Key of the objects in answers: "networks". */
  readonly many: string;
  /** Makes the object; its id is kept as "id". */
  readonly make: readonly RawCase[];
  readonly as?: Account;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Filters that no view has, with a value that means the object and one that does not; values may name what was kept.
   */
  readonly more?: Readonly<Record<string, readonly [match: string, miss: string]>>;
  /** Field of an object that is its id, "role.id" of an object in it. Default "id". */
  readonly idField?: string;
  /** The list in detail, whose objects' fields are the filters of this list, too. Default: the list itself. */
  readonly detail?: string;
}

/** What became of a filter: whether the list was served, and had the object. */
export interface Verdict {
  readonly status: number;
  readonly has: boolean;
}

/** For each filter of a list: with a value that the object has, and with one that it does not have. */
export type Verdicts = Readonly<Record<string, { readonly match: Verdict; readonly miss: Verdict }>>;
