import { CausewayError } from "@causeway/foundation";
import type { KubeObject, KubernetesClient, ResourceType } from "@causeway/kubernetes";

interface Discovered {
  readonly resources?: readonly { readonly name?: string; readonly kind?: string; readonly namespaced?: boolean }[];
}

/**
 * Finds the resources that kinds are served as, each group version requested once; what is not found is requested
 * again.
 */
export class Mapping {
  readonly #client: KubernetesClient;
  readonly #served = new Map<string, Discovered>();

  constructor(client: KubernetesClient) {
    this.#client = client;
  }

  /** @throws CAPI_KIND_NOT_SERVED */
  async of({ apiVersion, kind }: KubeObject, signal: AbortSignal): Promise<ResourceType<KubeObject>> {
    const found = find(this.#served.get(apiVersion), kind) ?? find(await this.#discover(apiVersion, signal), kind);
    if (!found?.name) {
      throw new CausewayError("CAPI_KIND_NOT_SERVED", `the workload cluster does not serve ${kind} of ${apiVersion}`, {
        hint: "It is retried; let an earlier resource of the set install the CRD.",
      });
    }
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    return {
      group: group ?? "",
      version: version ?? "",
      kind,
      plural: found.name,
      namespaced: found.namespaced === true,
    };
  }

  async #discover(apiVersion: string, signal: AbortSignal): Promise<Discovered> {
    const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const discovered = ((await this.#client.request("GET", path, { signal }).catch(() => ({}))) ?? {}) as Discovered;
    this.#served.set(apiVersion, discovered);
    return discovered;
  }
}

function find(served: Discovered | undefined, kind: string) {
  return served?.resources?.find((resource) => resource.kind === kind && !resource.name?.includes("/"));
}
