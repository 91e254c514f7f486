import { messageOf, type Clock } from "@causeway/foundation";
import { OVER } from "../flow/over.ts";

/** What a review of credentials found. */
export type Reviewed = { readonly expires?: number | undefined } | { readonly refusal: string };

/** The credentials of one connection, and what follows from them. */
export interface ValidityOptions {
  /** When they expire (ms since epoch); undefined: they do not say. */
  readonly expires: number | undefined;
  /** Milliseconds that a connection may remain after its credentials expired, for the streams that are open. */
  readonly grace: number;
  readonly clock: Clock;
  /** Reviews another token of the same agent. */
  readonly review: (token: string, signal: AbortSignal) => Promise<Reviewed>;
  /** The credentials have expired, or hold again. */
  readonly onChange: (isExpired: boolean) => void;
  /** The time after it is over, too. */
  readonly onOver: () => void;
  readonly onRefused: (reason: string) => void;
}

/**
 * Credentials that were accepted hold so long (ms), whatever their own time says: where this program's clock is ahead
 * of the API server's, an agent would otherwise connect again and again.
 */
const LEAST = 60_000;

/** Milliseconds from one review to the next: an agent may send tokens all the time. Ours sends one in a minute. */
const PAUSE = 10_000;

/** Milliseconds that the last review before credentials expire may take. */
const LATEST = 30_000;

/** How long the credentials of an agent's connection hold. An agent of ours sends another token before that. */
export class Validity {
  readonly #options: ValidityOptions;
  readonly #end = new AbortController();
  #timer = new AbortController();
  #offered: string | undefined;
  #isReviewing = false;
  #nextReview = 0;
  #isExpired = false;

  constructor(options: ValidityOptions) {
    this.#options = options;
    this.#arm(options.expires);
  }

  /**
   * Another token of the agent: it counts from when the API server accepts it. One is reviewed at a time, the last, and
   * not more often than each `PAUSE`.
   */
  renew(token: string): void {
    this.#offered = token;
    void this.#review();
  }

  /** The connection is gone. */
  end(): void {
    this.#end.abort(OVER);
    this.#timer.abort(OVER);
  }

  #arm(expires: number | undefined): void {
    const { clock } = this.#options;
    if (expires !== undefined) this.#after(Math.max(expires - clock.now(), LEAST), () => void this.#expire());
  }

  #after(milliseconds: number, act: () => void): void {
    this.#timer.abort(OVER);
    this.#timer = new AbortController();
    this.#options.clock.sleep(milliseconds, this.#timer.signal).then(act, () => {});
  }

  async #expire(): Promise<void> {
    // A token whose review failed is reviewed once more: the API server may have been away.
    if (this.#offered !== undefined && (await this.#reviewInTime())) return;
    if (this.#end.signal.aborted || this.#isExpired) return;
    const { grace, onChange, onOver } = this.#options;
    this.#isExpired = true;
    this.#after(grace, onOver);
    onChange(true);
  }

  /** An agent that sends token after token does not keep its old one. What is accepted later counts still. */
  async #reviewInTime(): Promise<boolean> {
    const late = this.#options.clock.sleep(LATEST, this.#end.signal).then(
      () => false,
      () => false,
    );
    const isAccepted = await Promise.race([this.#review(), late]);
    return isAccepted || this.#offered === undefined;
  }

  /** Whether a token was accepted. */
  async #review(): Promise<boolean> {
    if (this.#isReviewing) return false;
    this.#isReviewing = true;
    const { clock } = this.#options;
    const end = this.#end;
    try {
      for (;;) {
        // A clock that was set back makes no longer pause.
        const pause = Math.min(this.#nextReview - clock.now(), PAUSE);
        if (pause > 0) await clock.sleep(pause, end.signal).catch(() => {});
        if (end.signal.aborted) return false;
        this.#nextReview = clock.now() + PAUSE;
        const token = this.#offered;
        if (token === undefined) return false;
        const found = await this.#judge(token);
        if (end.signal.aborted) return false;
        if (token !== this.#offered) continue;
        if ("refusal" in found) {
          this.#options.onRefused(found.refusal);
          return false;
        }
        this.#accept(found.expires);
        return true;
      }
    } finally {
      this.#isReviewing = false;
    }
  }

  async #judge(token: string): Promise<Reviewed> {
    try {
      return await this.#options.review(token, this.#end.signal);
    } catch (error) {
      return { refusal: messageOf(error) };
    }
  }

  #accept(expires: number | undefined): void {
    this.#offered = undefined;
    this.#timer.abort(OVER);
    this.#arm(expires);
    if (!this.#isExpired) return;
    this.#isExpired = false;
    this.#options.onChange(false);
  }
}
