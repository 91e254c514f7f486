import { isNotFound, type KubernetesClient, type OwnerReference } from "@causeway/kubernetes";
import type { Scale } from "./gather.ts";

interface Discovery {
  readonly resources?: readonly { readonly name: string; readonly kind: string }[];
}

interface ScaleObject {
  readonly metadata?: { readonly uid?: string };
  readonly spec?: { readonly replicas?: number };
}

/** The scale subresource of controllers that other programs bring. */
export class Scales {
  readonly #client: KubernetesClient;

  constructor(client: KubernetesClient) {
    this.#client = client;
  }

  /** A text says that the kind has no scale; undefined: there is no such object. */
  async find(owner: OwnerReference, namespace: string, signal: AbortSignal): Promise<Scale | string | undefined> {
    const { apiVersion, kind, name, uid } = owner;
    const base = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const { resources = [] } = ((await this.#read(base, signal)) ?? {}) as Discovery;
    const plural = resources.find((resource) => resource.kind === kind && !resource.name.includes("/"))?.name;
    if (plural === undefined) return undefined;
    if (!resources.some((resource) => resource.name === `${plural}/scale`)) {
      const group = apiVersion.includes("/") ? `.${apiVersion.split("/")[0]}` : "";
      return `${plural}${group} does not implement the scale subresource`;
    }
    const path = `${base}/namespaces/${namespace}/${plural}/${name}/scale`;
    const found = (await this.#read(path, signal)) as ScaleObject | undefined;
    if (!found || found.metadata?.uid !== uid) return undefined;
    return { uid, replicas: found.spec?.replicas ?? 0 };
  }

  async #read(path: string, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#client.request("GET", path, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
