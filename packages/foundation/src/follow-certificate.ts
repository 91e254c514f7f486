import type { SecureContextOptions, Server } from "node:tls";
import type { Clock } from "./clock.ts";
import { messageOf } from "./errors.ts";
import type { Log } from "./log.ts";

/** Milliseconds between two reads of the files. */
const PAUSE = 30_000;

type Pem = Pick<SecureContextOptions, "cert" | "key" | "ca">;

/** A certificate and key of a server that are read again when their files change. */
export interface FollowedCertificate<T extends Pem> {
  readonly server: Pick<Server, "setSecureContext">;
  /** What the server was started with. */
  readonly first: T;
  /** Reads the files again, and checks them: throws what makes them unusable. */
  readonly read: () => T;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A certificate that was renewed in its files is used without a restart: connections that there are keep the old one.
 * New files that cannot be used are logged, and the old certificate remains. Resolves when `signal` aborts.
 */
export async function followCertificate<T extends Pem>(
  { server, first, read, clock, log }: FollowedCertificate<T>,
  signal: AbortSignal,
): Promise<void> {
  let last = first;
  let problem: string | undefined;
  for (;;) {
    try {
      await clock.sleep(PAUSE, signal);
    } catch {
      return;
    }
    try {
      const next = read();
      problem = undefined;
      if (next.cert === last.cert && next.key === last.key && next.ca === last.ca) continue;
      server.setSecureContext(next);
      last = next;
      log.info("the serving certificate has changed and is used");
    } catch (error) {
      // Once for each cause: it may remain for long.
      if (messageOf(error) === problem) continue;
      problem = messageOf(error);
      log.warn("the new serving certificate cannot be used; the old one is kept", { error: problem });
    }
  }
}
