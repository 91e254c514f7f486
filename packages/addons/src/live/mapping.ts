import { isNotFound, type KubeObject, type KubernetesClient, type ResourceType } from "@causeway/kubernetes";

/** Milliseconds after which a kind that was not served is requested again. */
const RETRY = 1_000;

type Resources = ReadonlyMap<string, ResourceType<KubeObject>>;

/** Which resource serves a kind, from the server's discovery. One request for each group and version that is used. */
export class Mapping {
  readonly #client: KubernetesClient;
  readonly #now: () => number;
  readonly #versions = new Map<string, { readonly at: number; readonly resources: Resources }>();

  constructor(client: KubernetesClient, now: () => number) {
    this.#client = client;
    this.#now = now;
  }

  /** Undefined: the server does not serve the kind (yet). */
  async typeOf(apiVersion: string, kind: string, signal: AbortSignal): Promise<ResourceType<KubeObject> | undefined> {
    const known = this.#versions.get(apiVersion);
    const found = known?.resources.get(kind);
    if (found) return found;
    if (known && this.#now() < known.at + RETRY) return undefined;
    const resources = await this.#discover(apiVersion, signal);
    this.#versions.set(apiVersion, { at: this.#now(), resources });
    return resources.get(kind);
  }

  async #discover(apiVersion: string, signal: AbortSignal): Promise<Resources> {
    const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const [version = "", group = ""] = apiVersion.split("/").toReversed();
    try {
      const body = (await this.#client.request("GET", path, { signal })) as { resources?: unknown } | undefined;
      const resources = Array.isArray(body?.resources) ? (body.resources as Partial<ApiResource>[]) : [];
      return new Map(
        resources.flatMap(({ name, kind, namespaced = false }) =>
          name === undefined || kind === undefined || name.includes("/")
            ? []
            : [[kind, { group, version, kind, plural: name, namespaced }]],
        ),
      );
    } catch (error) {
      if (isNotFound(error)) return new Map();
      throw error;
    }
  }
}

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}
