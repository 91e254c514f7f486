/** What of tempest is run for each service. */
export interface TempestService {
  readonly name: string;
  /** Whose tests: a prefix of their names. */
  readonly prefix: string;
}
export declare const tempestServices: readonly TempestService[];
