/** A topology that cannot be carried out as it is written: the message goes into the condition TopologyReconciled. */
export class TopologyProblem extends Error {
  override readonly name = "TopologyProblem";
  /** Milliseconds after which it is tried again although nothing has changed; undefined: only a change helps. */
  readonly again: number | undefined;

  constructor(message: string, again?: number) {
    super(message);
    this.again = again;
  }
}
