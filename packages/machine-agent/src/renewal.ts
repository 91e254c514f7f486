import {
  CausewayError,
  hasCode,
  messageOf,
  isCertificateFor,
  readValidity,
  type Clock,
  type KeyPair,
  type Log,
} from "@causeway/foundation";
import { isUnauthorized, type KubernetesClient } from "@causeway/kubernetes";
import { clientWish, renewalTime, requestCertificate, servingWish } from "./certificates.ts";
import type { Identity } from "./identity.ts";

/** Pauses between attempts that failed, in milliseconds. */
const firstPause = 1_000;
const longestPause = 5 * 60_000;

/** With what certificates are renewed. */
export interface RenewalContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** From 0 to 1: where in the time for renewal this machine renews. */
  readonly random: number;
}

/**
 * Waits until the node's client certificate is due, and gets the next one by a request of the node itself.
 * Undefined when the signal aborted first.
 * @throws MACHINE_IDENTITY_EXPIRED when the certificate expired before the cluster signed another;
 * KUBERNETES_UNAUTHORIZED.
 */
export async function renewClient(
  client: KubernetesClient,
  identity: Identity,
  using: RenewalContext,
): Promise<KeyPair | undefined> {
  const due = renewalTime(identity.certificate, using.random);
  if (!(await sleepUntil(due, using))) return undefined;
  const { notAfter } = readValidity(identity.certificate);
  const pair = await persist(
    async () => {
      if (using.clock.now() >= notAfter) throw expired();
      return requestCertificate(client, clientWish(identity.nodeName), using);
    },
    { what: "the client certificate is not renewed yet", using },
  );
  if (pair) using.log.info("the client certificate is renewed");
  return pair;
}

function expired(): CausewayError {
  return new CausewayError(
    "MACHINE_IDENTITY_EXPIRED",
    "the machine's client certificate expired before it was renewed",
    {
      hint: "The machine tries to join again; delete its Machine to have it replaced.",
    },
  );
}

/**
 * Keeps a serving certificate for these addresses: asks for one where there is none, the names differ or it is due,
 * until the signal aborts. Each new one is given to `keep`.
 */
export async function keepServing(
  client: KubernetesClient,
  wanted: { readonly identity: Identity; readonly addresses: readonly string[] },
  using: RenewalContext & { keep(serving: KeyPair): Promise<void> },
): Promise<void> {
  const { identity, addresses } = wanted;
  if (addresses.length === 0) return;
  for (let serving = identity.serving; !using.signal.aborted;) {
    if (serving && isCertificateFor(serving.certificate, identity.nodeName, addresses)) {
      if (!(await sleepUntil(renewalTime(serving.certificate, using.random), using))) return;
    }
    serving = await persist(() => requestCertificate(client, servingWish(identity.nodeName, addresses), using), {
      what: "there is no new serving certificate yet",
      using,
    });
    if (!serving) return;
    await using.keep(serving);
  }
}

/** False when the signal aborted first. */
async function sleepUntil(time: number, { clock, signal }: RenewalContext): Promise<boolean> {
  while (clock.now() < time) {
    if (signal.aborted) return false;
    await clock.sleep(time - clock.now(), signal).catch(() => {});
  }
  return !signal.aborted;
}

/** Tries with growing pauses until it succeeds; undefined when the signal aborted first. */
async function persist<T>(
  attempt: () => Promise<T>,
  { what, using }: { what: string; using: RenewalContext },
): Promise<T | undefined> {
  for (let pause = firstPause; !using.signal.aborted; pause = Math.min(pause * 2, longestPause)) {
    try {
      return await attempt();
    } catch (error) {
      if (using.signal.aborted) return undefined;
      if (isUnauthorized(error) || hasCode(error, "MACHINE_IDENTITY_EXPIRED")) throw error;
      using.log.warn(what, { error: messageOf(error), pause });
      await using.clock.sleep(pause, using.signal).catch(() => {});
    }
  }
  return undefined;
}
