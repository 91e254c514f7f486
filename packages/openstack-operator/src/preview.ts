import type { OpenStackDeployment } from "@causeway/api";
import { CausewayError, systemClock } from "@causeway/foundation";
import { keyOf, type Informers } from "@causeway/kubernetes";
import { gather, openInformers } from "./deployment/gather.ts";
import { previewChange, type Preview } from "./deployment/preview.ts";

/**
 * Compares a cluster with what `wanted` describes, without writing. The informers are run until the result is there.
 * @throws OPENSTACK_DEPLOYMENT_GONE
 * @example
 * const { restarts, creates } = await previewOpenStack(informers, current, wanted, signal);
 */
export async function previewOpenStack(
  informers: Informers,
  current: OpenStackDeployment,
  wanted: OpenStackDeployment,
  signal: AbortSignal,
): Promise<Preview> {
  const stop = new AbortController();
  const from = openInformers(informers);
  const running = informers.run(AbortSignal.any([signal, stop.signal]));
  try {
    await informers.whenSynced(signal);
    // Kinds of other operators are known once the list of CRDs is.
    await informers.whenSynced(signal);
    const observed = gather(from, keyOf(current));
    if (!observed) {
      const { namespace = "", name } = current.metadata;
      throw new CausewayError(
        "OPENSTACK_DEPLOYMENT_GONE",
        `OpenStackDeployment ${namespace}/${name} was deleted meanwhile`,
      );
    }
    return previewChange(observed, wanted, systemClock.now());
  } finally {
    stop.abort();
    await running;
  }
}
