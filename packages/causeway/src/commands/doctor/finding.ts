/**
 * works: nothing to do. limited: it works but for what is said. missing: it will not work here, and nothing else is
 * hurt by it. broken: something must be done before a cluster can work.
 */
export type State = "works" | "limited" | "missing" | "broken";

/** One line of the report. */
export interface Finding {
  readonly feature: string;
  readonly state: State;
  /** What was seen. */
  readonly because: string;
  /** Undefined: nothing. */
  readonly todo?: string;
}
