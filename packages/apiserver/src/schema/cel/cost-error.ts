/** An evaluation that costs too much. */
export class CostError extends Error {}
