import type { Clock, Log } from "@causeway/foundation";

/** Lines of one kind that are logged in a window. */
const LINES = 10;
const WINDOW = 60_000;

/** Logs what clients can cause as often as they like: a few lines a minute, and how many were left out. */
export class LogLimit {
  readonly #log: Log;
  readonly #clock: Pick<Clock, "now">;
  readonly #kinds = new Map<string, { since: number; logged: number; left: number }>();

  constructor(log: Log, clock: Pick<Clock, "now">) {
    this.#log = log;
    this.#clock = clock;
  }

  /** `message` is also the kind: it must be one of few. */
  log(level: "warn" | "error", message: string, fields: Record<string, unknown>): void {
    const now = this.#clock.now();
    const kind = this.#kinds.get(message) ?? { since: now, logged: 0, left: 0 };
    this.#kinds.set(message, kind);
    if (now - kind.since >= WINDOW) Object.assign(kind, { since: now, logged: 0 });
    if (kind.logged >= LINES) {
      kind.left += 1;
      return;
    }
    kind.logged += 1;
    const { left } = kind;
    kind.left = 0;
    this.#log[level](message, left > 0 ? { ...fields, notLogged: left } : fields);
  }
}
