import { hasCode, messageOf, type Clock, type Log } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { PROJECT_ID, type KubernetesUser } from "../user.ts";
import { gather } from "./gather.ts";
import { perform } from "./perform.ts";
import { namespaceOf, plan } from "./plan.ts";
import type { SyncConfig } from "./plan-config.ts";

/** With what users are synchronised, and how often. */
export interface SynchronizerOptions {
  readonly client: KubernetesClient;
  readonly config: () => SyncConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Milliseconds for which a user who was synchronised is not checked again. Default 60,000. */
  readonly interval?: number;
  /** Milliseconds that a review waits for it at most; the work continues. Default 3,000. */
  readonly timeout?: number;
}

const MOST_USERS = 10_000;
const MOST_AT_ONCE = 8;

/**
 * Keeps the namespaces and RoleBindings of users who come in as Keystone has their projects and roles. Returns a
 * function that resolves when the user's objects are there, or after a while, and never rejects.
 */
export function createSynchronizer(options: SynchronizerOptions): (user: KubernetesUser) => Promise<void> {
  const { client, clock, log, signal, interval = 60_000, timeout = 3_000 } = options;
  const done = new Map<string, { readonly facts: string; readonly at: number }>();
  const underWay = new Map<string, Promise<void>>();

  const synchronize = async (user: KubernetesUser, config: SyncConfig): Promise<void> => {
    const { steps, warnings } = plan(await gather(client, { user, config }, signal));
    for (const warning of warnings) log.warn("synchronisation with Keystone", { user: user.uid, warning });
    for (const step of steps) {
      try {
        await perform(client, step, signal);
        log.info("synchronised with Keystone", { user: user.uid, ...step });
      } catch (error) {
        // Without the namespace nothing else can be; one role that we may not bind does not keep the others from being
        // bound.
        if (step.type === "create-namespace" || !hasCode(error, "KUBERNETES_FORBIDDEN")) throw error;
        log.warn("synchronisation with Keystone was refused", { user: user.uid, ...step, error: messageOf(error) });
      }
    }
  };

  return async (user) => {
    const config = options.config();
    if (namespaceOf(user, config) === undefined) return;
    const key = `${user.extra[PROJECT_ID]?.[0] ?? ""}/${user.uid}`;
    const facts = JSON.stringify([user.username, user.extra, config]);
    const last = done.get(key);
    if (last?.facts === facts && clock.now() < last.at + interval) return;
    if (underWay.size >= MOST_AT_ONCE && !underWay.has(key)) return;
    const work =
      underWay.get(key) ??
      synchronize(user, config)
        .then(
          () => {
            done.delete(key);
            done.set(key, { facts, at: clock.now() });
            const [oldest] = done.keys();
            if (done.size > MOST_USERS && oldest !== undefined) done.delete(oldest);
          },
          (error: unknown) =>
            log.warn("synchronisation with Keystone failed", { user: user.uid, error: messageOf(error) }),
        )
        .finally(() => underWay.delete(key));
    underWay.set(key, work);
    await within(work, clock, timeout);
  };
}

async function within(work: Promise<void>, clock: Clock, milliseconds: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([work, clock.sleep(milliseconds, over.signal).catch(() => {})]);
  over.abort();
}
