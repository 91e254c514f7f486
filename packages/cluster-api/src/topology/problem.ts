/** A topology that cannot be carried out as it is written: the message goes into the condition TopologyReconciled. */
export class TopologyProblem extends Error {
  override readonly name = "TopologyProblem";
}
