import { createHash } from "node:crypto";

/** A request that waits. */
export interface WaitingRequest {
  readonly seats: number;
  readonly dispatch: () => void;
}

/** A queue: requests of the flows that hash to it, and the virtual time at which its next request begins. */
export interface Queue {
  readonly index: number;
  readonly waiting: WaitingRequest[];
  virtual: number;
  /** Requests that left it and continue. */
  executing: number;
}

/** The queues of a priority level, as `queuing` of a PriorityLevelConfiguration has them (KEP-1040). */
export interface QueueShape {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

/** Milliseconds that a request is assumed to need until it is known. */
const GUESS = 3;

/**
 * Queues of one priority level. A flow is dealt a hand of queues by its hash (shuffle sharding), and waits in the
 * shortest, so that a flow that fills its queues leaves others theirs. Queues are served by start-time fair queueing:
 * whose virtual time is least goes first, and each request moves its queue on by seats times milliseconds.
 */
export class QueueSet {
  #queuing: QueueShape;
  readonly #queues = new Map<number, Queue>();
  /** The virtual time of the last request that was dispatched. */
  #virtual = 0;
  waiting = 0;

  constructor(queuing: QueueShape) {
    this.#queuing = queuing;
  }

  configure(queuing: QueueShape): void {
    this.#queuing = queuing;
  }

  /** Puts a request into a queue of its flow's hand; undefined when the shortest is full. */
  add(flow: string, request: WaitingRequest): Queue | undefined {
    const queue = this.#shortest(hand(flow, this.#queuing));
    if (queue.waiting.length >= this.#queuing.queueLengthLimit) return undefined;
    if (queue.waiting.length === 0 && queue.executing === 0) queue.virtual = Math.max(queue.virtual, this.#virtual);
    queue.waiting.push(request);
    this.waiting += 1;
    return queue;
  }

  /** Takes out a request that waits no longer; false when it is not there. */
  remove(queue: Queue, request: WaitingRequest): boolean {
    const at = queue.waiting.indexOf(request);
    if (at < 0) return false;
    queue.waiting.splice(at, 1);
    this.waiting -= 1;
    return true;
  }

  /** The queue whose turn it is. */
  next(): Queue | undefined {
    let first: Queue | undefined;
    for (const queue of this.#queues.values()) {
      if (queue.waiting.length === 0) continue;
      if (first === undefined || queue.virtual < first.virtual) first = queue;
    }
    return first;
  }

  /** Takes the first request of a queue. */
  take(queue: Queue): WaitingRequest | undefined {
    const request = queue.waiting.shift();
    if (!request) return undefined;
    this.waiting -= 1;
    queue.executing += 1;
    this.#virtual = Math.max(this.#virtual, queue.virtual);
    queue.virtual += request.seats * GUESS;
    return request;
  }

  /** Charges a queue for what its request took beyond the guess. */
  finished(queue: Queue, seats: number, milliseconds: number): void {
    queue.executing -= 1;
    queue.virtual += seats * Math.max(0, milliseconds - GUESS);
    if (queue.executing === 0 && queue.waiting.length === 0 && queue.virtual <= this.#virtual) {
      this.#queues.delete(queue.index);
    }
  }

  all(): readonly Queue[] {
    return [...this.#queues.values()];
  }

  #shortest(indexes: readonly number[]): Queue {
    let best: Queue | undefined;
    for (const index of indexes) {
      const queue = this.#queues.get(index) ?? { index, waiting: [], virtual: this.#virtual, executing: 0 };
      if (best === undefined || load(queue) < load(best)) best = queue;
    }
    const chosen = best ?? { index: 0, waiting: [], virtual: this.#virtual, executing: 0 };
    this.#queues.set(chosen.index, chosen);
    return chosen;
  }
}

function load({ waiting, executing }: Queue): number {
  return waiting.reduce((sum, w) => sum + w.seats, executing);
}

/** The queues of a flow: `handSize` different ones out of all, by its hash alone. */
export function hand(flow: string, { queues, handSize }: QueueShape): readonly number[] {
  let entropy = createHash("sha256").update(flow).digest().readBigUInt64LE();
  const dealt: number[] = [];
  for (let i = 0; i < Math.min(handSize, queues); i += 1) {
    const left = BigInt(queues - i);
    let card = Number(entropy % left);
    entropy /= left;
    // The card counts among those not dealt yet.
    for (const other of dealt.toSorted((a, b) => a - b)) if (card >= other) card += 1;
    dealt.push(card);
  }
  return dealt;
}
