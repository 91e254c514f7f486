/** A cluster is not served until `until` (milliseconds since the epoch). */
export interface Parked {
  readonly until: number;
  readonly reason: string;
}
