/** A topology that cannot be carried out as it is written: the message goes into the condition TopologyReconciled. */
export class TopologyProblem extends Error {
  override readonly name = "TopologyProblem";
  /** Milliseconds after which it is retried although nothing has changed; undefined: only a change helps. */
  readonly again: number | undefined;
  /** Nothing is known to be wrong: others are served first. */
  readonly isWait: boolean;

  constructor(message: string, { again, isWait = false }: { readonly again?: number; readonly isWait?: boolean } = {}) {
    super(message);
    this.again = again;
    this.isWait = isWait;
  }
}
