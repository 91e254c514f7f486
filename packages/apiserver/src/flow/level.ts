import type { FlowSchema } from "./classify.ts";
import type { LevelConfig, Limits } from "./limits.ts";
import { QueueSet } from "./queues.ts";

const NO_QUEUES = { queues: 1, handSize: 1, queueLengthLimit: 0 };

/** A priority level at work: what it may have, what it has, and who waits for it. */
export class Level {
  config: LevelConfig;
  limits: Limits;
  readonly queues: QueueSet;
  /** Requests and seats by flow schema. */
  readonly executing = new Map<string, { requests: number; seats: number }>();
  seats = 0;
  /** For the debug page. */
  readonly counted = { dispatched: 0, rejected: 0, timedOut: 0, cancelled: 0 };

  constructor(config: LevelConfig, limits: Limits) {
    this.config = config;
    this.limits = limits;
    this.queues = new QueueSet(config.queuing ?? NO_QUEUES);
  }

  configure(config: LevelConfig, limits: Limits): void {
    this.config = config;
    this.limits = limits;
    this.queues.configure(config.queuing ?? NO_QUEUES);
  }

  /** Of all seats, those that no other level may take now: what it has, and what it does not lend. */
  get reserved(): number {
    return this.config.exempt ? 0 : Math.max(this.seats, this.limits.lower);
  }

  count(schema: FlowSchema, seats: number, by: 1 | -1): void {
    const known = this.executing.get(schema.name) ?? { requests: 0, seats: 0 };
    known.requests += by;
    known.seats += by * seats;
    this.executing.set(schema.name, known);
    this.seats += by * seats;
  }

  /** The widest a request of this level is assumed to be. */
  get widest(): number {
    return Math.min(10, Math.max(1, Math.ceil(this.limits.nominal * 0.15)));
  }
}
