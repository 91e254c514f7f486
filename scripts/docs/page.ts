/** A generated page of the documentation. */
export interface Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}
