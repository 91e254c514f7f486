import type { RawCase, Who } from "../case.ts";

/** A list of a service, and what makes one object in it. */
export interface FilteredList {
  /** Type of the service in the catalog. */
  readonly service: string;
  /** "/v2.0/networks" */
  readonly path: string;
  /** Key of the objects in answers: "networks". */
  readonly many: string;
  /** Makes the object; its id is kept as "id". */
  readonly make: readonly RawCase[];
  readonly as?: Who;
  readonly headers?: Readonly<Record<string, string>>;
  /** Filters that no view has, with a value that means the object and one that does not; values may name what was kept. */
  readonly more?: Readonly<Record<string, readonly [match: string, miss: string]>>;
  /** Field of an object that is its id. Default "id". */
  readonly idField?: string;
}

/** What became of a filter: whether the list was answered, and had the object. */
export interface Verdict {
  readonly status: number;
  readonly has: boolean;
}

/** For each filter of a list: with a value that the object has, and with one that it does not have. */
export type Verdicts = Readonly<Record<string, { readonly match: Verdict; readonly miss: Verdict }>>;
