import { messageOf, type Clock, type Log } from "@causeway/foundation";

/** Between two reads of the token (ms). A kubelet replaces a token of an hour twelve minutes before it expires. */
const PAUSE = 60_000;

/** The token that a connection began with, the one that is valid now, and how it is sent. */
export interface TokenRenewal {
  readonly sent: string;
  readonly read: () => string | undefined;
  readonly renew: (token: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Sends the agent's token on its connection whenever it was replaced, until the signal aborts. */
export async function renewToken({ sent, read, renew, clock, log }: TokenRenewal, signal: AbortSignal): Promise<void> {
  for (let last = sent; ;) {
    await clock.sleep(PAUSE, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      const token = read() ?? last;
      if (token !== last) renew(token);
      last = token;
    } catch (error) {
      log.warn("the agent's token cannot be read again", { error: messageOf(error) });
    }
  }
}
