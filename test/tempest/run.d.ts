/** How one test of tempest ended. */
export interface TempestResult {
  /** Its name without the tags in brackets. */
  readonly id: string;
  readonly status: "success" | "fail" | "skip" | "xfail" | "uxsuccess" | "unknown" | "inprogress";
  /** Why it failed or was skipped; "" when it passed. */
  readonly reason: string;
}
export interface TempestRun {
  /** A folder of its own: configuration, repository of results, logs. */
  readonly folder: string;
  /** tempest.conf. */
  readonly configuration: string;
  /** Regular expression over the names of tests. */
  readonly tests: string;
  readonly workers: number;
}
/** Runs tempest's tests by stestr and gives what became of each; a class that could not be set up is one failure of its name. */
export declare function runTempest({ folder, configuration, tests, workers }: TempestRun): Promise<TempestResult[]>;
