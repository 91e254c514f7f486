/** What an election reads of a volume or share. */
export interface Candidate {
  readonly id: string;
  readonly status: string;
  /** OpenStack's time stamp in UTC without a zone. Cinder's have whole seconds. */
  readonly created_at?: string | undefined;
}

/** The objects of one name, from which the one is chosen that the name represents. */
export interface Ballot<T extends Candidate> {
  /** Every object of the requested name. */
  readonly existing: readonly T[];
  /** The object that this call created, where its answer was received. */
  readonly own?: string;
  readonly now: number;
}

/** The object that a name represents, and what was made twice. */
export type Election<T extends Candidate> =
  | { readonly type: "none" }
  /** All of the name are being deleted. */
  | { readonly type: "deleting" }
  /** Another controller created an object of the name earlier: delete the one of this call, and end it. */
  | { readonly type: "yield"; readonly id: string }
  /** Several were created in the same moment: their calls delete them. */
  | { readonly type: "tie" }
  /** `others` are younger; their calls did not return them. */
  | { readonly type: "winner"; readonly winner: T; readonly others: readonly T[] };

/** After so long (ms) no call that created an object is still in progress. */
const LONG_AGO = 600_000;

/**
 * A name is the key of a create request: at most one object of the name is ever returned. When several controllers
 * created one each, the strictly oldest is the one that may have been returned. Of two of the same age each controller
 * deletes its own, and a call that created none waits until their calls have ended.
 */
export function elect<T extends Candidate>({ existing, own, now }: Ballot<T>): Election<T> {
  if (existing.length === 0 && own === undefined) return { type: "none" };
  const live = existing.filter(({ status }) => status !== "deleting").toSorted(byAge);
  const [winner, second] = live;
  if (winner === undefined) return { type: "deleting" };
  const isTie = second !== undefined && stampOf(second) === stampOf(winner);
  if (own !== undefined && (isTie || winner.id !== own)) return { type: "yield", id: own };
  if (isTie && now - Date.parse(`${stampOf(winner)}Z`) < LONG_AGO) return { type: "tie" };
  return { type: "winner", winner, others: live.slice(1) };
}

const stampOf = (candidate: Candidate): string => candidate.created_at ?? "";

function byAge(a: Candidate, b: Candidate): number {
  const [left, right] = [`${stampOf(a)} ${a.id}`, `${stampOf(b)} ${b.id}`];
  return left < right ? -1 : 1;
}
