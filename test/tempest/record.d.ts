import type { TempestResult } from "./run.ts";
/** What became of a service's tests on one cloud. Names without the service's prefix. */
export interface CloudRecord {
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly seconds: number;
  readonly passed: readonly string[];
  readonly failed: Readonly<Record<string, string>>;
  /** Why, and how many. */
  readonly skipped: Readonly<Record<string, number>>;
}
/** docs/reference/tempest/SERVICE.json */
export interface ServiceRecord {
  readonly real?: CloudRecord;
  readonly simulated?: CloudRecord;
}
export declare function cloudRecord(
  results: readonly TempestResult[],
  prefix: string,
  run: {
    date: string;
    seconds: number;
  },
): CloudRecord;
export declare function keepRecord(service: string, cloud: keyof ServiceRecord, record: CloudRecord): void;
export interface Rate {
  /** Tests that pass on the real cloud. */
  readonly real: number;
  /** Those of them that pass on the simulated one. */
  readonly both: number;
  readonly differ: readonly string[];
}
/** How many of the tests that the real cloud passes the simulated one passes, too. Undefined: one of them has not been run. */
export declare function rateOf({ real, simulated }: ServiceRecord): Rate | undefined;
/** Writes docs/reference/tempest.md from the records. */
export declare function writePage(): void;
