import { InputError, messageOf, type Clock, type Log } from "@causeway/foundation";
import { loadKubeconfig, Secret, secretText, type KubernetesClient } from "@causeway/kubernetes";

interface FollowWith {
  /** Of the management cluster. */
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often the Secret is read again: credentials are replaced long before they end. */
const REREAD = 30_000;

/**
 * Works with the kubeconfig of the service cluster in a Secret, and starts again with a new one when it changes. A
 * Secret that is gone, or that holds no kubeconfig, is reported, and work continues with the last good one.
 * @throws FLAG_INVALID, SERVICE_CLUSTER_UNKNOWN, KUBECONFIG_…
 */
export async function followServiceCluster(
  where: string,
  using: FollowWith,
  signal: AbortSignal,
  work: (kubeconfig: string, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  let text = await firstKubeconfig(where, using, signal);
  while (!signal.aborted) {
    const term = new AbortController();
    const both = AbortSignal.any([signal, term.signal]);
    const changed = nextKubeconfig(where, text, using, both).finally(() => term.abort());
    try {
      await work(text, both);
    } catch (error) {
      if (!both.aborted || signal.aborted) throw error;
    } finally {
      term.abort();
    }
    const next = await changed;
    // The work ended by itself.
    if (next === undefined) return;
    text = next;
    using.log.info("the kubeconfig of the service cluster changed: the controllers start again with it", {
      secret: where,
    });
  }
}

async function firstKubeconfig(where: string, { client }: FollowWith, signal: AbortSignal): Promise<string> {
  const { namespace, name } = secretOf(where);
  const text = secretText(await client.find(Secret, { namespace, name }, { signal }), "value");
  if (text !== undefined) return text;
  const message = `Secret ${where} with the service cluster's kubeconfig in key value does not exist`;
  throw new InputError("SERVICE_CLUSTER_UNKNOWN", message, {
    hint: `Create it: kubectl -n ${namespace} create secret generic ${name} --from-file=value=service.kubeconfig`,
  });
}

/** The next kubeconfig that differs; undefined: the signal aborted first. */
async function nextKubeconfig(
  where: string,
  current: string,
  { client, clock, log }: FollowWith,
  signal: AbortSignal,
): Promise<string | undefined> {
  let reported = "";
  while (!signal.aborted) {
    await clock.sleep(REREAD, signal).catch(() => {});
    if (signal.aborted) return undefined;
    let problem = "it does not exist, or has no key value";
    try {
      const text = secretText(await client.find(Secret, secretOf(where), { signal }), "value");
      if (text === current) problem = "";
      else if (text !== undefined) {
        loadKubeconfig({ text });
        return text;
      }
    } catch (error) {
      problem = messageOf(error);
    }
    if (problem !== "" && problem !== reported && !signal.aborted)
      log.warn("the kubeconfig of the service cluster cannot be read: the last one is used", {
        secret: where,
        problem,
      });
    reported = problem;
  }
  return undefined;
}

function secretOf(where: string): { namespace: string; name: string } {
  const [namespace = "", name = "", ...rest] = where.split("/");
  if (name === "" || rest.length > 0)
    throw new InputError("FLAG_INVALID", `--service-kubeconfig: ${where} is not NAMESPACE/NAME of a Secret`);
  return { namespace, name };
}
