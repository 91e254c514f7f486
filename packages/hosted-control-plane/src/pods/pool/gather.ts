import type { KubeObject, Namespace, Pod, Secret } from "@causeway/kubernetes";
import { idOf } from "../live.ts";
import type { PodsSettings } from "../options.ts";
import { isRolledOut, templateCredentials, workload } from "../rollout.ts";
import type { ServiceCluster } from "../service-cluster.ts";
import { apiServerDigest } from "../stages.ts";
import { pooledNames } from "../storage/shares.ts";
import { digestOf } from "../tenant.ts";

/** The etcd that control planes share, each with a prefix of its own. */
export interface Observed {
  readonly settings: PodsSettings;
  readonly namespaceName: string;
  readonly namespace: Namespace | undefined;
  readonly live: ReadonlyMap<string, KubeObject>;
  readonly pods: readonly Pod[];
  /** A control plane that served before has its data there. */
  readonly holdsData: boolean;
  /** This process saw to it that every client is a user. */
  readonly authEnabled: boolean;
  /** Another process makes and repairs the etcd. */
  readonly isOfAnother: boolean;
  /** It is the one of another management cluster, which makes and repairs it. */
  readonly isForeign?: boolean;
  /**
   * Namespaces of the control planes in it that do not run with etcd's authorities as they are: the certificates of
   * `ca.crt`, in base64.
   */
  readonly behind: (authorities: string) => readonly string[];
}

/** The service cluster, and what this process knows of the shared etcd. */
export interface GatherFrom extends Pick<
  Observed,
  "settings" | "namespaceName" | "holdsData" | "authEnabled" | "isOfAnother" | "isForeign"
> {
  readonly cluster: ServiceCluster;
}

/** From the caches of the service cluster. */
export function gather({ cluster, ...known }: GatherFrom): Observed {
  const { settings, namespaceName } = known;
  const objects = cluster.objects.flatMap((each) => each.list(namespaceName));
  return {
    ...known,
    namespace: cluster.namespaces.get({ namespace: "", name: namespaceName }),
    live: new Map(objects.map((object): [string, KubeObject] => [idOf(object), object])),
    pods: cluster.pods.list(namespaceName),
    behind: (authorities) => behind(cluster, settings, authorities),
  };
}

/** Control planes in the shared etcd some of whose API servers do not trust these authorities, by namespace. */
function behind({ namespaces, objects }: ServiceCluster, settings: PodsSettings, authorities: string): string[] {
  return pooledNames(settings.owner, namespaces.list()).filter((name) => {
    const live = new Map(objects.flatMap((each) => each.list(name)).map((object) => [idOf(object), object]));
    const secret = live.get("Secret/kube-apiserver") as Secret | undefined;
    const program = workload(live.get("Deployment/kube-apiserver"));
    // One that has no API server yet is created with what is there then.
    if (program === undefined) return false;
    const runs = apiServerDigest(digestOf(secret?.data ?? null), settings.tunnel);
    return (
      secret?.data?.["etcd-ca.crt"] !== authorities || templateCredentials(program) !== runs || !isRolledOut(program)
    );
  });
}
