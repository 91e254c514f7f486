import type { Namespace } from "@causeway/kubernetes";
import type { PodsSettings } from "../options.ts";
import { controlPlaneIndex, type ServiceCluster } from "../service-cluster.ts";
import { isOwnedBy } from "./request.ts";

/** The namespaces of one control plane, of whichever management cluster. */
export interface Observed {
  readonly settings: PodsSettings;
  readonly namespaces: readonly Namespace[];
}

/** The service cluster, and which control planes this process works on. */
export interface GatherFrom {
  readonly cluster: Pick<ServiceCluster, "namespaces">;
  readonly settings: PodsSettings;
  readonly isKnown: (id: string) => boolean;
}

/** What this process works on acknowledges by its own plan: nothing of it is under way then. */
export function gather({ cluster, settings, isKnown }: GatherFrom, id: string): Observed {
  const all = cluster.namespaces.byIndex(controlPlaneIndex, id);
  return { settings, namespaces: all.filter((each) => !isKnown(id) || !isOwnedBy(each, settings.owner, id)) };
}
